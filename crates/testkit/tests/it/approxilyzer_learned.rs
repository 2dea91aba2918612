//! Whether models of error sites learn from facts that are as counted by hand, and from nothing of what they are tested on.

use super::approxilyzer::kernel;
use super::approxilyzer_purity::{RUNNING, exhaustive, purity};
use campaign::SelectionWords;
use inject::{CapsuleTarget, Golden};
use methods::approxilyzer::{LearningStudy, SiteExample, SiteExamples, Truth};
use serde_json::Value;
use std::sync::Arc;
use testkit::kernels::{capsule_of, read};

/// In two threads: a sum that is squared and stored, compared, and goes to an address, all in one block and then a guarded store.
const FACTS: &str = "\
// Values that go to a store, an address and a guard.
// buffer out: u32[8] = zero
// run: facts block=2,1,1
// param: &out
// expect out = for 8: i < 2 ? (i + 3) * (i + 3) : 0
.version 8.5
.target sm_90
.address_size 64

.visible .entry facts(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d, %o;
    .reg .pred %p;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %o, [out];
    mul.wide.u32 %d, %r0, 4;
    add.u64 %o, %o, %d;
    add.u32 %r1, %r0, 3;
    setp.lt.u32 %p, %r0, 2;
    mul.lo.u32 %r2, %r1, %r1;
    @%p st.global.u32 [%o], %r2;
    ret;
}
";

fn facts() -> CapsuleTarget {
    let script = read("facts.ptx".as_ref(), FACTS).unwrap();
    CapsuleTarget::new(Golden::run(capsule_of(&script).unwrap()).unwrap())
}

fn examples(capsule: &CapsuleTarget, name: &str) -> SiteExamples {
    let results = exhaustive(capsule, SelectionWords::default());
    SiteExamples::of(name, &Truth::of(capsule, &results, &[], &RUNNING).unwrap()).unwrap()
}

/// The value of a variable of an example.
fn variable(of: &SiteExample, name: &str) -> f64 {
    let at = LearningStudy::variables().iter().position(|it| it == name);
    of.variables[at.unwrap_or_else(|| panic!("no variable is called {name}"))]
}

#[test]
fn facts_of_a_small_kernel_are_as_counted_by_hand() {
    let capsule = facts();
    let all = examples(&capsule, "facts");
    assert!(all.examples.iter().all(|it| it.variables.len() == LearningStudy::variables().len()));
    let of = |instruction: u32, name: &str| {
        let found: Vec<f64> =
            all.examples.iter().filter(|it| it.instruction == instruction).map(|it| variable(it, name)).collect();
        assert!(!found.is_empty() && found.iter().all(|value| *value == found[0]), "{instruction} {name}: {found:?}");
        found[0]
    };
    // tid is read by the product, the sum and the comparison; the first is two steps away.
    assert_eq!(of(0, "log2 of the reads / 16"), 2.0 / 16.0);
    assert_eq!(of(0, "log2 of the steps to the first read / 16"), 1.0 / 16.0);
    assert_eq!((of(0, "first read otherwise"), of(0, "group move")), (1.0, 1.0));
    // The address is read by the store alone, four steps behind its sum.
    assert_eq!((of(3, "log2 of the reads / 16"), of(3, "64 bits wide or more")), (1.0 / 16.0, 1.0));
    assert_eq!(of(3, "log2 of the steps to the first read / 16"), 2.0 / 16.0);
    let eighth = |it: &&SiteExample| variable(it, "first read as an address, in eighth 7") == 1.0;
    assert_eq!(all.examples.iter().filter(|it| it.instruction == 3).filter(eighth).count(), 8);
    assert_eq!((of(5, "first read as a guard"), of(5, "one bit wide"), of(5, "group compare")), (1.0, 1.0, 1.0));
    assert_eq!((of(6, "first stored"), of(6, "group int_mul_add")), (1.0, 1.0));
    assert_eq!((of(4, "goes only to stores of its block"), of(0, "goes only to stores of its block")), (1.0, 0.0));
    assert_eq!(
        (of(4, "log2 of the executions per thread / 16"), of(4, "share of the threads on the path")),
        (0.0, 1.0)
    );
    // Nine instructions, the sum the fifth of them: seven sixteenths are behind it.
    assert_eq!(of(4, "share of the path before it"), 7.0 / 16.0);
    assert!(all.examples.iter().any(|it| variable(it, "unmapped") == 1.0 && it.sites[2] > 0));
    // Each site is in one example, in both threads: 32 + 64 + 64 + 64 + 32 + 1 + 32 bits.
    assert_eq!(all.sites(), 2 * 289);
}

