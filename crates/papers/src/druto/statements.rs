//! The statements of the paper about inputs, ranks and protection, each with its rule and its verdict.

use super::rules::{Estimate, KERNELS, at_least, most, statement};
use super::searches::LEAST_INPUTS;
use super::survey::{Measured, SEARCHED};
use super::tables::{coefficient, of_kernels};
use crate::documents::{at, list, number};
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::{listed, of, percent};
use serde_json::Value;
use stats::{Confidence, Repeated};
use std::borrow::Borrow;

/// All statements.
pub(super) fn statements(all: &[Measured]) -> Vec<Part> {
    vec![
        Part { name: "statements-inputs", statements: vec![vary(all), reference(all)] },
        Part { name: "statements-ranks", statements: ranks(all) },
        Part { name: "statements-searches", statements: [super::searches::statements(all), vec![model(all)]].concat() },
        Part { name: "statements-protection", statements: vec![protection(all)] },
    ]
}

/// An estimate in a document of the studies.
fn of_study(it: &Measured, path: &str, key: &str) -> Option<Estimate> {
    Estimate::read(at(&it.studies, &format!("studies.{path}"))?, key)
}

fn vary(all: &[Measured]) -> Statement {
    let refuted =
        |it: &&Measured| number(&it.studies, "studies.range.p_alike").is_some_and(|p| p * all.len() as f64 <= 0.05);
    let vary: Vec<&str> = all.iter().filter(refuted).map(|it| it.name).collect();
    let width = |it: &Measured| {
        let of = |end| of_study(it, &format!("range.{end}"), "rate");
        Some(of("highest")?.value - of("lowest")?.value)
    };
    let widths: Vec<f64> = all.iter().filter_map(width).collect();
    let ends = |of: fn(f64, f64) -> f64| widths.iter().copied().reduce(of).unwrap_or_default();
    let (least, widest) = (ends(f64::min), ends(f64::max));
    statement(
        "the SDC rate depends on the input (Figure 1)",
        "in all 14 kernels; by 0.4 to 77.6 points",
        format!("{}; by {:.1} to {:.1} points", of(vary.len(), all.len()), least * 100.0, widest * 100.0),
        Judged::by(
            "in each kernel one rate for all inputs is refuted, p corrected for the kernels; a kernel where it is not decides nothing",
            if !all.is_empty() && vary.len() == all.len() { Verdict::Holds } else { Verdict::Open },
        ),
    )
}

fn reference(all: &[Measured]) -> Statement {
    let both = |it: &Measured| {
        let search = it.of_equal_budgets()?;
        let random = list(search, "comparison").iter().find(|row| row["searcher"] == "random")?;
        Some((Estimate::read(random, "median")?, Estimate::read(it.reference()?, "rate")?))
    };
    let pairs: Vec<(&str, Estimate, Estimate)> =
        all.iter().filter_map(|it| both(it).map(|(random, reference)| (it.name, random, reference))).collect();
    let above: Vec<&str> =
        pairs.iter().filter(|(_, random, it)| random.low > it.high).map(|(name, ..)| *name).collect();
    let below = pairs.iter().filter(|(_, random, it)| random.high < it.low).count();
    statement(
        "the reference input does not reach the highest rates (Section III-B)",
        "for most kernels",
        format!("{}: {}", of(above.len(), pairs.len()), listed(&above)),
        Judged::by(
            "in more than half of the kernels the best of 50 random inputs or more, measured anew, lies above the reference, interval against \
             interval; not, if it lies below in at least half",
            most(above.len(), below, pairs.len()),
        ),
    )
}

/// The paper's least coefficients of Tables III and IV: of MVT, and of needle's first kernel.
const LEAST: [f64; 2] = [0.71, 0.60];
/// Its mean for CPU programs, from PEPPA-X.
const STABLE: f64 = 0.83;

