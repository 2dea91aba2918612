//! Faults in the bundled detector: objects that are lost, found where none is, or found as another class.

use campaign::{Engine, Engines, Planner, RunIndex, Site};
use methods::kit::StudyError;
use nn::detection::{Grid, Object};
use nn::observe::{DETECTIONS, Task};
use nn::{Fault, NetworkTarget, bundled};
use outcome::{Class, Outcome, Sdc, classify};
use stats::Proportion;
use std::sync::atomic::{AtomicBool, Ordering};
use study::{Cell, Frame, Palette, Panel, Picture, Table};

use super::survey::{rate, selection};

/// The detector.
pub(super) const DETECTOR: &str = "scenes";

/// Campaigns on it: the scope, the model, and what that is in words. The chapter replaces one neuron of each layer.
pub(super) const FAULTS: [(&str, &str, &str); 4] = [
    ("one", "flip", "one bit of one neuron"),
    ("layers", "flip", "the same bit of one neuron of each layer"),
    ("layers:each", "random", "one neuron of each layer becomes another number"),
    ("channel", "random", "a feature map becomes another number"),
];

/// The ends of runs with a kind of fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DetectorEnds {
    pub(super) runs: u64,
    /// With the output of the fault-free run.
    pub(super) masked: u64,
    /// With other objects.
    pub(super) bad: u64,
    /// With objects that are lost, with some where none is, and with some of another class.
    pub(super) with: [u64; 3],
}

/// A scene with a fault.
#[derive(Clone, Debug)]
pub(super) struct FaultyScene {
    pub(super) image: usize,
    pub(super) fault: String,
    /// Its pixels, row by row.
    pub(super) pixels: Vec<u8>,
    /// The objects without the fault, and with it.
    pub(super) objects: [Vec<Object>; 2],
}

/// How many scenes are shown.
const SHOWN: usize = 3;

/// All that is measured of the detector.
#[derive(Clone, Debug)]
pub(super) struct DetectorRuns {
    /// Scenes that it gets wholly right, and all of them.
    pub(super) right: [usize; 2],
    /// For each of [`FAULTS`].
    pub(super) ends: Vec<DetectorEnds>,
    /// The first runs of the chapter's fault that find something where nothing is.
    pub(super) phantoms: Vec<FaultyScene>,
}

fn failed(error: &dyn std::fmt::Display) -> StudyError {
    StudyError::Words(format!("run faults of the detector: {error}"))
}

/// Runs all campaigns, one after the other, on one thread.
pub(super) fn detector(stop: &AtomicBool, runs: u64) -> Result<DetectorRuns, StudyError> {
    let target = bundled::open(DETECTOR).map_err(|error| failed(&error))?;
    let Task::Detection(grid) = target.images().task() else { return Err(failed(&"it classifies")) };
    let accuracy = target.accuracy();
    let mut found = DetectorRuns { right: [accuracy.right, accuracy.images], ends: Vec::new(), phantoms: Vec::new() };
    for (scope, model, _) in FAULTS {
        let mut worker = target.worker(&Engine::named("delta")).map_err(|error| failed(&error))?;
        let indices: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
        let mut ends = DetectorEnds::default();
        for sites in indices.chunks(1024) {
            if stop.load(Ordering::Relaxed) {
                return Err(StudyError::Unkept);
            }
            let sites = target.plan(sites, &selection("neuron", model, scope), 1)?;
            for (site, seen) in sites.iter().zip(worker.run_batch(&sites)) {
                let seen = seen.map_err(|error| failed(&error))?;
                let outcome = classify(&seen, &target.criteria());
                let differs = |name: &str| seen.outputs.iter().any(|it| it.name == name && it.differing > 0);
                let with = DETECTIONS.map(|name| u64::from(differs(name)));
                ends.runs += 1;
                ends.masked += u64::from(outcome.class() == Class::Masked);
                ends.bad += u64::from(outcome == Outcome::Sdc(Sdc::Bad));
                ends.with.iter_mut().zip(with).for_each(|(sum, one)| *sum += one);
                if scope == "layers:each" && with[1] > 0 && found.phantoms.len() < SHOWN {
                    found.phantoms.push(faulty_scene(&target, grid, site)?);
                }
            }
        }
        found.ends.push(ends);
    }
    Ok(found)
}

