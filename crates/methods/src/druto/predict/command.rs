//! `beamline predict`: rates by a model that injects nothing, and beside them those of a campaign.

use fault::Selection;
use inject::Golden;
use serde_json::{Value, json};
use stats::spearman;
use std::collections::BTreeMap;
use study::{Cell, Study, Table};

use super::follow::{FollowedRun, follow};
use super::model::{EndChances, chances};
use crate::druto::ends::{Ends, Rate};
use crate::druto::executed::Executed;
use crate::kit::{Campaigns, StudyError};
use crate::method::{Answer, Command, CommandOption, Request};
use campaign::Finding;
use outcome::Class;

/// Threads of each kernel that are followed if nothing is said, in both spellings.
const THREADS: u64 = 64;
const THREADS_SAID: &str = "64";

/// The command.
pub(in crate::druto) const COMMAND: Command = Command {
    name: "predict",
    about: "Predict how faults end in each instruction and kernel by a model of one golden run, without injections",
    options: &[
        CommandOption::any(
            "threads",
            "N",
            Some(THREADS_SAID),
            "Threads of each kernel that are followed through registers; of each launch, 8 at least",
        ),
        CommandOption::any("against", "RUNS", None, "Measure the rates, too, by a campaign of this number of runs"),
    ],
    without: &[
        ("plot", "nothing of it is plotted"),
        ("no_app", "it asks no application: the model knows the outputs alone, and measured rates are of these"),
    ],
    criteria: None,
    run: predict,
};

/// An instruction, with its predicted and measured ends.
struct PredictedInstruction {
    pc: u32,
    function: String,
    mnemonic: String,
    executed: u64,
    chances: EndChances,
    measured: Option<Ends>,
}

/// By kernel, number in the function and mnemonic, the ends of the runs.
type Measured = BTreeMap<(String, u32, String), Ends>;

fn predict(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let threads: u64 = request.options.get("threads")?.unwrap_or_default();
    if threads == 0 {
        return Err(StudyError::Words("follow 0 threads: --threads takes 1 or more".to_owned()));
    }
    if let Some(kernel) = campaigns.kernels.iter().find(|kernel| kernel.contains('#')) {
        let why = "the model is of all launches of a kernel; leave the number of the launch out";
        return Err(StudyError::Words(format!("predict the launch {kernel}: {why}")));
    }
    let selection = Selection::default().in_kernels(&campaigns.kernels);
    let selection = selection.map_err(|error| StudyError::Words(error.to_string()))?;
    let golden = request.capsule.golden_run();
    let run = follow(golden, threads, campaigns.seed);
    let found = chances(&run.flow, &run.regions);
    let measured = match request.options.get::<u64>("against")? {
        Some(runs) => Some(measure(request, campaigns, runs)?),
        None => None,
    };
    let mut study = Study::new("predict", "", "");
    let mut documents = Vec::new();
    for (number, kernel) in run.kernels.iter().enumerate() {
        let of_it = |launch: &&inject::GoldenLaunch| launch.program.name == *kernel;
        let mut launches = golden.launches().iter().filter(of_it);
        if !launches.any(|launch| selection.holds_launch(kernel, launch.number)) {
            continue;
        }
        let all = instructions(golden, &run, &found, number, measured.as_ref());
        let (tables, document) = shown(kernel, run.threads[number], &all, measured.is_some());
        study.tables.extend(tables);
        documents.push(document);
    }
    if documents.is_empty() {
        let names = campaigns.kernels.join(", ");
        return Err(StudyError::Words(format!("find a kernel: none matches {names}; `beamline profile` lists them")));
    }
    let json = json!({
        "format": "beamline.predict/1", "capsule": golden.capsule().name, "threads": threads,
        "seed": campaigns.seed, "kernels": documents,
    });
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new(), sheets: Vec::new() })
}

