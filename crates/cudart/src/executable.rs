//! Executables and libraries with other device code than they were compiled with.
//!
//! nvcc puts fat binaries into a section, and for each of them a wrapper into `.nvFatBinSegment`: a magic number, a version and
//! the address of the fat binary, 24 bytes in all, which is what a program gives to the CUDA runtime when it starts. Other code
//! is put behind the end of the file, as a segment of its own, in the place of a note among the program headers; then the
//! address in the wrapper says where it is. Nothing else of the file changes: what it had stays, and is not reached any more.

use crate::fatbin::{self, FatbinError, HEADER_BYTES, ImageKind};
use object::elf::{PF_R, PT_LOAD, PT_NOTE, ProgramHeader64};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian, Object as _, ObjectSection as _};
use std::ops::Range;

/// The section of the wrappers.
const WRAPPERS: &str = ".nvFatBinSegment";
/// The first four bytes of a wrapper.
const WRAPPER: u32 = 0x4662_43b1;
/// Its size in bytes.
const WRAPPER_BYTES: usize = 24;
/// Where the address stands in it.
const ADDRESS: usize = 8;
/// Addresses of a process are below this.
const ADDRESSES: u64 = 1 << 46;
/// Segments begin at multiples of this.
const PAGE: u64 = 0x1000;

/// An executable with other device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedExecutable {
    /// The file.
    pub bytes: Vec<u8>,
    /// Fat binaries that have other code.
    pub changed: usize,
    /// Fat binaries that have what they had.
    pub left: usize,
    /// Machine code and PTX for newer devices than the new text is for, as `sm_90` or `compute_90`: it went with the old text.
    pub dropped: Vec<String>,
}

