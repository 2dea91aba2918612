//! Whether what is followed through arrays is the same on every engine, and what the run says of its outputs.

use campaign::config::SelectionWords;
use campaign::{Planner, RunIndex, Subject};
use fault::Fault;
use inject::{Array, CapsuleTarget, InjectError, Keep, LineSnapshots, Strategy, variables};
use outcome::End;
use std::collections::BTreeSet;
use testkit::kernels::{capsule_of, read};
use testkit::random_capsules::random_capsule;
use testkit::tiers::target;
use testkit::workload;

/// Everything that has a name in memory, as bytes.
fn arrays(target: &CapsuleTarget) -> Vec<Array> {
    let named = variables(target.golden_run()).into_iter();
    let array = |it: inject::Variable| Array {
        name: it.name,
        address: it.address,
        element: None,
        shape: vec![it.bytes],
        stride: None,
        launches: None,
    };
    named.map(array).collect()
}

fn faults(target: &CapsuleTarget, count: u64) -> Vec<Fault> {
    faults_by(target, count, 11)
}

fn faults_by(target: &CapsuleTarget, count: u64, seed: u64) -> Vec<Fault> {
    let runs: Vec<RunIndex> = (0..count).map(RunIndex).collect();
    let sites = target.plan(&runs, &SelectionWords::default(), seed).unwrap();
    sites.iter().map(|site| site.fault().unwrap().parse().unwrap()).collect()
}

/// What of the changes of a fault is not as full re-execution has it; how many changes there are.
fn disagreement(target: &CapsuleTarget, arrays: &[Array], fault: &Fault) -> Result<usize, String> {
    let [full, delta] = [Strategy::Full, Strategy::Delta]
        .map(|strategy| target.tracker(strategy, arrays).run(fault, Keep::Every).unwrap());
    if full.changes != delta.changes {
        return Err(format!("{}, {fault}: full {:?}\ndelta {:?}", target.name(), full.changes, delta.changes));
    }
    if full.observation != target.runner(Strategy::Full).run(fault).unwrap() {
        return Err(format!("{}, {fault}: another observation than without arrays", target.name()));
    }
    let last = target.golden_run().launches().len() as u32 - 1;
    for output in full.observation.outputs.iter().filter(|_| full.observation.end == End::Completed) {
        let Some(place) = arrays.iter().position(|array| array.name == output.name) else { continue };
        let changed = full.changes.iter().any(|change| change.array == place && change.launch == last);
        // Outputs are copied after the last launch of these programs.
        if changed != (output.differing > 0) {
            return Err(format!("{}, {fault}: {} differs: {changed}, {output:?}", target.name(), output.name));
        }
    }
    Ok(full.changes.len())
}

#[test]
fn every_engine_sees_the_same_of_every_array() {
    let (mut failures, mut changes) = (Vec::new(), 0);
    for name in ["atax", "bfs", "fdtd2d", "gramschm", "hotspot", "mm3"] {
        let target = workload(name);
        let arrays = arrays(&target);
        for fault in faults(&target, 60) {
            match disagreement(&target, &arrays, &fault) {
                Ok(found) => changes += found,
                Err(failure) => failures.push(failure),
            }
        }
    }
    assert!(changes > 500, "{changes}");
    crate::report("tracking", &failures);
}

#[test]
fn arrays_that_begin_and_end_anywhere_are_seen_alike() {
    let (mut failures, mut changes) = (Vec::new(), 0);
    for number in 0..150 {
        let target = target(random_capsule(23, number).unwrap()).unwrap();
        // Cut off at odd places.
        let cut = |array: Array| Array {
            address: array.address + 3,
            shape: vec![(array.shape[0].saturating_sub(5) / if number % 2 == 0 { 3 } else { 1 }).max(1)],
            // Every third byte of every second capsule.
            stride: (number % 2 == 0).then_some(3),
            ..array
        };
        let arrays: Vec<Array> = arrays(&target).into_iter().map(cut).collect();
        for fault in faults(&target, 8) {
            let [full, delta] = [Strategy::Full, Strategy::Delta]
                .map(|strategy| target.tracker(strategy, &arrays).run(&fault, Keep::Ends).unwrap().changes);
            changes += full.len();
            if full != delta {
                failures.push(format!("capsule {number}, {fault}: full {full:?}\ndelta {delta:?}"));
            }
        }
    }
    assert!(changes > 100, "{changes}");
    crate::report("tracking of random capsules", &failures);
}

