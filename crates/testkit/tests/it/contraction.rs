//! Products that are joined with sums: what a capsule comes to on machines that do it and that do not, and faults in them.

use crate::report;
use campaign::Planner;
use campaign::config::SelectionWords;
use device::Contract;
use inject::site::fault_of;
use inject::{CapsuleTarget, Golden, Machine, Setup, TierCheck};
use session::capsules;
use std::sync::Arc;

fn target(name: &str, contract: Contract) -> Arc<CapsuleTarget> {
    let machine = Machine { contract, ..Machine::default() };
    capsules::target_on(machine, capsules::open(name).unwrap(), &Setup::default()).unwrap()
}

fn outputs(golden: &Golden) -> Vec<&[u8]> {
    golden.copies().iter().map(|copy| copy.bytes.as_slice()).collect()
}

#[test]
fn a_capsule_is_as_good_to_a_machine_that_joins_otherwise_than_the_one_it_was_recorded_on() {
    for (name, differs) in [("lbm", true), ("blackscholes", true), ("montecarlo", true), ("gemm", false)] {
        let [joined, apart] = [Contract::Ptxas, Contract::Off].map(|contract| target(name, contract));
        let [joined, apart] = [&joined, &apart].map(|target| target.golden_run());
        assert_eq!(outputs(joined) != outputs(apart), differs, "{name}");
        assert_eq!(joined.thread_instructions(), apart.thread_instructions(), "{name}");
    }
}

#[test]
fn faults_around_joined_products_are_observed_alike_by_every_engine() {
    let words = |target: &str| SelectionWords {
        group: vec!["fp32_mul".to_owned(), "fp32_add".to_owned()],
        target: Some(target.to_owned()),
        ..SelectionWords::default()
    };
    let mut disagreements = Vec::new();
    for (name, runs) in [("lbm", 40), ("blackscholes", 40), ("montecarlo", 20)] {
        let target = target(name, Contract::Ptxas);
        let mut check = TierCheck::new(&target);
        for kind in ["dst", "src"] {
            let runs: Vec<campaign::RunIndex> = (0..runs).map(campaign::RunIndex).collect();
            for site in target.plan(&runs, &words(kind), 9).unwrap() {
                let fault = fault_of(&site).unwrap();
                let found = check.disagreement(&fault).unwrap();
                disagreements.extend(found.map(|found| format!("{name}, {fault}: {found:?}")));
            }
        }
    }
    report("faults are observed otherwise by a fast engine", &disagreements);
}
