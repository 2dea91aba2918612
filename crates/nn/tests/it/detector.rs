//! The bundled detector: what it finds, and what faults make of that.

use std::sync::OnceLock;

use campaign::{Engine, Engines, Planner, RunIndex, SelectionWords};
use nn::NetworkTarget;
use nn::delta::Delta;
use nn::detection::{Differences, Grid};
use nn::observe::{DETECTIONS, LOGITS, Task};
use outcome::{Class, Outcome, Sdc, classify};

use crate::kit::agree;

fn scenes() -> &'static NetworkTarget {
    static SCENES: OnceLock<NetworkTarget> = OnceLock::new();
    SCENES.get_or_init(|| nn::bundled::open("scenes").unwrap())
}

fn grid() -> Grid {
    let Task::Detection(grid) = scenes().images().task() else { panic!("it finds objects") };
    grid
}

#[test]
fn as_many_scenes_are_wholly_right_as_the_training_script_recorded() {
    let recorded = include_str!("../../networks/scenes/accuracy.json");
    let accuracy = scenes().accuracy();
    assert!(recorded.contains(&format!("\"bundled_whole\": {}", accuracy.right)), "{accuracy:?} {recorded}");
    assert_eq!((accuracy.images, grid().classes(), grid().positions()), (400, 10, 64));
    assert!(accuracy.share() > 0.5);
}

#[test]
fn its_output_is_that_of_onnx_runtime() {
    let expected = zstd::stream::decode_all(&include_bytes!("../../networks/scenes/onnxruntime.zst")[..]).unwrap();
    assert_eq!(expected.len(), 400 * 960);
    for (scene, expected) in expected.chunks(960).enumerate() {
        assert_eq!(scenes().golden_run(scene).logits(), expected, "scene {scene}");
    }
}

fn words(scope: &str, model: &str) -> SelectionWords {
    let [scope, model] = [scope, model].map(|word| Some(word.to_owned()));
    SelectionWords { scope, model, ..SelectionWords::default() }
}

#[test]
fn a_run_of_what_differs_is_a_whole_run_in_every_tensor() {
    let target = scenes();
    let mut delta = Delta::new(target.network());
    let runs: Vec<RunIndex> = (0..40).map(RunIndex).collect();
    let mut differ = 0;
    for scope in ["one", "tile:4x4", "layers"] {
        for site in target.plan(&runs, &words(scope, "random"), 5).unwrap() {
            let fault = nn::Fault::parse(site.fault().unwrap()).unwrap();
            let hit = fault.hit(target.network(), 400).unwrap();
            let golden = target.golden_run(fault.image);
            let image = target.images().pixels(fault.image);
            differ += usize::from(agree(target.network(), &mut delta, image, &golden, &hit));
        }
    }
    assert!(differ > 60, "{differ}");
}

#[test]
fn objects_that_are_lost_or_found_where_none_is_make_a_run_bad() {
    let target = scenes();
    let mut worker = target.worker(&Engine::named("auto")).unwrap();
    let runs: Vec<RunIndex> = (0..600).map(RunIndex).collect();
    let (mut bad, mut seen) = (0, [0_u64; 3]);
    for site in target.plan(&runs, &words("channel", "random"), 9).unwrap() {
        let observation = worker.run(&site).unwrap();
        let counts = DETECTIONS.map(|name| observation.outputs.iter().find(|it| it.name == name).unwrap().differing);
        let logits = observation.outputs.iter().find(|it| it.name == LOGITS).unwrap().differing;
        let outcome = classify(&observation, &target.criteria());
        assert_eq!(counts.iter().any(|&count| count > 0), outcome == Outcome::Sdc(Sdc::Bad), "{counts:?} {outcome:?}");
        assert_eq!(logits == 0, outcome.class() == Class::Masked);
        bad += usize::from(outcome == Outcome::Sdc(Sdc::Bad));
        seen.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(bad > 10 && seen.iter().all(|&count| count > 0), "{bad} {seen:?}");
}

#[test]
fn a_campaign_is_over_scenes_that_are_wholly_right() {
    let target = scenes();
    let sites = target.plan(&(0..200).map(RunIndex).collect::<Vec<_>>(), &SelectionWords::default(), 1).unwrap();
    for site in sites {
        let fault = nn::Fault::parse(site.fault().unwrap()).unwrap();
        let golden = target.golden_run(fault.image);
        let values = target.network().logits().quantisation.values(golden.logits());
        assert!(Differences::new(target.images().objects(fault.image), &grid().objects(&values)).is_none());
    }
}

#[test]
fn what_to_protect_is_chosen_for_classifiers_alone() {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let settings = nn::filr::Settings::default();
    let error = nn::filr::analyse(scenes(), &settings, &stop, &mut |_, _| {}).unwrap_err().to_string();
    assert!(error.starts_with("analyse the network `scenes`: it finds objects"), "{error}");
}
