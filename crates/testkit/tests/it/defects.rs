//! What other fault injectors get wrong, each as a test of ours. `docs/defects.md` says who does, and names the tests that
//! stand elsewhere.

use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex, Site};
use fault::{Fault, Model};
use inject::{CapsuleTarget, Strategy};
use outcome::{Class, Landed, classify};
use testkit::workload;

fn words(kind: &str, model: &str, scope: &str) -> SelectionWords {
    let word = |word: &str| Some(word.to_owned());
    SelectionWords { target: word(kind), model: word(model), scope: word(scope), ..SelectionWords::default() }
}

fn sites(target: &CapsuleTarget, words: &SelectionWords, runs: u64) -> Vec<Site> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    target.plan(&runs, words, 1).unwrap()
}

/// The faults that are drawn, and on what they landed.
fn landed(name: &str, words: &SelectionWords, runs: u64) -> Vec<(Fault, Landed)> {
    let target = workload(name);
    let mut runner = target.runner(Strategy::Auto);
    let run = |site: &Site| {
        let fault: Fault = site.fault().unwrap().parse().unwrap();
        let landed = runner.run(&fault).unwrap().landed.unwrap_or_else(|| panic!("{fault} does not land"));
        (fault, landed)
    };
    sites(&target, words, runs).iter().map(run).collect()
}

#[test]
fn the_zero_model_gives_zero_for_every_value() {
    for (fault, landed) in landed("blackscholes", &words("dst", "zero", "thread"), 400) {
        assert_eq!(landed.after, 0, "{fault} of {:#x}", landed.before);
    }
}

#[test]
fn the_random_model_covers_every_bit_evenly() {
    let target = workload("blackscholes");
    let selection = SelectionWords { group: vec!["fp32_fma".to_owned()], ..words("dst", "random", "thread") };
    let mut ones = [0u32; 32];
    for site in sites(&target, &selection, 4000) {
        let fault: Fault = site.fault().unwrap().parse().unwrap();
        let Model::Value(value) = fault.model else { panic!("{fault}") };
        ones.iter_mut().enumerate().for_each(|(bit, ones)| *ones += (value >> bit) as u32 & 1);
    }
    // Six standard deviations of a fair coin thrown 4000 times.
    assert!(ones.iter().all(|ones| ones.abs_diff(2000) < 190), "{ones:?}");
}

#[test]
fn a_single_bit_mask_has_one_bit_warp_wide_too() {
    let found = landed("gemm", &words("dst", "flip", "warp"), 200);
    for (fault, landed) in &found {
        assert_eq!((landed.before ^ landed.after).count_ones(), 1, "{fault}");
    }
    assert!(found.iter().all(|(_, landed)| landed.threads == 32), "gemm's warps do not diverge");
}

#[test]
fn a_destination_fault_flips_the_register_and_not_a_digit_of_its_text() {
    for (fault, landed) in landed("hotspot", &words("dst", "flip", "thread"), 400) {
        let Model::Flip(mask) = fault.model else { panic!("{fault}") };
        assert_eq!(landed.after, landed.before ^ mask.get(), "{fault}");
    }
}

#[test]
fn an_instruction_that_is_not_known_is_refused_by_name() {
    let module = |line: &str| {
        format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() {{ .reg .b32 %r<2>;\n{line}\nret;\n}}"
        )
    };
    let message = |line: &str| ptx::parse("k.ptx", &module(line)).unwrap_err().to_string();
    assert!(message("frobnicate.u32 %r0, %r1;").contains("frobnicate"));
    assert!(message("add.u32 %r0, %r1, UR4;").contains("UR4"));
}

#[test]
fn both_halves_of_a_64_bit_destination_are_hit() {
    let target = workload("gemm");
    let wide = sites(&target, &SelectionWords::default(), 20_000)
        .into_iter()
        .filter(|site| site.spot.opcode.starts_with("mul.wide"));
    let bits: Vec<u32> = wide.map(|site| site.labels.text(5).unwrap().parse().unwrap()).collect();
    let high = bits.iter().filter(|bit| **bit >= 32).count();
    assert!(bits.len() > 200 && high.abs_diff(bits.len() / 2) < bits.len() / 8, "{high} of {}", bits.len());
}

#[test]
fn predicates_are_hit_and_it_matters() {
    let found = landed("bfs", &words("pred", "flip", "thread"), 300);
    assert!(found.iter().all(|(_, landed)| landed.before ^ landed.after == 1));
    let target = workload("bfs");
    let mut runner = target.runner(Strategy::Auto);
    let mut class = |fault: &Fault| classify(&runner.run(fault).unwrap(), &target.criteria()).class();
    assert!(found.iter().any(|(fault, _)| class(fault) != Class::Masked));
}

#[test]
fn a_fault_that_hits_nothing_is_not_masked() {
    let target = workload("pathfinder");
    let mut runner = target.runner(Strategy::Auto);
    for id in [
        "launch=0,cta=0,thread=0,dyn=99999999,target=dst0,model=flip,bits=0",
        "launch=0,cta=0,thread=0,dyn=0,target=dst0,model=flip,bits=127",
        "launch=0,cta=0,thread=0,dyn=0,target=global@0x10,model=flip,bits=0",
    ] {
        let seen = runner.run(&id.parse().unwrap()).unwrap();
        assert_eq!(classify(&seen, &target.criteria()).class(), Class::NotLanded, "{id}");
    }
}

#[test]
fn the_same_seed_gives_the_same_sites_and_the_same_values() {
    for kind in ["dst", "src", "reg", "mem"] {
        let words = words(kind, "random", "thread");
        assert_eq!(landed("reduce", &words, 60), landed("reduce", &words, 60), "{kind}");
    }
}
