//! Instruction sets are guests: a toy one goes through all that PTX does, and nothing but itself knows that it is one.

mod machine;
mod toy;

use campaign::config::SelectionWords;
use campaign::{CampaignEnd, Choices, Engines, Planner, Results, Store};
use capsule::{
    AllocKind, Binary, BinaryKind, Capsule, Digest, Event, Launch, ModuleId, Output, RecordedModule, Region,
};
use device::Image;
use device::{Device, Guests, LaunchEnd};
use facts::NamedSet;
use inject::{CapsuleTarget, Golden, Machine, Strategy};
use report::{Context, ListedInstruction, Report};
use simt::LevelName;
use simt::guest::{Guest, GuestError, GuestModule};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const MODULE: ModuleId = ModuleId(0);
const ARCH: u32 = 1;
const THREADS: u32 = 40;
const BLOCKS: u32 = 3;
const WORDS: u64 = (THREADS * BLOCKS) as u64;
const BYTES: u64 = 8 * WORDS;

/// Each thread mixes its word with seeds in a loop, and after a barrier with what its neighbour made.
const TEXT: &str = "toy
var seeds 3 5 7 9
kernel mix 2
thread x0
add x1 x0 x0
add x1 x1 x1
add x1 x1 x1
arg x2 0
add x2 x2 x1
load x3 x2
of x4 seeds
set x6 0
set x7 4
set x8 1
set x10 8
load x5 x4
add x3 x3 x5
xor x3 x3 x0
add x4 x4 x10
add x6 x6 x8
less q0 x6 x7
jump q0 12
arg x9 1
add x1 x9 x1
store x1 x3
barrier
xor x11 x0 x8
add x11 x11 x11
add x11 x11 x11
add x11 x11 x11
add x11 x11 x9
load x12 x11
barrier
xor x12 x12 x3
store x1 x12
exit
";

fn guests() -> Guests {
    Guests::default().and(Arc::new(toy::Toy))
}

fn machine(guests: Guests) -> Machine {
    Machine { guests, ..Machine::default() }
}

/// What the kernel makes of its words.
fn mixed(words: &[u64]) -> Vec<u64> {
    let looped = |(&word, thread): (&u64, u64)| [3, 5, 7, 9].iter().fold(word, |word, seed| (word + seed) ^ thread);
    let made: Vec<u64> = words.iter().zip(0..).map(looped).collect();
    (0..made.len()).map(|thread| made[thread] ^ made[thread ^ 1]).collect()
}

/// An application that launches the kernel once, as it would be recorded.
fn capsule() -> Capsule {
    let mut capsule = Capsule::new("toy");
    let mut device = Device::with(LevelName::best(), guests());
    let image = Image { kind: "other", arch: ARCH, bytes: TEXT.as_bytes() };
    let globals = device.load(MODULE, "toy", image).unwrap();
    let blob = capsule.blobs.add(TEXT);
    let binaries = vec![Binary { arch: ARCH, kind: BinaryKind::Other, blob }];
    capsule.modules.push(RecordedModule { id: MODULE, ptx: None, binaries, globals, hardened: Vec::new() });
    capsule.events.push(Event::Load { module: MODULE });
    let [from, to] = [(); 2].map(|()| device.allocate(BYTES).unwrap());
    for address in [from, to] {
        capsule.events.push(Event::Alloc { address, bytes: BYTES, kind: AllocKind::Device });
    }
    let words: Vec<u64> = (0..WORDS).map(|word| 1000 + word * word).collect();
    let bytes: Vec<u8> = words.iter().copied().flat_map(u64::to_le_bytes).collect();
    device.write(&Region::linear(from, BYTES), &bytes).unwrap();
    let data = capsule.blobs.add(&bytes);
    capsule.events.push(Event::CopyIn { to: Region::linear(from, BYTES), data });
    let launch = Launch {
        module: MODULE,
        kernel: "mix".into(),
        grid: [BLOCKS, 1, 1],
        block: [THREADS, 1, 1],
        shared_bytes: 0,
        params: [from, to].into_iter().flat_map(u64::to_le_bytes).collect(),
        cooperative: false,
    };
    let end = device.launch(&launch).unwrap();
    assert!(matches!(end, LaunchEnd::Completed { .. }), "{end:?}");
    capsule.events.push(Event::Launch(launch));
    let found = device.read(&Region::linear(to, BYTES)).unwrap();
    let expected: Vec<u8> = mixed(&words).into_iter().flat_map(u64::to_le_bytes).collect();
    assert_eq!(found, expected);
    let digest = Digest::of(&found);
    capsule.events.push(Event::CopyOut { from: Region::linear(to, BYTES), digest, data: None });
    capsule.outputs.push(Output { name: "mixed".into(), ..Output::untyped(0) });
    capsule
}

fn target() -> CapsuleTarget {
    let golden = Golden::run_on(Arc::new(capsule()), machine(guests())).unwrap();
    CapsuleTarget::new(golden)
}

