//! Exhaustive campaigns: every fault is accounted for, whoever ran it and however often that was interrupted.

use std::collections::BTreeMap;
use std::fs;

use expect_test::expect;

use super::fake_sweep::Trouble;
use super::*;
use crate::{MergeError, Shard, StoreError, SweptCount, merge};
use outcome::{Class, FAILED_CODE, Outcome};

fn all() -> Choices {
    Choices { runs: None, exhaustive: true, ..choices(1) }
}

pub(super) fn every_fault() -> Config {
    all().settle().unwrap()
}

/// The contents of the directory of a campaign, without the times.
#[derive(Debug, PartialEq)]
pub(super) struct DirectoryContents {
    summary: String,
    plan: String,
    counts: Vec<SweptCount>,
    units: Vec<(u64, Vec<u8>)>,
}

pub(super) fn made(dir: &Path) -> DirectoryContents {
    let results = Results::open(dir).unwrap();
    let mut units = Vec::new();
    results.visit_units(&mut |unit, outcomes| units.push((unit, outcomes))).unwrap();
    let mut summary = results.summary().unwrap();
    assert_eq!(
        serde_json::from_str::<Summary>(&fs::read_to_string(dir.join("summary.json")).unwrap()).unwrap(),
        summary
    );
    (summary.speed.seconds, summary.speed.runs_per_second, summary.speed.jobs) = (0.0, 0.0, 0);
    let plan = fs::read_to_string(dir.join("plan")).unwrap();
    DirectoryContents { summary: summary.to_json().unwrap(), plan, counts: results.counts().unwrap(), units }
}

/// What an undisturbed campaign of one worker makes.
pub(super) fn in_one_go(target: &Fake) -> DirectoryContents {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), Choices { jobs: Some(1), ..all() }.settle().unwrap(), target);
    made(dir.path())
}

#[test]
fn rates_are_weighed_as_a_sample_is_drawn() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), every_fault(), &target);
    let sweep = target.all_faults();
    let (mut weights, mut counts) = (BTreeMap::<Class, f64>::new(), BTreeMap::<Class, u64>::new());
    for fault in (0..target.units).flat_map(|unit| target.faults(unit)) {
        let (operand, class) = (&sweep.operands[fault.operand as usize], fault.outcome.unwrap().class());
        let weight = 1.0 / sweep.members as f64 / f64::from(operand.elements) / f64::from(operand.bits);
        *weights.entry(class).or_default() += weight;
        *counts.entry(class).or_default() += 1;
    }
    assert!((weights.values().sum::<f64>() - 1.0).abs() < 1e-12);
    let landed = weights[&Class::Masked] + weights[&Class::Sdc] + weights[&Class::Due];
    let outcomes = summary.outcomes;
    for (class, rate) in [(Class::Masked, outcomes.masked), (Class::Sdc, outcomes.sdc), (Class::Due, outcomes.due)] {
        assert_eq!(rate.count, counts[&class]);
        assert!((rate.rate.unwrap() - weights[&class] / landed).abs() < 1e-12, "{class}");
        assert_eq!([rate.low, rate.high], [rate.rate.unwrap(); 2], "there is no sampling error");
        let unweighted = rate.count as f64 / summary.runs.landed as f64;
        assert!((rate.rate.unwrap() - unweighted).abs() > 1e-3, "the fake has operands of equal weight");
    }
    let runs = summary.runs;
    assert_eq!((runs.planned, summary.remaining), (sweep.faults(), None));
    assert_eq!((runs.not_landed, runs.failed), (counts[&Class::NotLanded], 0));
    assert_eq!(runs.landed + runs.not_landed, runs.planned);
}

