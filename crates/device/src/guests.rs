//! The instruction sets that are known, and which of them reads the code of a module.

use capsule::{BinaryKind, BlobId, Capsule, ModuleId};
use facts::NamedSet;
use lower::{Contract, Ptx};
use simt::guest::{Guest, GuestModule, Image};
use std::sync::Arc;

use crate::error::ModuleError;

/// The guests of a device. Of those that read an image the first one does.
#[derive(Clone, Debug)]
pub struct Guests(Vec<Arc<dyn Guest>>);

impl Default for Guests {
    /// PTX, with products joined with sums as `ptxas` does.
    fn default() -> Self {
        Self(vec![Arc::new(Ptx::default())])
    }
}

/// The code of a module in a capsule that a guest reads.
#[derive(Clone, Copy, Debug)]
pub struct ModuleCode<'g> {
    /// Who reads it.
    pub guest: &'g dyn Guest,
    kind: &'static str,
    arch: u32,
    /// Where it is in the capsule.
    pub blob: BlobId,
}

impl ModuleCode<'_> {
    /// The code, given its bytes.
    #[must_use]
    pub fn image<'b>(&self, bytes: &'b [u8]) -> Image<'b> {
        Image { kind: self.kind, arch: self.arch, bytes }
    }

    /// What the module is called in messages.
    #[must_use]
    pub fn name(&self, capsule: &Capsule, id: ModuleId) -> String {
        format!("{}:module{}.{}", capsule.name, id.0, self.guest.name())
    }
}

impl Guests {
    /// The same ones, PTX with products joined with sums as said.
    #[must_use]
    pub fn contracting(mut self, contract: Contract) -> Self {
        let ptx: Arc<dyn Guest> = Arc::new(Ptx { contract });
        self.0.iter_mut().filter(|guest| guest.name() == ptx.name()).for_each(|guest| *guest = Arc::clone(&ptx));
        self
    }

    /// These and one more.
    #[must_use]
    pub fn and(mut self, guest: Arc<dyn Guest>) -> Self {
        self.0.push(guest);
        self
    }

    /// The sets of instructions that they have names for.
    #[must_use]
    pub fn sets(&self) -> Vec<NamedSet> {
        self.0.iter().flat_map(|guest| guest.sets()).copied().collect()
    }

    /// The guest that reads an image.
    ///
    /// # Errors
    /// If none does.
    pub(crate) fn reading(&self, name: &str, image: &Image<'_>) -> Result<&dyn Guest, ModuleError> {
        let no_guest = || ModuleError::NoGuest { name: name.to_owned(), kind: image.kind.to_owned() };
        self.0.iter().find(|guest| guest.reads(image)).map(AsRef::as_ref).ok_or_else(no_guest)
    }

    /// The code of a module that is run: its PTX, or the first binary that a guest reads. PTX among the binaries is
    /// what the application brought beside that.
    #[must_use]
    pub fn code(&self, capsule: &Capsule, id: ModuleId) -> Option<ModuleCode<'_>> {
        let module = capsule.module(id)?;
        let text = module.ptx.map(|blob| ("ptx", 0, blob));
        let binaries = module.binaries.iter().filter(|binary| binary.kind != BinaryKind::Ptx);
        let images = text.into_iter().chain(binaries.map(|binary| (binary.kind.word(), binary.arch, binary.blob)));
        images.into_iter().find_map(|(kind, arch, blob)| {
            let image = Image { kind, arch, bytes: &[] };
            let guest = self.0.iter().find(|guest| guest.reads(&image))?;
            Some(ModuleCode { guest: guest.as_ref(), kind, arch, blob })
        })
    }

    /// A module of a capsule, read but not loaded; none if the capsule holds no code for it that a guest reads.
    ///
    /// # Errors
    /// If the code cannot be read.
    pub fn open(&self, capsule: &Capsule, id: ModuleId) -> Result<Option<Box<dyn GuestModule>>, ModuleError> {
        let Some(code) = self.code(capsule, id) else { return Ok(None) };
        let bytes = capsule.blobs.get(code.blob)?;
        let module = code.guest.load(&code.name(capsule, id), &code.image(&bytes), simt::HEAP_BYTES)?;
        Ok(Some(module))
    }

    /// How many bytes the code of a module of a capsule has, if a guest reads it.
    #[must_use]
    pub fn bytes(&self, capsule: &Capsule, id: ModuleId) -> Option<u64> {
        capsule.blobs.bytes(self.code(capsule, id)?.blob)
    }
}
