//! Things that an application does to the device, as far as two runs of it can be told apart by them.

use capsule::{AllocKind, Capsule, Digest, Digester, Event, EventKind, Launch, ModuleId, Region};

/// One thing that was done to the device.
#[derive(Debug, Clone, Copy)]
pub enum DeviceOp<'a> {
    /// A module was loaded.
    Load {
        /// Its number.
        module: ModuleId,
        /// Its PTX.
        ptx: &'a [u8],
    },
    /// Memory was set aside.
    Alloc {
        /// Where.
        address: u64,
        /// How much.
        bytes: u64,
        /// For what.
        kind: AllocKind,
    },
    /// Memory was given back.
    Free {
        /// Where.
        address: u64,
    },
    /// Bytes of the host arrived.
    CopyIn {
        /// Where.
        to: Region,
        /// The bytes, packed.
        bytes: &'a [u8],
    },
    /// Bytes of the device reached the host.
    CopyOut {
        /// From where.
        from: Region,
        /// Which.
        digest: Digest,
    },
    /// Bytes moved on the device.
    CopyWithin {
        /// To where.
        to: Region,
        /// From where.
        from: Region,
    },
    /// Memory was set to a value.
    Fill {
        /// Where.
        to: Region,
        /// The value, in the low `width` bytes.
        value: u32,
        /// 1, 2 or 4.
        width: u8,
    },
    /// A kernel was launched.
    Launch(&'a Launch),
    /// The host waited.
    Synchronize,
}

/// What tells one operation from another: a digest of all that it is, with its kind in the low byte. The arguments of a
/// launch are not in it: some of their bytes mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// The kind of the operation; none where it is of no operation.
    #[must_use]
    pub fn kind(self) -> Option<EventKind> {
        EventKind::ALL.get((self.0 & 0xff) as usize).copied()
    }

    /// What kind of operation it is, in words.
    #[must_use]
    pub fn what(self) -> String {
        self.kind().map_or_else(|| "something else".to_owned(), |kind| format!("a {}", kind.name()))
    }
}

impl DeviceOp<'_> {
    fn kind(&self) -> EventKind {
        match self {
            Self::Load { .. } => EventKind::Load,
            Self::Alloc { .. } => EventKind::Alloc,
            Self::Free { .. } => EventKind::Free,
            Self::CopyIn { .. } => EventKind::CopyIn,
            Self::CopyOut { .. } => EventKind::CopyOut,
            Self::CopyWithin { .. } => EventKind::CopyWithin,
            Self::Fill { .. } => EventKind::Fill,
            Self::Launch(_) => EventKind::Launch,
            Self::Synchronize => EventKind::Synchronize,
        }
    }

    /// What tells it from other operations.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut digest = Digester::new();
        match self {
            Self::Load { module, ptx } => {
                numbers(&mut digest, &[module.0.into()]);
                code(&mut digest, ptx);
            }
            Self::Alloc { address, bytes, kind } => numbers(&mut digest, &[*address, *bytes, kind_number(*kind)]),
            Self::Free { address } => numbers(&mut digest, &[*address]),
            Self::CopyIn { to, bytes } => {
                region(&mut digest, to);
                digest.update(bytes);
            }
            Self::CopyOut { from, digest: bytes } => {
                region(&mut digest, from);
                digest.update(bytes.as_bytes());
            }
            Self::CopyWithin { to, from } => {
                region(&mut digest, to);
                region(&mut digest, from);
            }
            Self::Fill { to, value, width } => {
                region(&mut digest, to);
                numbers(&mut digest, &[(*value).into(), (*width).into()]);
            }
            Self::Launch(launch) => numbers(&mut digest, &[shape(launch)]),
            Self::Synchronize => {}
        }
        Fingerprint(first_word(&digest) & !0xff | self.kind() as u64)
    }
}

/// What tells launches apart, all but their arguments.
#[must_use]
pub fn shape(launch: &Launch) -> u64 {
    let Launch { module, kernel, grid, block, shared_bytes, cooperative, .. } = launch;
    let mut digest = Digester::new();
    numbers(&mut digest, &[module.0.into(), (*shared_bytes).into(), (*cooperative).into()]);
    numbers(&mut digest, &[grid, block].map(|extents| extents.map(u64::from)).concat());
    digest.update(kernel.as_bytes());
    first_word(&digest)
}

