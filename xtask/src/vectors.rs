//! The instruction vectors on a real GPU: written as launches, executed by `filetests/instructions/on_gpu.py` where there
//! is one, and compared here.

use crate::{root, say};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use testkit::vectors::{Experiment, Row, read};

/// A line of the file that goes to the GPU.
#[derive(Serialize)]
struct Question<'a> {
    id: usize,
    form: &'a str,
    ptx: String,
    blocks: usize,
    block: usize,
    threads: usize,
    /// Bytes in hexadecimal.
    input: String,
    output: String,
}

/// A line of the file that comes back.
#[derive(Deserialize)]
struct Answer {
    id: usize,
    #[serde(default)]
    output: String,
    #[serde(default)]
    error: Option<String>,
}

/// Writes every form as a launch.
pub(crate) fn write(path: &Path) -> Result<()> {
    let mut file =
        std::io::BufWriter::new(fs::File::create(path).with_context(|| format!("create {}", path.display()))?);
    let experiments = Experiment::all(&rows()?);
    for (id, experiment) in experiments.iter().enumerate() {
        let ((blocks, block, threads), (input, output)) = (experiment.shape(), experiment.memory());
        let (input, output) = (hexadecimal(&input), hexadecimal(&output));
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
    let experiments = Experiment::all(&rows()?);
    let (mut agree, mut rows, mut wrong, mut refused) = (0, 0, 0, 0);
    let mut forms = BTreeSet::new();
    for (id, experiment) in experiments.iter().enumerate() {
        let answer = answers.get(&id).with_context(|| format!("no answer to launch {id}"))?;
        if let Some(error) = &answer.error {
            refused += 1;
            say(&format!("{}: not executed: {error}", experiment.spelling()))?;
            continue;
        }
        let out = bytes(&answer.output).with_context(|| format!("read the output of launch {id}"))?;
        let disagreements = experiment.disagreements("GPU", &out);
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

fn rows() -> Result<Vec<Row>> {
    let folder = root().join("filetests/instructions");
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "vec"));
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).context("a file name")?;
        all.extend(read(name, &fs::read_to_string(&path)?)?);
    }
    Ok(all)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2) && text.is_ascii(), "expected pairs of hexadecimal digits");
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    pairs.collect::<Result<_, _>>().context("expected hexadecimal digits")
}
