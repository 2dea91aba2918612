//! The capsule itself and the nouns around it; the events have a module of their own.
//!
//! The serde representation of these types *is* the manifest (see [`crate::format`]). Its rule: within a major version, fields
//! are only ever added, and a new field is left out of the JSON when it holds its default. That keeps old files readable, new
//! files readable by old programs, and [`Capsule::digest`] of an old capsule what it always was.

use serde::{Deserialize, Serialize};

use crate::{BlobId, Blobs, Digest, Digester, ElementType, Event, HardenedFunction, Hardening, Metric, ModuleId};

/// The recorded GPU work of one application run.
///
/// Equality compares contents: two capsules are equal when their manifests and the digests of their blobs are.
#[derive(Debug, Clone, PartialEq)]
pub struct Capsule {
    /// What people call it, for example `hotspot`.
    pub name: String,
    /// Where it came from.
    pub provenance: Provenance,
    /// The modules, in the order of their ids: `modules[n].id` is `ModuleId(n)`.
    pub modules: Vec<RecordedModule>,
    /// What the application asked of the GPU, in order.
    pub events: Vec<Event>,
    /// Which copies to the host are results; empty when nobody has said so (see [`Capsule::default_outputs`]).
    pub outputs: Vec<Output>,
    /// Source files that line tables name. Their paths are only ever shown, never opened.
    pub sources: Vec<SourceFile>,
    /// The large contents that modules, events and sources refer to.
    pub blobs: Blobs,
}

/// How a capsule came to be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The application and its arguments.
    pub command: Vec<String>,
    /// The recorder and its version, for example `beamline 0.1.0`.
    pub tool: String,
    /// Compiler identifications found in the application, one per module at most.
    pub compiler: Vec<String>,
    /// How many threads of the application launched kernels, where it was more than one: the order of their launches is one of
    /// several.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub launching_threads: u32,
    /// How the application can be started again; no part of what identifies the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<RecordedApplication>,
    /// Which lines of the application copied to the host, where its line tables say it; no part of what identifies the
    /// content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copy_lines: Vec<CopyLine>,
    /// What protection was written into its kernels, where any was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardening: Option<Hardening>,
}

/// How an application was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedApplication {
    /// The path of the program.
    pub program: String,
    /// The digest of the program's file.
    pub digest: Digest,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The directory that it was started in.
    pub directory: String,
}

/// A line of an application that copied to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyLine {
    /// The line, as `file:line`. Shown, never opened.
    pub line: String,
    /// Its copies, each by its index among the [`Event::CopyOut`] events.
    pub copies: Vec<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Provenance {
    /// Notes the line that made a copy to the host.
    pub fn copied_at(&mut self, copy: u32, line: String) {
        match self.copy_lines.iter_mut().find(|known| known.line == line) {
            Some(known) => known.copies.push(copy),
            None => self.copy_lines.push(CopyLine { line, copies: vec![copy] }),
        }
    }

    /// What to keep in mind of a recording of an application whose threads launched kernels side by side.
    #[must_use]
    pub fn order_note(&self) -> Option<String> {
        (self.launching_threads > 1).then(|| {
            format!(
                "{} threads of the application launched kernels: unless they wait for each other, the order of their launches in the \
                 recording is one of several, and another recording may number them differently",
                self.launching_threads
            )
        })
    }
}

/// Device code as the application brought it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedModule {
    /// Its own place in [`Capsule::modules`].
    pub id: ModuleId,
    /// The PTX text that runs, where there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<BlobId>,
    /// Every device binary that came with it, uncompressed but otherwise untouched.
    pub binaries: Vec<Binary>,
    /// Where the module's variables were placed when it was loaded.
    pub globals: Vec<PlacedSymbol>,
    /// The functions of the PTX that protection was written into.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hardened: Vec<HardenedFunction>,
}

/// One device binary of a module.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binary {
    /// The architecture it is for, as in `sm_90`: 90.
    pub arch: u32,
    /// What it is.
    pub kind: BinaryKind,
    /// Its bytes.
    pub blob: BlobId,
}

