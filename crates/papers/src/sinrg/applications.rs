//! Whole applications: how long their processes take, and how large their executables are, with and without protection.

use methods::hardening::Scheme;
use stats::{Confidence, median};
use std::collections::{BTreeMap, BTreeSet};

use super::rules::mean;
use crate::statements::Statement;
use crate::words::percent;

/// `application,scheme,turn,original_us,protected_us`: microseconds from the start of a process to its end.
const TIMES: &str = include_str!("../../../../records/protection/applications_h100.csv");
/// `application,scheme,original_bytes,protected_bytes`
const SIZES: &str = include_str!("../../../../records/protection/executables.csv");

/// An application with protected kernels, by what it is more than the application as it is: 0.1 is a tenth more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ProtectedApplication {
    pub(super) scheme: String,
    /// The time of the process: the ratio of the medians.
    pub(super) time: Option<f64>,
    /// The bytes of the executable.
    pub(super) size: Option<f64>,
}

/// The recorded applications, by name and scheme.
pub(super) fn applications() -> Vec<ProtectedApplication> {
    let (times, sizes) = (growths(TIMES), growths(SIZES));
    let keys: BTreeSet<(&str, &str)> = times.keys().chain(sizes.keys()).copied().collect();
    let application = |key: (&str, &str)| ProtectedApplication {
        scheme: key.1.to_owned(),
        time: times.get(&key).copied(),
        size: sizes.get(&key).copied(),
    };
    keys.into_iter().map(application).collect()
}

/// How much more the last column is than the one before it, by the first two: of medians where there are several rows.
fn growths(rows: &str) -> BTreeMap<(&str, &str), f64> {
    let mut columns: BTreeMap<(&str, &str), [Vec<f64>; 2]> = BTreeMap::new();
    for row in rows.lines().skip(1) {
        let mut cells = row.split(',');
        let (Some(application), Some(scheme)) = (cells.next(), cells.next()) else { continue };
        let mut numbers = cells.rev().map_while(|cell| cell.parse().ok());
        let (Some(after), Some(before)) = (numbers.next(), numbers.next()) else { continue };
        let of = columns.entry((application, scheme)).or_default();
        of[0].push(before);
        of[1].push(after);
    }
    let middle = |values: &[f64]| median(values, Confidence::PERCENT_95).map(|it| it.value);
    let growth = |[before, after]: &[Vec<f64>; 2]| Some(middle(after)? / middle(before)? - 1.0);
    columns.iter().filter_map(|(&key, columns)| Some((key, growth(columns)?))).collect()
}

/// The sizes of executables.
pub(super) fn sizes(applications: &[ProtectedApplication]) -> Vec<Statement> {
    let theirs = [(Scheme::FastsigDrdv, 0.12), (Scheme::FastsigSriv, 0.19)];
    means(applications, &theirs, |by, scheme| format!("executable files grow by {by} with {scheme}"), |it| it.size)
}

/// The times of processes.
pub(super) fn times(applications: &[ProtectedApplication]) -> Vec<Statement> {
    let theirs = [(Scheme::Drdv, 0.06), (Scheme::FastsigDrdv, 0.04), (Scheme::FastsigSriv, 0.05)];
    means(
        applications,
        &theirs,
        |by, scheme| format!("whole applications take {by} longer with {scheme}"),
        |it| it.time,
    )
}

/// A statement for each scheme of the chapter, by what it says of that scheme.
fn means(
    applications: &[ProtectedApplication],
    schemes: &[(Scheme, f64)],
    claim: impl Fn(&str, &str) -> String,
    of: impl Fn(&ProtectedApplication) -> Option<f64>,
) -> Vec<Statement> {
    let statement = |&(scheme, theirs): &(Scheme, f64)| {
        let of_scheme = applications.iter().filter(|it| it.scheme == scheme.word());
        let values: Vec<f64> = of_scheme.filter_map(&of).collect();
        let by = percent(theirs);
        let claim = format!("{} (Section 4.6.1)", claim(&by, scheme.word()));
        mean((&claim, &by), theirs, &values, percent)
    };
    schemes.iter().map(statement).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_of_the_medians_of_an_application_and_a_scheme() {
        let rows = "application,scheme,turn,before,after\na,x,1,10,20\na,x,2,10,90\na,x,3,30,30\nb,x,1,4,3\n";
        assert_eq!(growths(rows), BTreeMap::from([(("a", "x"), 2.0), (("b", "x"), -0.25)]));
        assert_eq!(applications().iter().filter(|it| it.time.is_some() && it.size.is_some()).count(), 57);
    }
}
