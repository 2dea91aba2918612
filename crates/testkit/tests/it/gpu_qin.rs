//! Whether GPU-Qin's choice of sites is the published one, on the bundled workloads.

use campaign::config::SelectionWords;
use campaign::{Engine, Engines, Intent, Planner, RunIndex, Site};
use inject::Golden;
use inject::site::Coordinates;
use inject::threads::{Query, Wanted, find, thread_counts, trace};
use methods::gpu_qin::{Category, Coverage, Discard, GpuQin, GroupBy, Grouped, Grouping};
use methods::kit::Profile;
use std::collections::{BTreeMap, BTreeSet};
use testkit::workload as target;

/// An honest sampler fails a test of this level once in a hundred thousand seeds; the seed is fixed.
const LEVEL: f64 = 1e-5;
/// The seed of what is planned.
const SEED: u64 = 3;

fn grouping(golden: &Golden, by: GroupBy) -> Grouping {
    Grouping::of(golden, Coverage::Published, by, &|_, _| true)
}

fn words(method: &str) -> SelectionWords {
    SelectionWords { method: Some(method.parse().unwrap()), ..SelectionWords::default() }
}

fn sites(method: &GpuQin, runs: std::ops::Range<u64>) -> Vec<Site> {
    let runs: Vec<RunIndex> = runs.map(RunIndex).collect();
    method.plan(&runs, &SelectionWords::default(), SEED).unwrap()
}

#[test]
fn every_thread_is_in_one_group_and_counts_as_in_the_golden_run() {
    for workload in ["bfs", "montecarlo", "sad"] {
        let target = target(workload);
        let golden = target.golden_run();
        let grouping = grouping(golden, GroupBy::Instructions);
        let sum = |value: fn(&methods::gpu_qin::ThreadGroup) -> u64| -> u64 {
            grouping.kernels.iter().flat_map(|kernel| &kernel.groups).map(value).sum()
        };
        assert_eq!(sum(|group| group.threads), golden.threads(), "{workload}");
        assert_eq!(sum(|group| group.thread_instructions), golden.thread_instructions(), "{workload}");
        for launch in golden.launches() {
            let executed: Vec<u32> = thread_counts(golden, launch).iter().map(|count| count.executed).collect();
            assert!(launch.counts().iter().eq(executed), "{workload}");
        }
    }
}

#[test]
fn kernels_fall_into_the_categories_of_the_paper() {
    let category = |workload: &str, kernel: usize| {
        let target = target(workload);
        let kernels = grouping(target.golden_run(), GroupBy::Instructions).kernels;
        (kernels[kernel].category, kernels[kernel].groups.len())
    };
    assert_eq!(category("matmul", 0), (Category::I, 1));
    assert_eq!(category("montecarlo", 0), (Category::II, 5));
    assert_eq!(category("lbm", 0), (Category::II, 2));
    assert!(matches!(category("bfs", 0), (Category::III, 11..)));
}

/// The shares of the threads in the groups of MONTE, by the paper's Table IV.
const TABLE_IV: [f64; 5] = [0.5, 0.25, 0.125, 0.1211, 0.0039];

#[test]
fn the_groups_of_monte_carlo_have_the_shares_of_the_paper() {
    let target = target("montecarlo");
    let groups = grouping(target.golden_run(), GroupBy::Instructions).kernels.remove(0);
    let shares: Vec<f64> = groups.groups.iter().map(|group| group.popularity).collect();
    for (ours, paper) in shares.iter().zip(TABLE_IV) {
        assert!((ours - paper).abs() < 1e-4, "{shares:?}");
    }
    assert!((groups.coverage - 0.9961).abs() < 1e-4, "{}", groups.coverage);
}

#[test]
fn threads_of_a_trace_group_go_the_same_way() {
    let target = target("bfs");
    let by_trace = grouping(target.golden_run(), GroupBy::Trace);
    assert!(by_trace.kernels.iter().flat_map(|kernel| &kernel.groups).all(|group| group.traces == 1));
    let by_count = grouping(target.golden_run(), GroupBy::Instructions);
    assert!(by_trace.kernels[0].groups.len() > by_count.kernels[0].groups.len());
}