#[test]
fn a_byte_that_is_hit_differs_from_the_instruction_of_the_fault_on_and_nothing_where_none_is() {
    let target = workload("mm3");
    let arrays = arrays(&target);
    let all: BTreeSet<u32> = (0..target.golden_run().launches()[0].program.instructions.len() as u32).collect();
    let a = arrays.iter().find(|it| it.name == "A").unwrap();
    let fault = |dynamic: u64| {
        let text =
            format!("isa=ptx,launch=0,cta=1,thread=0,dyn={dynamic},target=global@{:#x},model=flip,bits=0", a.address);
        text.parse::<Fault>().unwrap()
    };
    let snapshots = target.line_snapshots(&fault(20), &all, 40).unwrap();
    let found: Vec<u64> = snapshots.arrivals().iter().map(|it| it.executed).collect();
    assert!(found[0] == 20 && found.is_sorted() && snapshots.arrivals() == snapshots.golden_arrivals(), "{found:?}");
    for time in 0..found.len() {
        let corruption = snapshots.corruption(time, a).unwrap();
        assert_eq!((corruption.elements, corruption.extent.ends), (1, (0, 0)));
    }
    // No other array differs before a thread of the block stores.
    for array in arrays.iter().filter(|it| it.name != "A") {
        assert_eq!(snapshots.corruption(0, array), None, "{}", array.name);
    }
    let none = target.line_snapshots(&fault(1_000_000), &all, 40).unwrap();
    assert!(none.arrivals().is_empty() && none.golden_arrivals().is_empty() && !none.is_cut());
}

/// All that snapshots say of arrays.
fn told(snapshots: &LineSnapshots, arrays: &[Array]) -> String {
    let (found, golden) = (snapshots.arrivals(), snapshots.golden_arrivals());
    let times = 0..found.len().min(golden.len());
    let corruptions = times.flat_map(|time| arrays.iter().map(move |array| snapshots.corruption(time, array)));
    let corruptions: Vec<_> = corruptions.collect();
    let ends = (snapshots.is_cut(), snapshots.is_unfinished());
    format!("{found:?} {golden:?} {ends:?} {corruptions:?}")
}

#[test]
fn memory_within_launches_is_the_same_by_the_golden_index_and_by_the_blocks_before() {
    let (mut failures, mut differing, mut later) = (Vec::new(), 0, 0);
    for name in ["atax", "bfs", "gemm", "hotspot", "mm3", "reduce", "srad_v1"] {
        let target = workload(name);
        let arrays = arrays(&target);
        let mut tracker = target.line_tracker();
        for seed in 0..3 {
            for (number, fault) in (0..).zip(faults_by(&target, 15, seed)) {
                // Every fifth instruction is of the line.
                let program = &target.golden_run().launches()[fault.launch as usize].program;
                let line = (0..program.instructions.len() as u32).filter(|at| (at + number) % 5 == 0).collect();
                let one = target.line_snapshots(&fault, &line, 30).unwrap();
                let many = tracker.snapshots(&fault, &line, 30).unwrap();
                let [one, many] = [&one, &many].map(|it| told(it, &arrays));
                differing += u64::from(one.contains("Some"));
                later += u64::from(fault.cta > 0);
                if one != many {
                    failures.push(format!("{name}, {fault}: {one}\n{many}"));
                }
            }
        }
    }
    assert!(differing > 50 && later > 100, "{differing} {later}");
    crate::report("lines within launches", &failures);
}

#[test]
fn a_thread_comes_on_from_stores_to_global_memory_alone() {
    let text = "\
// buffer out: u32[32] = zero
// run: k block=32,1,1
// param: &out
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<2>;
    .shared .align 4 .b8 tile[128];
    .param .b32 given;
    mov.u32 %r0, %tid.x;
    shl.b32 %r1, %r0, 2;
    mov.u32 %r2, tile;
    add.u32 %r2, %r2, %r1;
    st.shared.u32 [%r2], %r0;
    st.param.b32 [given], %r0;
    ld.param.u64 %d0, [out];
    cvt.u64.u32 %d1, %r1;
    add.u64 %d0, %d0, %d1;
    st.global.u32 [%d0], %r0;
    add.u32 %r3, %r0, 1;
    st.global.u32 [%d0], %r3;
    ret;
}
";
    let script = read(std::path::Path::new("stores.ptx"), text).unwrap();
    let target = target(capsule::Capsule::clone(&capsule_of(&script).unwrap())).unwrap();
    let all: BTreeSet<u32> = (0..target.golden_run().launches()[0].program.instructions.len() as u32).collect();
    let fault = "isa=ptx,launch=0,cta=0,thread=1,dyn=0,target=dst0,model=flip,bits=0".parse().unwrap();
    let snapshots = target.line_snapshots(&fault, &all, 9).unwrap();
    let executed: Vec<u64> = snapshots.golden_arrivals().iter().map(|it| it.executed).collect();
    assert_eq!(executed, [0, 10, 12]);
}

#[test]
fn blocks_that_wait_for_each_other_are_not_looked_into() {
    let path = testkit::filetests("kernels").join("waiting_blocks.ptx");
    let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    let target = target(capsule::Capsule::clone(&capsule_of(&script).unwrap())).unwrap();
    let fault = "isa=ptx,launch=0,cta=0,thread=1,dyn=5,target=dst0,model=flip,bits=3".parse().unwrap();
    let refused = target.line_snapshots(&fault, &BTreeSet::from([9]), 9);
    assert!(matches!(refused, Err(InjectError::Together { launch: 0 })), "{refused:?}");
}
