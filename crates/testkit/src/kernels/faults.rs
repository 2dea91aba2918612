//! A fault of a kernel test: what it does, and that it does the same every time.

use super::directive::{ExpectedFault, ExpectedPopulation, fault_of};
use super::machine::place;
use fault::Fault;
use inject::{CapsuleTarget, Runner, Strategy};
use outcome::{Criteria, End, FirstUse, Observation, Outcome, classify};
use std::collections::BTreeMap;

/// Injects a fault by each tier: with a fresh runner, again with the same, and with one that has run something else.
pub(super) fn check(
    target: &CapsuleTarget,
    expected: &ExpectedFault,
    places: &BTreeMap<String, (u64, u64)>,
) -> Result<(), String> {
    let fault = fault_of(&expected.id, |name, offset| Ok(place(places, name)?.0 + offset))?;
    let full = repeated(target, Strategy::Full, &fault)?;
    for strategy in [Strategy::Delta, Strategy::Lanes] {
        let faster = repeated(target, strategy, &fault)?;
        if full.clone().seen() != faster.clone().seen() {
            return Err(format!("inject {}: the tiers differ:\n{full:?}\n{faster:?}", expected.id));
        }
    }
    compare(expected, &full).map_err(|what| format!("inject {}: {what}\n    {full:?}", expected.id))
}

/// Whether a selection draws from as many dynamic instructions as it should, and finds them.
pub(super) fn check_population(target: &CapsuleTarget, expected: &ExpectedPopulation) -> Result<(), String> {
    let members = target.members(&expected.selection).map_err(|error| format!("failed to {error}"))?;
    if members != expected.members {
        let words = &expected.selection;
        return Err(format!("{words:?} selects {members} dynamic instructions, expected {}", expected.members));
    }
    Ok(())
}

fn repeated(target: &CapsuleTarget, strategy: Strategy, id: &Fault) -> Result<Observation, String> {
    let observe = |by: &mut Runner<'_>| by.run(id).map_err(|error| format!("inject {id}: failed to {error}"));
    let (mut one, mut other) = (target.runner(strategy), target.runner(strategy));
    let elsewhere = Fault { dynamic: 0, thread: 0, cta: 0, ..id.clone() };
    let _ = other.run(&elsewhere);
    let (first, second, third) = (observe(&mut one)?, observe(&mut one)?, observe(&mut other)?);
    if first == second && first == third {
        return Ok(first);
    }
    Err(format!("inject {id}: not the same each time:\n{first:?}\n{second:?}\n{third:?}"))
}

fn compare(expected: &ExpectedFault, found: &Observation) -> Result<(), String> {
    // What the directive says is of a host that does what it did.
    let outcome = classify(&Observation { host_visible: false, ..found.clone() }, &Criteria::default());
    let words = match outcome.kind() {
        Some(kind) if outcome != Outcome::Sdc(outcome::Sdc::Unjudged) => format!("{}/{kind}", outcome.class().word()),
        _ => outcome.class().word().to_owned(),
    };
    let is = |what: &str, wanted: &str, found: String| {
        if wanted == found { Ok(()) } else { Err(format!("{what} is {found}, expected {wanted}")) }
    };
    is("the outcome", &expected.outcome, words)?;
    for (key, wanted) in &expected.details {
        is(key, wanted, detail(key, found))?;
    }
    if found.host_visible && !expected.details.contains_key("visible") {
        return Err("the host could have seen it, which is not expected".to_owned());
    }
    Ok(())
}

/// What an observation says about a key of the directive.
fn detail(key: &str, found: &Observation) -> String {
    let place = match &found.end {
        End::Trapped { at, .. } | End::Hang { at, .. } | End::OutOfFuel { at } => Some(at),
        _ => None,
    };
    let at = |show: &dyn Fn(&outcome::ProgramPoint) -> String| place.map_or_else(|| "nowhere".to_owned(), show);
    match key {
        "landed" => {
            found.landed.map_or_else(|| "nowhere".to_owned(), |hit| format!("{:#x}->{:#x}", hit.before, hit.after))
        }
        "threads" => found.landed.map_or(0, |hit| hit.threads).to_string(),
        "use" => match found.first_use {
            FirstUse::Read { after } => format!("read@{after}"),
            FirstUse::Overwritten { after } => format!("overwritten@{after}"),
            FirstUse::Never => "never".to_owned(),
        },
        "error" => found.outputs.iter().map(|output| output.max_abs).fold(0.0, f64::max).to_string(),
        "differing" => found.outputs.iter().map(|output| output.differing).sum::<u64>().to_string(),
        "line" => at(&|place| place.line.map_or_else(|| "unknown".to_owned(), |line| line.to_string())),
        "pc" => at(&|place| place.pc.to_string()),
        "kernel" => at(&|place| place.kernel.clone()),
        "after" => at(&|place| place.after.to_string()),
        "strayed" => found.strayed.to_string(),
        _ => (if found.host_visible { "yes" } else { "no" }).to_owned(),
    }
}
