//! Kernels of which only some instructions are protected do what they did before.

use crate::hardened::difference;
use capsule::Capsule;
use facts::Pc;
use isa::FunctionId;
use methods::hardening::{CodePlace, HardenError, ProtectionChoice, Scheme, harden};
use stats::Draws;
use std::collections::BTreeSet;
use testkit::random_kernels::{Forms, Kernel};
use testkit::tiers::target;

/// The shares of instructions that are chosen, in percent.
const SHARES: [u64; 4] = [5, 30, 70, 95];

fn workload(name: &str) -> Capsule {
    Capsule::open(testkit::filetests("../workloads").join(format!("{name}/{name}.capsule"))).unwrap()
}

/// Whether an instruction is among so many percent that a seed chooses.
pub(crate) fn is_chosen(seed: u64, share: u64, function: FunctionId, pc: Pc) -> bool {
    Draws::new(seed, u64::from(function.0)).draw(u64::from(pc.0)) % 100 < share
}

/// The instructions of a capsule that `chosen` holds.
pub(crate) fn choice(capsule: &Capsule, chosen: impl Fn(FunctionId, Pc) -> bool) -> ProtectionChoice {
    let mut places = BTreeSet::new();
    for (module, recorded) in capsule.modules.iter().enumerate() {
        let Some(blob) = recorded.ptx else { continue };
        let text = String::from_utf8(capsule.blobs.get(blob).unwrap().to_vec()).unwrap();
        for (function, id) in ptx::parse("k.ptx", &text).unwrap().functions.iter().zip((0..).map(FunctionId)) {
            let pcs = (0..function.body.len() as u32).map(Pc).filter(|pc| chosen(id, *pc));
            places.extend(pcs.map(|pc| CodePlace { module, function: id, pc }));
        }
    }
    ProtectionChoice(places)
}

/// A quarter of the workloads, as the seed has it, each with a scheme and a random choice.
#[test]
fn workloads_with_some_instructions_protected_give_the_same_bits() {
    let seed = crate::seed();
    let all = crate::workloads().into_iter().enumerate();
    let sampled: Vec<(usize, String)> = all.filter(|(number, _)| (*number as u64 + seed).is_multiple_of(4)).collect();
    let failures = testkit::in_parallel(&sampled, |(number, name)| {
        let at = number / 4;
        let (scheme, share) = (
            Scheme::INSTRUCTIONS[at % Scheme::INSTRUCTIONS.len()],
            SHARES[(at + at / Scheme::INSTRUCTIONS.len()) % SHARES.len()],
        );
        let original = workload(name);
        let some = choice(&original, |function, pc| is_chosen(seed + at as u64, share, function, pc));
        let said = |error: String| format!("{name}, {}, {share} %: {error}", scheme.word());
        let made = harden(&original, scheme, Some(&some)).map_err(|error| said(error.to_string()))?;
        target(made.capsule).map(|_| ()).map_err(|error| said(error.to_string()))
    });
    let failures: Vec<String> = failures.into_iter().filter_map(Result::err).collect();
    crate::report("workloads do something else where they are hardened in part", &failures);
}

#[test]
fn random_kernels_with_some_instructions_protected_give_the_same_bits() {
    let forms = Forms::all().unwrap();
    let failures = testkit::in_parallel(&(0..300).collect::<Vec<u64>>(), |&number| {
        let scheme = Scheme::INSTRUCTIONS[number as usize % Scheme::INSTRUCTIONS.len()];
        let share = SHARES[number as usize / Scheme::INSTRUCTIONS.len() % SHARES.len()];
        let kernels = [Kernel::new(&forms, 12, number), Kernel::of_sums(12, number)];
        let chosen = |function: FunctionId, pc: Pc| is_chosen(number, share, function, pc);
        let found = kernels.iter().filter_map(|kernel| difference(kernel, scheme, &chosen));
        found.map(|what| format!("kernel {number}, {}, {share} %: {what}", scheme.word())).collect::<Vec<_>>()
    });
    crate::report("random kernels do something else where they are hardened in part", &failures.concat());
}

#[test]
fn all_instructions_are_as_no_choice_and_none_write_nothing() {
    for (name, scheme) in
        ["pathfinder", "lud", "bfs"].into_iter().flat_map(|name| Scheme::INSTRUCTIONS.map(|it| (name, it)))
    {
        let original = workload(name);
        let (all, none) = (choice(&original, |_, _| true), choice(&original, |_, _| false));
        let (of_all, plain) =
            (harden(&original, scheme, Some(&all)).unwrap(), harden(&original, scheme, None).unwrap());
        assert_eq!(of_all.capsule.digest(), plain.capsule.digest(), "{name}, {}", scheme.word());
        assert_eq!(of_all.coverage, plain.coverage);
        let of_none = harden(&original, scheme, Some(&none)).map(|made| made.coverage);
        assert!(matches!(of_none, Err(HardenError::Unchosen(_))), "{of_none:?}");
    }
}

/// One chosen instruction of many: its duplicate, copies of what it reads, and checks of what it wrote, and no more.
#[test]
fn a_single_instruction_costs_its_own_protection_alone() {
    let original = workload("pathfinder");
    for scheme in Scheme::INSTRUCTIONS {
        let whole = harden(&original, scheme, None).unwrap().coverage.instructions;
        let mut tried = 0;
        for pc in (0..60).step_by(7).map(Pc) {
            let one = choice(&original, |_, it| it == pc);
            let Ok(made) = harden(&original, scheme, Some(&one)) else { continue };
            let counts = made.coverage.instructions;
            assert!(
                counts.duplicate <= 2 && counts.all() < whole.all() * 3 / 4,
                "{pc:?}, {}: {counts:?}",
                scheme.word()
            );
            tried += 1;
        }
        assert!(tried >= 5, "{tried}");
    }
}