/// What a device binary is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BinaryKind {
    /// An ELF file of machine code.
    Cubin,
    /// PTX text.
    Ptx,
    /// NVVM intermediate code for link-time optimisation.
    LtoIr,
    /// A whole fat binary, kept because it could not be taken apart.
    Fatbin,
    /// A kind that this version of Beamline has no name for. Nothing runs it.
    #[serde(other)]
    Other,
}

impl BinaryKind {
    /// The word that stands for it in the manifest.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
            Self::LtoIr => "lto_ir",
            Self::Fatbin => "fatbin",
            Self::Other => "other",
        }
    }
}

/// Where a variable of a module was placed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedSymbol {
    /// Its name in the PTX.
    pub name: String,
    /// Its device address.
    pub address: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A copy to the host that is a result of the application, and how to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// Its index among the [`Event::CopyOut`] events, counted from 0.
    pub copy: u32,
    /// What people call it.
    pub name: String,
    /// What its elements are; compared as bytes when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<ElementType>,
    /// Its extent in elements, outermost first; empty when unknown. With an element type, it must account for every byte copied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shape: Vec<u64>,
    /// The error that still counts as good; finite and not negative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The error that is meant.
    #[serde(default, skip_serializing_if = "Metric::is_default")]
    pub metric: Metric,
}

/// A source file that a line table names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path as the line table spells it. Shown, never opened.
    pub path: String,
    /// Its text.
    pub blob: BlobId,
}

/// The manifest of a capsule, borrowed from it for writing.
#[derive(Serialize)]
struct ManifestRef<'a> {
    format: &'static str,
    name: &'a str,
    provenance: &'a Provenance,
    modules: &'a [RecordedModule],
    events: &'a [Event],
    outputs: &'a [Output],
    sources: &'a [SourceFile],
}

/// The manifest of a capsule as it is read; fields that it does not know are ignored.
#[derive(Deserialize)]
pub(crate) struct Manifest {
    name: String,
    provenance: Provenance,
    modules: Vec<RecordedModule>,
    events: Vec<Event>,
    outputs: Vec<Output>,
    sources: Vec<SourceFile>,
}

impl Manifest {
    /// The capsule of this manifest and the blobs beside it.
    pub(crate) fn with(self, blobs: Blobs) -> Capsule {
        let Self { name, provenance, modules, events, outputs, sources } = self;
        Capsule { name, provenance, modules, events, outputs, sources, blobs }
    }
}

impl Capsule {
    /// An empty capsule, to be filled by a recorder.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            provenance: Provenance::default(),
            modules: Vec::new(),
            events: Vec::new(),
            outputs: Vec::new(),
            sources: Vec::new(),
            blobs: Blobs::default(),
        }
    }

    /// Identifies the content: a digest of the manifest and of the size and digest of every blob, in order.
    ///
    /// It depends on nothing about the file (compression, place, format version) nor on where the application was, and reads no
    /// blob.
    pub fn digest(&self) -> Digest {
        let provenance = Provenance { application: None, copy_lines: Vec::new(), ..self.provenance.clone() };
        let manifest = self.manifest(&provenance);
        let mut digester = Digester::new();
        digester.update(b"beamline.capsule/1\0");
        digester.update(&(manifest.len() as u64).to_le_bytes());
        digester.update(&manifest);
        for (bytes, digest) in self.blobs.identities() {
            digester.update(&bytes.to_le_bytes());
            digester.update(digest.as_bytes());
        }
        digester.finish()
    }

    /// The manifest part, raw.
    pub(crate) fn manifest_json(&self) -> Vec<u8> {
        self.manifest(&self.provenance)
    }

    fn manifest(&self, provenance: &Provenance) -> Vec<u8> {
        let manifest = ManifestRef {
            format: "beamline.capsule/1",
            name: &self.name,
            provenance,
            modules: &self.modules,
            events: &self.events,
            outputs: &self.outputs,
            sources: &self.sources,
        };
        serde_json::to_vec(&manifest).expect("plain data without maps always has a JSON form")
    }
}