fn words(target: &str) -> SelectionWords {
    SelectionWords { target: Some(target.to_owned()), ..SelectionWords::default() }
}

#[test]
fn without_its_guest_a_module_is_refused() {
    let error = Golden::run(Arc::new(capsule())).unwrap_err().to_string();
    assert!(error.contains("load module 0"), "{error}");
}

/// The same instruction set by a name that cannot stand in an id.
#[derive(Debug)]
struct Misnamed;

impl Guest for Misnamed {
    fn name(&self) -> &'static str {
        "Toy, v1"
    }

    fn sets(&self) -> &'static [NamedSet] {
        toy::Toy.sets()
    }

    fn reads(&self, image: &Image<'_>) -> bool {
        toy::Toy.reads(image)
    }

    fn load(&self, name: &str, image: &Image<'_>, heap_bytes: u64) -> Result<Box<dyn GuestModule>, GuestError> {
        toy::Toy.load(name, image, heap_bytes)
    }
}

#[test]
fn a_guest_whose_name_no_id_can_have_is_refused() {
    let guests = Guests::default().and(Arc::new(Misnamed));
    let error = Golden::run_on(Arc::new(capsule()), machine(guests)).unwrap_err().to_string();
    assert!(error.contains("\"Toy, v1\"") && error.contains("a-z"), "{error}");
}

#[test]
fn what_it_stores_is_seen_in_its_facts() {
    let golden = Golden::run_on(Arc::new(capsule()), machine(guests())).unwrap();
    let elements: Vec<_> = inject::elements(&golden).iter().map(|typed| typed.element()).collect();
    assert_eq!(elements, ["u64".parse().ok()]);
}

#[test]
fn every_engine_observes_the_same_of_its_faults() {
    let target = target();
    let mut failures = Vec::new();
    for kind in ["dst", "pred", "addr", "store", "src", "reg", "mem"] {
        let compared = testkit::tiers::compare(&target, &words(kind), 300, 7).unwrap();
        assert_eq!(compared.faults, 300, "{kind}");
        failures.extend(compared.disagreements);
    }
    crate::report("disagreements", &failures);
}

#[test]
fn its_sets_are_groups_to_draw_from() {
    let target = target();
    let runs: Vec<_> = (0..100).map(campaign::RunIndex).collect();
    let of = |group: &str| {
        let words = SelectionWords { group: vec![group.to_owned()], ..SelectionWords::default() };
        target.plan(&runs, &words, 1).map(|sites| sites.into_iter().map(|site| site.spot.opcode).collect::<Vec<_>>())
    };
    assert!(of("toy:sums").unwrap().iter().all(|opcode| opcode == "add"));
    assert!(of("toy:memory").unwrap().iter().all(|opcode| opcode == "load"));
    assert!(of("toy:moves").unwrap_err().to_string().contains("toy:memory"));
}

#[test]
fn all_its_faults_come_to_the_same_on_every_engine() {
    let target = target();
    let selection = SelectionWords { blocks: vec!["1".to_owned()], ..words("dst") };
    let sweep = target.sweep(&selection).unwrap();
    let counts = |strategy: Strategy| {
        let mut sweeper = target.sweeper(&strategy.into(), &selection, &target.criteria()).unwrap();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for unit in 0..sweep.units() {
            for count in sweeper.unit(unit, &|| false).unwrap().unwrap().counts {
                *counts.entry(format!("{} {} {:?}", count.operand, count.bit, count.outcome)).or_default() +=
                    count.count;
            }
        }
        counts
    };
    let lanes = counts(Strategy::Lanes);
    assert_eq!(lanes.values().sum::<u64>(), sweep.unit_faults.iter().sum::<u64>());
    assert_eq!(lanes, counts(Strategy::Delta));
}

#[test]
fn a_campaign_of_it_has_a_report() {
    let (target, dir) = (target(), tempfile::tempdir().unwrap());
    let choices = Choices { capsule: Some("toy".into()), runs: Some(500), seed: Some(3), ..Choices::default() };
    let dir = dir.path().join("toy.campaign");
    let mut store = Store::create(&dir, choices.settle().unwrap(), &target).unwrap();
    let ended = campaign::run(&target, &mut store, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    drop(store);
    let module = guests().open(target.golden_run().capsule(), MODULE).unwrap().unwrap();
    let listed = module.listing().into_iter().map(|it| ListedInstruction {
        function: it.function,
        pc: it.pc.0,
        opcode: it.mnemonic,
        line: it.line,
        text: it.text,
    });
    let context = Context { listing: listed.collect(), ..Context::default() };
    let report = Report::new(&Results::open(&dir).unwrap(), context).unwrap();
    let page = report.to_html();
    assert!(page.contains("xor x3 x3 x0") && page.contains("logic_shift"));
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    assert_eq!(json["summary"]["runs"]["landed"].as_u64(), Some(500));
    let hit = json["instructions"]["rows"].as_array().unwrap().iter().map(|row| row["opcode"].as_str().unwrap());
    assert!(hit.clone().count() > 10 && hit.clone().any(|opcode| opcode == "less"));
}
