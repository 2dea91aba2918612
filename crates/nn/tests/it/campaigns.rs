//! Campaigns on a network: the same rows however they are made, and outcomes by layer.

use std::sync::atomic::AtomicBool;

use campaign::{
    CampaignEnd, Choices, Engine, Engines, Finding, Planner, Row, SelectionWords, Stratify, Summary, run_in_memory,
};
use outcome::{Outcome, Sdc, Tier, classify};

use nn::Fault;
use nn::delta::Delta;
use nn::forward::top_class;

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
    let stopped = delta.iter().filter(|row| tier(row, Tier::Stopped)).count();
    let carried_on = delta.iter().filter(|row| tier(row, Tier::Delta)).count();
    assert!(stopped > 0 && stopped + carried_on == 1500 && full.iter().all(|row| tier(row, Tier::Full)));
    // A run stopped early if what the last layer reads is that of the fault-free run, and it is masked then.
    let network = fashion().network();
    let last = network.layers().last().unwrap();
    let mut engine = Delta::new(network);
    for row in &delta {
        let fault = Fault::parse(row.site.fault().unwrap()).unwrap();
        let hit = fault.hit(network, fashion().images().count()).unwrap();
        let golden = fashion().golden_run(fault.image);
        engine.run(&golden, &hit);
        let is_equal = |&input: &usize| engine.tensor(&golden, input) == golden.tensors[input];
        assert_eq!(tier(row, Tier::Stopped), last.inputs.iter().all(is_equal), "{fault}");
    }
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

/// A selection in the words of a campaign.
fn selection(target: &str, model: &str, scope: &str, kernel: &[&str]) -> SelectionWords {
    SelectionWords {
        target: Some(target.to_owned()),
        model: Some(model.to_owned()),
        scope: Some(scope.to_owned()),
        kernel: kernel.iter().map(|&name| name.to_owned()).collect(),
        ..SelectionWords::default()
    }
}

#[test]
fn weights_biases_inputs_and_patterns_make_the_same_rows_on_both_engines_and_are_repeated_by_their_ids() {
    for (target, model, scope, kernel, places) in [
        ("weight", "flip", "one", &[][..], 1..=1),
        ("weight", "range:-0.5..0.5", "channel:each", &["c2"], 72..=72),
        ("bias", "double", "one", &[], 1..=1),
        ("input", "stuck1:0x80", "row", &[], 28..=28),
        ("input", "random", "one", &["add", "dw"], 1..=1),
        ("neuron", "random", "tile:4x4:each", &["c1", "c4"], 4..=16),
        ("neuron", "value:1.5", "channel", &["pw"], 49..=49),
        ("neuron", "flip:2", "any:5:each", &[], 5..=5),
        ("neuron", "range:-1..1", "layers", &[], 7..=7),
        ("out", "zero", "column", &["c3"], 14..=14),
    ] {
        let of = |engine| {
            let selection = selection(target, model, scope, kernel);
            campaign(Choices { engine: Some(Engine::named(engine)), selection, ..choices(60) }).1
        };
        let (delta, full) = (of("delta"), of("full"));
        assert_eq!(seen(&delta), seen(&full), "{target} {model} {scope}");
        let mut hits = std::collections::BTreeSet::new();
        for row in &delta {
            let id = row.site.fault().unwrap();
            assert_eq!(fashion().site(id).unwrap(), row.site);
            let Finding::Seen { observation, .. } = &row.finding else { panic!("{row:?}") };
            let landed = observation.landed.unwrap();
            let hit = Fault::parse(id).unwrap().hit(fashion().network(), 1000).unwrap();
            assert!(
                places.contains(&hit.places().len()) && landed.threads as usize == hit.places().len().min(32),
                "{id}"
            );
            hits.insert(id.to_owned());
        }
        assert!(hits.len() > 50, "{target} {model} {scope}: {} of 60 are unlike others", hits.len());
    }
}