fn measure(request: &Request, campaigns: &mut Campaigns<'_>, runs: u64) -> Result<Measured, StudyError> {
    let results = campaigns.sampled(&request.capsule, "predict", runs)?.results;
    let mut measured = Measured::new();
    results.visit(&mut |row| {
        let Finding::Seen { outcome, .. } = &row.finding else { return };
        let class = outcome.class();
        if class.has_landed() {
            let spot = &row.site.spot;
            let end = Ends { landed: 1, sdc: u64::from(class == Class::Sdc), due: u64::from(class == Class::Due) };
            measured.entry((spot.kernel.clone(), spot.pc, spot.opcode.clone())).or_default().add(end);
        }
    })?;
    Ok(measured)
}

/// The instructions of a kernel that were executed and can be hit.
fn instructions(
    golden: &Golden,
    run: &FollowedRun,
    found: &[Vec<EndChances>],
    number: usize,
    measured: Option<&Measured>,
) -> Vec<PredictedInstruction> {
    let kernel = &run.kernels[number];
    let executed = Executed::of(golden, kernel);
    let Some(launch) = golden.launches().iter().find(|launch| launch.program.name == *kernel) else {
        return Vec::new();
    };
    let program = &launch.program;
    let mut by_instruction: BTreeMap<u32, Vec<EndChances>> = BTreeMap::new();
    for (key, &value) in run.flow.keys.iter().filter(|(key, _)| key.kernel == number as u32 && !key.is_memory) {
        let bits = &found[value];
        let sum = bits.iter().fold(EndChances::default(), |sum, it| sum.plus(*it));
        by_instruction.entry(key.instruction).or_default().push(sum.times(1.0 / bits.len() as f64));
    }
    let of = |(at, (&count, &(pc, is_hit))): (usize, (&u64, &(u32, bool)))| {
        let (facts, operands) = (program.facts(at as u32)?, by_instruction.get(&(at as u32))?);
        let sum = operands.iter().fold(EndChances::default(), |sum, it| sum.plus(*it));
        let mnemonic = facts.mnemonic.to_string();
        let function = program.function_of(at as u32).map_or_else(String::new, |it| it.name.clone());
        let ends = measured.and_then(|all| all.get(&(kernel.clone(), pc, mnemonic.clone())).copied());
        let chances = sum.times(1.0 / operands.len() as f64);
        let it = PredictedInstruction { pc, function, mnemonic, executed: count, chances, measured: ends };
        (is_hit && count > 0).then_some(it)
    };
    executed.counts.iter().zip(&executed.instructions).enumerate().filter_map(of).collect()
}

/// The ends of a fault anywhere in the instructions, and how often all of these execute.
fn whole(all: &[PredictedInstruction]) -> (EndChances, u64) {
    let executed: u64 = all.iter().map(|it| it.executed).sum();
    let sum = all.iter().fold(EndChances::default(), |sum, it| sum.plus(it.chances.times(it.executed as f64)));
    (sum.times(1.0 / executed.max(1) as f64), executed)
}

/// The SDC rate of a kernel that the model predicts; none where no instruction of it can be hit.
pub(in crate::druto) fn rate(golden: &Golden, kernel: &str) -> Option<f64> {
    let run = follow(golden, THREADS, 0);
    let number = run.kernels.iter().position(|it| it == kernel)?;
    let (chances, executed) = whole(&instructions(golden, &run, &chances(&run.flow, &run.regions), number, None));
    (executed > 0).then_some(chances.sdc)
}

