//! A whole method, small: faults in values that are being stored, and nowhere else. As a module of `methods` it would be
//! these lines, and one in the registry.

use campaign::{
    CampaignEnd, Choices, Finding, LabelColumn, MethodChoice, Planner, Results, RunIndex, SelectionWords, Site,
    StoreError, TargetError, TargetSystem, run_in_memory,
};
use inject::CapsuleTarget;
use inject::site::LABELS;
use methods::{Applied, Estimates};
use outcome::Class;
use serde::Serialize;
use stats::{Confidence, IntervalKind as Formula, Proportion};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Cell, Study, Table};
use testkit::workload;

/// The method: a word without settings.
struct Method;

impl methods::Method for Method {
    fn name(&self) -> &'static str {
        "stores"
    }

    fn about(&self) -> &'static str {
        "a value that is being stored, any thread"
    }

    fn check(&self, words: &SelectionWords) -> Result<(), TargetError> {
        if words.target.is_some() {
            return Err(TargetError::new("choose sites as stores does and by `target` too: leave `target` out"));
        }
        Ok(())
    }

    fn apply(&self, capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Box<dyn Applied>, TargetError> {
        self.check(words)?;
        let stores = SelectionWords { target: Some("store".to_owned()), method: None, ..words.clone() };
        Ok(Box::new(Stores { capsule: Arc::clone(capsule), stores }))
    }
}

/// A capsule whose stores are hit.
struct Stores {
    capsule: Arc<CapsuleTarget>,
    /// What the method says, in the words of a campaign.
    stores: SelectionWords,
}

impl Planner for Stores {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        self.capsule.plan(runs, &self.stores, seed)
    }
}

/// What came of the stores of a kernel.
#[derive(Default, Serialize)]
struct Kernel {
    landed: u64,
    sdc: u64,
}

impl Applied for Stores {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        let mut kernels: BTreeMap<String, Kernel> = BTreeMap::new();
        results.visit(&mut |row| {
            let Finding::Seen { observation, outcome, .. } = &row.finding else { return };
            let kernel = kernels.entry(row.site.spot.kernel.clone()).or_default();
            kernel.landed += u64::from(observation.landed.is_some());
            kernel.sdc += u64::from(outcome.class() == Class::Sdc);
        })?;
        let mut table = Table::new("", &["kernel", "stores hit", "sdc"]);
        table.rows.extend(kernels.iter().map(|(name, kernel)| {
            let sample = Proportion::from_counts(kernel.sdc, kernel.landed - kernel.sdc);
            let bounds = sample.interval(Formula::Wilson, Confidence::PERCENT_95);
            let rate = |rate| Cell::Rate { rate, low: bounds.low, high: bounds.high };
            vec![Cell::text(fault::base_name(name)), Cell::Count(kernel.landed), sample.rate().map_or(Cell::None, rate)]
        }));
        let mut study = Study::new("stores", "stores: rates among stores that were hit, 95 %", "");
        study.tables.push(table);
        Ok(Estimates { json: serde_json::json!({ "format": "beamline.stores/1", "kernels": kernels }), study })
    }
}

fn rows(results: &Results) -> Vec<(u64, Option<String>)> {
    let mut rows = Vec::new();
    results.visit(&mut |row| rows.push((row.run.0, row.site.fault().map(str::to_owned)))).unwrap();
    rows
}

#[test]
fn a_method_plans_a_campaign_and_reads_its_rows() {
    let capsule = workload("pathfinder");
    let words = SelectionWords { method: Some(MethodChoice::named("stores")), ..SelectionWords::default() };
    let method = methods::Method::apply(&Method, &capsule, &words).unwrap();
    let run = |selection: SelectionWords, planner: Option<&dyn Planner>| {
        let choices =
            Choices { capsule: Some("pathfinder".to_owned()), runs: Some(400), selection, ..Choices::default() };
        let target = TargetSystem::from(&*capsule);
        let target = planner.map_or(target, |planner| target.planned_by(planner));
        run_in_memory(target, &choices.settle().unwrap(), &AtomicBool::new(false), &mut |_| {}).unwrap()
    };
    let (ended, chosen) = run(words, Some(&*method));
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    // What it chooses is what a plain campaign on the same target draws.
    let (_, plain) = run(SelectionWords { target: Some("store".to_owned()), ..SelectionWords::default() }, None);
    assert_eq!(rows(&chosen), rows(&plain));
    let estimates = method.estimates(&chosen).unwrap();
    assert_eq!(estimates.json["format"], "beamline.stores/1");
    let kernels = estimates.json["kernels"].as_object().unwrap();
    let sum = |key: &str| kernels.values().map(|kernel| kernel[key].as_u64().unwrap()).sum::<u64>();
    let summary = chosen.summary().unwrap();
    assert_eq!((sum("landed"), sum("sdc")), (summary.runs.landed, summary.outcomes.sdc.count));
    assert!(sum("sdc") > 0 && !report::study::text(&estimates.study).is_empty());
}

#[test]
fn what_a_method_chooses_itself_is_refused() {
    let words = SelectionWords { target: Some("dst".to_owned()), ..SelectionWords::default() };
    let error = methods::Method::apply(&Method, &workload("pathfinder"), &words).err().unwrap();
    assert!(error.to_string().ends_with("leave `target` out"), "{error}");
}
