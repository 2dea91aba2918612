//! The tables of the page.

use methods::hardening::Scheme;
use study::{Cell, Table};

use super::others::chosen;
use super::rules::interval;
use super::survey::{
    CHAPTER, IN_PART, InjectedWorkload, PartlyProtected, ProtectedWorkload, RunEnds, SinrgSurvey, TimedWorkload,
    remaining,
};
use crate::words::{listed, of, percent};

/// A rate of a campaign with its bounds.
pub(super) fn rate(ends: RunEnds, count: u64) -> Cell {
    let (rate, bounds) = ends.share(count);
    if ends.landed == 0 { Cell::None } else { Cell::Rate { rate, low: bounds.low, high: bounds.high } }
}

pub(super) fn share(part: u64, of: u64) -> f64 {
    part as f64 / of.max(1) as f64
}

/// Every workload with every scheme.
fn each(survey: &SinrgSurvey) -> impl Iterator<Item = (&InjectedWorkload, &ProtectedWorkload)> {
    survey.injected.iter().flat_map(|it| it.protected.iter().map(move |by| (it, by)))
}

/// How many more instructions there are, static and dynamic, by workload and scheme.
pub(super) fn growth(survey: &SinrgSurvey) -> Table {
    let mut columns = vec!["workload".to_owned()];
    for scheme in Scheme::INSTRUCTIONS {
        columns.extend(["static", "dynamic"].map(|which| format!("{}, {which}", scheme.word())));
    }
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("More instructions of PTX than without protection", &names);
    for it in &survey.injected {
        let mut row = vec![Cell::text(&it.name)];
        for scheme in Scheme::INSTRUCTIONS {
            let Some(by) = it.by(scheme) else {
                row.extend([Cell::None, Cell::None]);
                continue;
            };
            row.push(Cell::Share(share(by.after, by.before) - 1.0));
            row.push(Cell::Share(share(by.dynamic.all(), it.executed) - 1.0));
        }
        table.rows.push(row);
    }
    table
}

/// Figure 4.6: what the dynamic instructions are.
pub(super) fn classes(survey: &SinrgSurvey) -> Table {
    let columns =
        ["workload", "scheme", "covered originals", "duplicates", "verification", "copies and entry", "uncovered"];
    let mut table = Table::new("Dynamic instructions by class", &columns);
    for (it, by) in each(survey).filter(|(_, by)| by.scheme.starts_with("fastsig")) {
        let (dynamic, all) = (by.dynamic, by.dynamic.all());
        let parts = [dynamic.covered, dynamic.duplicate, dynamic.verification, dynamic.copy + dynamic.entry];
        let mut row = vec![Cell::text(&it.name), Cell::text(by.scheme)];
        row.extend(parts.into_iter().chain([dynamic.uncovered]).map(|part| Cell::Share(share(part, all))));
        table.rows.push(row);
    }
    table
}

/// Figure 4.7: what faults come to.
pub(super) fn outcomes(survey: &SinrgSurvey) -> Table {
    let columns = [
        "workload",
        "scheme",
        "SDC",
        "detected",
        "crashes and hangs",
        "uncovered instructions",
        "SDC × instructions, of before",
    ];
    let mut table = Table::new("Ends of faults with and without protection", &columns);
    for it in &survey.injected {
        let plain = [it.ends.sdc, it.ends.detected, it.ends.other].map(|count| rate(it.ends, count));
        let [sdc, _, other] = plain;
        table.rows.push(vec![
            Cell::text(&it.name),
            Cell::text("none"),
            sdc,
            Cell::None,
            other,
            Cell::Share(1.0),
            Cell::None,
        ]);
        for by in &it.protected {
            let all = by.dynamic.all();
            let left = remaining([it.ends, by.ends], [it.executed, all]);
            let mut row = vec![Cell::text(&it.name), Cell::text(by.scheme)];
            row.extend([by.ends.sdc, by.ends.detected, by.ends.other].map(|count| rate(by.ends, count)));
            row.push(Cell::Share(share(by.dynamic.uncovered, all)));
            row.push(left.map_or(Cell::None, |(value, low, high)| Cell::Quantity { value, low, high }));
            table.rows.push(row);
        }
    }
    table
}

/// Schemes of the thesis with times on GPUs, and those without.
fn with_times(survey: &SinrgSurvey) -> (Vec<Scheme>, Vec<Scheme>) {
    let of_thesis = Scheme::all().filter(|scheme| !Scheme::XOR.contains(scheme));
    of_thesis.partition(|scheme| survey.timed.iter().any(|it| it.scheme == scheme.word()))
}