fn ranks(all: &[Measured]) -> Vec<Statement> {
    let instructions = |it: &Measured, key: &str| of_study(it, &format!("instructions.{key}"), "value");
    let studied: Vec<&Measured> = all.iter().filter(|it| instructions(it, "across_inputs").is_some()).collect();
    let is_unstable = |it: &&&Measured| {
        let (across, ceiling) = (instructions(it, "across_inputs"), instructions(it, "ceiling"));
        across.zip(ceiling).is_some_and(|(across, ceiling)| across.high < STABLE && across.high < ceiling.low)
    };
    let is_stable = |it: &&&Measured| instructions(it, "across_inputs").is_some_and(|across| across.low >= STABLE);
    let unstable = studied.iter().filter(is_unstable).count();
    let stable = studied.iter().filter(is_stable).count();
    let kernel = |it: &Measured, key: &str| Estimate::read(of_kernels(it, key), "value");
    let thread = |it: &Measured, key: &str| of_study(it, &format!("threads.{key}"), "value");
    let fitness: Vec<Verdict> = all
        .iter()
        .map(|it| match kernel(it, "fitness") {
            Some(found) if found.low > 0.0 => Verdict::Holds,
            Some(found) if found.high < 0.0 => Verdict::Fails,
            _ => Verdict::Open,
        })
        .collect();
    let dominant = all.iter().map(|it| at_least(kernel(it, "dominant"), kernel(it, "ceiling_dominant"), LEAST[0]));
    let counted: Vec<&Measured> = all.iter().filter(|it| thread(it, "counts").is_some()).collect();
    let counts = counted.iter().map(|it| at_least(thread(it, "counts"), thread(it, "ceiling"), LEAST[1]));
    vec![
        statement(
            "the ranks of instructions by SDC are not stable across inputs (Table II)",
            "0.59 in the mean, 0.25 to 0.84; 0.83 for CPU programs",
            with_mean(&studied, |it| &it.studies["studies"]["instructions"]["across_inputs"]),
            Judged::by(
                format!(
                    "in more than half of the kernels, {KERNELS} at least, the whole interval lies below {STABLE} and below that of two \
                     campaigns on one input; not, if it lies at or above {STABLE} in at least half"
                ),
                most(unstable, stable, studied.len()),
            ),
        ),
        statement(
            "dominant threads rank inputs as the kernel does (O1, Table III)",
            "0.81 in the mean, 0.71 to 0.92",
            with_mean(all, |it| of_kernels(it, "dominant")),
            Judged::by(
                format!(
                    "in each kernel the whole interval lies at {} or above; not, if one lies below that times the lower bound of its ceiling",
                    LEAST[0]
                ),
                every(dominant.collect()),
            ),
        ),
        statement(
            "instruction counts rank threads as SDC rates do (O2, Table IV)",
            "0.73 in the mean, 0.60 to 0.92",
            with_mean(&counted, |it| &it.studies["studies"]["threads"]["counts"]),
            Judged::by(
                format!(
                    "in each kernel whose threads do not all execute alike the whole interval lies at {:.2} or above; not, if one lies \
                     below that times the lower bound of its ceiling",
                    LEAST[1]
                ),
                every(counts.collect()),
            ),
        ),
        statement(
            "inputs whose dominant threads execute more are more vulnerable (Section III-F, Equation 1)",
            "–",
            with_mean(all, |it| of_kernels(it, "fitness")),
            Judged::by(
                "in each kernel the whole interval of the rank correlation lies above 0; not, if one lies below",
                every(fitness),
            ),
        ),
    ]
}

/// The mean of a coefficient over the kernels, and that of each.
fn with_mean<'m, M: Borrow<Measured>>(all: &'m [M], of: impl Fn(&'m Measured) -> &'m Value) -> String {
    let values: Vec<f64> = all.iter().filter_map(|it| of(it.borrow())["value"].as_f64()).collect();
    if values.is_empty() {
        return "–".to_owned();
    }
    let one = |it: &'m M| format!("{} {}", it.borrow().name, coefficient(of(it.borrow())));
    let each: Vec<String> = all.iter().map(one).collect();
    format!("{:.2} in the mean: {}", values.iter().sum::<f64>() / values.len() as f64, each.join("; "))
}

