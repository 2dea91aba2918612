//! Our runtime exports all that the real ones export.
//!
//! `symbols.txt` lists the functions that `nm -D` shows of libcudart 12.0, 12.9 and 13.0.

use std::collections::BTreeSet;
use std::env;
use std::fs;

use object::{Object, ObjectSymbol};

#[test]
fn every_symbol_of_the_real_runtimes_is_there() {
    let deps = env::current_exe().unwrap().parent().unwrap().to_owned();
    let bytes = fs::read(deps.join("libcudart.so")).unwrap();
    let library = object::File::parse(&*bytes).unwrap();
    let defined = library.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let defined: BTreeSet<&str> = defined.filter_map(|symbol| symbol.name().ok()).collect();
    let missing: Vec<&str> = include_str!("symbols.txt").lines().filter(|name| !defined.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
