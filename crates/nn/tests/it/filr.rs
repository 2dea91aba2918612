//! FLR, ILR and FILR of the bundled network: nothing leaks, nothing depends on threads, and estimates agree.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use campaign::{CampaignEnd, Choices, run_in_memory};
use nn::NetworkTarget;
use nn::filr::certainty::{Criterion, Reading, cross_entropy};
use nn::filr::choice::TechniqueChoice;
use nn::filr::combine::{cheapest, combinations};
use nn::filr::inject::{Work, campaign};
use nn::filr::maps::feature_maps;
use nn::filr::sets::divide;
use nn::filr::{Filr, FilrError, Injecting, NeuronFault, Order, Settings, Table, analyse};
use nn::forward::{forward, top_class};
use nn::hit::Hit;
use nn::images::{Images, Shown};
use stats::{Confidence, Draws, Proportion};

use crate::kit::{fashion, flip};

static GO_ON: AtomicBool = AtomicBool::new(false);

fn settings() -> Settings {
    Settings { injections_per_map: 128, deployment_injections: Some(10_000), ..Settings::default() }
}

fn filr(target: &NetworkTarget, settings: &Settings) -> Filr {
    analyse(target, settings, &GO_ON, &mut |_, _| {}).unwrap()
}

/// Flips, as many in each feature map.
fn flips(count: u64, seed: u64) -> Injecting {
    Injecting { count, seed, fault: NeuronFault::Flip }
}

/// A table of the bundled network, made once.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let (analysis, _) = divide(fashion(), 0.8, 7);
        let work = Work { threads: 2, stop: &GO_ON };
        campaign(&analysis, &feature_maps(fashion().network()), flips(512, 7), work, &mut |_, _| {}).unwrap().table
    })
}

/// The images of most tests: gradients of all of them, for the heuristics, take longest.
const SOME: usize = 250;

/// The bundled network with its first images.
pub(crate) fn some() -> &'static NetworkTarget {
    static SOME: OnceLock<NetworkTarget> = OnceLock::new();
    SOME.get_or_init(|| with_images(|_, _, _| {}))
}

/// The same with other images: `change` is given the pixels and the label of each.
fn with_images(mut change: impl FnMut(usize, &mut [u8], &mut u16)) -> NetworkTarget {
    let (network, images) = (fashion().network(), fashion().images());
    let shape = network.tensors()[0].shape;
    let (mut pixels, mut labels) = (images.all_pixels().to_vec(), images.labels().to_vec());
    pixels.truncate(SOME * shape.elements());
    labels.truncate(SOME);
    for (image, (pixels, label)) in pixels.chunks_mut(shape.elements()).zip(&mut labels).enumerate() {
        change(image, pixels, label);
    }
    let images = Images::new(shape, pixels, Shown::Classes(labels), network.logits().shape).unwrap();
    NetworkTarget::new(network.clone(), b"", images).unwrap()
}

#[test]
fn the_sets_are_apart_and_follow_from_the_seed() {
    let (analysis, deployment) = divide(fashion(), 0.8, 1);
    assert_eq!((analysis.images().len(), deployment.count()), (800, 200));
    assert_eq!(analysis.images().iter().collect::<BTreeSet<_>>().len(), 800);
    assert_eq!(divide(fashion(), 0.8, 1).0.images(), analysis.images());
    assert_ne!(divide(fashion(), 0.8, 2).0.images(), analysis.images());
}

#[test]
fn no_image_of_the_deployment_set_is_in_any_choice() {
    let (analysis, _) = divide(some(), 0.8, 1);
    let analysed: BTreeSet<usize> = analysis.images().iter().copied().collect();
    let mut draws = Draws::new(3, 0);
    // Other pixels and other labels, but for a few images that stay so that there is something to measure.
    let poisoned = with_images(|image, pixels, label| {
        if !analysed.contains(&image) && image % 4 != 0 {
            pixels.fill_with(|| draws.next() as u8);
            *label = (*label + 1) % 10;
        }
    });
    let (clean, poisoned) = (filr(some(), &settings()), filr(&poisoned, &settings()));
    assert!(clean.filr.iter().all(|sweep| sweep.combination.is_some()));
    // What is told of the deployment set differs, and nothing else.
    assert_ne!(clean.deployment, poisoned.deployment);
    let chosen = |filr: &Filr| {
        let choices = filr.choices.iter().map(|choice| TechniqueChoice { deployed: None, ..choice.clone() }).collect();
        Filr { digest: String::new(), choices, deployment: None, notes: Vec::new(), ..filr.clone() }
    };
    assert_eq!(chosen(&clean), chosen(&poisoned));
    assert_eq!(poisoned.notes.iter().filter(|note| note.contains("deployment set has")).count(), 1);
}

