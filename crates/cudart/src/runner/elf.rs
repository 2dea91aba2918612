//! What the ELF file of a program or library says about its use of CUDA.

use std::fs::File;
use std::path::Path;

use object::read::ReadCache;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, elf};

/// The sections in which nvcc puts device code and what registers it.
const DEVICE_SECTIONS: [&str; 3] = [".nv_fatbin", ".nvFatBinSegment", "__nv_relfatbin"];
/// The function that every file with device code calls when it is loaded.
const REGISTER: &[u8] = b"__cudaRegisterFatBinary";

/// What there is to know about one file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// The libraries that it needs, by name.
    pub(super) needed: Vec<String>,
    /// Where it wants them looked for.
    pub(super) search: Vec<String>,
    /// Whether a loader is to load it.
    pub(super) dynamic: bool,
    /// Whether it is a program, not only a library.
    pub(super) program: bool,
    /// Whether it holds device code.
    pub(super) device_code: bool,
    /// Whether it takes the CUDA runtime from elsewhere.
    pub(super) takes_runtime: bool,
    /// Whether it loads libraries while it runs.
    pub(super) loads: bool,
    /// Whether it has been stripped of what would tell the rest.
    pub(super) opaque: bool,
}

/// Why a file has no facts.
#[derive(Debug)]
pub(super) enum Unfit {
    /// It is for another machine: which.
    Machine(String),
    /// It is not an ELF file, or a broken one.
    NotElf,
}

/// Reads the headers of a file, not all of it.
pub(super) fn facts(path: &Path) -> std::io::Result<Result<Facts, Unfit>> {
    let cache = ReadCache::new(File::open(path)?);
    Ok(of_file(&cache))
}

type Elf<'a> = ElfFile64<'a, Endianness, &'a ReadCache<File>>;

fn of_file(cache: &ReadCache<File>) -> Result<Facts, Unfit> {
    let kind = object::FileKind::parse(cache).map_err(|_| Unfit::NotElf)?;
    match kind {
        object::FileKind::Elf64 => {}
        object::FileKind::Elf32 => return Err(Unfit::Machine("32 bits".to_owned())),
        _ => return Err(Unfit::NotElf),
    }
    let file = Elf::parse(cache).map_err(|_| Unfit::NotElf)?;
    let header = file.elf_header();
    let machine = header.e_machine(file.endian());
    if machine != elf::EM_X86_64 {
        return Err(Unfit::Machine(machine_name(&file)));
    }
    let mut facts = Facts { device_code: file.sections().any(|section| is_device(section.name())), ..Facts::default() };
    segments(&file, &mut facts);
    symbols(&file, &mut facts);
    dynamic(&file, &mut facts);
    Ok(facts)
}

fn machine_name(file: &Elf<'_>) -> String {
    format!("{:?}", file.architecture()).to_lowercase()
}

fn is_device(name: object::Result<&str>) -> bool {
    name.is_ok_and(|name| DEVICE_SECTIONS.contains(&name))
}

/// Which loader it wants, and whether it is a program.
fn segments(file: &Elf<'_>, facts: &mut Facts) {
    let endian = file.endian();
    let has = |kind| file.elf_program_headers().iter().any(|header| header.p_type(endian) == kind);
    facts.dynamic = has(elf::PT_DYNAMIC);
    facts.program = has(elf::PT_INTERP) || file.elf_header().e_type(endian) == elf::ET_EXEC;
}

fn symbols(file: &Elf<'_>, facts: &mut Facts) {
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_undefined()) {
        match symbol.name_bytes() {
            Ok(b"dlopen" | b"dlmopen") => facts.loads = true,
            Ok(name) if name == REGISTER => facts.takes_runtime = true,
            _ => {}
        }
    }
}

fn dynamic(file: &Elf<'_>, facts: &mut Facts) {
    let Ok(table) = file.elf_dynamic_table() else {
        return;
    };
    facts.opaque = facts.dynamic && table.is_empty();
    for entry in table.iter() {
        let list = match entry.tag {
            elf::DT_NEEDED => &mut facts.needed,
            elf::DT_RPATH | elf::DT_RUNPATH => &mut facts.search,
            _ => continue,
        };
        if let Ok(text) = table.string(entry) {
            list.push(String::from_utf8_lossy(text).into_owned());
        }
    }
}
