//! Every error site as rows of a file, and one site as a table.

use outcome::Outcome;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use study::{Cell, Sheet, SheetColumn, SheetValue, Table};

use super::instructions::found;
use super::rows::NOT_COVERED;
use super::site_profile::{SitePlace, SiteProfile, SiteSet};
use super::sites::Class;
use super::target::Approxilyzer;
use crate::kit::StudyError;

/// The columns of the sheet of sites: name, whether they are integers, whether every row has a value.
const SITES: [(&str, bool, bool); 19] = [
    ("path", true, true),
    ("part", true, false),
    ("launch", true, true),
    ("block", true, true),
    ("thread", true, true),
    ("threads", true, true),
    ("dynamic", true, true),
    ("kernel", false, true),
    ("pc", true, true),
    ("opcode", false, true),
    ("file", false, false),
    ("line", true, false),
    ("operand", false, true),
    ("bit", true, true),
    ("heuristic", false, true),
    ("class", true, false),
    ("pilot", true, false),
    ("outcome", false, true),
    ("kind", false, false),
];

/// The columns of the sheet of threads.
const THREADS: [(&str, bool, bool); 5] = [
    ("path", true, true),
    ("part", true, false),
    ("launch", true, true),
    ("block", true, true),
    ("thread", true, true),
];

/// Texts of which each is kept once.
#[derive(Default)]
struct Texts(BTreeMap<String, Arc<str>>);

impl Texts {
    fn value(&mut self, text: &str) -> SheetValue {
        if let Some(known) = self.0.get(text) {
            return SheetValue::Text(Arc::clone(known));
        }
        let new: Arc<str> = text.into();
        self.0.insert(text.to_owned(), Arc::clone(&new));
        SheetValue::Text(new)
    }
}

/// The words of an outcome.
struct SiteOutcome {
    heuristic: &'static str,
    class: Option<u64>,
    pilot: Option<u64>,
    outcome: &'static str,
    kind: Option<String>,
}

impl SiteOutcome {
    fn of(profile: &SiteProfile, place: SitePlace, bit: u32) -> Self {
        match place {
            SitePlace::Known(why) => {
                let (outcome, kind) = (why.class().word(), why.kind());
                Self { heuristic: why.word(), class: None, pilot: None, outcome, kind }
            }
            SitePlace::Class { number, by_definition } => {
                let class = profile.method().sites().classes.get(number);
                let pilot = profile.pilot(number, bit);
                let outcome: Option<Outcome> = pilot.and_then(|pilot| profile.outcome(pilot));
                Self {
                    heuristic: if by_definition { "def-use" } else { class.map_or("", Class::heuristic) },
                    class: Some(number as u64),
                    pilot,
                    outcome: outcome.map_or(NOT_COVERED, |outcome| outcome.class().word()),
                    kind: outcome.and_then(|outcome| outcome.kind()).map(std::borrow::Cow::into_owned),
                }
            }
        }
    }
}

/// Every error site: a row for each path, operand of a dynamic instruction and bit, with how many threads have it and the first of
/// them.
pub(super) fn sites(profile: SiteProfile) -> Sheet {
    Sheet::of_visits("site", SheetColumn::all(SITES), move |each| {
        let (mut texts, mut known) = (Texts::default(), BTreeMap::<(u32, u32), Vec<SheetValue>>::new());
        let golden = profile.method().capsule().golden_run();
        profile.visit(&mut |set| {
            let SiteSet { group, part, threads, kernel, at, bits, place } = set;
            let (Some(&(launch, thread)), Some(name)) =
                (threads.first(), profile.method().kernels().get(kernel as usize))
            else {
                return true;
            };
            let size = golden.launches().get(launch as usize).map_or(1, |it| golden.threads_per_block(it)) as u64;
            let described = known.entry((kernel, at.instruction)).or_insert_with(|| {
                let it = found(profile.method(), kernel, at.instruction, 0);
                let it = it.as_ref();
                vec![
                    texts.value(&name.name),
                    it.map(|it| u64::from(it.pc)).into(),
                    it.map_or(SheetValue::Absent, |it| texts.value(&it.mnemonic)),
                    it.and_then(|it| it.file()).map_or(SheetValue::Absent, |file| texts.value(file)),
                    it.and_then(|it| it.line()).map(u64::from).into(),
                ]
            });
            let operand = texts.value(&at.operand.target().to_string());
            bits.iter().all(|bit| {
                let found = SiteOutcome::of(&profile, place, bit);
                let mut row: Vec<SheetValue> = Vec::with_capacity(SITES.len());
                row.extend([u64::from(group).into(), part.map(u64::from).into(), u64::from(launch).into()]);
                row.extend([thread / size, thread % size, threads.len() as u64, at.dynamic].map(SheetValue::from));
                row.extend(described.iter().cloned());
                row.extend([operand.clone(), u64::from(bit).into()]);
                row.extend([texts.value(found.heuristic), found.class.into(), found.pilot.into()]);
                row.extend([texts.value(found.outcome), found.kind.map_or(SheetValue::Absent, |it| texts.value(&it))]);
                each(&row)
            })
        });
    })
}

