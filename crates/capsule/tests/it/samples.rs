//! Capsules to test with, and files put together by hand from the description in `format.rs` alone.

use capsule::{
    AllocKind, Binary, BinaryKind, Capsule, Digest, ElementType, Event, Launch, Metric, ModuleId, Output, PlacedSymbol,
    RecordedModule, Region, SourceFile,
};

pub(crate) const PTX: &[u8] = b".version 8.0\n.target sm_70\n.visible .entry scale() { ret; }\n";

/// A launch of `scale` with four blocks of 64 threads.
pub(crate) fn launch() -> Launch {
    Launch {
        module: ModuleId(0),
        kernel: "scale".to_owned(),
        grid: [4, 1, 1],
        block: [32, 2, 1],
        shared_bytes: 0,
        params: vec![0, 0, 2, 0, 0, 0x7f, 0, 0],
        cooperative: false,
    }
}

/// A small capsule with every kind of event, and repetitive contents, which are the hardest to guard: many different
/// compressed streams stand for the same bytes.
pub(crate) fn small() -> Capsule {
    let mut capsule = Capsule::new("small");
    capsule.provenance.command = vec!["./scale".to_owned(), "64".to_owned()];
    capsule.provenance.tool = "beamline 0.1.0".to_owned();
    let ptx = capsule.blobs.add(PTX);
    let cubin = capsule.blobs.add([0x7f; 40]);
    let input = capsule.blobs.add([7; 96]);
    capsule.modules.push(RecordedModule {
        id: ModuleId(0),
        ptx: Some(ptx),
        binaries: vec![Binary { arch: 70, kind: BinaryKind::Cubin, blob: cubin }],
        globals: vec![PlacedSymbol { name: "factor".to_owned(), address: 0x7f00_0004_0000, bytes: 4 }],
        hardened: Vec::new(),
    });
    let buffer = Region::linear(0x7f00_0002_0000, 96);
    capsule.events = vec![
        Event::Load { module: ModuleId(0) },
        Event::Alloc { address: buffer.address, bytes: 512, kind: AllocKind::Device },
        Event::Fill { to: buffer, value: 0x3f80_0000, width: 4 },
        Event::CopyIn { to: Region::pitched(buffer.address, 32, 3, 128), data: input },
        Event::CopyWithin { to: buffer, from: Region::pitched(buffer.address, 32, 3, 128) },
        Event::Launch(launch()),
        Event::Synchronize,
        Event::CopyOut { from: buffer, digest: Digest::of(&[7; 96]), data: Some(input) },
        Event::Free { address: buffer.address },
    ];
    capsule.outputs = vec![Output {
        copy: 0,
        name: "scaled".to_owned(),
        element: Some(ElementType::F32),
        shape: vec![4, 6],
        tolerance: Some(0.1),
        metric: Metric::MaxRel,
    }];
    capsule.sources = vec![SourceFile { path: "scale.cu".to_owned(), blob: ptx }];
    capsule
}

/// A part as its table entry declares it, and its packed bytes.
#[derive(Clone)]
pub(crate) struct RawPart {
    pub(crate) packed: Vec<u8>,
    pub(crate) packed_bytes: u64,
    pub(crate) raw_bytes: u64,
    pub(crate) packed_digest: [u8; 32],
    pub(crate) raw_digest: [u8; 32],
}

impl RawPart {
    /// An honest part.
    pub(crate) fn of(raw: &[u8]) -> Self {
        Self::packed(zstd::bulk::compress(raw, 1).unwrap(), raw)
    }

    /// A part whose packed bytes are these, said to be those of `raw`.
    pub(crate) fn packed(packed: Vec<u8>, raw: &[u8]) -> Self {
        Self {
            packed_bytes: packed.len() as u64,
            raw_bytes: raw.len() as u64,
            packed_digest: *blake3::hash(&packed).as_bytes(),
            raw_digest: *blake3::hash(raw).as_bytes(),
            packed,
        }
    }
}

/// A file of these parts with a proper seal.
pub(crate) fn file([major, minor]: [u16; 2], parts: &[RawPart]) -> Vec<u8> {
    let mut head = vec![0x89, b'B', b'M', b'C', 0x0d, 0x0a, 0x1a, 0x0a];
    head.extend(major.to_le_bytes());
    head.extend(minor.to_le_bytes());
    head.extend((parts.len() as u32).to_le_bytes());
    let mut table = Vec::new();
    for part in parts {
        table.extend(part.packed_bytes.to_le_bytes());
        table.extend(part.raw_bytes.to_le_bytes());
        table.extend(part.packed_digest);
        table.extend(part.raw_digest);
    }
    let seal = blake3::hash(&[head.as_slice(), table.as_slice()].concat());
    let packed = parts.iter().flat_map(|part| part.packed.clone());
    [head, seal.as_bytes().to_vec(), table, packed.collect()].concat()
}

/// A manifest with nothing in it but these events.
pub(crate) fn manifest(events: &str) -> String {
    format!(
        r#"{{"name":"made by hand","provenance":{{"command":[],"tool":"","compiler":[]}},"modules":[],"events":[{events}],"outputs":[],"sources":[]}}"#
    )
}

/// What reading these bytes says, blobs included.
pub(crate) fn refusal(bytes: Vec<u8>) -> String {
    match Capsule::from_bytes(bytes).and_then(|capsule| capsule.read_all()) {
        Ok(()) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}
