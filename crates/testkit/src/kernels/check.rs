//! Whether a kernel test does what its head says.

use super::capsule::build;
use super::directive::{Directive, ExpectedTrap};
use super::faults;
use super::machine::{Outcome, bytes_of, execute, refusal};
use super::script::Script;
use super::values::Values;
use crate::tiers::{self, SelectionWords};
use device::TrapReport;
use inject::{CapsuleTarget, Golden, Machine, Resources, Setup, profile};
use simt::LevelName;
use std::sync::Arc;

/// How many differing elements of a buffer are shown.
const SHOWN: usize = 6;

/// Checks a test at every level of this host; returns what is wrong. With `bless`, messages that differ from the
/// `.expected` file replace it.
#[must_use]
pub fn check(script: &Script, bless: bool) -> Vec<String> {
    let mut failures = Vec::new();
    if let Some(kernel) = script.refused() {
        failures.extend(refusal(script, kernel).and_then(|found| compare_text(script, &found, bless)).err());
    }
    if script.runs().next().is_some() {
        // What goes wrong at several levels is said once.
        let mut by_text: Vec<(String, Vec<LevelName>)> = Vec::new();
        for level in crate::levels() {
            let found =
                execute(script, level).map_or_else(|what| vec![what], |outcome| at_level(script, level, &outcome));
            for failure in found {
                match by_text.iter_mut().find(|(text, _)| *text == failure) {
                    Some((_, levels)) => levels.push(level),
                    None => by_text.push((failure, vec![level])),
                }
            }
        }
        failures.extend(by_text.into_iter().map(|(text, levels)| format!("{text} (at {})", names(&levels))));
    }
    failures.iter().map(|failure| format!("{}: {failure}", script.name)).collect()
}

fn names(levels: &[LevelName]) -> String {
    levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn compare_text(script: &Script, found: &str, bless: bool) -> Result<(), String> {
    let known = std::fs::read_to_string(&script.expected).unwrap_or_default();
    if known == found {
        return Ok(());
    }
    if bless {
        return std::fs::write(&script.expected, found).map_err(|error| format!("failed to write: {error}"));
    }
    let path = script.expected.display();
    Err(format!("another message than in {path} (BEAMLINE_BLESS=1 accepts it):\n{found}"))
}

fn at_level(script: &Script, level: LevelName, outcome: &Outcome) -> Vec<String> {
    let mut failures = Vec::new();
    failures.extend(compare_end(script.trap(), outcome).err());
    for directive in &script.directives {
        match directive {
            Directive::Expect { name, values } => failures.extend(compare_values(name, values, outcome).err()),
            Directive::Prints(text) if text.as_bytes() != outcome.printed => {
                failures.push(format!("printed {:?}, expected {text:?}", String::from_utf8_lossy(&outcome.printed)));
            }
            Directive::Strayed(count) if *count != outcome.strayed => {
                failures.push(format!("{} strayed accesses, expected {count}", outcome.strayed));
            }
            _ => {}
        }
    }
    for (launch, (run, found)) in script.runs().zip(&outcome.counts).enumerate() {
        let expected = run.counts.as_ref();
        failures.extend(expected.and_then(|expected| compare_counts(launch, expected, found).err()));
    }
    if failures.is_empty() && outcome.trap.is_none() {
        failures.extend(as_capsule(script, level, outcome).err());
    } else if outcome.trap.is_some() && script.faults().next().is_some() {
        failures.push("faults cannot be injected into a run that traps".to_owned());
    }
    failures
}

fn compare_end(expected: Option<&ExpectedTrap>, outcome: &Outcome) -> Result<(), String> {
    match (expected, &outcome.trap) {
        (None, None) => Ok(()),
        (None, Some(report)) => Err(format!("ended with {report}")),
        (Some(expected), None) => Err(format!("ran to its end, expected {}", expected.kind)),
        (Some(expected), Some(report)) => compare_trap(expected, report, outcome),
    }
}

fn compare_trap(expected: &ExpectedTrap, report: &TrapReport, outcome: &Outcome) -> Result<(), String> {
    let trap = &report.trap;
    let address = match &expected.address {
        None => None,
        Some(argument) => {
            let mut word = [0; 8];
            bytes_of(argument, &outcome.places)?.into_iter().zip(&mut word).for_each(|(byte, to)| *to = byte);
            Some(u64::from_le_bytes(word))
        }
    };
    let line = report.line.as_ref().map(|(_, line)| *line);
    let as_expected = trap.kind.name() == expected.kind
        && (expected.line.is_none() || expected.line == line)
        && expected.pc.is_none_or(|pc| pc == report.pc)
        && expected.function.as_ref().is_none_or(|function| *function == report.function)
        && expected.thread.is_none_or(|thread| thread == trap.thread)
        && expected.block.is_none_or(|block| block == trap.block)
        && (address.is_none() || address == trap.address);
    if as_expected { Ok(()) } else { Err(format!("ended with {report}, expected {expected:?}")) }
}

/// The last copy of a buffer or variable holds these values.
fn compare_values(name: &str, expected: &Values, outcome: &Outcome) -> Result<(), String> {
    let found = outcome.copies.iter().rev().find(|(copied, _)| copied == name);
    let (_, found) = found.ok_or_else(|| format!("there is no buffer or variable {name}"))?;
    if expected.bytes.len() != found.len() {
        return Err(format!("{name} has {} bytes, {} were expected", found.len(), expected.bytes.len()));
    }
    let size = expected.element.bytes();
    let pairs = expected.bytes.chunks(size).zip(found.chunks(size)).enumerate();
    let wrong: Vec<_> = pairs.filter(|(_, (expected, found))| expected != found).collect();
    let show = |(at, (wanted, found)): &(usize, (&[u8], &[u8]))| {
        format!("{name}[{at}] is {}, expected {}", expected.element.show(found), expected.element.show(wanted))
    };
    let shown: Vec<String> = wrong.iter().take(SHOWN).map(show).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} ({} differ)", shown.join("; "), wrong.len())) }
}

