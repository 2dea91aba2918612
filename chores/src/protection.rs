//! Duplicates survive NVIDIA's assembler, which merges one that it sees through with its original; so do second loads, and the words
//! that two lanes compare before a store.

use crate::nvcc;
use crate::repo::{root, say};
use crate::tools::Tools;
use anyhow::{Context, Result, anyhow, ensure};
use capsule::Capsule;
use isa::{Module, Op, Space};
use rewrite::{Protection, Scheme, Technique, is_shared_load, protect_each, sharing};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Words that cross to another lane. Where lanes may have parted, the assembler writes code twice.
    Crossing,
    /// Comparisons of a word that has crossed.
    Compared,
    /// Notifications.
    Trap,
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
            let before = counted(&tools, &modules(&texts, None)?)?;
            // Lanes of the kernel of loads all have the same words; the assembler knows it, and on sm_80 none crosses.
            let differs = |it: &Technique| name != "loads" || !it.scheme.doubles_blocks();
            for technique in techniques().filter(differs) {
                let protected = modules(&texts, Some(technique))?;
                let pairs = Pairs::of(&protected);
                let after = counted(&tools, &protected)?;
                let with = if technique.loads { " with loads" } else { "" };
                let place = format!("{name}, {arch}, {}{with}", technique.scheme.word());
                let compared = if technique.scheme.doubles_blocks() {
                    pairs.compare(&before, &after)
                } else {
                    compare(&before, &after, if technique.loads { loads(&texts)? } else { 0 })
                };
                compared.with_context(|| place.clone())?;
                writeln!(report, "{place}: {before:?} became {after:?}")?;
            }
        }
    }
    say(report.trim_end())
}

/// Every scheme, and with load duplication those that have it.
fn techniques() -> impl Iterator<Item = Technique> {
    let loads = Scheme::INSTRUCTIONS.into_iter().map(|scheme| Technique { scheme, loads: true });
    Scheme::all().map(Technique::from).chain(loads)
}

/// The modules of a workload.
fn texts(name: &str) -> Result<Vec<String>> {
    let capsule = Capsule::open(root().join("workloads").join(name).join(format!("{name}.capsule")))?;
    let blobs = capsule.modules.iter().filter_map(|module| module.ptx);
    blobs.map(|blob| Ok(String::from_utf8_lossy(&capsule.blobs.get(blob)?).into_owned())).collect()
}

/// Modules, protected or as they are. Loops are not unrolled: protected ones often are not.
fn modules(texts: &[String], technique: Option<Technique>) -> Result<Vec<Module>> {
    let of = |text: &String| {
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
        Ok(module)
    };
    texts.iter().map(of).collect()
}