#[test]
fn a_profile_has_what_its_thread_executes_and_every_step_is_found_again() {
    let target = target("montecarlo");
    let golden = target.golden_run();
    let grouping = grouping(golden, GroupBy::Instructions);
    for (number, group) in grouping.kernels[0].groups.iter().enumerate() {
        let thread = grouping.representative(golden, SEED, 0, number).unwrap();
        let profile = Profile::of(golden, thread);
        let launch = &golden.launches()[thread.launch as usize];
        let number = thread.cta * golden.threads_per_block(launch) as u64 + u64::from(thread.thread);
        assert_eq!(profile.steps.len(), group.instructions as usize);
        let executed = profile.steps.iter().filter(|step| step.executed).count();
        assert_eq!(launch.counts().get(number), Some(executed as u32));
        assert_eq!(trace(golden, launch, number).len(), profile.steps.len());
        let query = |wanted| Query { launch: thread.launch, thread: number, wanted };
        let visit = |at: usize| {
            let step = profile.steps[at];
            query(Wanted::Visit { instruction: step.instruction, nth: step.iteration })
        };
        let asked: Vec<Query> = (0..profile.steps.len()).step_by(7).map(visit).collect();
        let found = find(golden, &asked);
        for (at, asked) in (0..profile.steps.len()).step_by(7).zip(&asked) {
            let before = profile.steps[..at].iter().filter(|step| step.executed).count() as u64;
            let place = found[asked];
            assert_eq!((place.dynamic, place.executed), (before, profile.steps[at].executed));
            if place.executed {
                let again = query(Wanted::Dynamic(before as u32));
                assert_eq!(find(golden, &[again])[&again].instruction, place.instruction);
            }
        }
    }
}

#[test]
fn a_profile_is_drawn_by_popularity_and_its_instructions_uniformly() {
    let target = target("montecarlo");
    let method = GpuQin::new(&target, &words("gpu-qin:iterations=none,steps=none")).unwrap();
    let groups = &method.grouping().kernels[0].groups;
    let runs = 40_000;
    let mut observed = vec![0u64; 4];
    (0..runs).for_each(|run| observed[method.profile_of(SEED, run).unwrap().1] += 1);
    let covered: f64 = groups[..4].iter().map(|group| group.popularity).sum();
    let expected: Vec<f64> = groups[..4].iter().map(|group| group.popularity / covered * runs as f64).collect();
    assert!(stats::chi_square(&observed, &expected).unwrap().p > LEVEL, "{observed:?}");

    // All instructions of the profiles, weighted by popularity, have the shares of the drawn ones.
    let golden = target.golden_run();
    let launch = &golden.launches()[0];
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    for (number, group) in groups[..4].iter().enumerate() {
        let thread = method.grouping().representative(golden, SEED, 0, number).unwrap();
        let steps = Profile::of(golden, thread).steps;
        for step in &steps {
            let pc = launch.program.instructions[step.instruction as usize].pc.0;
            *weights.entry(pc).or_default() += group.popularity / covered / steps.len() as f64;
        }
    }
    let mut drawn: BTreeMap<u32, u64> = BTreeMap::new();
    sites(&method, 0..runs).iter().for_each(|site| *drawn.entry(site.spot.pc).or_default() += 1);
    let observed: Vec<u64> = weights.keys().map(|pc| drawn.get(pc).copied().unwrap_or(0)).collect();
    let expected: Vec<f64> = weights.values().map(|weight| weight * runs as f64).collect();
    assert_eq!(observed.iter().sum::<u64>(), runs);
    assert!(stats::chi_square(&observed, &expected).unwrap().p > LEVEL);
}

#[test]
fn iterations_beyond_the_cap_are_replaced_by_the_first_ones() {
    let target = target("matmul");
    let dynamic = |method: &str| {
        let method = GpuQin::new(&target, &words(method)).unwrap();
        let all = sites(&method, 0..2000);
        let there = all.iter().filter(|site| site.given_up().is_none());
        there.map(|site| Coordinates::of(site).unwrap().dynamic).collect::<Vec<_>>()
    };
    let (capped, free) = (dynamic("gpu-qin:iterations=8,steps=none"), dynamic("gpu-qin:iterations=none,steps=none"));
    let mean = |all: &[u64]| all.iter().sum::<u64>() as f64 / all.len() as f64;
    // The tile loop has 128 iterations: a cap of 8 draws from its first sixteenth.
    assert!(mean(&capped) < mean(&free) / 6.0, "{} of {}", mean(&capped), mean(&free));
}

