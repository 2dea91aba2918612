//! Duplicates survive NVIDIA's assembler, which merges one that it sees through with its original; so do second loads.

use crate::nvcc;
use crate::repo::{root, say};
use crate::tools::Tools;
use anyhow::{Context, Result, anyhow, ensure};
use capsule::Capsule;
use rewrite::{Protection, Scheme, Technique, is_shared_load, protect_each, sharing};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Programs of integers, and of f32.
const WORKLOADS: [&str; 2] = ["pathfinder", "matmul"];
const ARCHITECTURES: [&str; 2] = ["sm_80", "sm_90"];

/// Loads of each kind that can be executed twice: with a cache operator and as a vector, of an address without a register, of a
/// generic one, behind a guard, and into the register of its own address.
const LOADS: &str = "\
.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[64];
.visible .entry loads(.param .u64 p)
{
.reg .b64 %a<4>;
.reg .b32 %v<8>;
.reg .f32 %f<4>;
.reg .pred %p;
ld.param.u64 %a0, [p];
cvta.to.global.u64 %a1, %a0;
ld.global.nc.L1::no_allocate.v4.f32 {%f0, %f1, %f2, %f3}, [%a1];
ld.shared.u32 %v0, [tile+4];
ld.u16 %v1, [%a0+64];
setp.gt.u32 %p, %v0, 3;
@%p ld.global.ca.u32 %v2, [%a1+128];
@!%p mov.u32 %v2, 1;
ld.global.u64 %a2, [%a1+256];
ld.global.u64 %a2, [%a2];
st.global.v4.f32 [%a1+512], {%f0, %f1, %f2, %f3};
st.global.u32 [%a1+640], %v0;
st.global.u32 [%a1+768], %v1;
st.global.u32 [%a1+896], %v2;
st.global.u64 [%a1+1024], %a2;
ret;
}
";

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
    /// Loads, which load duplication alone executes twice.
    Load,
    /// Stores and barriers, which are not duplicated.
    Once,
}

/// Assembles programs as they are and protected, and compares how many instructions of each class there are.
pub(crate) fn protection() -> Result<()> {
    let (assembler, disassembler) = (nvcc::install()?.root.join("bin/ptxas"), nvcc::disassembler()?);
    let mut report = String::new();
    for arch in ARCHITECTURES {
        let (assembler, disassembler) = (assembler.clone(), disassembler.clone());
        let tools = Tools { assembler, disassembler, arch: arch.to_owned(), level: 3 };
        let mut programs = vec![("loads", vec![LOADS.to_owned()])];
        for name in WORKLOADS {
            programs.push((name, texts(name)?));
        }
        for (name, texts) in programs {
            let before = counted(&tools, &texts, None)?;
            for technique in techniques() {
                let after = counted(&tools, &texts, Some(technique))?;
                let with = if technique.loads { " with loads" } else { "" };
                let place = format!("{name}, {arch}, {}{with}", technique.scheme.word());
                let seconds = if technique.loads { loads(&texts)? } else { 0 };
                compare(&before, &after, seconds).with_context(|| place.clone())?;
                writeln!(report, "{place}: {before:?} became {after:?}")?;
            }
        }
    }
    say(report.trim_end())
}

/// Every scheme that leaves launches as they are, and with load duplication those that have it.
fn techniques() -> impl Iterator<Item = Technique> {
    let loads = Scheme::INSTRUCTIONS.into_iter().map(|scheme| Technique { scheme, loads: true });
    Scheme::in_threads().map(Technique::from).chain(loads)
}

/// The modules of a workload.
fn texts(name: &str) -> Result<Vec<String>> {
    let capsule = Capsule::open(root().join("workloads").join(name).join(format!("{name}.capsule")))?;
    let blobs = capsule.modules.iter().filter_map(|module| module.ptx);
    blobs.map(|blob| Ok(String::from_utf8_lossy(&capsule.blobs.get(blob)?).into_owned())).collect()
}

/// The instructions of modules, protected or as they are. Loops are not unrolled: protected ones often are not.
fn counted(tools: &Tools, texts: &[String], technique: Option<Technique>) -> Result<BTreeMap<Class, u64>> {
    let mut counts = BTreeMap::new();
    for text in texts {
        let mut module = ptx::parse("module.ptx", text).map_err(|errors| anyhow!("{errors}"))?;
        if let Some(technique) = technique {
            ensure!(!technique.loads || sharing(&module).iter().all(Option::is_none), "threads share memory");
            let protected = protect_each(&module, &|_| technique, &|_, _| true)?;
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

/// The loads of modules that load duplication executes twice.
fn loads(texts: &[String]) -> Result<u64> {
    let of = |text: &String| {
        let module = ptx::parse("module.ptx", text).map_err(|errors| anyhow!("{errors}"))?;
        let body = module.functions.iter().flat_map(|function| &function.body);
        Ok(body.filter(|instruction| is_shared_load(instruction)).count() as u64)
    };
    texts.iter().map(of).sum()
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
        "LDG" | "LDS" | "LD" => Some((Class::Load, 1)),
        "STG" | "STS" | "ST" | "BAR" => Some((Class::Once, 1)),
        _ => None,
    }
}

/// The assembler joins some of the original loads to wider ones, but no volatile ones: each of the `seconds` is one.
fn compare(before: &BTreeMap<Class, u64>, after: &BTreeMap<Class, u64>, seconds: u64) -> Result<()> {
    for (class, &count) in before {
        let of = |class| after.get(&class).copied().unwrap_or(0);
        let found = of(*class) + if *class == Class::Integer { of(Class::Uniform) } else { 0 };
        match class {
            Class::Uniform => {}
            Class::Load => ensure!(found == count + seconds, "{found} loads, not {count} and {seconds} second ones"),
            Class::Once => ensure!(found == count, "{found} stores and barriers in place of {count}"),
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
        assert!(compare(&counts(10, 40), &counts(20, 40), 0).is_ok());
        assert!(compare(&counts(10, 40), &counts(19, 40), 0).is_err());
        assert!(compare(&counts(10, 40), &counts(20, 41), 0).is_err());
        let loads = |count: u64| BTreeMap::from([(Class::Load, count)]);
        assert!(compare(&loads(4), &loads(9), 5).is_ok() && compare(&loads(4), &loads(8), 5).is_err());
        assert!(compare(&loads(4), &loads(4), 0).is_ok() && compare(&loads(4), &loads(8), 0).is_err());
    }
}
