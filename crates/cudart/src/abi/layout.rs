//! The layouts of structures as a C compiler makes them of CUDA's headers.
//!
//! Each file was printed by a program that includes `cuda_runtime_api.h` of that version and prints, for each
//! structure, its name and `sizeof`, and for each field, indented, its name, `offsetof` and `sizeof`.

use std::collections::BTreeMap;

/// The structures of one version of CUDA.
pub(crate) struct Layout {
    pub(crate) version: &'static str,
    pub(crate) structures: BTreeMap<&'static str, Structure>,
}

/// One structure.
#[derive(Default)]
pub(crate) struct Structure {
    pub(crate) bytes: usize,
    pub(crate) fields: Vec<Field>,
}

/// One field.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) bytes: usize,
}

/// The layouts of all versions.
pub(crate) fn layouts() -> [Layout; 3] {
    [
        parse("12.0", include_str!("layouts/cuda-12.0.txt")),
        parse("12.9", include_str!("layouts/cuda-12.9.txt")),
        parse("13.0", include_str!("layouts/cuda-13.0.txt")),
    ]
}

fn parse(version: &'static str, text: &'static str) -> Layout {
    let mut structures = BTreeMap::new();
    let mut current = "";
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse().unwrap();
        if line.starts_with(' ') {
            let structure: &mut Structure = structures.get_mut(current).unwrap();
            structure.fields.push(Field { name: words[0], offset: number(1), bytes: number(2) });
        } else {
            current = words[0];
            structures.insert(current, Structure { bytes: number(1), fields: Vec::new() });
        }
    }
    Layout { version, structures }
}
