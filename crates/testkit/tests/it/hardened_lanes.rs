//! Kernels whose even and odd lanes compute the same do what they did before, or are refused by name.

use campaign::Planner;
use campaign::RunIndex;
use campaign::config::SelectionWords;
use capsule::{Capsule, Event};
use inject::Strategy;
use inject::site::fault_of;
use methods::hardening::{HardenError, HardenedCapsule, Scheme, harden};
use outcome::classify;
use std::collections::BTreeMap;
use testkit::tiers::{compare, target};

fn paired(name: &str, scheme: Scheme) -> Result<HardenedCapsule, HardenError> {
    let path = testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"));
    harden(&Capsule::open(path).unwrap(), scheme, None)
}

/// The threads of the blocks of all launches.
fn threads(capsule: &Capsule) -> u64 {
    let launches = capsule.events.iter().filter_map(|event| match event {
        Event::Launch(launch) => Some(launch.threads_per_block()),
        _ => None,
    });
    launches.sum()
}

/// Each of the workloads is protected, in part or whole, with the same bits and larger blocks, or every kernel has a reason. The
/// two schemes refuse the same, so that each workload is executed with one of them.
#[test]
fn workloads_give_the_same_bits_in_pairs_of_lanes_or_say_why_not() {
    let numbered: Vec<(usize, String)> = crate::workloads().into_iter().enumerate().collect();
    let all = testkit::in_parallel(&numbered, |(number, name)| {
        let scheme = Scheme::LANES[(number + crate::seed() as usize) % Scheme::LANES.len()];
        match paired(name, scheme) {
            Ok(made) => {
                let coverage = &made.coverage;
                let said = coverage.refused.iter().map(|it| format!("{name}, {}: {}", it.name, it.reason)).collect();
                let grown = threads(&made.capsule) > threads(&original(name));
                let same = target(made.capsule.clone()).map(|_| ()).map_err(|error| format!("{name}: {error}"));
                let same = same.and_then(|()| grown.then_some(()).ok_or(format!("{name}: no block has grown")));
                (coverage.protected.len(), said, same.err())
            }
            Err(HardenError::Nothing { first, .. }) => (0, vec![format!("{name}: {}", first.unwrap())], None),
            Err(error) => (0, Vec::new(), Some(format!("{name}: {error}"))),
        }
    });
    let reasons: Vec<&String> = all.iter().flat_map(|(_, said, _)| said).collect();
    let whole = all.iter().filter(|(kernels, said, _)| *kernels > 0 && said.is_empty()).count();
    let part = all.iter().filter(|(kernels, said, _)| *kernels > 0 && !said.is_empty()).count();
    let failures: Vec<String> = all.iter().filter_map(|(.., failure)| failure.clone()).collect();
    crate::report("workloads do something else in pairs of lanes", &failures);
    assert_eq!((all.len(), whole, part), (48, 43, 3), "{reasons:#?}");
    assert!(reasons.iter().all(|reason| reason.contains("protect the ")), "{reasons:#?}");
}

fn original(name: &str) -> Capsule {
    Capsule::open(testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"))).unwrap()
}

/// The outcomes of faults of a scope.
fn outcomes(name: &str, scheme: Scheme, scope: &str) -> BTreeMap<String, u64> {
    let target = target(paired(name, scheme).unwrap().capsule).unwrap();
    let words = SelectionWords { scope: Some(scope.to_owned()), ..SelectionWords::default() };
    let runs: Vec<RunIndex> = (0..400).map(RunIndex).collect();
    let (mut counts, mut runner) = (BTreeMap::new(), target.runner(Strategy::Auto));
    for site in target.plan(&runs, &words, 1).unwrap() {
        let observation = runner.run(&fault_of(&site).unwrap()).unwrap();
        *counts.entry(format!("{:?}", classify(&observation, &target.criteria()))).or_insert(0) += 1;
    }
    counts
}

#[test]
fn a_fault_in_one_lane_is_noticed_and_one_in_all_lanes_of_a_warp_is_not() {
    for scheme in Scheme::LANES {
        let of = |scope: &str, what: &str| {
            let counts = outcomes("matmul", scheme, scope);
            let found: u64 = counts.iter().filter(|(outcome, _)| outcome.contains(what)).map(|(_, count)| count).sum();
            (found, counts)
        };
        let ((noticed, counts), (corrupted, _)) = (of("thread", "Detected"), of("thread", "Sdc"));
        assert!(noticed > 100 && corrupted < 40, "{}: {counts:#?}", scheme.word());
        let (corrupted, counts) = of("warp", "Sdc");
        assert!(corrupted > 100, "{}: {counts:#?}", scheme.word());
    }
}

#[test]
fn every_engine_sees_that_a_pair_of_lanes_differs() {
    for scheme in Scheme::LANES {
        let target = target(paired("pathfinder", scheme).unwrap().capsule).unwrap();
        let compared = compare(&target, &SelectionWords::default(), 150, 3).unwrap();
        crate::report("faults on which the tiers disagree", &compared.disagreements);
    }
}

/// Only the odd lane notifies: a fault that leads the even lane alone to a store is noticed behind it. Faults in odd lanes, which
/// store nothing, are contained.
#[test]
fn an_error_is_stored_only_by_a_lane_that_comes_to_a_store_alone() {
    let target = target(paired("pathfinder", Scheme::Tld).unwrap().capsule).unwrap();
    // A thread leaves the loop a step too early; the even one then stores what the step before has left. The odd one has executed
    // no stores, and so fewer instructions before.
    let early = |(thread, dynamic): (u32, u64)| {
        let id = format!("isa=ptx,launch=5,cta=11,thread={thread},dyn={dynamic},target=dst0,model=flip,bits=0");
        let found = target.detections(&[id.parse().unwrap()]).unwrap();
        found[0].map(|detection| detection.contained)
    };
    assert_eq!([(130, 180), (131, 175)].map(early), [Some(false), Some(true)]);
    let words = SelectionWords { group: vec!["protection:original".to_owned()], ..SelectionWords::default() };
    let runs: Vec<RunIndex> = (0..1000).map(RunIndex).collect();
    let faults: Vec<_> = target.plan(&runs, &words, 1).unwrap().iter().map(|site| fault_of(site).unwrap()).collect();
    let found = target.detections(&faults).unwrap();
    let stored = faults.iter().zip(found).filter(|(_, found)| found.is_some_and(|found| !found.contained));
    let threads: Vec<u32> = stored.map(|(fault, _)| fault.thread).collect();
    assert!(threads.len() > 5 && threads.iter().all(|thread| thread % 2 == 0), "{threads:?}");
}
