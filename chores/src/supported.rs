//! The page of what is supported, made from the table of instructions, from the families that the parser reads, and
//! from the entry points of the runtime.

use crate::repo::{root, say};
use anyhow::{Context, Result, ensure};
use isa::Alu;
use isa::alu::spellings;
use isa::op::families::FAMILIES;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

const HEAD: &str = "# What is supported

Written by `cargo xtask supported`; change that, not this.

";
/// The file of the runtime's entry points that do nothing.
const UNSUPPORTED: &str = "unsupported.rs";

/// Writes the page.
pub(crate) fn write() -> Result<()> {
    fs::write(path(), page()?).with_context(|| format!("write {}", path().display()))?;
    say(&format!("wrote {}", path().display()))
}

/// That the page is what [`write()`] would write.
pub(crate) fn check() -> Result<()> {
    let found = fs::read_to_string(path()).unwrap_or_default();
    ensure!(found == page()?, "docs/supported.md is out of date: run `cargo xtask supported`");
    Ok(())
}

fn path() -> PathBuf {
    root().join("docs/supported.md")
}

fn page() -> Result<String> {
    let mut text = HEAD.to_owned();
    families(&mut text);
    pure(&mut text);
    runtime(&mut text)?;
    Ok(text)
}

/// The machine's own instructions: for each part of a spelling, the words that it may be.
fn families(text: &mut String) {
    text.push_str(
        "PTX instructions are refused by name and line, unless they stand here: a kernel that holds one, or may call a function
that does, is refused when it is launched or asked for its attributes; other kernels of the module run. In a spelling,
`{a|b}` is either and `{|a}` may be left out.

## Instructions of the machine

Not every word goes with every other; the count is of the spellings that exist.

| | spelled | spellings |
|---|---|---:|
",
    );
    for family in FAMILIES {
        let parts: String = family.words().iter().map(|words| alternatives(words)).collect();
        let _ = writeln!(text, "| {} | `{}` | {} |", family.title, cell(&parts), family.spellings().len());
    }
}

fn alternatives(words: &[&str]) -> String {
    match words {
        [] | [""] => String::new(),
        [word] => (*word).to_owned(),
        words => format!("{{{}}}", words.join("|")),
    }
}

/// In a table, a bar ends a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The lines of the table of pure instructions, by group and by the first word.
fn pure(text: &mut String) {
    let forms: usize = Alu::spelled().map(|alu| spellings(alu.pattern()).len()).sum();
    let _ = write!(
        text,
        "
## Pure instructions

{} lines of the table, {forms} spellings. What each computes is in `crates/isa/src/table.rs`.

| group | instruction | spelled |
|---|---|---|
",
        Alu::spelled().count()
    );
    let mut rows: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for alu in Alu::spelled() {
        let pattern = alu.pattern();
        let head = pattern.trim_start_matches('{').split(['.', '{', '|', '}']).next().unwrap_or(pattern);
        rows.entry((alu.class().group().word(), head)).or_default().push(pattern);
    }
    for ((group, head), patterns) in rows {
        let spelled: Vec<String> = patterns.iter().map(|pattern| format!("`{}`", cell(pattern))).collect();
        let _ = writeln!(text, "| {group} | {head} | {} |", spelled.join(" "));
    }
}

/// The entry points of the runtime, by the file that they stand in.
fn runtime(text: &mut String) -> Result<()> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(root().join("crates/cudart/src/api"))? {
        let path = entry?.path();
        let source = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        sources.push((path, source));
    }
    sources.sort();
    let mut missing = Vec::new();
    text.push_str(
        "
## CUDA runtime

Applications are linked with libcudart.so.12 or libcudart.so.13. Names with `_ptsz`, `_ptds` or a version go with those
without.

| | calls |
|---|---|
",
    );
    for (path, source) in &sources {
        if path.ends_with(UNSUPPORTED) {
            missing = unsupported(source);
            continue;
        }
        let calls = entry_points(source);
        if !calls.is_empty() {
            let _ = writeln!(text, "| {} | {} |", title(source), quoted(&calls));
        }
    }
    ensure!(!missing.is_empty(), "no list of what the runtime does not support in {UNSUPPORTED}");
    let _ = write!(
        text,
        "
{} calls are named once on standard error and return `cudaErrorNotSupported`: {}.
",
        missing.len(),
        quoted(&missing)
    );
    Ok(())
}

/// The first sentence of a file.
fn title(source: &str) -> &str {
    let line = source.lines().next().unwrap_or_default().trim_start_matches("//!").trim();
    line.split(['.', ':']).next().unwrap_or(line)
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" ")
}

/// The functions that a file exports: those of each `[names] (parameters)`, and those written out. Names with a suffix
/// go with the one before them.
fn entry_points(source: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for piece in source.split(['[', '\n']) {
        let piece = piece.trim_start().trim_start_matches("extern \"C\" fn ");
        let names = piece.split([']', '(']).next().unwrap_or_default();
        for name in names.split_whitespace().take_while(|name| name.starts_with("cuda") && is_word(name)) {
            let base = name.split('_').next().unwrap_or(name);
            if !found.contains(&base) {
                found.push(base);
            }
        }
    }
    found
}

fn is_word(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The names between the braces of `unsupported!`.
fn unsupported(source: &str) -> Vec<&str> {
    let list = source.split("unsupported! {").nth(1).and_then(|rest| rest.split('}').next()).unwrap_or_default();
    list.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_declarations() {
        let source = "entry_points! {\n    [cudaA cudaA_ptsz] (x: u64) {\n [cudaB\n cudaC] () {\n}\nextern \"C\" fn cudaD() {}\n";
        assert_eq!(entry_points(source), ["cudaA", "cudaB", "cudaC", "cudaD"]);
        assert_eq!(unsupported("unsupported! {\n cudaE cudaF\n}"), ["cudaE", "cudaF"]);
        assert_eq!(title("//! Graphs: captured.\n"), "Graphs");
    }

    #[test]
    fn bars_do_not_end_cells() {
        assert_eq!(cell(&alternatives(&["", ".a"])), "{\\|.a}");
    }
}