/// Figure 4.5: times on GPUs.
pub(super) fn times(survey: &SinrgSurvey) -> Table {
    let (schemes, _) = with_times(survey);
    let mut columns = vec!["workload"];
    columns.extend(schemes.iter().map(|scheme| scheme.word()));
    columns.push("auto");
    let mut table = Table::new("Time of all kernels, as a multiple of that without protection", &columns);
    let found = |name: &str, scheme: Scheme| {
        let it = survey.timed.iter().find(|it| it.name == name && it.scheme == scheme.word());
        it.map_or(Cell::None, |it| Cell::Quantity { value: it.ratio, low: it.low, high: it.high })
    };
    for name in CHAPTER {
        let mut row = vec![Cell::text(name)];
        row.extend(schemes.iter().map(|scheme| found(name, *scheme)));
        let automatic = survey.chosen.iter().find(|it| it.application == name);
        row.push(automatic.map_or(Cell::None, |it| Cell::Number(it.automatic)));
        table.rows.push(row);
    }
    table
}

/// Which GPUs and schemes have times.
pub(super) fn devices(survey: &SinrgSurvey) -> String {
    let (with, without) = with_times(survey);
    let words = |schemes: &[Scheme]| listed(schemes.iter().map(|scheme| scheme.word()));
    let mut devices: Vec<&str> = survey.timed.iter().map(|it| it.device.as_str()).collect();
    devices.sort_unstable();
    devices.dedup();
    let mut text = format!("There are times of {}, measured on {}.", words(&with), listed(devices));
    let written = |it: &&TimedWorkload| each(survey).find(|(of, by)| of.name == it.name && by.scheme == it.scheme);
    let compared: Vec<bool> = survey.timed.iter().filter_map(|it| Some(written(&it)?.1.digest == it.digest)).collect();
    let same = compared.iter().filter(|same| **same).count();
    text.push_str(&format!(
        " Of {} of them, this page protects the workload, too: {same} were measured with the same code to the bit.",
        compared.len()
    ));
    if !without.is_empty() {
        text.push_str(&format!(" There are none of {}.", words(&without)));
    }
    text
}

/// The overhead of the automatic choice, beside the aim of less than 30 %.
pub(super) fn choice(survey: &SinrgSurvey) -> String {
    const AIM: f64 = 0.3;
    let overheads: Vec<f64> = chosen(survey).map(|it| it.automatic - 1.0).collect();
    let Some((mean, half)) = interval(&overheads) else {
        return "There are no times by the automatic choice.".to_owned();
    };
    let reached = if mean.mean + half < AIM {
        "is reached"
    } else if mean.mean - half >= AIM {
        "is not reached"
    } else {
        "lies within that interval"
    };
    format!(
        "With the automatic choice, the kernels of {} workloads take {} ({} to {}) longer in the mean, each by a tree that was learned from the \
         others; the aim, less than {}, {reached}.",
        mean.count,
        percent(mean.mean),
        percent(mean.mean - half),
        percent(mean.mean + half),
        percent(AIM)
    )
}

/// The least growth of instructions that leaves at most half of the corruptions, by workload that is protected in part.
pub(super) fn half(survey: &SinrgSurvey) -> String {
    let growth = |it: &PartlyProtected| share(it.executed[1], it.executed[0]) - 1.0;
    let halves = |it: &&PartlyProtected| remaining(it.ends, it.executed).is_some_and(|(left, ..)| left <= 0.5);
    let cheapest = |name: &str| {
        let all = survey.parts.iter().filter(|it| it.name == name).filter(halves).map(growth);
        all.reduce(f64::min)
    };
    let found: Vec<(&str, f64)> = IN_PART.iter().filter_map(|name| Some((*name, cheapest(name)?))).collect();
    let cheap = found.iter().filter(|(_, growth)| *growth <= 0.1).count();
    format!(
        "By the estimates, a choice leaves at most half of SDC × instructions in {} workloads, with at most a tenth more instructions in {}. The least growth \
         of instructions that does it: {}.",
        of(found.len(), IN_PART.len()),
        of(cheap, IN_PART.len()),
        listed(found.iter().map(|(name, growth)| format!("{name} {}", percent(*growth))))
    )
}

/// Selective protection: what was expected and what was measured.
pub(super) fn parts(survey: &SinrgSurvey) -> Table {
    let columns = [
        "workload",
        "scheme",
        "budget",
        "instructions chosen",
        "more instructions, expected",
        "measured",
        "SDC × instructions left, expected",
        "measured, of before",
    ];
    let mut table = Table::new("Protection of chosen instructions", &columns);
    for it in &survey.parts {
        let left = remaining(it.ends, it.executed);
        table.rows.push(vec![
            Cell::text(&it.name),
            Cell::text(it.scheme),
            Cell::Share(it.budget),
            Cell::Count(it.forecast.instructions),
            Cell::Share(it.forecast.overhead),
            Cell::Share(share(it.executed[1], it.executed[0]) - 1.0),
            it.forecast.coverage.map_or(Cell::None, |coverage| Cell::Share(1.0 - coverage)),
            left.map_or(Cell::None, |(value, low, high)| Cell::Quantity { value, low, high }),
        ]);
    }
    table
}