#[test]
fn weights_are_drawn_with_the_same_chance_and_numbers_are_stored_as_near_as_they_can_be() {
    let runs: Vec<campaign::RunIndex> = (0..40_000).map(campaign::RunIndex).collect();
    let sites = fashion().plan(&runs, &selection("weight", "flip", "one", &[]), 3).unwrap();
    let weights = |name: &str| match name {
        "c1" => 72.0,
        "c2" => 1152.0,
        "c3" | "c4" => 2304.0,
        "dw" => 144.0,
        "pw" => 512.0,
        "c5" => 9216.0,
        _ => 320.0,
    };
    for layer in ["c1", "c2", "c3", "c4", "dw", "pw", "c5", "fc"] {
        let found =
            sites.iter().filter(|site| site.spot.kernel == layer && site.spot.target == "weight").count() as f64;
        let share: f64 = weights(layer) / 16_024.0;
        let deviation = (40_000.0 * share * (1.0 - share)).sqrt();
        assert!((found - share * 40_000.0).abs() < 5.0 * deviation, "{layer}: {found}");
    }
    let sites = fashion().plan(&runs[..100], &selection("input", "value:0.75", "one", &[]), 3).unwrap();
    // A pixel is its byte, from 0 to 1; 191.25 is nearest to 191.
    assert!(sites.iter().all(|site| site.labels.text(4) == Some("0xbf")), "{:?}", sites[0]);
}

#[test]
fn an_exhaustive_campaign_of_an_image_is_all_single_runs() {
    let image = (0..).find(|&image| {
        top_class(fashion().golden_run(image).logits()) == usize::from(fashion().images().labels()[image])
    });
    let image = image.unwrap();
    let words = |kernel: &[&str]| SelectionWords {
        iterations: vec![image.to_string()],
        ..selection("neuron", "flip", "one", kernel)
    };
    let config = Choices { exhaustive: true, runs: None, selection: words(&["dw", "fc"]), ..choices(1) };
    let config = config.settle().unwrap();
    let (_, results) = run_in_memory(fashion(), &config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let mut units = Vec::new();
    results.visit_units(&mut |unit, codes| units.push((unit, codes))).unwrap();
    assert_eq!(units.iter().map(|(_, codes)| codes.len()).collect::<Vec<_>>(), [784 * 8, 10 * 8]);
    let mut worker = fashion().worker(&Engine::named("full")).unwrap();
    for (unit, codes) in &units {
        let listed = fashion().unit(&words(&["dw", "fc"]), *unit).unwrap().unwrap();
        assert_eq!(listed.len(), codes.len());
        for (fault, &code) in listed.iter().zip(codes).step_by(if codes.len() > 100 { 17 } else { 1 }) {
            let id = fault.site.fault().unwrap();
            assert_eq!(fashion().site(id).unwrap(), fault.site);
            assert!(id.contains(&format!("image={image},")) && id.ends_with(&format!("model=flip,bits={}", fault.bit)));
            assert_eq!(classify(&worker.run(&fault.site).unwrap(), &fashion().criteria()).code(), code, "{id}");
        }
        let ids: std::collections::BTreeSet<_> = listed.iter().map(|fault| fault.site.fault()).collect();
        assert_eq!(ids.len(), codes.len(), "every fault is there once");
    }
    let summary = results.summary().unwrap();
    assert_eq!((summary.runs.planned, summary.runs.landed), (794 * 8, 794 * 8));
    // Zero is one fault for each element; random values cannot be listed.
    let sweep = |model: &str| fashion().sweep(&SelectionWords { model: Some(model.to_owned()), ..words(&["fc"]) });
    assert_eq!(sweep("zero").unwrap().faults(), 10);
    assert!(sweep("random").unwrap_err().to_string().starts_with("list every fault: "));
    let weights = fashion().sweep(&SelectionWords { target: Some("bias".into()), ..words(&[]) }).unwrap();
    assert_eq!((weights.faults(), weights.units()), (146 * 32, 8));
}