#[test]
fn parts_add_up_to_the_whole_and_have_rates_of_their_own() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), every_fault(), &target);
    let kernels: Vec<_> = summary.by_kernel.iter().map(|part| part.account).collect();
    let groups: Vec<_> = summary.by_group.iter().map(|part| part.account).collect();
    let lines: Vec<_> = summary.by_line.iter().map(|part| part.account).collect();
    assert_eq!([kernels.len(), groups.len(), lines.len()], [2, 2, 4]);
    for accounts in [kernels, groups, lines] {
        assert_eq!(accounts.iter().map(|account| account.runs).sum::<u64>(), summary.runs.planned);
        assert_eq!(accounts.iter().map(|account| account.outcomes.sdc).sum::<u64>(), summary.outcomes.sdc.count);
        for rates in accounts.iter().map(|account| account.rates.unwrap()) {
            assert!((rates.masked + rates.sdc + rates.due - 1.0).abs() < 1e-12);
        }
        for account in accounts {
            let (rates, intervals) = (account.rates.unwrap(), account.intervals.unwrap());
            assert_eq!([intervals.sdc.low, intervals.sdc.high], [rates.sdc; 2], "there is no sampling error");
        }
    }
    for (count, kinds) in [
        (summary.outcomes.masked, &summary.masked),
        (summary.outcomes.sdc, &summary.sdc),
        (summary.outcomes.due, &summary.due),
    ] {
        assert_eq!(count.count, kinds.values().sum::<u64>());
    }
    assert!(summary.sdc["maybe_3"] > 0 && summary.due["illegal_address"] > 0, "{summary:?}");
    assert_eq!(summary.host_visible, (0..target.units).map(|unit| unit % 3).sum::<u64>());
}

#[test]
fn criteria_add_the_rate_of_bad_corruptions_and_change_no_other_number() {
    let quality = [outcome::Quality::parse("out:tolerance=0.5").unwrap()].into();
    let criteria = outcome::Criteria { quality, ..outcome::Criteria::default() };
    let (plain, judged) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let config = Config { criteria, ..every_fault() };
    let (plain, judged) =
        (run_all(plain.path(), every_fault(), &Fake::default()), run_all(judged.path(), config, &Fake::default()));
    let (bad, kinds) = (judged.bad.unwrap(), &judged.sdc);
    assert_eq!(bad.count, kinds["bad"] + kinds["detectable"] + kinds["unjudged"]);
    assert!(kinds["maybe_3"] > 0 && bad.rate < judged.outcomes.sdc.rate, "{kinds:?}");
    assert_eq!((plain.bad, plain.outcomes), (None, judged.outcomes));
    let accounts = |summary: &Summary| -> Vec<crate::summary::Account> {
        let named = summary.by_kernel.iter().chain(&summary.by_group).map(|part| part.account);
        named.chain(summary.by_line.iter().map(|part| part.account)).collect()
    };
    for (plain, judged) in accounts(&plain).into_iter().zip(accounts(&judged)) {
        assert_eq!(crate::summary::Account { bad: None, ..judged }, plain);
        assert!(judged.bad.unwrap().count <= judged.outcomes.sdc);
    }
    let of_kernels: u64 = judged.by_kernel.iter().map(|part| part.account.bad.unwrap().count).sum();
    assert_eq!(of_kernels, bad.count);
}