fn first_word(digest: &Digester) -> u64 {
    digest.finish().as_bytes().first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

fn numbers(digest: &mut Digester, numbers: &[u64]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    digest.update(&bytes);
}

/// PTX without the names of source files: where it was compiled changes nothing that it does.
fn code(digest: &mut Digester, ptx: &[u8]) {
    for line in ptx.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii_start().starts_with(b".file")) {
        digest.update(line);
        digest.update(b"\n");
    }
}

fn region(digest: &mut Digester, region: &Region) {
    let Region { address, width, height, depth, pitch, slice } = *region;
    numbers(digest, &[address, width, height, depth, pitch, slice]);
}

fn kind_number(kind: AllocKind) -> u64 {
    match kind {
        AllocKind::Device => 0,
        AllocKind::Managed => 1,
        AllocKind::Pinned => 2,
        AllocKind::Pool => 3,
    }
}

/// The fingerprint of every event of a capsule.
///
/// # Errors
/// If some of its contents cannot be read.
pub fn fingerprints(capsule: &Capsule) -> Result<Vec<Fingerprint>, capsule::Error> {
    let print = |event: &Event| {
        let content;
        let op = match event {
            Event::Load { module } => {
                let ptx = capsule.module(*module).and_then(|module| module.ptx);
                content = ptx.map(|ptx| capsule.blobs.get(ptx)).transpose()?;
                DeviceOp::Load { module: *module, ptx: content.as_deref().unwrap_or_default() }
            }
            Event::Alloc { address, bytes, kind } => DeviceOp::Alloc { address: *address, bytes: *bytes, kind: *kind },
            Event::Free { address } => DeviceOp::Free { address: *address },
            Event::CopyIn { to, data } => {
                content = Some(capsule.blobs.get(*data)?);
                DeviceOp::CopyIn { to: *to, bytes: content.as_deref().unwrap_or_default() }
            }
            Event::CopyOut { from, digest, .. } => DeviceOp::CopyOut { from: *from, digest: *digest },
            Event::CopyWithin { to, from } => DeviceOp::CopyWithin { to: *to, from: *from },
            Event::Fill { to, value, width } => DeviceOp::Fill { to: *to, value: *value, width: *width },
            Event::Launch(launch) => DeviceOp::Launch(launch),
            Event::Synchronize => DeviceOp::Synchronize,
        };
        Ok(op.fingerprint())
    };
    capsule.events.iter().map(print).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_differ_in_anything_have_other_fingerprints() {
        let region = Region::linear(0x1000, 8);
        let launch = Launch {
            module: ModuleId(0),
            kernel: "k".into(),
            grid: [2, 1, 1],
            block: [32, 1, 1],
            shared_bytes: 0,
            params: vec![1, 2],
            cooperative: false,
        };
        let wider = Launch { grid: [3, 1, 1], ..launch.clone() };
        let other = Launch { params: vec![1, 3], ..launch.clone() };
        let ops = [
            DeviceOp::CopyIn { to: region, bytes: &[1; 8] },
            DeviceOp::CopyIn { to: region, bytes: &[2; 8] },
            DeviceOp::CopyOut { from: region, digest: Digest::of(&[1; 8]) },
            DeviceOp::CopyOut { from: Region::linear(0x1008, 8), digest: Digest::of(&[1; 8]) },
            DeviceOp::Launch(&launch),
            DeviceOp::Launch(&wider),
            DeviceOp::Synchronize,
        ];
        let prints = ops.map(|op| op.fingerprint().0);
        for (at, print) in prints.iter().enumerate() {
            assert!(!prints[..at].contains(print), "{at}");
        }
        let load = |ptx: &'static [u8]| DeviceOp::Load { module: ModuleId(0), ptx }.fingerprint();
        assert_eq!(load(b".file 1 \"/a/k.cu\"\nret;"), load(b"  .file 1 \"/b/k.cu\"\nret;"));
        assert_ne!(load(b".file 1 \"a\"\nret;"), load(b".file 1 \"a\"\nexit;"));
        assert_eq!(DeviceOp::Launch(&launch).fingerprint(), DeviceOp::Launch(&other).fingerprint());
        assert_eq!(ops[0].fingerprint().what(), "a copy to the device");
    }
}
