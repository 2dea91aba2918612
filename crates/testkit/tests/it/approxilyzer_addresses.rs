//! Whether flips in addresses that are pruned trap, each run by full re-execution.

use super::approxilyzer::{estimated, kernel};
use super::approxilyzer_sources::{BruteForce, paths};
use fault::Target;
use inject::threads::{AddressTraps, BasedAccess, PathDestinations};
use outcome::{Class, Due, Outcome, TrapKind};

/// Kernels with loads, stores, vectors and atomic instructions in global memory.
const KERNELS: [&str; 7] =
    ["inject_destinations", "vectors", "store_widths", "load_widths", "atom_global", "red_global", "guards"];

#[test]
fn every_flip_that_is_said_to_trap_traps() {
    let (mut misaligned, mut unmapped) = (0, 0);
    for name in KERNELS {
        let capsule = kernel(name);
        let golden = capsule.golden_run();
        let mut brute = BruteForce::of(&capsule);
        let traps: Vec<AddressTraps> = (golden.launches().iter())
            .map(|launch| {
                let groups: Vec<u32> = (0..launch.counts().threads() as u32).collect();
                let mut traps = AddressTraps::new(groups.len(), usize::MAX);
                traps.add(golden, launch, &groups);
                traps
            })
            .collect();
        paths(&capsule, |at| {
            let accesses = BasedAccess::of(&at.launch.program);
            let found = PathDestinations::of(at.launch).sites(at.launch, at.path);
            let steps = (0..).zip(at.path).filter(|(_, step)| step.executed);
            let based = steps.filter_map(|(number, step)| Some((number, accesses[step.instruction as usize]?)));
            for (nth, (step, access)) in based.enumerate() {
                let used = |it: &&inject::threads::PathUse| it.step == step && it.register == access.register;
                let used = found.uses.iter().find(used).unwrap();
                let beyond = traps[at.number as usize].unmapped(at.thread as usize, nth);
                assert_eq!(beyond & access.misaligned, 0);
                for bit in (0..64).filter(|bit| (beyond | access.misaligned) >> bit & 1 == 1) {
                    let ends = brute.outcome(at, used.dynamic, Target::Register(used.register), bit);
                    if access.misaligned >> bit & 1 == 1 {
                        let expected = Outcome::Due(Due::Crash(TrapKind::MisalignedAddress));
                        assert_eq!(ends, expected, "{name}: bit {bit} of {used:?}");
                        misaligned += 1;
                    } else {
                        assert!(matches!(ends, Outcome::Due(Due::Crash(_))), "{name}: bit {bit} of {used:?}: {ends:?}");
                        unmapped += 1;
                    }
                }
            }
        });
    }
    assert!(misaligned > 100 && unmapped > 1_000, "{misaligned} {unmapped}");
}

#[test]
fn a_flip_is_said_to_trap_in_a_group_if_it_traps_in_all_of_its_threads() {
    let capsule = kernel("inject_destinations");
    let golden = capsule.golden_run();
    for launch in golden.launches() {
        let threads = launch.counts().threads() as usize;
        let apart: Vec<u32> = (0..threads as u32).collect();
        let (mut one, mut each) = (AddressTraps::new(1, usize::MAX), AddressTraps::new(threads, usize::MAX));
        one.add(golden, launch, &vec![0; threads]);
        each.add(golden, launch, &apart);
        let common = (0..threads).fold(u64::MAX, |mask, thread| mask & each.unmapped(thread, 0));
        assert_eq!(one.unmapped(0, 0), common);
        let mut cut = AddressTraps::new(1, 0);
        cut.add(golden, launch, &vec![0; threads]);
        assert!(cut.is_cut() && cut.unmapped(0, 0) == 0);
    }
}

#[test]
fn pruned_addresses_change_no_rate_and_save_runs() {
    for name in ["inject_destinations", "vectors", "guards"] {
        let capsule = kernel(name);
        let of = |settings: &str| {
            estimated(&capsule, &format!("coverage=1,decisions=all,apart=threads+blocks+launches,{settings}"))
        };
        let (pruned, whole) = (of("addresses=true"), of("addresses=false"));
        for class in [Class::Masked, Class::Sdc, Class::Due] {
            assert_eq!(pruned["outcomes"][class.word()]["count"], whole["outcomes"][class.word()]["count"], "{name}");
        }
        let count = |json: &serde_json::Value, key: &str| json["sites"][key].as_u64().unwrap();
        assert_eq!(count(&pruned, "all"), count(&whole, "all"), "{name}");
        let known = |key: &str| pruned["sites"]["heuristics"][key].as_u64().unwrap();
        let by_address = known("unmapped") + known("misaligned");
        assert!(by_address > 0, "{name}");
        assert_eq!(count(&pruned, "pruned"), count(&whole, "pruned") + by_address, "{name}");
        let sum = ["pruned", "represented", "run", "not_covered"].map(|key| count(&pruned, key));
        assert_eq!(sum.iter().sum::<u64>(), count(&pruned, "all"), "{name}");
        assert!(count(&pruned, "run") < count(&whole, "run"), "{name}");
    }
}