fn campaigns() -> Vec<SiteExamples> {
    let of = |name: &&str| examples(&kernel(name), name);
    ["inject_destinations", "inject_loops", "divergence", "guards"].iter().map(of).collect()
}

fn held_out(document: &Value, workload: usize) -> &Value {
    &document["workloads"][workload]["held_out"]
}

#[test]
fn a_model_sees_nothing_of_the_workload_that_it_is_tested_on() {
    let plain = campaigns();
    let mut poisoned = plain.clone();
    for example in &mut poisoned[1].examples {
        example.sites.rotate_left(1);
        example.variables.reverse();
    }
    let documents = [plain, poisoned].map(|it| LearningStudy::of(it, 1).unwrap().document());
    let of = |document: usize, workload: usize| &held_out(&documents[document], workload)["coefficients"];
    assert_eq!(of(0, 1), of(1, 1));
    assert_ne!(held_out(&documents[0], 1)["told"], held_out(&documents[1], 1)["told"]);
    for other in [0, 2, 3] {
        assert_ne!(of(0, other), of(1, other), "a model learns from the workload that is not held out");
    }
}

#[test]
fn the_document_is_the_same_on_any_number_of_threads() {
    let plain = campaigns();
    let of = |jobs| LearningStudy::of(plain.clone(), jobs).unwrap().document().to_string();
    let one = of(1);
    assert!([2, 3, 7].into_iter().all(|jobs| of(jobs) == one));
}

#[test]
fn heuristics_are_as_right_as_their_purity_and_shares_are_of_all_sites() {
    let names = ["inject_loops", "divergence"];
    let capsules: Vec<Arc<CapsuleTarget>> = names.iter().map(|name| kernel(name)).collect();
    let all = capsules.iter().zip(names).map(|(capsule, name)| examples(capsule, name)).collect();
    let document = LearningStudy::of(all, 1).unwrap().document();
    for (capsule, of) in capsules.iter().zip(document["workloads"].as_array().unwrap()) {
        let purity = &purity(capsule, &exhaustive(capsule, SelectionWords::default()), "coverage=0.99")["all"];
        let number = |of: &Value| of.as_f64().unwrap();
        let classes = &purity["classes"];
        let right = number(&classes["right_class"]) * number(&classes["sites"]) + number(&purity["pruned"]);
        let accuracy = number(&of["heuristics"]["accuracy"]);
        assert!((accuracy - right / number(&purity["sites"])).abs() < 1e-9, "{accuracy}: {purity}");
        assert_eq!((&of["sites"], &of["pilots"]), (&purity["sites"], &classes["pilots"]));
        let told = of["held_out"]["told"].as_object().unwrap().values();
        let told: f64 = told.flat_map(|of| of.as_array().unwrap()).map(number).sum();
        assert_eq!(told, number(&of["sites"]));
    }
}

#[test]
fn one_workload_has_nothing_to_learn_from() {
    let all = campaigns();
    let one = vec![all[0].clone(), all[0].clone()];
    let error = LearningStudy::of(one, 1).err().unwrap().to_string();
    assert!(error.contains("give exhaustive campaigns of two workloads or more"), "{error}");
}