/// A kernel as tables and as a document.
fn shown(kernel: &str, threads: u64, all: &[PredictedInstruction], is_measured: bool) -> (Vec<Table>, Value) {
    let (whole, _) = whole(all);
    let mut ends = Ends::default();
    all.iter().filter_map(|it| it.measured).for_each(|it| ends.add(it));
    let rate = |rate: Rate| match rate.landed {
        0 => Cell::None,
        _ => Cell::Rate { rate: rate.rate(), low: rate.bounds().low, high: rate.bounds().high },
    };
    let base = fault::base_name(kernel);
    let mut kernel_table = Table::new(format!("{base}: faults by their ends"), &["end", "predicted", "measured"]);
    let line = |name: &str, chance: f64, measured: Rate| vec![Cell::text(name), Cell::Share(chance), rate(measured)];
    let masked = Rate { count: ends.landed - ends.sdc - ends.due, landed: ends.landed };
    kernel_table.rows = vec![
        line("SDC", whole.sdc, ends.sdc()),
        line("DUE", whole.due, ends.due()),
        line("masked", 1.0 - whole.sdc - whole.due, masked),
    ];
    kernel_table.notes.push(format!(
        "Predicted without injections, from {threads} threads that were followed through registers and all that share memory. \
         Outputs count as corrupted if they differ at all."
    ));
    let hit: Vec<(f64, Rate)> =
        all.iter().filter_map(|it| Some((it.chances.sdc, it.measured?.sdc()))).filter(|it| it.1.landed > 0).collect();
    let pairs: Vec<(f64, f64)> = hit.iter().map(|(predicted, rate)| (*predicted, rate.rate())).collect();
    let error = (ends.landed > 0).then(|| (whole.sdc - ends.sdc().rate()).abs());
    let mean = |sum: f64| (!pairs.is_empty()).then(|| sum / pairs.len() as f64);
    let mean_error = mean(pairs.iter().map(|(predicted, rate)| (predicted - rate).abs()).sum());
    let of_mean = mean(pairs.iter().map(|(_, rate)| (ends.sdc().rate() - rate).abs()).sum());
    let correlation = spearman(&pairs).map(|it| (it.coefficient, it.bounds(stats::Confidence::PERCENT_95)));
    if is_measured {
        let number =
            |it: Option<f64>| it.map_or_else(|| "not known".to_owned(), |it| format!("{:.1} points", it * 100.0));
        let ranks = correlation.map_or_else(
            || "cannot be said".to_owned(),
            |(value, bounds)| format!("is {value:.2} ({:.2} to {:.2})", bounds.low, bounds.high),
        );
        kernel_table.notes.push(format!(
            "The absolute error of the SDC rate is {}; over {} instructions that runs hit its mean is {}, where the measured \
             rate of the kernel for each of them has {}, and the rank correlation (Spearman, bounds at 95 %) {ranks}. All hold \
             the noise of the measured rates.",
            number(error),
            pairs.len(),
            number(mean_error),
            number(of_mean)
        ));
    }
    let mut table = Table::new(
        format!("{base}: instructions"),
        &["function", "pc", "instruction", "executed", "SDC", "DUE", "measured SDC"],
    );
    let row = |it: &PredictedInstruction| {
        vec![
            Cell::text(fault::base_name(&it.function)),
            Cell::Count(it.pc.into()),
            Cell::text(&it.mnemonic),
            Cell::Count(it.executed),
            Cell::Share(it.chances.sdc),
            Cell::Share(it.chances.due),
            it.measured.map_or(Cell::None, |ends| rate(ends.sdc())),
        ]
    };
    table.rows = all.iter().map(row).collect();
    let instruction = |it: &PredictedInstruction| {
        json!({
            "function": it.function, "pc": it.pc, "mnemonic": it.mnemonic, "executed": it.executed,
            "sdc": it.chances.sdc, "due": it.chances.due,
            "measured": it.measured.map(|ends| json!({"landed": ends.landed, "sdc": ends.sdc, "due": ends.due})),
        })
    };
    let document = json!({
        "kernel": kernel, "threads": threads, "sdc": whole.sdc, "due": whole.due,
        "masked": 1.0 - whole.sdc - whole.due,
        "measured": is_measured.then(|| json!({"landed": ends.landed, "sdc": ends.sdc, "due": ends.due})),
        "absolute_error": error, "mean_absolute_error": mean_error,
        "mean_absolute_error_of_the_rate": of_mean,
        "spearman": correlation.map(|(value, bounds)| json!({"value": value, "low": bounds.low, "high": bounds.high})),
        "instructions": all.iter().map(instruction).collect::<Vec<_>>(),
    });
    (vec![kernel_table, table], document)
}
