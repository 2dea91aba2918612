//! What is written is what is read, and the same capsule is the same file.

use std::sync::Arc;

use capsule::{
    AllocKind, Binary, BinaryKind, BlobId, Capsule, Digest, ElementType, Event, Launch, Metric, ModuleId, Output,
    PlacedSymbol, RecordedModule, Region, SourceFile,
};
use expect_test::expect;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::samples;

/// A region that is sound: addresses anywhere, rows and slices with gaps.
fn region() -> impl Strategy<Value = Region> {
    let numbers = (0..u64::MAX / 2, 0..12_u64, 0..6_u64, 0..4_u64, 0..9_u64, 0..9_u64);
    numbers.prop_map(|(address, width, height, depth, row_gap, slice_gap)| {
        let pitch = width + row_gap;
        Region { address, width, height, depth, pitch, slice: pitch * height + slice_gap }
    })
}

fn launch() -> impl Strategy<Value = Launch> {
    let shape = (1..=u32::MAX >> 1, 1..=0xffff_u32, 1..=0xffff_u32, 1..=64_u32, 1..=16_u32, 1..=1_u32);
    (shape, ".{1,8}", 0..=1_u32 << 20, vec(any::<u8>(), 0..40), any::<bool>()).prop_map(
        |((gx, gy, gz, bx, by, bz), kernel, shared_bytes, params, cooperative)| Launch {
            module: ModuleId(0),
            kernel,
            grid: [gx, gy, gz],
            block: [bx, by, bz],
            shared_bytes,
            params,
            cooperative,
        },
    )
}

fn alloc_kind() -> impl Strategy<Value = AllocKind> {
    prop::sample::select(vec![AllocKind::Device, AllocKind::Managed, AllocKind::Pinned, AllocKind::Pool])
}

/// What becomes an event once the blobs are there.
#[derive(Debug, Clone)]
enum Step {
    Done(Event),
    In(Region, u8),
    Out(Region, u8, bool),
    Fill(Region, u32, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..u64::MAX / 2, any::<u32>(), alloc_kind()).prop_map(|(address, bytes, kind)| Step::Done(Event::Alloc {
            address,
            bytes: u64::from(bytes),
            kind
        })),
        any::<u64>().prop_map(|address| Step::Done(Event::Free { address })),
        region().prop_map(|from| Step::Done(Event::CopyWithin {
            to: Region::linear(from.address, from.bytes().unwrap()),
            from,
        })),
        launch().prop_map(|launch| Step::Done(Event::Launch(launch))),
        Just(Step::Done(Event::Synchronize)),
        (region(), any::<u8>()).prop_map(|(to, seed)| Step::In(to, seed)),
        (region(), any::<u8>(), any::<bool>()).prop_map(|(from, seed, kept)| Step::Out(from, seed, kept)),
        (region(), any::<u32>(), 0..3_u32).prop_map(|(to, value, log)| Step::Fill(to, value, log)),
    ]
}

/// Bytes of a region; few different ones, so that contents repeat.
fn content(region: &Region, seed: u8) -> Vec<u8> {
    (0..region.bytes().unwrap()).map(|index| seed % 4 * (index % 7) as u8).collect()
}

fn event(capsule: &mut Capsule, step: Step) -> Event {
    match step {
        Step::Done(event) => event,
        Step::In(to, seed) => Event::CopyIn { to, data: capsule.blobs.add(content(&to, seed)) },
        Step::Out(from, seed, kept) => {
            let bytes = content(&from, seed);
            let data = kept.then(|| capsule.blobs.add(&bytes));
            Event::CopyOut { from, digest: Digest::of(&bytes), data }
        }
        Step::Fill(to, value, log) => {
            let width = 1_u8 << log;
            let value = if width == 4 { value } else { value & ((1 << (8 * width)) - 1) };
            Event::Fill { to: Region { width: to.width / 4 * 4, ..to }, value, width }
        }
    }
}

fn output(copies: u32) -> impl Strategy<Value = Output> {
    let tolerance = prop::option::of(0.0..1e300_f64);
    let metric = prop::sample::select(Metric::ALL.to_vec());
    let parts = (0..copies, ".{0,8}", vec(any::<u64>(), 0..3), tolerance, metric);
    parts.prop_map(|(copy, name, shape, tolerance, metric)| Output {
        copy,
        name,
        element: None,
        shape,
        tolerance,
        metric,
    })
}

/// Any valid capsule.
fn any_capsule() -> impl Strategy<Value = Capsule> {
    let contents = vec(vec(any::<u8>(), 0..50), 1..4);
    let symbols = vec((".{0,8}", 0..u64::MAX / 2, any::<u32>()), 0..3);
    let words = (".{0,8}", vec(".{0,8}", 0..3), vec(".{0,8}", 0..3));
    let all = (words, contents, symbols, vec(step(), 0..12));
    let filled = all.prop_map(|((name, command, compiler), contents, symbols, steps)| {
        let mut capsule = Capsule::new(name);
        capsule.provenance.command = command;
        capsule.provenance.compiler = compiler;
        let blobs: Vec<BlobId> = contents.iter().map(|bytes| capsule.blobs.add(bytes)).collect();
        let globals =
            symbols.into_iter().map(|(name, address, bytes)| PlacedSymbol { name, address, bytes: u64::from(bytes) });
        let kinds = [BinaryKind::Cubin, BinaryKind::Ptx, BinaryKind::LtoIr, BinaryKind::Fatbin];
        let binaries = blobs.iter().zip(kinds).map(|(&blob, kind)| Binary { arch: 90, kind, blob });
        capsule.modules.push(RecordedModule {
            id: ModuleId(0),
            ptx: (blobs.len() > 1).then(|| blobs[0]),
            binaries: binaries.collect(),
            globals: globals.collect(),
            hardened: Vec::new(),
        });
        capsule.sources.push(SourceFile { path: "a.cu".to_owned(), blob: blobs[0] });
        capsule.events.push(Event::Load { module: ModuleId(0) });
        for step in steps {
            let event = event(&mut capsule, step);
            capsule.events.push(event);
        }
        capsule
    });
    filled.prop_flat_map(|capsule| {
        let copies = capsule.copies_out().count() as u32;
        let outputs = vec(output(copies.max(1)), 0..=3.min(copies as usize));
        (Just(capsule), outputs).prop_map(|(mut capsule, outputs)| {
            capsule.outputs = outputs;
            capsule
        })
    })
}