#[test]
fn the_document_says_what_was_swept() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), every_fault(), &Fake::default());
    let part = |value: serde_json::Value| value.to_string();
    let document = serde_json::to_value(&summary).unwrap();
    expect![[r#"{"members":187,"operands":8,"units":24}"#]].assert_eq(&part(document["exhaustive"].clone()));
    expect![[r#"{"decided":24,"delta":48,"full":24,"lanes":7083}"#]]
        .assert_eq(&part(document["speed"]["tiers"].clone()));
    expect![[r#"{"capsule":"fake","confidence":0.95,"engine":"auto","exhaustive":true,"interval":"wilson","model":"flip","scope":"thread","seed":7,"target":"dst"}"#]]
        .assert_eq(&part(document["config"].clone()));
    let seconds = summary.speed.seconds;
    assert_eq!(summary.speed.runs_per_second, summary.runs.planned as f64 / seconds, "its runs are its faults");
}

#[test]
fn the_outcome_of_every_fault_is_read_back() {
    let target = Fake { fails: true, ..Fake::default() };
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), every_fault(), &target);
    let made = made(dir.path());
    assert_eq!(made.units.len() as u64, target.units);
    let mut counts = BTreeMap::new();
    for (unit, codes) in &made.units {
        let lost = matches!(target.trouble(*unit), Trouble::Panics | Trouble::Fails);
        let faults = target.faults(*unit);
        assert_eq!(codes.len(), faults.len());
        for (fault, &code) in faults.iter().zip(codes) {
            let outcome = fault.outcome.filter(|_| !lost);
            assert_eq!(code, outcome.map_or(FAILED_CODE, Outcome::code));
            if let Some(outcome) = outcome {
                *counts.entry((fault.operand, fault.bit, outcome)).or_insert(0) += 1;
            }
        }
    }
    let found: BTreeMap<_, u64> =
        made.counts.iter().map(|count| ((count.operand, count.bit, count.outcome), count.count)).collect();
    assert_eq!(found, counts);
    assert_eq!(Results::open(dir.path()).unwrap().operands().unwrap(), target.all_faults().operands);
    assert_eq!(rows(dir.path()), [], "there are no rows of single runs");
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let target = Fake { fails: true, ..Fake::default() };
    let expected = in_one_go(&target);
    for jobs in [2, 3, 100] {
        let dir = tempfile::tempdir().unwrap();
        run_all(dir.path(), Choices { jobs: Some(jobs), ..all() }.settle().unwrap(), &target);
        assert_eq!(made(dir.path()), expected, "{jobs} jobs");
    }
}

#[test]
fn interrupted_again_and_again_it_ends_as_in_one_go() {
    let target = Fake { fails: true, ..Fake::default() };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), every_fault(), &target).unwrap();
    let mut interruptions = 0;
    while let CampaignEnd::Interrupted(summary) = run_some(&mut store, &target, 4) {
        let runs = summary.runs;
        assert_eq!(runs.landed + runs.not_landed + runs.failed + summary.remaining.unwrap(), runs.planned);
        drop(store);
        store = Store::resume(dir.path(), &target).unwrap();
        interruptions += 1;
    }
    assert!(interruptions >= 5, "{interruptions}");
    drop(store);
    assert_eq!(made(dir.path()), in_one_go(&target));
}

#[test]
fn a_unit_in_hand_is_given_up_when_asked_to_stop() {
    let target = Fake::default();
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), Choices { jobs: Some(1), ..all() }.settle().unwrap(), &target).unwrap();
    assert!(matches!(run_some(&mut store, &target, 1), CampaignEnd::Interrupted(_)));
    drop(store);
    assert_eq!(made(dir.path()).units, []);
    resume_all(dir.path(), &target);
    assert_eq!(made(dir.path()), in_one_go(&target));
}

#[test]
fn a_unit_that_panics_or_fails_is_accounted_for_and_told() {
    let target = Fake { fails: true, ..Fake::default() };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), every_fault(), &target).unwrap();
    let (mut told, mut last) = (BTreeMap::new(), None);
    let mut on_event = |event: CampaignEvent<'_>| match event {
        CampaignEvent::UnitFailed { unit, faults, error } => drop(told.insert(unit, (faults, error.to_owned()))),
        CampaignEvent::Written { tally } => last = Some(tally),
        _ => {}
    };
    let ended = run(&target, &mut store, &AtomicBool::new(false), &mut on_event).unwrap();
    let CampaignEnd::Finished(summary) = ended else { panic!("nobody interrupted") };
    let lost = (0..target.units).filter(|&unit| matches!(target.trouble(unit), Trouble::Panics | Trouble::Fails));
    let lost: Vec<u64> = lost.collect();
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), lost);
    let single = (0..target.units).filter(|&unit| target.trouble(unit) == Trouble::OneFault).count() as u64;
    let failed = lost.iter().map(|&unit| target.faults(unit).len() as u64).sum::<u64>() + single;
    assert_eq!(told.values().map(|(faults, _)| faults).sum::<u64>() + single, failed);
    assert_eq!((summary.runs.failed, summary.remaining), (failed, None));
    assert_eq!(last.map(|tally| (tally.failed, tally.total())), Some((failed, summary.runs.planned)));
    expect!["run the unit: panic: the fake fell over in unit 3; this is a bug"].assert_eq(&told[&3].1);
    expect!["replay the launch: the fake is out of luck"].assert_eq(&told[&5].1);
}

