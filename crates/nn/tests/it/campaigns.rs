//! Campaigns on a network: the same rows however they are made, and outcomes by layer.

use std::sync::atomic::AtomicBool;

use campaign::{CampaignEnd, Choices, Engine, Engines, Finding, Row, SelectionWords, Stratify, Summary, run_in_memory};
use outcome::{Outcome, Sdc, Tier, classify};

use crate::kit::fashion;

fn choices(runs: u64) -> Choices {
    Choices {
        capsule: Some("fashion".into()),
        runs: Some(runs),
        seed: Some(1),
        jobs: Some(1),
        criteria: fashion().criteria(),
        ..Choices::default()
    }
}

fn campaign(choices: Choices) -> (Summary, Vec<Row>) {
    let config = choices.settle().unwrap();
    let (end, results) = run_in_memory(fashion(), &config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let CampaignEnd::Finished(summary) = end else { panic!("nobody interrupted") };
    let mut rows = Vec::new();
    results.visit(&mut |row| rows.push(row)).unwrap();
    (summary, rows)
}

/// The rows without what tells engines apart.
fn seen(rows: &[Row]) -> Vec<Row> {
    let seen = |finding: &Finding| match finding.clone() {
        Finding::Seen { observation, outcome, classifier } => {
            Finding::Seen { observation: observation.seen(), outcome, classifier }
        }
        other => other,
    };
    rows.iter().map(|row| Row { finding: seen(&row.finding), ..row.clone() }).collect()
}

#[test]
fn engines_and_workers_make_the_same_rows() {
    let delta = campaign(Choices { engine: Some(Engine::named("delta")), ..choices(1500) }).1;
    let full = campaign(Choices { engine: Some(Engine::named("full")), ..choices(1500) }).1;
    assert_eq!(seen(&delta), seen(&full));
    assert_eq!(campaign(Choices { jobs: Some(2), ..choices(1500) }).1, delta);
    let tier = |row: &Row, wanted: Tier| matches!(&row.finding, Finding::Seen { observation, .. } if observation.tier == wanted);
    assert!(delta.iter().all(|row| tier(row, Tier::Delta)) && full.iter().all(|row| tier(row, Tier::Full)));
}

#[test]
fn outcomes_come_by_layer_and_by_class() {
    let (summary, rows) = campaign(choices(20_000));
    let runs = &summary.runs;
    assert_eq!((runs.planned, runs.landed, runs.not_landed, runs.failed), (20_000, 20_000, 0, 0));
    let mut layers: Vec<&str> = summary.by_kernel.iter().map(|layer| layer.name.as_str()).collect();
    layers.sort_unstable();
    assert_eq!(layers, ["c1", "c2", "c3", "c4", "c5", "dw", "pw"]);
    let sdc = |kind: &str| summary.sdc.get(kind).copied().unwrap_or(0);
    let masked: u64 = summary.masked.values().sum();
    assert_eq!(masked + sdc("good") + sdc("bad"), 20_000);
    // Most faults change logits, and few of these the class.
    assert!((2000..15_000).contains(&masked) && (5..800).contains(&sdc("bad")), "{masked} {:?}", summary.sdc);
    // Outcomes are what the logits and the class say.
    for row in &rows {
        let Finding::Seen { observation, outcome, .. } = &row.finding else { panic!("{row:?}") };
        let [logits, class] = &observation.outputs[..] else { panic!("{observation:?}") };
        let expected = match (logits.differing, class.differing) {
            (0, 0) => matches!(outcome, Outcome::Masked(_)),
            (1.., 0) => *outcome == Outcome::Sdc(Sdc::Good),
            (1.., 1) => *outcome == Outcome::Sdc(Sdc::Bad),
            _ => false,
        };
        assert!(expected && classify(observation, &fashion().criteria()) == *outcome, "{row:?}");
    }
}

#[test]
fn a_row_is_repeated_by_its_id() {
    let rows = campaign(choices(50)).1;
    for engine in ["auto", "delta", "full"] {
        let mut worker = fashion().worker(&Engine::named(engine)).unwrap();
        for row in rows.iter().rev() {
            let site = fashion().site(row.site.fault().unwrap()).unwrap();
            assert_eq!(site, row.site);
            let Finding::Seen { observation, .. } = &row.finding else { panic!("{row:?}") };
            assert_eq!(worker.run(&site).unwrap().seen(), observation.clone().seen());
        }
    }
    assert!(fashion().worker(&Engine::named("lanes")).is_err());
    assert!(fashion().site("image=0,layer=c1,tensor=out,at=9:0:0,model=flip,bits=0").is_err());
}

#[test]
fn a_stratified_campaign_gives_every_layer_as_many_runs() {
    let selection = SelectionWords { stratify: Some(Stratify::Kernel), ..SelectionWords::default() };
    let (summary, _) = campaign(Choices { selection, ..choices(700) });
    assert_eq!(summary.strata.len(), 7);
    assert_eq!(summary.runs.landed, 700);
}