fn faulty_scene(target: &NetworkTarget, grid: Grid, site: &Site) -> Result<FaultyScene, StudyError> {
    let fault = Fault::parse(site.fault().unwrap_or_default()).map_err(|error| failed(&error))?;
    let hit = fault.hit(target.network(), target.images().count()).map_err(|error| failed(&error))?;
    let golden = target.golden_run(fault.image);
    let mut delta = nn::delta::Delta::new(target.network());
    delta.run(&golden, &hit);
    let faulty = delta.tensor(&golden, target.network().layers().len());
    let objects =
        [golden.logits(), &faulty].map(|bytes| grid.objects(&target.network().logits().quantisation.values(bytes)));
    Ok(FaultyScene {
        image: fault.image,
        fault: fault.to_string(),
        pixels: target.images().pixels(fault.image).to_vec(),
        objects,
    })
}

/// How often the detector is right, and the faults of the picture.
pub(super) fn sentence(found: &DetectorRuns) -> String {
    let [right, all] = found.right;
    let faults: Vec<String> = found.phantoms.iter().map(|scene| format!("`{}`", scene.fault)).collect();
    format!(
        "Without a fault it finds all objects and no others in {right} of {all} scenes. The faults of the picture, for `beamline nn inject {DETECTOR}`: {}.",
        faults.join(", ")
    )
}

/// The ends of faults in the detector.
pub(super) fn table(found: &DetectorRuns) -> Table {
    let columns = ["fault", "runs", "equal output", "other objects", "lost", "phantom", "another class"];
    let mut table = Table::new("Faults in the detector", &columns);
    let row = |((_, _, words), ends): (&(&str, &str, &str), &DetectorEnds)| {
        let share = |count| rate(Proportion::new(count, ends.runs).filter(|_| ends.runs > 0));
        let [lost, phantom, reclassified] = ends.with.map(share);
        vec![
            Cell::text(*words),
            Cell::Count(ends.runs),
            share(ends.masked),
            share(ends.bad),
            lost,
            phantom,
            reclassified,
        ]
    };
    table.rows = FAULTS.iter().zip(&found.ends).map(row).collect();
    table
}

/// The pixels of a side of a scene.
const SIDE: usize = 64;

/// The brightness of a box, beyond that of any pixel.
const BOX: f64 = 1.0;

/// A scene with the boxes that are found without the fault, and with it.
pub(super) fn picture(found: &DetectorRuns) -> Picture {
    let panels = found.phantoms.iter().flat_map(|scene| {
        let captions = [format!("scene {}", scene.image), "with the fault".to_owned()];
        captions.into_iter().zip(&scene.objects).map(|(caption, objects)| panel(caption, scene, objects))
    });
    let frame =
        Frame { caption: "one neuron of each layer becomes another number".to_owned(), panels: panels.collect() };
    let title = "Objects that the detector finds without a fault, and with it".to_owned();
    Picture { name: "scene".to_owned(), title, frames: vec![frame], still: 0 }
}

fn panel(caption: String, scene: &FaultyScene, objects: &[Object]) -> Panel {
    let mut values: Vec<f64> = scene.pixels.iter().map(|&pixel| f64::from(pixel) / 255.0 * 0.6).collect();
    for Object { bounds, .. } in objects {
        let [top, left, bottom, right] = bounds.map(|at| at.round().clamp(0.0, SIDE as f64) as usize);
        for row in top..bottom {
            for column in left..right {
                let is_edge = row == top || row + 1 == bottom || column == left || column + 1 == right;
                if let Some(value) = values.get_mut(row * SIDE + column).filter(|_| is_edge) {
                    *value = BOX;
                }
            }
        }
    }
    Panel { caption, ends: Default::default(), width: SIDE, palette: Palette::Grey, values, below: Vec::new() }
}
