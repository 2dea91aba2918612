//! The instruction vectors on the GPU of this machine.

use crate::repo::say;
use anyhow::{Context, Result, ensure};
use gpu::{Gpu, GpuError, LaunchShape};
use std::collections::BTreeSet;
use testkit::vectors::random::{self, Answers, VectorSource};
use testkit::vectors::{Experiment, read_all};

/// Executes every vector on the GPU and compares; the random ones too, or with `bless` keeps what it answers.
pub(crate) fn vectors(bless: bool) -> Result<()> {
    let rows = read_all()?;
    let gpu = Gpu::open()?;
    let description = gpu.description();
    say(&format!("{}, driver for CUDA {}.{}", description.name, description.driver.0, description.driver.1))?;
    let mut wrong = compare(&gpu, &Experiment::all(&rows))?;
    let trials = VectorSource::all(&rows);
    if bless {
        keep(&gpu, trials)?;
    } else {
        wrong += compare_random(&gpu, trials)?;
    }
    ensure!(wrong == 0, "{wrong} forms differ from the GPU");
    Ok(())
}

/// Executes the launches of the vector files; how many differ.
fn compare(gpu: &Gpu, experiments: &[Experiment]) -> Result<usize> {
    let (mut rows, mut wrong, mut refused) = (0, 0, 0);
    let mut forms = BTreeSet::new();
    for experiment in experiments {
        let Some(out) = execute(gpu, experiment)? else {
            refused += 1;
            continue;
        };
        let disagreements = experiment.disagreements("GPU", &out);
        rows += experiment.rows();
        if disagreements.is_empty() {
            forms.insert(experiment.spelling());
            continue;
        }
        wrong += 1;
        for line in disagreements.iter().take(6) {
            say(line)?;
        }
    }
    say(&format!("{} forms agree, {wrong} differ, {refused} were not executed; {rows} rows", forms.len()))?;
    Ok(wrong)
}

/// Executes the random rows; how many forms gave other results than those that are kept.
fn compare_random(gpu: &Gpu, trials: Vec<VectorSource>) -> Result<usize> {
    let random::KeptAnswers { trials: kept, without } = random::unpack(trials)?;
    let (mut rows, mut wrong) = (0, 0);
    for (trial, answers) in &kept {
        let Some(found) = ask(gpu, trial)? else { continue };
        rows += found.len();
        if found != *answers {
            wrong += 1;
            say(&format!("{}: the GPU gives other results than those kept", trial.name))?;
        }
    }
    let (kept, without) = (kept.len(), without.len());
    say(&format!("{kept} forms with random rows, {wrong} differ, {without} have none; {rows} rows"))?;
    Ok(wrong)
}

/// Keeps what the GPU makes of the random rows.
fn keep(gpu: &Gpu, trials: Vec<VectorSource>) -> Result<()> {
    let mut kept = Vec::new();
    for trial in trials {
        if let Some(answers) = ask(gpu, &trial)? {
            kept.push((trial, answers));
        }
    }
    let (path, bytes) = (random::answers_path(), random::pack(&kept)?);
    std::fs::write(&path, &bytes).with_context(|| format!("write {}", path.display()))?;
    let rows = kept.len() * random::ROWS;
    say(&format!("{} forms, {rows} random rows, {} bytes in {}", kept.len(), bytes.len(), path.display()))
}

fn ask(gpu: &Gpu, trial: &VectorSource) -> Result<Option<Answers>> {
    Ok(execute(gpu, &trial.experiment())?.map(|out| trial.answers(&out)))
}

/// The bytes behind `out` after a launch; none, and a line, where the driver's compiler refuses the module.
fn execute(gpu: &Gpu, experiment: &Experiment) -> Result<Option<Vec<u8>>> {
    let module = match gpu.load(&experiment.text()) {
        Ok(module) => module,
        Err(refused @ GpuError::Refused { .. }) => {
            say(&format!("{}: not executed: {refused:.300}", experiment.spelling()))?;
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    let ((blocks, block, threads), (input, mut output)) = (experiment.shape(), experiment.memory());
    let params =
        |from: u64, to: u64| [&from.to_le_bytes()[..], &to.to_le_bytes(), &(threads as u32).to_le_bytes()].concat();
    let shape =
        LaunchShape { grid: [blocks as u32, 1, 1], block: [block as u32, 1, 1], shared_bytes: 0, cooperative: false };
    let run = module.run("plain", shape, &input, &mut output, params);
    run.with_context(|| experiment.spelling().to_owned())?;
    Ok(Some(output))
}