#[test]
fn one_thread_and_two_come_to_the_same() {
    let mut told = Vec::new();
    let one = analyse(some(), &settings(), &GO_ON, &mut |done, all| told.push((done, all))).unwrap();
    let two = filr(some(), &Settings { threads: 2, ..settings() });
    assert_eq!(one, two);
    let all = 136 * 128 + 10_000;
    assert_eq!(told.last(), Some(&(all, all)));
    assert!(told.is_sorted());
    assert_ne!(filr(some(), &Settings { seed: 2, ..settings() }).injections, one.injections);
}

#[test]
fn origins_sum_up_to_one_over_all_convolutions() {
    let filr = filr(some(), &Settings { injections_per_map: 8, ..settings() });
    assert_eq!(filr.maps.len(), 136);
    let sum = |of: fn(&nn::filr::document::MapRow) -> f64| filr.maps.iter().map(of).sum::<f64>();
    assert!((sum(|map| map.v_orig) - 1.0).abs() < 1e-12);
    assert!((sum(|map| map.v) - filr.injections.v_cnn).abs() < 1e-12);
    assert!((sum(|map| map.v_rel) - 1.0).abs() < 1e-9 && (sum(|map| map.v_rel_loss) - 1.0).abs() < 1e-9);
    let convolutions: u64 =
        fashion().layers().iter().filter(|layer| layer.class != "dense").map(|layer| layer.macs).sum();
    assert_eq!(filr.maps.iter().map(|map| map.macs).sum::<u64>(), convolutions);
    // Filters of a depthwise convolution see one channel: 14 · 14 / 4 positions, nine weights.
    let depthwise = filr.maps.iter().find(|map| map.layer == "dw").unwrap();
    assert_eq!((depthwise.neurons, depthwise.macs), (49, 441));
}

#[test]
fn rates_by_feature_map_agree_with_a_plain_campaign_over_all_neurons() {
    let choices = Choices {
        capsule: Some("fashion".into()),
        runs: Some(60_000),
        seed: Some(5),
        jobs: Some(2),
        criteria: fashion().criteria(),
        ..Choices::default()
    };
    let config = choices.settle().unwrap();
    let (end, _) = run_in_memory(fashion(), &config, &GO_ON, &mut |_| {}).unwrap();
    let CampaignEnd::Finished(summary) = end else { panic!("nobody interrupted") };
    let bad = summary.sdc.get("bad").copied().unwrap_or(0);
    let interval = Proportion::from_counts(bad, 60_000 - bad).wilson(Confidence::new(0.99).unwrap());
    let neurons: u64 = table().maps().iter().map(|map| map.neurons).sum();
    let rate = table().all().mass_by_neurons(table().maps()) as f64 / (neurons * 512) as f64;
    assert!((interval.low..interval.high).contains(&rate), "{rate} and {bad} of 60000");
}

#[test]
fn half_of_the_injections_is_what_half_as_many_come_to() {
    let (analysis, _) = divide(fashion(), 0.8, 7);
    let (maps, work) = (feature_maps(fashion().network()), Work { threads: 2, stop: &GO_ON });
    let made = |each| campaign(&analysis, &maps[..3], flips(each, 7), work, &mut |_, _| {}).unwrap();
    // The first feature map has the same runs, whatever their number.
    let (all, half) = (made(1000), made(500));
    assert_eq!(all.half.unwrap().tallies()[0], half.table.tallies()[0]);
    assert!(all.table.tallies()[0].loss > half.table.tallies()[0].loss);
    assert_eq!(made(1).half, None);
}

#[test]
fn a_combination_covers_every_sdc_that_was_seen() {
    for reading in [Reading::FaultFree, Reading::Faulty] {
        let all = combinations(table(), reading, Order::Loss, 1.0);
        for combination in &all {
            for (map, tally) in table().tallies().iter().enumerate() {
                let again = |sdc: &nn::filr::table::Sdc| {
                    sdc.certainty(reading).read(Criterion::Top2Diff) < combination.threshold
                };
                assert!(combination.maps.contains(&map) || tally.sdcs.iter().all(again), "{combination:?}");
            }
            assert_eq!(combination.coverage, 1.0);
        }
        let least = cheapest(&all).unwrap().overhead;
        assert!(least < all[0].overhead && least < all[100].overhead, "{least}");
        assert_eq!(all[0].coverage_by_reruns, 0.0);
    }
}

