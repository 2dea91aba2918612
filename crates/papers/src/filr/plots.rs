//! The figures of the chapter with our numbers.

use nn::filr::certainty::{Criterion, READINGS, Reading};
use nn::filr::document::MapRow;
use nn::filr::flr::CurvePoint;
use nn::filr::heuristics::Heuristic;
use nn::filr::{Filr, Order};
use study::{Frame, Mark, Palette, Panel, Picture, Plot, Point, Series, Vertical};

use super::seeds::{curve, heuristic, truth};

fn plot([name, title, x, y]: [&str; 4], logarithmic: bool, series: Vec<Series>) -> Plot {
    let [name, title, x, y] = [name, title, x, y].map(str::to_owned);
    Plot { name, title, x, logarithmic, names: Vec::new(), y, vertical: Vertical::Shares, series }
}

fn dots(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
    let points = points.map(|(x, y)| Point { x, y, bounds: None }).collect();
    Series { name: name.to_owned(), mark: Mark::Dots, points }
}

/// Figure 6.5: coverage against overhead, for the first seed.
pub(super) fn flr(all: &[Filr]) -> Plot {
    let steps = |name: &str, points: &[CurvePoint]| Series {
        name: name.to_owned(),
        mark: Mark::Steps,
        points: points.iter().map(|it| Point { x: it.overhead, y: it.coverage, bounds: None }).collect(),
    };
    let mut series = Vec::new();
    for it in all.iter().take(1) {
        series.extend([Order::Mismatch, Order::Loss].map(|by| steps(by.word(), curve(it, by))));
        let shown = [Heuristic::MaxNeuron, Heuristic::L2, Heuristic::Gradient, Heuristic::Gain, Heuristic::ModGain];
        series.extend(shown.map(|which| steps(which.word(), heuristic(it, which))));
    }
    let words = ["flr", "FLR: coverage against overhead, seed 1", "share of MACs made twice", "coverage, %"];
    plot(words, false, series)
}

/// Figure 6.4: the distance from the order of every fault.
pub(super) fn convergence(all: &[Filr]) -> Plot {
    let of = |by: Order| {
        let estimates = truth(all).into_iter().flat_map(|it| &it.estimates).filter(|it| it.by == by);
        let point = |it: &nn::filr::convergence::Convergence| Point {
            x: it.per_map as f64,
            y: it.mean,
            bounds: Some((it.bounds[0], it.bounds[1])),
        };
        Series { name: by.word().to_owned(), mark: Mark::Dots, points: estimates.map(point).collect() }
    };
    let words =
        ["convergence", "Distance from the order of every fault", "injections into each feature map", "distance, %"];
    plot(words, true, [Order::Mismatch, Order::Loss].map(of).into())
}

/// Figure 6.8: coverage against the share of inferences that are run again, for the first seed.
pub(super) fn ilr(all: &[Filr]) -> Plot {
    let named = |criterion, reading| match (criterion, reading) {
        (Criterion::Top1Conf, Reading::FaultFree) => "Top1Conf",
        (Criterion::Top1Conf, Reading::Faulty) => "Top1Conf, faulty run",
        (Criterion::Top2Diff, Reading::FaultFree) => "Top2Diff",
        (Criterion::Top2Diff, Reading::Faulty) => "Top2Diff, faulty run",
    };
    let curves = all.iter().take(1).flat_map(|it| &it.ilr);
    let series = curves.map(|it| {
        dots(named(it.criterion, it.reading), it.points.iter().map(|point| (point.overhead, point.coverage)))
    });
    let words = ["ilr", "ILR: coverage against reruns, seed 1", "share of inferences run again", "coverage, %"];
    plot(words, false, series.collect())
}

/// Figure 6.11: what 100 % costs at each threshold, up to everything made twice, for the first seed.
pub(super) fn filr(all: &[Filr]) -> Plot {
    let sweeps = all.iter().take(1).flat_map(|it| &it.filr);
    let series = sweeps.map(|it| {
        let below = it.points.iter().filter(|point| point.overhead <= 1.0);
        dots(it.reading.word(), below.map(|point| (point.threshold, point.overhead)))
    });
    let words =
        ["filr", "FILR: overhead for 100 % of the analysis set, seed 1", "threshold of Top2Diff", "overhead, %"];
    let mut plot = plot(words, false, series.collect());
    plot.series.truncate(READINGS.len());
    plot
}

/// Figure 6.13: feature maps by vulnerability, a row for each layer, the most vulnerable first; with the MACs and without.
pub(super) fn maps(all: &[Filr]) -> Picture {
    let rows = all.first().map_or(&[][..], |it| &it.maps);
    let mut layers: Vec<Vec<&MapRow>> = Vec::new();
    for map in rows {
        match layers.last_mut() {
            Some(layer) if layer[0].layer == map.layer => layer.push(map),
            _ => layers.push(vec![map]),
        }
    }
    let width = layers.iter().map(Vec::len).max().unwrap_or(0);
    let panel = |caption: &str, of: fn(&MapRow) -> f64| {
        let most = rows.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
        let row = |layer: &Vec<&MapRow>| {
            let mut values: Vec<f64> = layer.iter().map(|map| of(map) / most).collect();
            values.sort_by(|a, b| b.total_cmp(a));
            values.resize(width, 0.0);
            values
        };
        Panel {
            caption: caption.to_owned(),
            ends: ["0".to_owned(), format!("{most:.1e}")],
            width,
            palette: Palette::Heat,
            values: layers.iter().flat_map(row).collect(),
            below: Vec::new(),
        }
    };
    let panels = vec![panel("with MACs", |map| map.v_rel_loss), panel("without", |map| map.p_loss)];
    Picture {
        name: "maps".to_owned(),
        title: "Feature maps by vulnerability, with MACs and without".to_owned(),
        frames: vec![Frame { caption: "a row for each layer, the most vulnerable first".to_owned(), panels }],
        still: 0,
    }
}