/// Every thread, with its path and the part of it that has the same stores.
pub(super) fn threads(method: Arc<Approxilyzer>) -> Sheet {
    Sheet::of_visits("thread", SheetColumn::all(THREADS), move |each| {
        let golden = method.capsule().golden_run();
        for (number, group) in (0_u64..).zip(&method.sites().groups) {
            let parts = group.parts.iter().map(|part| part.threads.as_slice());
            let all: Vec<&[(u32, u64)]> = if group.parts.is_empty() { vec![&group.threads] } else { parts.collect() };
            for (part, threads) in (0_u64..).zip(all) {
                let part = (!group.parts.is_empty()).then_some(part);
                for &(launch, thread) in threads {
                    let size = golden.launches().get(launch as usize).map_or(1, |it| golden.threads_per_block(it));
                    let (block, thread) = (thread / size as u64, thread % size as u64);
                    let row = [number.into(), part.into(), u64::from(launch).into(), block.into(), thread.into()];
                    if !each(&row) {
                        return;
                    }
                }
            }
        }
    })
}

/// One error site, as a document and as a table.
///
/// # Errors
/// If the fault is at no error site.
pub(super) fn site(profile: &SiteProfile, text: &str) -> Result<(Value, Table), StudyError> {
    let fault: fault::Fault = text
        .trim()
        .parse()
        .map_err(|error| StudyError::Words(format!("read `{text}` as the id of a fault: {error}")))?;
    let document = profile.find(&fault, |set, bit| {
        let it = found(profile.method(), set.kernel, set.at.instruction, 0);
        let found = SiteOutcome::of(profile, set.place, bit);
        let class = found.class.and_then(|class| profile.method().sites().classes.get(class as usize));
        json!({
            "fault": fault.to_string(),
            "kernel": profile.method().kernels().get(set.kernel as usize).map(|kernel| &kernel.name),
            "pc": it.as_ref().map(|it| it.pc),
            "opcode": it.as_ref().map(|it| &it.mnemonic),
            "file": it.as_ref().and_then(|it| it.file()),
            "line": it.as_ref().and_then(|it| it.line()),
            "operand": set.at.operand.target().to_string(),
            "bit": bit,
            "heuristic": found.heuristic,
            "class": found.class,
            "members": class.map(|class| class.members),
            "sites": class.map(|class| class.members * class.weight),
            "same_path": set.threads.len(),
            "pilot": found.pilot,
            "outcome": found.outcome,
            "kind": found.kind,
        })
    })?;
    let mut table = Table::new(format!("The error site {fault}"), &["what", "is"]);
    for (key, value) in
        document.as_object().into_iter().flatten().filter(|(key, value)| *key != "fault" && !value.is_null())
    {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.rows.push(vec![Cell::text(key.replace('_', " ")), Cell::text(value)]);
    }
    table.notes.push(
        "The outcome is that of the pilot of the class in this bit, or known without a run; `beamline inject` runs the site itself."
            .to_owned(),
    );
    Ok((document, table))
}
