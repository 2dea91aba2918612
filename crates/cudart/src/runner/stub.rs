//! The smallest shared library that satisfies an application's need for `libcudart.so.13`.
//!
//! An application that was linked with `-cudart shared` needs a library of that name, and each symbol it takes from
//! it carries the version `libcudart.so.13`. Our runtime is preloaded and defines the symbols, without versions. If
//! it were to take the name too, glibc would print "no version information available" into the application's stderr,
//! and one library cannot have the names of two versions. So the name belongs to a library that defines nothing but
//! the version: a page of ELF, written here rather than compiled, because users of Beamline need not have a compiler
//! and a page of bytes can be tested.
//!
//! Reference: System V ABI, chapters 4 and 5; Drepper, *ELF Symbol Versioning*.

const HEADER: u64 = 64;
const PROGRAM_HEADER: u64 = 56;
/// Everything is one segment, read and write: glibc relocates the dynamic section in place.
const READ_WRITE: u32 = 4 | 2;
const PAGE: u64 = 4096;

/// The bytes of a shared library of this name, which defines the version of the same name and nothing else, and needs
/// another library.
pub(super) fn image(name: &str, needs: &str) -> Vec<u8> {
    let strings = [b"\0", name.as_bytes(), b"\0", needs.as_bytes(), b"\0"].concat();
    let hash = words(&[1, 1, 0, 0]);
    let symbols = vec![0; 24];
    let versions = vec![0; 2];
    let mut place = HEADER + 3 * PROGRAM_HEADER;
    let mut body = Vec::new();
    let mut put = |bytes: &[u8]| {
        let padded = bytes.len().next_multiple_of(8);
        let at = place;
        body.extend_from_slice(bytes);
        body.resize(body.len() + padded - bytes.len(), 0);
        place += padded as u64;
        at
    };
    let at = [&hash, &symbols, &strings, &versions, &definitions(name)].map(|bytes| put(bytes));
    let dynamic = dynamic(at, strings.len() as u64, name.len() as u64 + 2);
    let dynamic_at = put(&dynamic);
    let total = place;
    let mut image = header();
    image.extend(program_header(1, READ_WRITE, 0, total, PAGE));
    image.extend(program_header(2, READ_WRITE, dynamic_at, dynamic.len() as u64, 8));
    image.extend(program_header(0x6474_e551, READ_WRITE, 0, 0, 16));
    image.extend(body);
    image
}

/// The ELF header: a shared object for x86-64 without sections.
fn header() -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.resize(16, 0);
    bytes.extend(halves(&[3, 62]));
    bytes.extend(words(&[1]));
    bytes.extend(longs(&[0, HEADER, 0]));
    bytes.extend(words(&[0]));
    bytes.extend(halves(&[HEADER as u16, PROGRAM_HEADER as u16, 3, 64, 0, 0]));
    bytes
}

/// A segment that is mapped where it stands in the file.
fn program_header(kind: u32, flags: u32, at: u64, bytes: u64, align: u64) -> Vec<u8> {
    [words(&[kind, flags]), longs(&[at, at, at, bytes, bytes, align])].concat()
}

/// The version definitions: the library's own name, as every linker puts first, and the version.
fn definitions(name: &str) -> Vec<u8> {
    const BASE: u16 = 1;
    const SIZE: u32 = 28;
    let hash = elf_hash(name);
    let definition =
        |flags, index, next| [halves(&[1, flags, index, 1]), words(&[hash, 20, next]), words(&[1, 0])].concat();
    [definition(BASE, 1, SIZE), definition(0, 2, 0)].concat()
}

/// The dynamic section, for the places of hash table, symbols, strings, versions and version definitions, and for the
/// place of the needed library's name in the strings.
fn dynamic([hash, symbols, strings, versions, definitions]: [u64; 5], string_bytes: u64, needs: u64) -> Vec<u8> {
    const NAME_IN_STRINGS: u64 = 1;
    let entries = [
        [1, needs],
        [14, NAME_IN_STRINGS],
        [4, hash],
        [5, strings],
        [6, symbols],
        [10, string_bytes],
        [11, 24],
        [0x6fff_fff0, versions],
        [0x6fff_fffc, definitions],
        [0x6fff_fffd, 2],
        [0, 0],
    ];
    longs(&entries.concat())
}

/// The hash function of the System V ABI.
fn elf_hash(name: &str) -> u32 {
    name.bytes().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xf000_0000;
        (hash ^ high >> 24) & !high
    })
}

fn halves(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn longs(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::Endianness;
    use object::elf::{DT_NEEDED, DT_SONAME, DT_STRTAB, DT_VERDEFNUM};
    use object::read::elf::{Dyn, ElfFile64, ProgramHeader};

    #[test]
    fn the_version_hash_is_that_of_the_abi() {
        assert_eq!(elf_hash("printf"), 0x077905a6);
        assert_eq!(elf_hash("GLIBC_2.2.5"), 0x09691a75);
    }

    #[test]
    fn it_has_the_name_that_was_asked_for() {
        let bytes = image("libcudart.so.13", "other.so");
        let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
        let endian = file.endian();
        let segments = file.elf_program_headers().iter();
        let entries = segments.filter_map(|segment| segment.dynamic(endian, &*bytes).unwrap()).next().unwrap();
        let value = |tag| entries.iter().find(|entry| entry.d_tag(endian) == tag).unwrap().d_val(endian) as usize;
        let name = &bytes[value(DT_STRTAB) + value(DT_SONAME)..];
        assert!(name.starts_with(b"libcudart.so.13\0"));
        assert!(bytes[value(DT_STRTAB) + value(DT_NEEDED)..].starts_with(b"other.so\0"));
        assert_eq!(value(DT_VERDEFNUM), 2);
    }
}
