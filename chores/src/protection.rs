//! Duplicates survive NVIDIA's assembler, which merges one that it sees through with its original.

use crate::nvcc;
use crate::repo::{root, say};
use crate::tools::Tools;
use anyhow::{Context, Result, anyhow, ensure};
use capsule::Capsule;
use rewrite::{Protection, Scheme};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Programs of integers, and of f32.
const WORKLOADS: [&str; 2] = ["pathfinder", "matmul"];
const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_90"];

/// Machine instructions that do one thing, on one architecture or on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// Minima and maxima of integers.
    Minimum,
    /// Sums and products of integers.
    Integer,
    /// The same in uniform registers. No duplicate of them is demanded, since the assembler may fold constants and addresses
    /// there; where a duplicate is one of them, it counts.
    Uniform,
    /// Sums and products of f32.
    Float,
    /// Loads, stores and barriers, which are not duplicated.
    Once,
}

/// Assembles programs as they are and protected, and compares how many instructions of each class there are.
pub(crate) fn protection() -> Result<()> {
    let (assembler, disassembler) = (nvcc::install()?.root.join("bin/ptxas"), nvcc::disassembler()?);
    let mut report = String::new();
    for arch in ARCHITECTURES {
        let (assembler, disassembler) = (assembler.clone(), disassembler.clone());
        let tools = Tools { assembler, disassembler, arch: arch.to_owned(), level: 3 };
        for name in WORKLOADS {
            let texts = texts(name)?;
            let before = counted(&tools, &texts, None)?;
            for scheme in Scheme::in_threads() {
                let after = counted(&tools, &texts, Some(scheme))?;
                let place = format!("{name}, {arch}, {}", scheme.word());
                compare(&before, &after).with_context(|| place.clone())?;
                writeln!(report, "{place}: {before:?} became {after:?}")?;
            }
        }
    }
    say(report.trim_end())
}

/// The modules of a workload.
fn texts(name: &str) -> Result<Vec<String>> {
    let capsule = Capsule::open(root().join("workloads").join(name).join(format!("{name}.capsule")))?;
    let blobs = capsule.modules.iter().filter_map(|module| module.ptx);
    blobs.map(|blob| Ok(String::from_utf8_lossy(&capsule.blobs.get(blob)?).into_owned())).collect()
}

/// The instructions of modules, protected or as they are. Loops are not unrolled: protected ones often are not.
fn counted(tools: &Tools, texts: &[String], scheme: Option<Scheme>) -> Result<BTreeMap<Class, u64>> {
    let mut counts = BTreeMap::new();
    for text in texts {
        let mut module = ptx::parse("module.ptx", text).map_err(|errors| anyhow!("{errors}"))?;
        if let Some(scheme) = scheme {
            let protected = rewrite::protect(&module, scheme, &|_, _| true)?;
            let written = |it: &Protection| !matches!(it, Protection::Refused(_));
            ensure!(protected.functions.iter().all(written), "a function is left as it is");
            module = protected.module;
        }
        for function in module.functions.iter_mut().filter(|function| function.kernel) {
            function.directives.push(".pragma \"nounroll\";".to_owned());
        }
        let listing = tools.listing(&ptx::print(&module), &[])?;
        for (class, of) in listing.lines().filter_map(class) {
            *counts.entry(class).or_insert(0) += of;
        }
    }
    Ok(counts)
}

/// The class of an instruction of a listing, and how many of its kind it does at once.
fn class(line: &str) -> Option<(Class, u64)> {
    let (_, instruction) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    let mut words = instruction.split_whitespace().skip_while(|word| word.starts_with('@'));
    let spelling = words.next()?;
    let moves = words.filter(|word| *word == "RZ,").count() >= 2;
    match spelling.split('.').next()? {
        "IMNMX" | "VIMNMX" => Some((Class::Minimum, 1)),
        "VIMNMX3" => Some((Class::Minimum, 2)),
        "IMAD" | "UIMAD" if moves => None,
        "IADD3" | "VIADD" | "LEA" | "IMAD" => Some((Class::Integer, 1)),
        "UIADD3" | "ULEA" | "UIMAD" => Some((Class::Uniform, 1)),
        "FFMA" | "FADD" | "FMUL" => Some((Class::Float, 1)),
        "LDG" | "STG" | "LDS" | "STS" | "BAR" => Some((Class::Once, 1)),
        _ => None,
    }
}

fn compare(before: &BTreeMap<Class, u64>, after: &BTreeMap<Class, u64>) -> Result<()> {
    for (class, &count) in before {
        let of = |class| after.get(&class).copied().unwrap_or(0);
        let found = of(*class) + if *class == Class::Integer { of(Class::Uniform) } else { 0 };
        match class {
            Class::Uniform => {}
            Class::Once => ensure!(found == count, "{found} loads, stores and barriers in place of {count}"),
            _ => ensure!(found >= 2 * count, "{found} instructions of class {class:?}, not twice as many as {count}"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_counted_by_what_they_do() {
        let line = |text: &str| class(&format!("        /*0db0*/              {text} ;"));
        assert_eq!(line("@!P2 IADD3 R9, R9, UR11, RZ"), Some((Class::Integer, 1)));
        assert_eq!(line("IMAD.MOV.U32 R11, RZ, RZ, R4"), None);
        assert_eq!(line("VIMNMX3 R4, R5, R6, R7, PT"), Some((Class::Minimum, 2)));
        assert_eq!(class(".L_x_0:"), None);
    }

    #[test]
    fn a_merged_duplicate_is_found() {
        let counts = |minima, once| BTreeMap::from([(Class::Minimum, minima), (Class::Once, once)]);
        assert!(compare(&counts(10, 40), &counts(20, 40)).is_ok());
        assert!(compare(&counts(10, 40), &counts(19, 40)).is_err());
        assert!(compare(&counts(10, 40), &counts(20, 41)).is_err());
    }
}