/// The machine instructions of modules by class.
fn counted(tools: &Tools, modules: &[Module]) -> Result<BTreeMap<Class, u64>> {
    let mut counts = BTreeMap::new();
    for module in modules {
        let listing = tools.listing(&ptx::print(module), &[])?;
        let classes = listing.lines().filter_map(class).chain([(Class::Compared, compared(&listing))]);
        for (class, of) in classes.filter(|(_, of)| *of > 0) {
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
    let mut words = words(line)?;
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
        "SHFL" => Some((Class::Crossing, 1)),
        "BPT" => Some((Class::Trap, 1)),
        _ => None,
    }
}

/// The words of an instruction of a listing, without its guard.
fn words(line: &str) -> Option<impl Iterator<Item = &str>> {
    let (_, instruction) = line.trim_start().strip_prefix("/*")?.split_once("*/")?;
    Some(instruction.split_whitespace().skip_while(|word| word.starts_with('@')))
}

/// How many words that have crossed to another lane are compared before their register has another value, in the order of a listing.
fn compared(listing: &str) -> u64 {
    let (mut crossed, mut count) = (BTreeSet::<&str>::new(), 0);
    for mut words in listing.lines().filter_map(words) {
        let Some(spelling) = words.next() else { continue };
        let registers: Vec<&str> = words.map(|word| word.trim_end_matches(',').trim_end_matches(".reuse")).collect();
        if spelling.starts_with("SHFL") {
            crossed.extend(registers.get(1));
        } else if spelling.starts_with("ISETP") {
            count += registers.iter().filter(|register| crossed.remove(*register)).count() as u64;
        } else if let Some(written) = registers.first() {
            crossed.remove(written);
        }
    }
    count
}

/// The additions of thread-level duplication: words that cross and are compared, stores that wait for that, and traps.
#[derive(Clone, Copy, Debug, Default)]
struct Pairs {
    words: u64,
    stores: u64,
    traps: u64,
}

impl Pairs {
    fn of(modules: &[Module]) -> Self {
        let mut pairs = Self::default();
        for instruction in modules.iter().flat_map(|module| &module.functions).flat_map(|function| &function.body) {
            match &instruction.op {
                Op::Shfl(_) => pairs.words += 1,
                Op::St(access) if access.space != Space::Local => pairs.stores += 1,
                Op::Trap => pairs.traps += 1,
                _ => {}
            }
        }
        pairs
    }

    /// Each word crosses and is compared, at least two for each store, and stores and barriers are as many as before.
    fn compare(self, before: &BTreeMap<Class, u64>, after: &BTreeMap<Class, u64>) -> Result<()> {
        let Self { words, stores, traps } = self;
        let of = |counts: &BTreeMap<Class, u64>, class| counts.get(&class).copied().unwrap_or(0);
        ensure!(stores > 0 && words >= 2 * stores, "{words} words cross for {stores} stores");
        let [crossing, compared, found] = [Class::Crossing, Class::Compared, Class::Trap].map(|class| of(after, class));
        ensure!(
            crossing >= words && compared >= words,
            "of {words} words, {crossing} cross and {compared} are compared"
        );
        ensure!(found == traps, "{found} traps in place of {traps}");
        let [before, after] = [before, after].map(|counts| of(counts, Class::Once));
        ensure!(before == after, "{after} stores and barriers in place of {before}");
        Ok(())
    }
}

/// The assembler joins some of the original loads to wider ones, but no volatile ones: each of the `seconds` is one.
fn compare(before: &BTreeMap<Class, u64>, after: &BTreeMap<Class, u64>, seconds: u64) -> Result<()> {
    for (class, &count) in before {
        let of = |class| after.get(&class).copied().unwrap_or(0);
        let found = of(*class) + if *class == Class::Integer { of(Class::Uniform) } else { 0 };
        match class {
            Class::Uniform | Class::Crossing | Class::Compared | Class::Trap => {}
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
    fn a_word_that_crosses_and_is_not_compared_is_found() {
        let lines = [
            "SHFL.BFLY PT, R15, R8, 0x1, 0x1f",
            "SHFL.BFLY PT, R12, R9, 0x1, 0x1f",
            "ISETP.NE.U32.OR P1, PT, R8.reuse, R15, !PT",
        ];
        let listing =
            |last: &str| lines.iter().chain([&last]).map(|line| format!("/*0db0*/ {line} ;\n")).collect::<String>();
        assert_eq!(compared(&listing("@!P2 ISETP.NE.U32.OR P1, PT, R9, R12.reuse, P1")), 2);
        assert_eq!(compared(&listing("MOV R12, R3")), 1);
        let counts = |compared, once| {
            let of = [(Class::Crossing, 3), (Class::Compared, compared), (Class::Trap, 1), (Class::Once, once)];
            BTreeMap::from(of)
        };
        let pairs = Pairs { words: 2, stores: 1, traps: 1 };
        assert!(pairs.compare(&counts(0, 1), &counts(2, 1)).is_ok());
        assert!(pairs.compare(&counts(0, 1), &counts(1, 1)).is_err());
        assert!(pairs.compare(&counts(0, 1), &counts(2, 2)).is_err());
        assert!(Pairs { stores: 2, ..pairs }.compare(&counts(0, 1), &counts(2, 1)).is_err());
        assert!(Pairs { traps: 2, ..pairs }.compare(&counts(0, 1), &counts(2, 1)).is_err());
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
