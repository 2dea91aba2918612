//! The profile of every error site (`beamline approxilyzer --sites`), and one site of it (`--site`).

use campaign::Choices;
use methods::kit::{Campaigns, StudyError};
use methods::{Answer, Options, Request};
use session::open;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use study::SheetValue;

/// The answer of `beamline approxilyzer NAME` with these options.
fn approxilyzer_of(name: &str, dir: &Path, said: &[(&'static str, &str)]) -> Result<Answer, StudyError> {
    let command = methods::registry::commands().find(|command| command.name == "approxilyzer").unwrap();
    let defaults = command.options.iter().filter_map(|it| Some((it.key, it.default?)));
    let values = defaults.chain(said.iter().copied()).map(|(key, value)| (key, value.to_owned())).collect();
    let session = open(Choices { capsule: Some(name.to_owned()), runs: Some(1), ..Choices::default() }).unwrap();
    let stop = AtomicBool::new(false);
    let mut campaigns = Campaigns {
        dir: dir.to_owned(),
        seed: 0,
        kernels: Vec::new(),
        jobs: None,
        history: None,
        stop: &stop,
        told: &mut |_, _| {},
    };
    let options = Options { values, ..Options::default() };
    let capsule = session.opened_capsule().unwrap().unwrap();
    (command.run)(&Request { capsule, declared: None, options, commands: None }, &mut campaigns)
}

/// The rows of a sheet, each by the names of its columns.
fn sheet_rows(sheet: &study::Sheet) -> Vec<BTreeMap<&'static str, SheetValue>> {
    let mut rows = Vec::new();
    sheet.visit(&mut |row| {
        rows.push(sheet.columns.iter().map(|column| column.name).zip(row.iter().cloned()).collect());
        true
    });
    rows
}

#[test]
fn the_profile_of_approxilyzer_has_every_error_site_once_with_the_outcome_of_its_class() {
    let dir = tempfile::tempdir().unwrap();
    for (name, settings) in
        [("pathfinder", &[][..]), ("pathfinder", &[("stores", "false"), ("operands", "destinations")])]
    {
        let files = [("coverage", "0.9"), ("sites", "sites.parquet"), ("threads", "threads.parquet")];
        let said: Vec<(&'static str, &str)> = files.iter().chain(settings).copied().collect();
        let answer = approxilyzer_of(name, dir.path(), &said).unwrap();
        let [threads, sites] = [0, 1].map(|at| sheet_rows(&answer.sheets[at].1));
        let number = |row: &BTreeMap<&str, SheetValue>, key: &str| row[key].number().unwrap();
        let mut by_outcome: BTreeMap<String, u64> = BTreeMap::new();
        for row in &sites {
            *by_outcome.entry(row["outcome"].text().unwrap().to_owned()).or_default() += number(row, "threads");
        }
        let of = |key: &str| answer.json["sites"][key].as_u64().unwrap();
        assert_eq!(by_outcome.values().sum::<u64>(), of("all"));
        assert_eq!(by_outcome["not_covered"], of("not_covered"));
        for (outcome, sites) in by_outcome.iter().filter(|(outcome, _)| *outcome != "not_covered") {
            assert_eq!(*sites, answer.json["outcomes"][outcome]["count"].as_u64().unwrap(), "{outcome}");
        }
        // Every thread is there once, and as often as the rows of its path say.
        let place = |row: &BTreeMap<&str, SheetValue>| ["launch", "block", "thread"].map(|key| number(row, key));
        assert_eq!(threads.iter().map(place).collect::<BTreeSet<_>>().len(), threads.len());
        let of_path = |row: &BTreeMap<&str, SheetValue>| {
            let is_same = |it: &&BTreeMap<&str, SheetValue>| {
                it["path"] == row["path"] && (row["part"] == SheetValue::Absent || it["part"] == row["part"])
            };
            threads.iter().filter(is_same).count() as u64
        };
        let step = sites.len() / 12 + 1;
        for row in sites.iter().step_by(step) {
            assert_eq!(of_path(row), number(row, "threads"));
            let [launch, block, thread] = place(row);
            let (dynamic, operand, bit) = (number(row, "dynamic"), row["operand"].text().unwrap(), number(row, "bit"));
            let fault = format!(
                "launch={launch},cta={block},thread={thread},dyn={dynamic},target={operand},model=flip,bits={bit}"
            );
            let said: Vec<(&'static str, &str)> =
                [("coverage", "0.9"), ("site", &*fault)].iter().chain(settings).copied().collect();
            let site = approxilyzer_of(name, dir.path(), &said).unwrap().json["site"].clone();
            let expected = ["class", "pilot", "pc", "bit"].map(|key| row[key].number());
            assert_eq!(["class", "pilot", "pc", "bit"].map(|key| site[key].as_u64()), expected, "{fault}");
            let expected = ["outcome", "heuristic", "opcode"].map(|key| row[key].text());
            assert_eq!(["outcome", "heuristic", "opcode"].map(|key| site[key].as_str()), expected, "{fault}");
        }
    }
}

#[test]
fn a_fault_at_no_error_site_is_refused_with_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    for (fault, part) in [
        ("launch=0,cta=0,thread=0,dyn=3,target=dst0,model=flip,bits=0+1", "one flipped bit of one thread"),
        ("launch=0,cta=0,thread=0,dyn=3,target=dst0,model=flip,bits=0,scope=warp", "one flipped bit of one thread"),
        ("launch=0,cta=0,thread=0,dyn=3,target=addr0,model=flip,bits=0", "sites are `dstN`"),
        ("launch=900,cta=0,thread=0,dyn=3,target=dst0,model=flip,bits=0", "there are"),
        ("launch=0,cta=0,thread=9999,dyn=3,target=dst0,model=flip,bits=0", "no selected launch has the thread"),
        (
            "launch=0,cta=18446744073709551615,thread=0,dyn=3,target=dst0,model=flip,bits=0",
            "no selected launch has the thread",
        ),
        ("launch=0,cta=0,thread=0,dyn=99999999,target=dst0,model=flip,bits=0", "no such register there"),
        ("launch=0", "read `launch=0` as the id of a fault"),
    ] {
        let answer = approxilyzer_of("pathfinder", dir.path(), &[("coverage", "0.2"), ("site", fault)]);
        let error = answer.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(part), "{fault}: {error}");
    }
}