fn contents(capsule: &Capsule) -> Vec<Arc<[u8]>> {
    capsule.blobs.ids().map(|id| capsule.blobs.get(id).unwrap()).collect()
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(capsule in any_capsule()) {
        let bytes = capsule.to_bytes().unwrap();
        prop_assert_eq!(&capsule.to_bytes().unwrap(), &bytes);
        let read = Capsule::from_bytes(bytes.clone()).unwrap();
        prop_assert_eq!(&read, &capsule);
        prop_assert_eq!(read.digest(), capsule.digest());
        prop_assert_eq!(contents(&read), contents(&capsule));
        prop_assert_eq!(read.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn no_bytes_behind_a_magic_cause_a_panic(tail in vec(any::<u8>(), 0..400)) {
        let bytes = [b"\x89BMC\r\n\x1a\n\x01\0\0\0".as_slice(), &tail].concat();
        prop_assert!(Capsule::from_bytes(bytes).is_err());
    }

    #[test]
    fn no_manifest_causes_a_panic(text in r#"[\[\]{}:,"a-z0-9_]{0,60}"#) {
        let bytes = samples::file([1, 0], &[samples::RawPart::of(text.as_bytes())]);
        prop_assert!(Capsule::from_bytes(bytes).is_err());
    }
}

#[test]
fn a_file_reads_the_same_as_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.capsule");
    samples::small().write(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), samples::small().to_bytes().unwrap());
    let read = Capsule::open(&path).unwrap();
    assert_eq!(read, samples::small());
    assert_eq!(contents(&read), contents(&samples::small()));
}

#[test]
fn a_large_content_survives() {
    // Longer than the window of the frame, neither random nor trivial.
    let mut state = 1_u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 0x1f
    };
    let bytes: Vec<u8> = (0..20 << 20).map(|_| next()).collect();
    let mut capsule = Capsule::new("large");
    let id = capsule.blobs.add(&bytes);
    let read = Capsule::from_bytes(capsule.to_bytes().unwrap()).unwrap();
    assert!(*read.blobs.get(id).unwrap() == *bytes);
}

#[test]
fn identical_contents_are_stored_once() {
    let mut capsule = Capsule::new("twice");
    let first = capsule.blobs.add([1, 2, 3]);
    assert_eq!(capsule.blobs.add(vec![1, 2, 3]), first);
    assert_ne!(capsule.blobs.add([1, 2]), first);
    assert_eq!(capsule.blobs.len(), 2);
    let mut read = Capsule::from_bytes(capsule.to_bytes().unwrap()).unwrap();
    assert_eq!(read.blobs.add([1, 2, 3]), first);
}

#[test]
fn threads_share_an_open_capsule() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("small.capsule");
    samples::small().write(&path).unwrap();
    let (read, expected) = (Capsule::open(&path).unwrap(), contents(&samples::small()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..100).for_each(|_| assert_eq!(contents(&read), expected)));
        }
    });
}

#[test]
fn a_content_that_was_read_is_kept() {
    let read = Capsule::from_bytes(samples::small().to_bytes().unwrap()).unwrap();
    let (first, second) = (read.blobs.get(BlobId(0)).unwrap(), read.blobs.get(BlobId(0)).unwrap());
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn element_types_read_what_they_print() {
    for element in ElementType::ALL {
        assert_eq!(element.to_string().parse(), Ok(element));
        let mut capsule = samples::small();
        capsule.outputs[0].element = Some(element);
        capsule.outputs[0].shape = vec![96 / element.bytes()];
        let read = Capsule::from_bytes(capsule.to_bytes().unwrap()).unwrap();
        assert_eq!(read.outputs[0].element, Some(element));
    }
    let error = "float".parse::<ElementType>().unwrap_err();
    expect!["failed to read an element type: expected one of u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, found `float`"].assert_eq(&error.to_string());
}

#[test]
fn the_digest_of_a_fixed_capsule_never_changes() {
    // Campaigns are filed under this digest. If it changes, an old campaign no longer finds its capsule.
    expect!["9d0ce1bca7f0171cbcd249d55bf6e70e819d3a5611a7436cfa781acbf19de2e7"]
        .assert_eq(&samples::small().digest().to_string());
}

#[test]
fn the_digest_changes_with_every_part_of_the_content() {
    let digest = samples::small().digest();
    let changes: [fn(&mut Capsule); 4] = [
        |capsule| capsule.name.push('x'),
        |capsule| drop(capsule.events.pop()),
        |capsule| capsule.outputs[0].tolerance = None,
        |capsule| assert_eq!(capsule.blobs.add([9]), BlobId(3)),
    ];
    for change in changes {
        let mut changed = samples::small();
        change(&mut changed);
        assert_ne!(changed.digest(), digest);
    }
}
