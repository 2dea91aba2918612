//! Buffers whose copies to the host do not count, and the names of buffers that nobody declared.

use campaign::config::SelectionWords;
use capsule::{AllocKind, Capsule, Digest, Event, Launch};
use inject::{CapsuleTarget, Golden, Machine, Setup, Strategy, copied_buffers};
use outcome::Criteria;
use std::sync::Arc;
use testkit::kernels::{capsule_of, read};
use testkit::tiers::{compare, compare_swept};

/// Four launches, with copies of `data` and `side` between them, and of both at the end.
fn capsule() -> Capsule {
    let path = testkit::filetests("kernels").join("inject_host.ptx");
    let script = read(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
    Capsule::clone(&capsule_of(&script).unwrap())
}

fn target(capsule: Capsule, scratch: &[&str]) -> Result<CapsuleTarget, String> {
    let criteria = Criteria { scratch: scratch.iter().map(ToString::to_string).collect(), ..Criteria::default() };
    let golden = Golden::run_on(Arc::new(capsule), Machine::default()).unwrap();
    CapsuleTarget::set_up(golden, &Setup { criteria, ..Setup::default() }).map_err(|error| error.to_string())
}

fn outputs(golden: &Golden) -> Vec<&str> {
    golden.outputs().iter().map(|output| output.name.as_str()).collect()
}

#[test]
fn what_is_scratch_decides_nothing_and_is_no_output_in_any_tier() {
    let target = target(capsule(), &["side"]).unwrap();
    assert_eq!(outputs(target.golden_run()), ["data"]);
    let mut compared = compare(&target, &SelectionWords::default(), 400, 3).unwrap();
    compared.disagreements.extend(compare_swept(&target, 4, 40, 3).unwrap().disagreements);
    crate::report("faults on which the tiers disagree", &compared.disagreements);
    // The host sees `data` after the first launch, and `side` before the last.
    let visible = |target: &CapsuleTarget, launch: u32| {
        let mut runner = target.runner(Strategy::Full);
        let faults = (0..32).map(|thread| {
            format!("launch={launch},cta=0,thread={thread},dyn=6,target=dst0,model=flip,bits=5").parse().unwrap()
        });
        faults.filter(|fault| runner.run(fault).unwrap().host_visible).count()
    };
    assert_eq!((visible(&target, 0), visible(&target, 1)), (32, 0));
    let all = self::target(capsule(), &[]).unwrap();
    assert_eq!((visible(&all, 0), visible(&all, 1)), (32, 32));
}

#[test]
fn buffers_have_one_name_whether_they_are_declared_or_not() {
    let declared = Golden::run(Arc::new(capsule())).unwrap();
    assert_eq!(outputs(&declared), ["data", "side"]);
    let silent = Golden::run(Arc::new(Capsule { outputs: Vec::new(), ..capsule() })).unwrap();
    assert_eq!(outputs(&silent), ["step[0]", "step[1]"]);
    let buffers = copied_buffers(&silent);
    let found: Vec<_> = buffers.iter().map(|one| (one.name.as_str(), one.copies, one.before_last_launch)).collect();
    assert_eq!(found, [("step[0]", 2, 1), ("step[1]", 2, 1)]);
    assert!(buffers.iter().all(|one| one.is_output && one.bytes == 256));
}

#[test]
fn buffers_of_one_address_one_after_the_other_have_their_own_names() {
    let mut capsule = Capsule { outputs: Vec::new(), ..capsule() };
    let copies: Vec<Event> =
        capsule.events.iter().filter(|event| matches!(event, Event::CopyOut { .. })).cloned().collect();
    let Some(Event::CopyOut { from, .. }) = copies.first() else { panic!("{copies:?}") };
    let (address, bytes) = (from.address, from.width);
    let clear = capsule.launches().last().unwrap().1.clone();
    let zeros = capsule.blobs.add(vec![0; bytes as usize]);
    capsule.events.extend([
        Event::Free { address },
        Event::Alloc { address, bytes, kind: AllocKind::Device },
        Event::CopyIn { to: *from, data: zeros },
        Event::Launch(Launch { params: address.to_le_bytes().to_vec(), ..clear }),
        Event::CopyOut { from: *from, digest: Digest::of(&vec![0; bytes as usize]), data: None },
    ]);
    let golden = Golden::run(Arc::new(capsule.clone())).unwrap();
    assert_eq!(outputs(&golden), ["clear[0]"]);
    let names: Vec<String> = copied_buffers(&golden).into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["step[0]", "step[1]", "clear[0]"]);
    assert_eq!(outputs(target(capsule, &["step[0]"]).unwrap().golden_run()), ["clear[0]"]);
}

#[test]
fn what_is_not_copied_is_not_left_out() {
    let error = target(capsule(), &["nothing"]).unwrap_err();
    assert_eq!(error, "leave out copies of `nothing`: nothing is copied to the host from it, but from data, side");
}