fn compare_counts(launch: usize, expected: &[u32], found: &[u32]) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    let thread = expected.iter().zip(found).position(|(a, b)| a != b).unwrap_or(expected.len().min(found.len()));
    let (a, b) = (expected.get(thread), found.get(thread));
    Err(format!("thread {thread} of launch {launch} executed {b:?} instructions, expected {a:?}; all: {found:?}"))
}

/// Faults of each kernel that are drawn, for the equality of the tiers.
const DRAWN: u64 = 40;

fn target(golden: Golden, fuel: Option<u32>) -> Result<CapsuleTarget, String> {
    let resources = Resources { spacing: 0, ..Resources::default() };
    let setup = Setup { resources, fuel, ..Setup::default() };
    CapsuleTarget::set_up(golden, &setup).map_err(|error| format!("failed to {error}"))
}

/// The same work as a capsule: the golden run reproduces it, and its profile adds up.
fn as_capsule(script: &Script, level: LevelName, outcome: &Outcome) -> Result<(), String> {
    let capsule = Arc::new(build(script, outcome));
    let machine = Machine { level, ..Machine::default() };
    let golden = || {
        let made = Golden::run_on(Arc::clone(&capsule), machine.clone());
        made.map_err(|error| format!("as a capsule, failed to {error}"))
    };
    let found = golden()?;
    let profiles = profile(&found);
    for (launch, (expected, found)) in outcome.counts.iter().zip(found.launches()).enumerate() {
        compare_counts(launch, expected, &found.counts().iter().collect::<Vec<u32>>())
            .map_err(|what| format!("as a capsule, {what}"))?;
        let executed: u64 = profiles[launch].instructions.iter().map(|instruction| instruction.executed).sum();
        let counted: u64 = expected.iter().map(|&count| u64::from(count)).sum();
        if executed != counted {
            return Err(format!("the profile of launch {launch} has {executed} instructions, its threads {counted}"));
        }
    }
    let mut failures = Vec::new();
    if script.faults().next().is_some() {
        let target = target(golden()?, None)?;
        failures.extend(script.faults().filter_map(|fault| faults::check(&target, fault, &outcome.places).err()));
    }
    // What is drawn may be loops of any length.
    let target = target(found, Some(Setup::FUEL_OF_ALL))?;
    failures.extend(script.populations().filter_map(|population| faults::check_population(&target, population).err()));
    failures.extend(tiers::compare(&target, &SelectionWords::default(), DRAWN, 1)?.disagreements);
    failures.extend(tiers::compare_targets(&target, DRAWN / 8, 1)?.disagreements);
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n    ")) }
}
