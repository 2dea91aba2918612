//! Programs of which everything is said by hand: what faults in their regions corrupt, and by how much.

use inject::{Corruption, Extent};
use methods::regional::propagation::{ArrayCorruption, TrackedRun};
use methods::regional::{RegionTally, Tally};
use outcome::{Outcome, Sdc};
use std::collections::{BTreeMap, BTreeSet};
use study::Picture;

use crate::regional::followed::FollowedFault;
use crate::regional::survey::{BuildFaults, Measured, PROGRAMS, first_step, last_step};

/// Elements of the outputs of a program.
pub(super) const ELEMENTS: u64 = 1000;

/// The regions of the paper, by program.
fn regions(program: &str) -> Vec<String> {
    let names: &[&str] = match program {
        "atax" => &["K1", "K2"],
        "bicg" => &["K1.1", "K1.2", "K2.1", "K2.2"],
        "covar" => &["KM", "KR", "KC.1", "KC.2"],
        "corr" => &["KM", "KS", "KR", "KC.1", "KC.2"],
        "fdtd2d" => &["K1.1", "K1.2", "K2", "K3"],
        "gramschm" => &["K1", "K2", "K3.1", "K3.2", "K3.3"],
        "mm3" => &["K1", "K2", "K3"],
        _ => return (1..=19).map(|number| format!("R{number}")).collect(),
    };
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The regions that statements need beside those of the paper.
fn narrowed(program: &str) -> Vec<String> {
    match program {
        "fdtd2d" => regions(program).iter().map(|name| last_step(name)).collect(),
        "gramschm" => vec![first_step("K1")],
        _ => Vec::new(),
    }
}

/// What 100 faults in a region come to if the SDCs among them corrupt so many elements, each by `error`.
pub(super) fn region(corrupted: &[u64], error: f64) -> RegionTally {
    let sdc = corrupted.len() as u64;
    RegionTally {
        masked: 90 - sdc,
        sdc,
        due: 10,
        corrupted: corrupted.to_vec(),
        errors: corrupted.iter().map(|&elements| error * elements as f64).collect(),
        elements: ELEMENTS,
        ..RegionTally::default()
    }
}

/// A fault that corrupts variables, by their numbers: elements when it was first seen and by how much, elements in the end, rows
/// and columns that they are in.
pub(super) fn fault(region: &str, variables: &[(usize, u64, f64, u64, [u64; 2])]) -> FollowedFault {
    let corruption = |elements: u64, max_abs: f64, [rows, columns]: [u64; 2]| Corruption {
        elements,
        max_abs,
        sum_abs: max_abs * elements as f64,
        extent: Extent { ends: (0, elements - 1), rows, columns },
    };
    let ends = variables.iter().map(|&(variable, first, error, last, place)| {
        let last = Some(corruption(last, error, place));
        (variable, ArrayCorruption { launch: 0, first: corruption(first, error, place), last })
    });
    let run = TrackedRun {
        run: 0,
        launch: 0,
        outcome: Outcome::Sdc(Sdc::Bad),
        completed: true,
        after: BTreeMap::from([(0, BTreeSet::from([0]))]),
        ends: ends.collect(),
    };
    FollowedFault { region: region.to_owned(), fault: String::new(), run }
}

/// All programs; each region has ten SDCs of one to ten elements, by 1 each.
pub(super) fn all() -> Vec<Measured> {
    let usual = region(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 1.0);
    let program = |&(name, paper): &(&'static str, &'static str)| {
        let of_paper = regions(name);
        let regions: Vec<String> = of_paper.iter().cloned().chain(narrowed(name)).collect();
        let tally = |names: &[String]| Tally { regions: names.iter().map(|it| (it.clone(), usual.clone())).collect() };
        let build = BuildFaults {
            many: tally(&regions),
            registers: [tally(&of_paper), tally(&of_paper)],
            followed: [followed(name), followed(name)],
        };
        Measured {
            name,
            paper,
            of_paper: of_paper.len(),
            few: tally(&of_paper),
            unoptimised: build.clone(),
            build,
            pictures: if name == "mm3" { pictures() } else { Vec::new() },
            variables: variables(name).iter().map(|&name| name.to_owned()).collect(),
            regions,
        }
    };
    PROGRAMS.iter().map(program).collect()
}

fn pictures() -> Vec<Picture> {
    let picture = |name: &str| Picture { name: name.to_owned(), title: String::new(), frames: Vec::new(), still: 0 };
    ["one-e", "one-g", "two-e", "two-g"].map(picture).into()
}

fn variables(program: &str) -> &'static [&'static str] {
    match program {
        "atax" => &["tmp", "y"],
        "covar" => &["mean", "data", "symmat"],
        "mm3" => &["G"],
        _ => &[],
    }
}

fn followed(program: &str) -> Vec<FollowedFault> {
    let small = |count: u64| count as f64;
    match program {
        // The larger the difference of tmp, the more elements of y.
        "atax" => [1, 2, 3, ELEMENTS]
            .map(|count| fault("K1", &[(0, 1, small(count), 1, [1, 1]), (1, count, 1.0, count, [1, count])]))
            .into(),
        "covar" => (1..5)
            .map(|count| fault("KM", &[(0, 1, small(count), 1, [1, 1]), (2, count, 1.0, count, [1, count])]))
            .chain([fault("KR", &[(1, 2, 1.0, 2, [2, 1])])])
            .collect(),
        "mm3" => vec![
            fault("K1", &[(0, 32, 1.0, 32, [1, 32])]),
            fault("K1", &[(0, 32, 1.0, 32, [1, 32])]),
            fault("K1", &[(0, 64, 1.0, 64, [2, 32])]),
            fault("K2", &[(0, 32, 1.0, 32, [32, 1])]),
        ],
        _ => Vec::new(),
    }
}

/// All programs, with other regions of one of them.
pub(super) fn with(program: &str, others: &[(&str, RegionTally)]) -> Vec<Measured> {
    let mut all = all();
    let own = all.iter_mut().find(|it| it.name == program).unwrap();
    for (name, tally) in others {
        own.build.many.regions.insert((*name).to_owned(), tally.clone());
    }
    all
}
