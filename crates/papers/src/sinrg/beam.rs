//! Figure 4.8: one workload without protection, with DRDV, and with DRDV that executes loads twice, too.

use methods::hardening::Scheme;
use study::{Cell, Table};

use super::rules::{Claim, count, one, statement, unmeasured};
use super::survey::{BEAM, InjectedWorkload, ProtectedWorkload, RunEnds, SinrgSurvey, remaining};
use super::tables::{rate, share};
use crate::statements::{Judged, Statement, Verdict};

/// The workload, as DRDV protects it without and with load duplication.
fn measured(survey: &SinrgSurvey) -> Option<(&InjectedWorkload, [&ProtectedWorkload; 2])> {
    let it = survey.injected.iter().find(|it| it.name == BEAM)?;
    Some((it, [it.by(Scheme::Drdv)?, it.loads.as_ref()?]))
}

fn uncovered(by: &ProtectedWorkload) -> f64 {
    share(by.dynamic.uncovered, by.dynamic.all())
}

/// The statements about it.
pub(super) fn beam(survey: &SinrgSurvey) -> Vec<Statement> {
    let found = measured(survey);
    let corrupted = |of: fn(&InjectedWorkload, [&ProtectedWorkload; 2]) -> RunEnds| {
        let ends = found.map(|(it, by)| of(it, by))?;
        let (rate, bounds) = ends.share(ends.sdc);
        Some((rate, bounds.low, bounds.high))
    };
    vec![
        one(
            ("72 % of the faults in mm end in SDC without protection (Figure 4.8)", "72 %"),
            0.72,
            corrupted(|it, _| it.ends),
        ),
        one(("18 % do with DRDV (Figure 4.8)", "18 %"), 0.18, corrupted(|_, [drdv, _]| drdv.ends)),
        one(("none does with load duplication (Figure 4.8)", "0 %"), 0.0, corrupted(|_, [_, loads]| loads.ends)),
        count(
            ("29 % of mm's instructions are uncovered with DRDV (Figure 4.8)", "29 %"),
            found.map(|(_, [drdv, _])| uncovered(drdv)),
        ),
        count(("3 % are with load duplication (Figure 4.8)", "3 %"), found.map(|(_, [_, loads])| uncovered(loads))),
        falling(survey),
        unmeasured(
            ("under a beam, mm's SDC rate falls by an order of magnitude, and its DUE rate rises (Figure 4.8)", "10×"),
            "no beam was used",
        ),
    ]
}

/// Whether both shares fall from each version to the next.
fn falling(survey: &SinrgSurvey) -> Statement {
    let claim: Claim<'_> = (
        "fewer instructions are uncovered and fewer faults corrupt with DRDV, and fewer again with load duplication (Figure 4.8)",
        "100, 29, 3 %; 72, 18, 0 %",
    );
    let rule = "the uncovered share falls from each version to the next, and the interval of the SDC rate is below that of the one before";
    let Some((it, [drdv, loads])) = measured(survey) else { return unmeasured(claim, rule) };
    let bounds = [it.ends, drdv.ends, loads.ends].map(|ends| ends.share(ends.sdc).1);
    let step = |from: usize| {
        if bounds[from + 1].high < bounds[from].low {
            Verdict::Holds
        } else if bounds[from + 1].low > bounds[from].high {
            Verdict::Fails
        } else {
            Verdict::Open
        }
    };
    let covered = Verdict::plain(uncovered(drdv) < 1.0 && uncovered(loads) < uncovered(drdv));
    let verdict = Verdict::all([covered, step(0), step(1)]);
    let percents = |shares: [f64; 3]| shares.map(|share| format!("{:.1}", share * 100.0)).join(", ");
    let rates = [it.ends, drdv.ends, loads.ends].map(|ends| ends.share(ends.sdc).0);
    let ours = format!("{} %; {} %", percents([1.0, uncovered(drdv), uncovered(loads)]), percents(rates));
    statement(claim, ours, Judged::by(rule, verdict))
}

/// The figure as a table.
pub(super) fn versions(survey: &SinrgSurvey) -> Table {
    let columns =
        ["version", "uncovered instructions", "SDC", "detected", "crashes and hangs", "SDC × instructions, of before"];
    let mut table = Table::new("Load duplication in matmul", &columns);
    let Some((it, [drdv, loads])) = measured(survey) else { return table };
    let mut row = |name: &str, uncovered: f64, ends: RunEnds, left: Option<(f64, f64, f64)>| {
        let mut row = vec![Cell::text(name), Cell::Share(uncovered)];
        row.extend([ends.sdc, ends.detected, ends.other].map(|count| rate(ends, count)));
        row.push(left.map_or(Cell::None, |(value, low, high)| Cell::Quantity { value, low, high }));
        table.rows.push(row);
    };
    row("none", 1.0, it.ends, None);
    for (name, by) in [("drdv", drdv), ("drdv with load duplication", loads)] {
        row(name, uncovered(by), by.ends, remaining([it.ends, by.ends], [it.executed, by.dynamic.all()]));
    }
    table
}
