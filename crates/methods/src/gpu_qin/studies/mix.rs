//! What goes with SDC rates: instruction mix, algorithm class; and how much state faults can reach.

use stats::{Regression, regression};
use std::collections::BTreeMap;

use super::cells::{on_undecided, rate};
use crate::gpu_qin::estimate::Bounded;
use crate::gpu_qin::measure::measure;
use crate::gpu_qin::mix::{Mix, StateBits, mixes};
use crate::gpu_qin::settings::{Choice, Settings};
use crate::gpu_qin::trials::TrialEnd;
use crate::kit::StudySubject;
use crate::kit::{Campaigns, StudyError};
use study::{Cell, Study, Table};

/// A kernel with its mix and its rates.
#[derive(Clone, Debug)]
pub struct KernelMix {
    /// The kernel.
    pub kernel: String,
    /// Its algorithm class.
    pub class: String,
    /// What it executes.
    pub mix: Mix,
    /// Its SDC rate.
    pub sdc: Bounded,
    /// Its crash rate.
    pub crash: Bounded,
    /// Activated trials that are undecided.
    pub undecided: u64,
}

/// The kernels of all subjects with their rates by the unbiased choice.
fn points(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Vec<KernelMix>, StudyError> {
    let mut points = Vec::new();
    let settings = Settings { choice: Choice::Unbiased, ..Settings::default() };
    for subject in subjects {
        let measured = measure(campaigns, &subject.capsule, settings, runs)?;
        let mixes = mixes(subject.capsule.golden_run());
        for kernel in measured.estimates.kernels {
            let (Some(rates), Some(&(mix, _))) = (kernel.rates, mixes.get(&kernel.kernel)) else { continue };
            let class = subject.class.clone().unwrap_or_else(|| "unknown".to_owned());
            let undecided = kernel.ends()[TrialEnd::Undecided.index()];
            points.push(KernelMix { kernel: kernel.kernel, class, mix, sdc: rates.sdc, crash: rates.crash, undecided });
        }
    }
    Ok(points)
}

const MADE: &str = "the unbiased choice, activated within the window of 1,600";

pub(super) fn study(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let points = points(subjects, runs, campaigns)?;
    let mut study = Study::new(
        "mix",
        "Instruction mix against SDC rate",
        format!(
            "Shares of all dynamic instructions by kind, rates from {runs} runs of each capsule ({MADE}). Ordinary least \
             squares with an intercept; p is that of the F test that no variable has an effect. The shares add up to one, so \
             the ALU's is left out."
        ),
    );
    let columns = ["kernel", "ALU", "FP", "memory", "control", "SDC rate", "crash rate"];
    let mut table = Table::new("Mix and rates", &columns);
    for point in &points {
        let mut row = vec![Cell::text(fault::base_name(&point.kernel))];
        row.extend(point.mix.shares().map(Cell::Share));
        row.extend([rate(Some(point.sdc)), rate(Some(point.crash))]);
        table.rows.push(row);
    }
    let undecided = points.iter().map(|point| point.undecided).sum();
    table.notes.extend(on_undecided(undecided));
    let mut models = regressions(&points);
    models.notes.extend((undecided > 0).then(|| "Models are of the rates of what is known.".to_owned()));
    study.tables.extend([table, models]);
    Ok(study)
}

/// A linear model of a rate by shares of instructions.
#[derive(Clone, Debug)]
pub struct Model {
    /// `SDC` or `crash`.
    pub rate: &'static str,
    /// The kinds of instructions.
    pub variables: &'static str,
    /// The fit; none if there are too few kernels.
    pub fit: Option<Regression>,
}

/// Linear models of the SDC rate and of the crash rate: all kinds together, and each alone.
#[must_use]
pub fn models(points: &[KernelMix]) -> Vec<Model> {
    let mut all = Vec::new();
    let models: [(&str, &[usize]); 5] =
        [("FP, memory, control", &[1, 2, 3]), ("ALU", &[0]), ("FP", &[1]), ("memory", &[2]), ("control", &[3])];
    for (name, rate) in
        [("SDC", (|point| point.sdc.rate) as fn(&KernelMix) -> f64), ("crash", |point| point.crash.rate)]
    {
        for (variables, indices) in models {
            let row = |point: &KernelMix| indices.iter().map(|&at| point.mix.shares()[at]).collect::<Vec<_>>();
            let rows: Vec<Vec<f64>> = points.iter().map(row).collect();
            let fit = regression(&rows, &points.iter().map(rate).collect::<Vec<_>>());
            all.push(Model { rate: name, variables, fit });
        }
    }
    all
}

/// The models as a table.
#[must_use]
pub fn regressions(points: &[KernelMix]) -> Table {
    let mut table = Table::new("Linear models", &["rate", "variables", "kernels", "R²", "F", "p"]);
    table.rows.extend(models(points).iter().map(|model| model_row(model, points.len())));
    table
}

/// A model of so many kernels as a row.
#[must_use]
pub fn model_row(model: &Model, kernels: usize) -> Vec<Cell> {
    let number = |value: fn(&Regression) -> f64| model.fit.as_ref().map(value).map_or(Cell::None, Cell::Number);
    vec![
        Cell::text(model.rate),
        Cell::text(model.variables),
        Cell::Count(kernels as u64),
        number(|fit| fit.r_squared),
        number(|fit| fit.f),
        number(|fit| fit.p),
    ]
}

pub(super) fn dwarfs(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let points = points(subjects, runs, campaigns)?;
    let mut study = Study::new(
        "dwarfs",
        "Algorithm classes",
        format!("The mean over the kernels of a class, from {runs} runs of each capsule ({MADE})."),
    );
    study.tables.push(classes(&points));
    Ok(study)
}

/// Mean, least and largest SDC rate by algorithm class.
#[must_use]
pub fn classes(points: &[KernelMix]) -> Table {
    let columns = ["class", "kernels", "SDC rate, mean", "least", "most", "crash rate, mean"];
    let mut table = Table::new("Rates by algorithm class", &columns);
    let mut by_class: BTreeMap<&str, Vec<&KernelMix>> = BTreeMap::new();
    for point in points {
        by_class.entry(&point.class).or_default().push(point);
    }
    for (class, points) in by_class {
        let kernels: Vec<&str> = points.iter().map(|point| fault::base_name(&point.kernel)).collect();
        let undecided = points.iter().any(|point| point.undecided > 0);
        let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
        let least = |rates: &[f64]| rates.iter().copied().fold(1.0, f64::min);
        let most = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
        let over = |of: fn(&KernelMix) -> Bounded, statistic: &dyn Fn(&[f64]) -> f64| {
            let over =
                |part: fn(Bounded) -> f64| statistic(&points.iter().map(|point| part(of(point))).collect::<Vec<_>>());
            let rate = over(|it| it.rate);
            if undecided {
                Cell::Rate { rate, low: over(|it| it.low), high: over(|it| it.high) }
            } else {
                Cell::Share(rate)
            }
        };
        table.rows.push(vec![
            Cell::text(class),
            Cell::text(kernels.join(", ")),
            over(|point| point.sdc, &mean),
            over(|point| point.sdc, &least),
            over(|point| point.sdc, &most),
            over(|point| point.crash, &mean),
        ]);
    }
    let undecided = points.iter().map(|point| point.undecided).sum();
    table.notes.extend(
        on_undecided(undecided).map(|note| format!("{note} Those of a class are over the bounds of its kernels.")),
    );
    table
}

pub(super) fn state(subjects: &[StudySubject], _: u64, _: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let mut study = Study::new(
        "state",
        "Share of state that faults can reach",
        "Over all dynamic instructions: bits of the registers that they name, of all threads that execute them, divided by \
         these, their predicates, and 64 bits of instruction for each time that a warp issues one (paper, appendix B). \
         Nothing is injected.",
    );
    let rows = subjects.iter().flat_map(|subject| {
        let mixes = mixes(subject.capsule.golden_run());
        mixes.into_iter().map(|(kernel, (_, state))| (subject.name().to_owned(), kernel, state))
    });
    study.tables.push(state_table(&rows.collect::<Vec<_>>()));
    Ok(study)
}

/// The share of each kernel, and the mean of all.
#[must_use]
pub fn state_table(kernels: &[(String, String, StateBits)]) -> Table {
    let mut table = Table::new("Injectable state", &["capsule", "kernel", "injectable"]);
    for (capsule, kernel, state) in kernels {
        let name = fault::base_name(kernel);
        table.rows.push(vec![Cell::text(capsule.clone()), Cell::text(name), Cell::Share(state.injectable())]);
    }
    let mean = kernels.iter().map(|(_, _, state)| state.injectable()).sum::<f64>() / kernels.len().max(1) as f64;
    table.rows.push(vec![Cell::text("mean"), Cell::text(""), Cell::Share(mean)]);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_qin::estimate::of_ends;

    fn kernel(ends: [u64; 5]) -> KernelMix {
        let [sdc, crash] = [1, 2].map(|end| of_ends(ends, end).unwrap());
        KernelMix {
            kernel: "k".to_owned(),
            class: "dense".to_owned(),
            mix: Mix::default(),
            sdc,
            crash,
            undecided: ends[4],
        }
    }

    #[test]
    fn the_rates_of_a_class_hold_what_is_undecided_between_their_bounds() {
        let decided = classes(&[kernel([50, 50, 0, 0, 0]), kernel([75, 25, 0, 0, 0])]);
        assert_eq!((&decided.rows[0][2], decided.notes.len()), (&Cell::Share(0.375), 0));
        let open = classes(&[kernel([30, 50, 0, 0, 20]), kernel([75, 25, 0, 0, 0])]);
        let Cell::Rate { rate, low, high } = open.rows[0][2] else { panic!("{:?}", open.rows) };
        assert!((rate - 0.375).abs() < 1e-12 && low < 0.375 && high > 0.475, "{low} {high}");
        let Cell::Rate { high, .. } = open.rows[0][4] else { panic!("{:?}", open.rows) };
        assert!(high > 0.7);
        assert!(open.notes[0].starts_with("20 activated trials are undecided"), "{:?}", open.notes);
    }
}