/// Why the device code of a file cannot be changed.
#[derive(Debug, thiserror::Error)]
pub enum ExecutableError {
    /// It is not an ELF file of 64 bits, or a broken one.
    #[error("it is not an executable or library of 64 bits: {0}")]
    NotElf(#[from] object::read::Error),
    /// It holds no fat binary that a program registers.
    #[error("it has no section {WRAPPERS}: nvcc has put no device code into it")]
    NoCode,
    /// Its device code was linked by itself.
    #[error("its device code was linked separately (-rdc=true), so that its PTX is not what runs")]
    Linked,
    /// Something in it is not where it should be.
    #[error("{0}")]
    Malformed(&'static str),
    /// A fat binary in it cannot be read.
    #[error("read a fat binary of it: {0}")]
    Fatbin(#[from] FatbinError),
}

/// The file with other PTX: `code` gives the text that takes the place of another one, if any does. A fat binary whose text is
/// replaced keeps no machine code, so that the driver compiles the new text.
///
/// # Errors
/// If it is not an executable or library with device code that is in fat binaries, one for each file that was compiled.
pub fn with_code(file: &[u8], code: &dyn Fn(&str) -> Option<String>) -> Result<ChangedExecutable, ExecutableError> {
    let elf = ElfFile64::<LittleEndian>::parse(file)?;
    let wrappers = elf.section_by_name(WRAPPERS).ok_or(ExecutableError::NoCode)?;
    let (at, bytes) = (wrappers.address(), wrappers.data()?);
    let place =
        wrappers.file_range().ok_or(ExecutableError::Malformed("its wrappers of fat binaries are not in the file"))?.0;
    let mut new = NewSegment::of(&elf)?;
    let mut changed = ChangedExecutable { bytes: file.to_vec(), changed: 0, left: 0, dropped: Vec::new() };
    let mut is_linked = false;
    for (number, wrapper) in bytes.chunks_exact(WRAPPER_BYTES).enumerate() {
        let word = |at: usize| u32::from_le_bytes([wrapper[at], wrapper[at + 1], wrapper[at + 2], wrapper[at + 3]]);
        if word(0) != WRAPPER {
            return Err(ExecutableError::Malformed("a wrapper of a fat binary has another magic number"));
        }
        // Linking adds a wrapper of its own, which has nothing but what -rdc=true put there.
        if word(4) != 1 {
            is_linked = true;
            changed.left += 1;
            continue;
        }
        let offset = number * WRAPPER_BYTES + ADDRESS;
        let stored = wrapper[ADDRESS..ADDRESS + 8].try_into().map_or(0, u64::from_le_bytes);
        let addend = addend_of(&elf, at + offset as u64)?;
        let address = addend.as_ref().map_or(stored, |(_, addend)| *addend);
        match other_code(loaded(&elf, file, address)?, code, &mut changed.dropped)? {
            None => changed.left += 1,
            Some(fatbin) => {
                changed.changed += 1;
                let to = new.put(&fatbin).to_le_bytes();
                let places = std::iter::once(place as usize + offset).chain(addend.map(|(place, _)| place));
                places.for_each(|place| changed.bytes[place..place + 8].copy_from_slice(&to));
            }
        }
    }
    if changed.changed > 0 {
        new.write(&mut changed.bytes);
    } else if is_linked {
        return Err(ExecutableError::Linked);
    }
    Ok(changed)
}

/// A fat binary with the code that takes the place of what begins here, if any does.
fn other_code(
    fatbin: &[u8],
    code: &dyn Fn(&str) -> Option<String>,
    dropped: &mut Vec<String>,
) -> Result<Option<Vec<u8>>, ExecutableError> {
    let images = fatbin::parse(fatbin)?;
    for image in images.iter().filter(|image| image.kind == ImageKind::Ptx) {
        let text = image.unpack()?;
        let text = String::from_utf8_lossy(&text);
        if let Some(new) = code(text.trim_end_matches('\0')) {
            if image.is_relocatable() {
                return Err(ExecutableError::Linked);
            }
            let newer = images.iter().filter(|other| other.arch > image.arch);
            dropped.extend(newer.map(|other| match other.kind {
                ImageKind::Ptx => other.compute(),
                _ => format!("sm_{}", other.arch),
            }));
            dropped.sort();
            dropped.dedup();
            return Ok(Some(fatbin::of_ptx(&new, image)));
        }
    }
    Ok(None)
}

/// The bytes of the file from those on that are loaded at an address.
fn loaded<'f>(elf: &ElfFile64<'_, LittleEndian>, file: &'f [u8], address: u64) -> Result<&'f [u8], ExecutableError> {
    let none = ExecutableError::Malformed("a fat binary of it is not in the file");
    let holds = |header: &&ProgramHeader64<LittleEndian>| {
        let start = header.p_vaddr(LittleEndian);
        header.p_type(LittleEndian) == PT_LOAD
            && address.checked_sub(start).is_some_and(|at| at < header.p_filesz(LittleEndian))
    };
    let Some(header) = elf.elf_program_headers().iter().find(holds) else { return Err(none) };
    let offset = (address - header.p_vaddr(LittleEndian)).checked_add(header.p_offset(LittleEndian));
    let rest = offset.and_then(|offset| file.get(usize::try_from(offset).ok()?..));
    rest.filter(|rest| rest.len() >= HEADER_BYTES).ok_or(none)
}

/// Where the file has the addend of the relocation of an address, and that; of a file that is loaded at any address.
fn addend_of(elf: &ElfFile64<'_, LittleEndian>, address: u64) -> Result<Option<(usize, u64)>, ExecutableError> {
    /// The size of a relocation, and where its addend stands in it.
    const RELOCATION: usize = 24;
    const ADDEND: usize = 16;
    let Some(section) = elf.section_by_name(".rela.dyn") else { return Ok(None) };
    let Some((start, _)) = section.file_range() else { return Ok(None) };
    for (number, it) in section.data()?.chunks_exact(RELOCATION).enumerate() {
        let word = |range: Range<usize>| it[range].try_into().map_or(0, u64::from_le_bytes);
        if word(0..8) == address {
            return Ok(Some((start as usize + number * RELOCATION + ADDEND, word(ADDEND..RELOCATION))));
        }
    }
    Ok(None)
}

/// A segment behind all others, for fat binaries.
struct NewSegment {
    /// Where its program header stands in the file.
    header: usize,
    /// Where it begins in the file, and in memory.
    offset: u64,
    address: u64,
    bytes: Vec<u8>,
}

impl NewSegment {
    fn of(elf: &ElfFile64<'_, LittleEndian>) -> Result<Self, ExecutableError> {
        let headers = elf.elf_program_headers();
        let of_type = |wanted| move |header: &ProgramHeader64<LittleEndian>| header.p_type(LittleEndian) == wanted;
        let last =
            headers.iter().rposition(of_type(PT_LOAD)).ok_or(ExecutableError::Malformed("nothing of it is loaded"))?;
        // Loaded segments stand in the order of their addresses.
        let note = headers.iter().rposition(of_type(PT_NOTE)).filter(|note| *note > last);
        let note =
            note.ok_or(ExecutableError::Malformed("it has no note whose program header could name the new code"))?;
        let size = size_of::<ProgramHeader64<LittleEndian>>();
        let header = elf.elf_header().e_phoff(LittleEndian) as usize + note * size;
        let end = headers.iter().map(|it| it.p_vaddr(LittleEndian).saturating_add(it.p_memsz(LittleEndian))).max();
        let address = end.unwrap_or(0).checked_next_multiple_of(PAGE).filter(|address| *address < ADDRESSES);
        let address =
            address.ok_or(ExecutableError::Malformed("its segments end beyond all addresses of a process"))?;
        let offset = (elf.data().len() as u64).next_multiple_of(PAGE);
        Ok(Self { header, offset, address, bytes: Vec::new() })
    }

    /// Puts a fat binary into it; its address.
    fn put(&mut self, fatbin: &[u8]) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let at = self.address + self.bytes.len() as u64;
        self.bytes.extend_from_slice(fatbin);
        at
    }

    fn write(self, file: &mut Vec<u8>) {
        let length = self.bytes.len() as u64;
        let words = [self.offset, self.address, self.address, length, length, PAGE].map(u64::to_le_bytes).concat();
        let header = [&PT_LOAD.0.to_le_bytes()[..], &PF_R.0.to_le_bytes(), &words].concat();
        file[self.header..self.header + header.len()].copy_from_slice(&header);
        file.resize(self.offset as usize, 0);
        file.extend(self.bytes);
    }
}
