//! The instruction vectors on a real GPU: written as launches, executed by `filetests/instructions/on_gpu.py` where there
//! is one, and compared here.

use crate::say;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use testkit::vectors::{Experiment, read_all};

/// A line of the file that goes to the GPU.
#[derive(Serialize)]
struct Question<'a> {
    id: usize,
    form: &'a str,
    ptx: String,
    blocks: usize,
    block: usize,
    threads: usize,
    #[serde(with = "capsule::hex")]
    input: Vec<u8>,
    #[serde(with = "capsule::hex")]
    output: Vec<u8>,
}

/// A line of the file that comes back.
#[derive(Deserialize)]
struct Answer {
    id: usize,
    #[serde(default, with = "capsule::hex")]
    output: Vec<u8>,
    #[serde(default)]
    error: Option<String>,
}

/// Writes every form as a launch.
pub(crate) fn write(path: &Path) -> Result<()> {
    let mut file =
        std::io::BufWriter::new(fs::File::create(path).with_context(|| format!("create {}", path.display()))?);
    let experiments = Experiment::all(&read_all()?);
    for (id, experiment) in experiments.iter().enumerate() {
        let ((blocks, block, threads), (input, output)) = (experiment.shape(), experiment.memory());
        let (form, ptx) = (experiment.spelling(), experiment.text());
        serde_json::to_writer(&mut file, &Question { id, form, ptx, blocks, block, threads, input, output })?;
        file.write_all(b"\n")?;
    }
    file.flush()?;
    say(&format!("{} launches in {}", experiments.len(), path.display()))
}

/// Compares what came back with the vectors.
pub(crate) fn compare(path: &Path) -> Result<()> {
    let text = fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    let answers: BTreeMap<usize, Answer> = text
        .lines()
        .map(|line| serde_json::from_str(line).map(|answer: Answer| (answer.id, answer)))
        .collect::<Result<_, _>>()
        .with_context(|| format!("read {}", path.display()))?;
    let experiments = Experiment::all(&read_all()?);
    let (mut agree, mut rows, mut wrong, mut refused) = (0, 0, 0, 0);
    let mut forms = BTreeSet::new();
    for (id, experiment) in experiments.iter().enumerate() {
        let answer = answers.get(&id).with_context(|| format!("no answer to launch {id}"))?;
        if let Some(error) = &answer.error {
            refused += 1;
            say(&format!("{}: not executed: {error}", experiment.spelling()))?;
            continue;
        }
        let disagreements = experiment.disagreements("GPU", &answer.output);
        rows += experiment.rows();
        if disagreements.is_empty() {
            agree += 1;
            forms.insert(experiment.spelling());
            continue;
        }
        wrong += 1;
        for line in disagreements.iter().take(6) {
            say(line)?;
        }
    }
    say(&format!(
        "{agree} launches agree ({} forms), {wrong} disagree, {refused} were not executed; {rows} rows",
        forms.len()
    ))?;
    ensure!(wrong == 0, "{wrong} forms differ from the GPU");
    Ok(())
}
