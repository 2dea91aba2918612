//! The whole analysis in one call.

use std::sync::atomic::AtomicBool;

use campaign::Subject;
use stats::{Draws, spearman};

use crate::filr::agreement::Oracle;
use crate::filr::certainty::{Criterion, READINGS, Reading};
use crate::filr::choice::Choices;
use crate::filr::combine::{Combination, cheapest, combinations};
use crate::filr::convergence::{ExhaustiveComparison, compare};
use crate::filr::deploy::{Opened, Protection};
use crate::filr::document::{
    Correlation, Cost, FORMAT, FewInjections, Filr, FilrSweep, FlrCurve, HeuristicCurve, IlrCurve, Injections, MapRow,
    Sets, SweepPoint,
};
use crate::filr::exhaustive::judge_all;
use crate::filr::flr::{CurvePoint, curve, order, order_of, points};
use crate::filr::heuristics::{HEURISTICS, Heuristic, estimate};
use crate::filr::ilr::{ThresholdPoint, sweep};
use crate::filr::inject::{Campaign, Progress, Work, campaign};
use crate::filr::maps::{FeatureMap, all_macs, by_macs, feature_maps};
use crate::filr::neuron_fault::Injecting;
use crate::filr::notes::notes;
use crate::filr::order::{ORDERS, Order};
use crate::filr::sets::{AnalysisSet, DeploymentSet, divide};
use crate::filr::settings::{FilrError, Settings};
use crate::filr::share::Share;
use crate::filr::table::{Left, Table, Tally};
use crate::observe::Task;
use crate::target::NetworkTarget;

/// The coverages whose costs are said.
const TARGETS: [f64; 5] = [0.9, 0.95, 0.99, 0.999, 1.0];

/// The run of the draw that gives the seed of the deployment set's injections. Images are divided by another.
const DEPLOYMENT_SEED: u64 = u64::MAX - 1;

/// Analyses a network: injects into the analysis set, chooses, and measures what was chosen on the deployment set.
///
/// The result is a function of the target and of the settings, but for the number of threads. `progress` is told
/// injections: those made, and all there will be.
///
/// # Errors
/// When a setting means nothing, when there is nothing to inject into, or when `stop` is set.
pub fn analyse(
    target: &NetworkTarget,
    settings: &Settings,
    stop: &AtomicBool,
    progress: Progress<'_>,
) -> Result<Filr, FilrError> {
    settings.check()?;
    let work = Work { threads: settings.threads, stop };
    if target.images().task() != Task::Classification {
        return Err(FilrError::Detector { network: target.network().name().to_owned() });
    }
    let maps = feature_maps(target.network());
    if maps.is_empty() || all_macs(&maps) == 0 {
        return Err(FilrError::NoMaps { network: target.network().name().to_owned() });
    }
    let (analysis, deployment) = divide(target, settings.analysis_share, settings.seed);
    let first = settings.injections_per_map * maps.len() as u64;
    let later = settings.deployment_injections.unwrap_or(first);
    let each = settings.injections_per_map;
    let swept = maps.iter().map(|map| map.neurons * 8).sum::<u64>() * settings.exhaustive_images as u64;
    let all = first + later + swept;
    let mut told = |done: u64, _: u64| progress(done, all);
    let injecting = Injecting { count: each, seed: settings.seed, fault: settings.fault };
    let Campaign { table, half, few } = campaign(&analysis, &maps, injecting, work, &mut told)?;
    let heuristics = heuristic_curves(&table, estimate(&analysis, &maps, work)?);
    let sets = Sets {
        analysis_share: settings.analysis_share,
        analysis: analysis.images().len(),
        deployment: deployment.count(),
        also_analysed: deployment.also_analysed(),
        accuracy: Share::new(analysis.right() as u64, analysis.images().len() as u64),
        classes: target.network().logits().shape.channels,
    };
    let filr = READINGS.map(|reading| filr_sweep(&table, half.as_ref(), reading, settings));
    let combinations = filr.iter().filter_map(|sweep| sweep.combination.clone()).collect();
    let choices = Choices::new(&table, combinations, settings.order, settings.target);
    let mut told = |done: u64, _: u64| progress(first + done, all);
    let injecting = Injecting { count: later, ..injecting };
    let opened = open(deployment, &choices.protections(), &maps, injecting, work, &mut told)?;
    let (choices, deployment) = choices.deployed(opened);
    let mut told = |done: u64, _: u64| progress(first + later + done, all);
    let exhaustive = exhaustive(&analysis, &maps, &heuristics, settings, work, &mut told)?;
    let injections = injections(&table);
    let rows = rows(&table, injections.v_cnn);
    let flr = flr_curves(&table);
    let mut notes = notes(&sets, &injections, &rows, &flr, &filr, (&choices, settings.target), deployment.as_ref());
    if settings.exhaustive_images > 0 && exhaustive.is_none() {
        notes.push(NO_TRUTH.to_owned());
    }
    Ok(Filr {
        format: FORMAT,
        network: target.network().name().to_owned(),
        digest: target.digest().to_owned(),
        seed: settings.seed,
        target: settings.target,
        order: settings.order,
        fault: settings.fault,
        sets,
        injections,
        maps: rows,
        flr,
        heuristics,
        exhaustive,
        ilr: ilr_curves(&table),
        few: few
            .iter()
            .flat_map(|few| READINGS.map(|reading| few_injections(few, &table, reading)))
            .flatten()
            .collect(),
        costs: costs(&table, settings.order),
        filr: filr.into(),
        correlations: correlations(&table),
        choices,
        deployment,
        notes,
    })
}