#[test]
fn a_representative_is_any_thread_of_its_group_and_another_for_another_seed() {
    let target = target("montecarlo");
    let golden = target.golden_run();
    let grouping = grouping(golden, GroupBy::Instructions);
    let kernel = &grouping.kernels[0];
    for (number, group) in kernel.groups.iter().enumerate() {
        let drawn: BTreeSet<_> =
            (0..60).map(|seed| grouping.representative(golden, seed, 0, number).unwrap()).collect();
        assert!(drawn.len() as u64 > group.threads.min(60) / 2, "{} of {}", drawn.len(), group.threads);
        for thread in drawn {
            let launch = &golden.launches()[thread.launch as usize];
            let linear = thread.cta * golden.threads_per_block(launch) as u64 + u64::from(thread.thread);
            assert_eq!(kernel.group_of(thread.launch, linear), Some(number));
        }
    }
    assert_eq!(grouping.representative(golden, SEED, 0, kernel.groups.len()), None);
}

#[test]
fn settings_choose_alike_where_no_threshold_is_reached() {
    let alike = |workload: &str, settings: &str| {
        let target = target(workload);
        let of = |settings| GpuQin::new(&target, &words(settings)).unwrap();
        let (method, other) = (of("gpu-qin"), of(settings));
        let same = sites(&method, 0..400) == sites(&other, 0..400);
        assert!(same || !method.chooses_as(&other, SEED), "{workload}, {settings}");
        method.chooses_as(&other, SEED)
    };
    assert!(alike("transpose", "gpu-qin:iterations=none"));
    assert!(!alike("matmul", "gpu-qin:iterations=none"));
    assert!(alike("montecarlo", "gpu-qin:steps=none"));
    assert!(!alike("montecarlo", "gpu-qin:coverage=1"));
}

#[test]
fn a_site_depends_on_its_run_alone() {
    let target = target("bfs");
    for method in ["gpu-qin", "gpu-qin:choice=unbiased"] {
        let method = GpuQin::new(&target, &words(method)).unwrap();
        let all = sites(&method, 0..300);
        assert_eq!(all[120..180], sites(&method, 120..180));
    }
}

#[test]
fn what_is_given_up_hits_nothing_and_all_else_lands_where_it_says() {
    for (workload, words_of) in [("scan", "gpu-qin"), ("bfs", "gpu-qin"), ("hash", "gpu-qin:choice=unbiased")] {
        let target = target(workload);
        let method = GpuQin::new(&target, &words(words_of)).unwrap();
        let mut worker = target.worker(&Engine::AUTO).unwrap();
        let (mut landed, mut given_up) = (0, 0);
        for site in sites(&method, 0..400) {
            match &site.intent {
                Intent::GivenUp(reason) => {
                    assert!(Discard::of_word(reason).is_some(), "{reason}");
                    given_up += 1;
                }
                // A guarded-off instruction at the end of its thread has no successor to be hit before.
                Intent::Fault(_) => landed += u64::from(worker.run(&site).unwrap().landed.is_some()),
            }
        }
        assert!(given_up > 0 && landed + given_up >= 395, "{workload}: {landed} landed, {given_up} given up");
    }
}

#[test]
fn words_that_the_method_chooses_itself_are_refused() {
    let target = target("matmul");
    let refused = |words: SelectionWords| GpuQin::new(&target, &words).err().unwrap().to_string();
    let aimed = SelectionWords { target: Some("addr".to_owned()), ..words("gpu-qin") };
    assert!(refused(aimed).ends_with("the method chooses what is hit itself; leave `target` out"));
    let kernel = SelectionWords { kernel: vec!["nothing".to_owned()], ..words("gpu-qin") };
    assert!(refused(kernel).starts_with("find a thread to profile: no kernel matches"));
    assert!(refused(words("gpuqin")).starts_with("use the method `gpuqin`"));
}

#[test]
fn a_pattern_hits_registers_that_have_its_bits_and_no_others() {
    let target = target("pathfinder");
    let words = SelectionWords { model: Some("stuck1:0x100000000".to_owned()), ..words("gpu-qin") };
    let method = GpuQin::new(&target, &words).unwrap();
    let (mut hit, mut given_up) = (0, 0);
    for site in sites(&method, 0..200) {
        match &site.intent {
            Intent::GivenUp(reason) => given_up += u64::from(*reason == Discard::NoRegister.to_string()),
            Intent::Fault(id) => {
                id.parse::<fault::Fault>().unwrap();
                assert_eq!((site.labels.text(4), site.labels.text(5)), (Some("stuck1"), Some("32")), "{id}");
                hit += 1;
            }
        }
    }
    assert!(hit > 20 && given_up > 20, "{hit} runs hit, {given_up} are given up");
}