#[test]
fn shards_joined_in_any_order_are_the_campaign_that_was_not_divided() {
    let target = Fake { fails: true, ..Fake::default() };
    for count in [1, 2, 5, 30] {
        let dir = tempfile::tempdir().unwrap();
        let mut dirs = Vec::new();
        for number in (1..=count).rev() {
            dirs.push(dir.path().join(number.to_string()));
            let config = Choices { shard: Shard::new(number, count), ..all() }.settle().unwrap();
            run_all(dirs.last().unwrap(), config, &target);
        }
        let out = dir.path().join("out");
        merge(&dirs, &out).unwrap();
        assert_eq!(made(&out), in_one_go(&target), "{count} shards");
        resume_all(&out, &Fake { worker_error: Some("run anything".into()), ..target.clone() });
    }
}

#[test]
fn a_shard_makes_the_units_that_are_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let config = Choices { shard: Shard::new(2, 5), ..all() }.settle().unwrap();
    let summary = run_all(dir.path(), config, &Fake::default());
    let made = made(dir.path());
    assert_eq!(made.units.iter().map(|(unit, _)| *unit).collect::<Vec<_>>(), [1, 6, 11, 16, 21]);
    let faults: u64 = made.units.iter().map(|(_, outcomes)| outcomes.len() as u64).sum();
    assert_eq!((summary.runs.planned, summary.exhaustive.unwrap().units), (faults, 5));
}

#[test]
fn a_shard_that_lacks_units_is_not_merged() {
    let (dir, target) = (tempfile::tempdir().unwrap(), Fake::default());
    let dirs = [1, 2].map(|number| dir.path().join(number.to_string()));
    let config = |number| Choices { shard: Shard::new(number, 2), ..all() }.settle().unwrap();
    run_all(&dirs[0], config(1), &target);
    run_some(&mut Store::create(&dirs[1], config(2), &target).unwrap(), &target, 0);
    let error = merge(&dirs, &dir.path().join("out")).unwrap_err();
    let remaining: u64 = (1..target.units).step_by(2).map(|unit| target.faults(unit).len() as u64).sum();
    assert!(matches!(error, MergeError::Unfinished { remaining: found, .. } if found == remaining), "{error}");
    resume_all(&dirs[1], &target);
    let connection = rusqlite::Connection::open(dirs[1].join("shard-2-of-2.sqlite")).unwrap();
    connection.execute_batch("DELETE FROM unit WHERE unit = 7").unwrap();
    let error = merge(&dirs, &dir.path().join("out")).unwrap_err();
    assert!(matches!(error, MergeError::Store(StoreError::Damaged { .. })), "{error}");
}

#[test]
fn a_target_that_is_or_finds_another_is_refused() {
    let (dir, target) = (tempfile::tempdir().unwrap(), Fake::default());
    let mut store = Store::create(dir.path(), every_fault(), &target).unwrap();
    run_some(&mut store, &target, 5);
    drop(store);
    let other = Fake { digest: "0ther".into(), ..target.clone() };
    assert!(matches!(Store::resume(dir.path(), &other), Err(StoreError::OtherTarget { .. })));
    let other = Fake { units: target.units - 1, ..target.clone() };
    let error = Store::resume(dir.path(), &other).unwrap_err();
    let text = error.to_string().replace(&dir.path().display().to_string(), "DIR");
    expect!["go on in DIR: the capsule is the same, but this beamline finds other faults in it than the one that the campaign was started with; use that one, or start a new campaign"].assert_eq(&text);
    let path = dir.path().join("campaign.toml");
    let config = fs::read_to_string(&path).unwrap().replace("exhaustive = true", "runs = 9");
    fs::write(&path, config).unwrap();
    assert!(matches!(Store::resume(dir.path(), &target), Err(StoreError::Changed { .. })));
}

#[test]
fn a_lost_plan_or_file_of_units_is_made_again() {
    let target = Fake::default();
    for lost in ["plan", "shard-1-of-1.sqlite"] {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::create(dir.path(), every_fault(), &target).unwrap();
        run_some(&mut store, &target, 5);
        drop(store);
        fs::remove_file(dir.path().join(lost)).unwrap();
        resume_all(dir.path(), &target);
        assert_eq!(made(dir.path()), in_one_go(&target), "{lost}");
    }
}

#[test]
fn a_target_that_only_samples_says_so_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let target = Fake { plan_error: Some("sweep".into()), ..Fake::default() };
    let error = Store::create(&out, every_fault(), &target).unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "sweep");
    assert!(!out.exists());
}