/// The note about faults of images that never change the class.
const NO_TRUTH: &str = "Every fault of the images that were asked for was run, and none changed the class: orders cannot be held against them. \
                        Ask for more images.";

/// The threshold of Top2Diff by which some injections cover nine tenths, and the coverage of all injections by it; none if none of
/// them changed the class.
fn few_injections(few: &Table, all: &Table, reading: Reading) -> Option<FewInjections> {
    let chosen = sweep(few, Criterion::Top2Diff, reading).into_iter().find(|point| point.coverage >= NINE_TENTHS)?;
    let by_all = sweep(all, Criterion::Top2Diff, reading);
    let of = |threshold: f64| by_all.iter().find(|point| point.threshold >= threshold);
    Some(FewInjections {
        reading,
        injections: few.tallies().iter().map(|tally| tally.injections).sum(),
        sdcs: few.sdcs(),
        threshold: chosen.threshold,
        coverage: of(chosen.threshold)?.coverage,
        overhead: of(chosen.threshold)?.overhead,
        threshold_of_all: by_all.iter().find(|point| point.coverage >= NINE_TENTHS)?.threshold,
    })
}

/// The coverage that thresholds of few injections are chosen for.
const NINE_TENTHS: f64 = 0.9;

/// Opens the deployment set if something was chosen; without an image that is right there is nothing to measure.
fn open(
    set: DeploymentSet<'_>,
    chosen: &[Protection],
    maps: &[FeatureMap],
    injecting: Injecting,
    work: Work<'_>,
    progress: Progress<'_>,
) -> Result<Option<Opened>, FilrError> {
    if chosen.is_empty() {
        return Ok(None);
    }
    let seed = Draws::new(injecting.seed, DEPLOYMENT_SEED).next();
    match set.open(chosen, maps, Injecting { seed, ..injecting }, work, progress) {
        Ok(opened) => Ok(Some(opened)),
        Err(FilrError::NoneRight { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Judges every fault of some images if that is asked for, and holds estimates against it.
fn exhaustive(
    set: &AnalysisSet<'_>,
    maps: &[FeatureMap],
    heuristics: &[HeuristicCurve],
    settings: &Settings,
    work: Work<'_>,
    progress: Progress<'_>,
) -> Result<Option<ExhaustiveComparison>, FilrError> {
    if settings.exhaustive_images == 0 {
        return Ok(None);
    }
    let truth = judge_all(set, maps, settings.exhaustive_images, settings.seed, work, progress)?;
    let values: Vec<(Heuristic, &[f64])> = heuristics.iter().map(|it| (it.heuristic, &it.values[..])).collect();
    compare(&truth, &values, settings.seed, set.part().network(), work)
}

/// How many images have an injection that changed the class, among these feature maps.
fn images_with_sdcs(table: &Table) -> usize {
    by_image(table).into_iter().filter(|&sdcs| sdcs > 0).count()
}

/// SDCs of each image.
fn by_image(table: &Table) -> Vec<u64> {
    let mut counts = vec![0; table.images().len()];
    for sdc in table.tallies().iter().flat_map(|tally| &tally.sdcs) {
        if let Some(count) = counts.get_mut(sdc.image) {
            *count += 1;
        }
    }
    counts
}

fn injections(table: &Table) -> Injections {
    let per_map = table.tallies()[0].injections;
    let macs = all_macs(table.maps()) as f64;
    Injections {
        per_map,
        all: per_map * table.maps().len() as u64,
        sdcs: table.sdcs(),
        maps_with_sdcs: table.tallies().iter().filter(|tally| !tally.sdcs.is_empty()).count(),
        images_with_sdcs: images_with_sdcs(table),
        v_cnn: table.all().mass(table.maps()) as f64 / (macs * per_map as f64),
    }
}

/// The table of feature maps.
fn rows(table: &Table, v_cnn: f64) -> Vec<MapRow> {
    let all = all_macs(table.maps()) as f64;
    let v_orig = |map: &FeatureMap| map.macs as f64 / all;
    let pairs = || table.maps().iter().zip(table.tallies());
    let loss: f64 = pairs().map(|(map, tally)| v_orig(map) * tally.mean_loss()).sum();
    let part = |value: f64, whole: f64| if whole > 0.0 { value / whole } else { 0.0 };
    let row = |(map, tally): (&FeatureMap, &Tally)| {
        let (n, mean) = (tally.injections as f64, tally.mean_loss());
        let p_mismatch = Share::new(tally.sdcs.len() as u64, tally.injections);
        let v = v_orig(map) * p_mismatch.share.unwrap_or(0.0);
        MapRow {
            layer: map.name.clone(),
            channel: map.channel,
            neurons: map.neurons,
            macs: map.macs,
            v_orig: v_orig(map),
            p_mismatch,
            p_loss: mean,
            p_loss_error: ((tally.loss_squares / n - mean * mean).max(0.0) / n).sqrt(),
            v,
            v_rel: part(v, v_cnn),
            v_rel_loss: part(v_orig(map) * mean, loss),
        }
    };
    pairs().map(row).collect()
}

/// The vulnerabilities by an order, but for a factor.
fn vulnerabilities(maps: &[FeatureMap], left: &Left, by: Order) -> Vec<f64> {
    let of = |map: usize| match by {
        Order::Mismatch => left.sdcs[map] as f64 * maps[map].macs as f64,
        Order::Loss => left.loss[map] * maps[map].macs as f64,
        Order::Rate => left.sdcs[map] as f64,
    };
    (0..maps.len()).map(of).collect()
}

fn flr_curves(table: &Table) -> Vec<FlrCurve> {
    let (maps, left) = (table.maps(), table.all());
    let oracle = Oracle::new(maps, vulnerabilities(maps, &left, Order::Mismatch));
    let of = |by: Order| {
        let agreement = oracle.as_ref().and_then(|oracle| oracle.agreement(&vulnerabilities(maps, &left, by)));
        FlrCurve { by, order: order(maps, &left, by), points: curve(table, by), agreement }
    };
    ORDERS.map(of).into()
}

fn heuristic_curves(table: &Table, values: [Vec<f64>; HEURISTICS.len()]) -> Vec<HeuristicCurve> {
    let (maps, left) = (table.maps(), table.all());
    let oracle = Oracle::new(maps, vulnerabilities(maps, &left, Order::Mismatch));
    let of = |(heuristic, values): (Heuristic, Vec<f64>)| {
        let vulnerabilities = by_macs(maps, &values);
        let order = order_of(maps, &vulnerabilities);
        let agreement = oracle.as_ref().and_then(|oracle| oracle.agreement(&vulnerabilities));
        HeuristicCurve { heuristic, values, points: points(maps, &left, &order), order, agreement }
    };
    HEURISTICS.into_iter().zip(values).map(of).collect()
}

fn ilr_curves(table: &Table) -> Vec<IlrCurve> {
    let of = |criterion, reading| IlrCurve { criterion, reading, points: sweep(table, criterion, reading) };
    let criteria = [Criterion::Top1Conf, Criterion::Top2Diff];
    criteria.into_iter().flat_map(|criterion| READINGS.map(|reading| of(criterion, reading))).collect()
}

fn filr_sweep(table: &Table, half: Option<&Table>, reading: Reading, settings: &Settings) -> FilrSweep {
    let of = |table: &Table| combinations(table, reading, settings.order, settings.target);
    let all = of(table);
    let from_half = half.and_then(|half| cheapest(&of(half)).map(|chosen| chosen.overhead));
    let point = |combination: &Combination| SweepPoint {
        threshold: combination.threshold,
        maps: combination.maps.len(),
        coverage_by_reruns: combination.coverage_by_reruns,
        coverage: combination.coverage,
        duplication: combination.duplication,
        reruns: combination.reruns,
        overhead: combination.overhead,
    };
    let (points, combination) = (all.iter().map(point).collect(), cheapest(&all).cloned());
    FilrSweep { reading, points, combination, overhead_from_half: from_half }
}

/// What each of [`TARGETS`] costs.
fn costs(table: &Table, by: Order) -> Vec<Cost> {
    let flr = ORDERS.map(|by| curve(table, by));
    let ilr = |criterion, reading| sweep(table, criterion, reading);
    let top1conf = ilr(Criterion::Top1Conf, Reading::FaultFree);
    let [top2diff, faulty] = READINGS.map(|reading| ilr(Criterion::Top2Diff, reading));
    let cost = |target: f64| {
        let of_flr =
            |points: &[CurvePoint]| points.iter().find(|point| point.coverage >= target).map(|point| point.overhead);
        let of_ilr = |points: &[ThresholdPoint]| {
            points.iter().find(|point| point.coverage >= target).map(|point| point.overhead)
        };
        let of_filr = |reading| cheapest(&combinations(table, reading, by, target)).map(|chosen| chosen.overhead);
        Cost {
            target,
            flr_mismatch: of_flr(&flr[0]),
            flr_loss: of_flr(&flr[1]),
            flr_rate: of_flr(&flr[2]),
            ilr_top1conf: of_ilr(&top1conf),
            ilr_top2diff: of_ilr(&top2diff),
            ilr_top2diff_faulty: of_ilr(&faulty),
            filr: of_filr(Reading::FaultFree),
            filr_faulty: of_filr(Reading::Faulty),
        }
    };
    TARGETS.map(cost).into()
}

fn correlations(table: &Table) -> Vec<Correlation> {
    let counts = by_image(table);
    let of = |criterion: Criterion| {
        let right = table.images().iter().zip(&counts).filter(|(image, _)| image.right);
        let pairs: Vec<(f64, f64)> =
            right.map(|(image, &sdcs)| (image.certainty.read(criterion), sdcs as f64)).collect();
        let correlation = spearman(&pairs)?;
        Some(Correlation { criterion, spearman: correlation.coefficient, images: correlation.pairs })
    };
    [Criterion::Top1Conf, Criterion::Top2Diff].into_iter().filter_map(of).collect()
}