#[test]
fn what_cannot_be_said_is_said() {
    // Labels at random: the accuracy is that of chance.
    let mut draws = Draws::new(4, 0);
    let chance = with_images(|_, _, label| *label = draws.below(10).unwrap() as u16);
    let few = Settings { injections_per_map: 16, ..settings() };
    let notes = filr(&chance, &few).notes.join("\n");
    assert!(notes.contains("may be below twice chance (10.00 %)"), "{notes}");
    assert!(notes.contains("it is too small for a claim about other images"), "{notes}");
    assert!(notes.contains("So few SDCs make coverage coarse"), "{notes}");
    // No image of the deployment set is right.
    let analysed: BTreeSet<usize> = divide(some(), 0.8, 1).0.images().iter().copied().collect();
    let top = |image: usize| top_class(fashion().golden_run(image).logits());
    let none = with_images(|image, _, label| {
        if !analysed.contains(&image) {
            *label = ((top(image) + 1) % 10) as u16;
        }
    });
    let filr = filr(&none, &few);
    assert!(filr.deployment.is_none() && filr.notes.iter().any(|note| note.starts_with("Nothing was measured")));
    // Nor any at all.
    let none = with_images(|image, _, label| *label = ((top(image) + 1) % 10) as u16);
    let error = analyse(&none, &few, &GO_ON, &mut |_, _| {}).unwrap_err();
    let expected =
        "analyse the network `fashion`: the analysis set has 200 images, and the network gets none of them right";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn settings_that_mean_nothing_are_answered_with_what_they_may_be() {
    let wrong = |settings: Settings| analyse(fashion(), &settings, &GO_ON, &mut |_, _| {}).unwrap_err().to_string();
    let expected = "use the setting `target`: it is above 0 and at most 1, found NaN";
    assert_eq!(wrong(Settings { target: f64::NAN, ..settings() }), expected);
    for settings in [
        Settings { target: 1.1, ..settings() },
        Settings { analysis_share: 1.0, ..settings() },
        Settings { threads: 0, ..settings() },
        Settings { injections_per_map: 0, ..settings() },
        Settings { deployment_injections: Some(0), ..settings() },
    ] {
        assert!(wrong(settings).starts_with("use the setting `"));
    }
}

#[test]
fn it_stops_when_asked_to() {
    let stop = AtomicBool::new(false);
    let stopped = analyse(fashion(), &settings(), &stop, &mut |done, _| stop.store(done > 0, Ordering::Relaxed));
    assert_eq!(stopped.unwrap_err(), FilrError::Stopped);
}

fn covered_count(deployed: &serde_json::Value) -> u64 {
    deployed["covered"]["count"].as_u64().unwrap()
}

#[test]
fn the_document_has_its_format_and_no_number_that_json_lacks() {
    let document = serde_json::to_value(filr(some(), &settings())).unwrap();
    assert_eq!(document["format"], "beamline.filr/1");
    assert_eq!(document["maps"].as_array().unwrap().len(), 136);
    assert_eq!(document["filr"][0]["reading"], "fault_free");
    assert_eq!(document["flr"][0]["points"].as_array().unwrap().len(), 137);
    assert_eq!(document["ilr"].as_array().unwrap().len(), 4);
    let flr = document["deployment"]["flr"].as_array().unwrap();
    assert!(flr.len() == 6 && flr[0]["predicted"].as_f64().unwrap() >= 0.25 && flr.is_sorted_by_key(covered_count));
    assert!(document["costs"].as_array().unwrap().iter().all(|cost| cost["filr"].is_number()));
    assert!(document["maps"].as_array().unwrap().iter().all(|map| map["p_mismatch"]["share"].is_number()));
}

#[test]
fn counts_and_losses_are_those_of_whole_runs_of_the_same_draws() {
    let (network, labels) = (fashion().network(), fashion().images().labels());
    let (analysis, _) = divide(fashion(), 0.8, 11);
    let maps: Vec<_> = feature_maps(network).into_iter().step_by(9).collect();
    let (each, work) = (60_u64, Work { threads: 2, stop: &GO_ON });
    let table = campaign(&analysis, &maps, flips(each, 11), work, &mut |_, _| {}).unwrap().table;
    let top = |image: usize| top_class(fashion().golden_run(image).logits());
    let is_right = |&image: &usize| top(image) == usize::from(labels[image]);
    let right: Vec<usize> = analysis.images().iter().copied().filter(is_right).collect();
    assert_eq!(right.len(), analysis.right());
    for (number, (map, tally)) in maps.iter().zip(table.tallies()).enumerate() {
        let (mut sdcs, mut loss) = (0, 0.0);
        for injection in 0..each {
            let mut draws = Draws::new(11, number as u64 * each + injection);
            let image = *draws.one_of(&right).unwrap();
            let position = draws.below(map.neurons).unwrap() as usize;
            let model = flip(draws.below(8).unwrap() as u32);
            let element = position * network.output(map.layer).shape.channels + map.channel;
            let hit = Hit::neuron(map.layer, element, model);
            let run = forward(network, fashion().images().pixels(image), Some(&hit));
            let entropy =
                |logits: &[u8]| cross_entropy(logits, network.logits().quantisation, usize::from(labels[image]));
            sdcs += usize::from(top_class(run.logits()) != top(image));
            loss += (entropy(run.logits()) - entropy(fashion().golden_run(image).logits())).abs();
        }
        assert_eq!((tally.injections, tally.sdcs.len()), (each, sdcs));
        assert!((tally.loss - loss).abs() < 1e-9, "{} {loss}", tally.loss);
    }
}