/// The verdict of several kernels together; undecided without a kernel.
fn every(verdicts: Vec<Verdict>) -> Verdict {
    if verdicts.is_empty() { Verdict::Open } else { Verdict::all(verdicts) }
}

/// Whether a model of one run follows the input; ours stands for GPU-Trident.
fn model(all: &[Measured]) -> Statement {
    let found = |it: &Measured| of_study(it, "model.ranks", "value");
    let studied: Vec<&Measured> = all.iter().filter(|it| found(it).is_some()).collect();
    let follows = studied.iter().filter(|it| found(it).is_some_and(|it| it.low > 0.0)).count();
    statement(
        "a model of one run is insensitive to inputs (Section VII, of GPU-Trident)",
        "–",
        with_mean(&studied, |it| &it.studies["studies"]["model"]["ranks"]),
        Judged::by(
            format!(
                "the rank correlation of rates predicted by our model and measured ones does not lie above 0 with its whole interval in more \
                 than half of the kernels, {KERNELS} at least; not, if it does in at least half"
            ),
            most(studied.len() - follows, follows, studied.len()),
        ),
    )
}

/// The paper's mean drop of coverage in Figure 8, from 85.58 to 59.94 %.
const DROP: f64 = 0.257;

/// Whether the mean drop over kernels is smaller than the paper's, with its whole interval (Student's t).
fn is_small(drops: &[f64]) -> bool {
    let repeated = Repeated::of(drops).filter(|_| drops.len() >= KERNELS);
    repeated.is_some_and(|it| it.mean + it.half_width(0.0, Confidence::PERCENT_95) < DROP)
}

/// The budget at which Figure 8 protects.
const BUDGET: f64 = 0.3;

fn protection(all: &[Measured]) -> Statement {
    let coverages = |it: &Measured| {
        let levels = list(&it.studies, "studies.protection.levels");
        let level = levels.iter().find(|level| level["budget"].as_f64() == Some(BUDGET))?;
        let of = |input: &str| Estimate::read(&level["for_reference"][input], "rate");
        Some((of("reference")?, of("found")?))
    };
    let pairs: Vec<(&str, Estimate, Estimate)> =
        all.iter().filter_map(|it| coverages(it).map(|(expected, actual)| (it.name, expected, actual))).collect();
    let less: Vec<&str> = pairs.iter().filter(|(_, it, actual)| actual.high < it.low).map(|(name, ..)| *name).collect();
    let more = pairs.iter().filter(|(_, it, actual)| actual.low > it.high).count();
    let drops: Vec<f64> = pairs.iter().map(|(_, expected, actual)| expected.value - actual.value).collect();
    let mean = |of: &dyn Fn(&(&str, Estimate, Estimate)) -> f64| {
        percent(pairs.iter().map(of).sum::<f64>() / pairs.len().max(1) as f64)
    };
    statement(
        "instructions protected for the reference cover less with the input that DRUTO finds (Figure 8)",
        "at 30 %: 85.6 % expected, 59.9 % actual in the mean",
        format!(
            "{} and {} in the mean; less in {}: {}",
            mean(&|it| it.1.value),
            mean(&|it| it.2.value),
            of(less.len(), pairs.len()),
            listed(&less)
        ),
        Judged::by(
            format!(
                "at a budget of 30 % the actual coverage lies below the expected one, interval against interval, in more than half of \
                 the kernels, {KERNELS} at least; not, if it lies above in at least half, or if the paper's drop of 25.7 points lies above the \
                 95 % interval of our mean drop; undecided while the searches have fewer inputs ({SEARCHED}) than ten generations have ({LEAST_INPUTS})"
            ),
            match SEARCHED < LEAST_INPUTS {
                true => Verdict::Open,
                false if is_small(&drops) => Verdict::Fails,
                false => most(less.len(), more, pairs.len()),
            },
        ),
    )
}
