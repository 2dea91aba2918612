//! A plot as an SVG file of its own: for pages of documentation, which have no style of ours.
//!
//! Series are told apart by colour, by dashes and by the shape of their dots. Names that do not fit are the reader's to
//! find in the legend.

use campaign::names::printable;
use maud::{Markup, html};
use study::{Mark, Plot, Point, Series, Vertical};

use crate::plane::{Plane, end_of_axis, logarithmic};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 34.0;
const ROW: f64 = 17.0;
/// Okabe and Ito's colours, which people with any colour vision tell apart.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#56b4e9", "#e69f00"];
/// As many for bars, which cover more of the paper.
const OF_BARS: [&str; 8] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#bbbbbb"];
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// Where axes of shares end.
const ENDS: [f64; 11] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
/// The paper that numbers stand on.
const PLANE: Plane = Plane { left: LEFT, right: WIDTH - 16.0, top: TOP, bottom: HEIGHT - 46.0 };

/// From so many names on they stand upright.
const UPRIGHT: usize = 17;

/// Which numbers the axes have.
struct Axes {
    /// The least and the most along the horizontal axis, after its scale.
    x: (f64, f64),
    /// The most along the vertical one, after its scale.
    y: f64,
    vertical: Vertical,
    logarithmic: bool,
    /// How much room upright names take below.
    below: f64,
}

impl Axes {
    fn of(plot: &Plot) -> Self {
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let most_x = points().map(|point| scaled(point.x, plot.logarithmic)).fold(0.0, f64::max);
        let x = if plot.names.is_empty() { (0.0, most_x.max(1.0)) } else { (-0.5, plot.names.len() as f64 - 0.5) };
        let upper = |series: &Series| {
            let points = series.points.iter().enumerate();
            let tops = points
                .map(|(number, point)| point.bounds.map_or(point.y, |(_, high)| high) + base(plot, series, number));
            tops.fold(0.0, f64::max)
        };
        let top = plot.series.iter().map(upper).fold(0.0, f64::max);
        let longest = plot.names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let below = if plot.names.len() < UPRIGHT { 0.0 } else { longest as f64 * 5.4 - 18.0 }.max(0.0);
        let y = match plot.vertical {
            Vertical::Shares => end_of_axis(top - ROUNDING, &ENDS),
            Vertical::Counts => logarithmic(top).max(1.0),
        };
        Self { x, y, vertical: plot.vertical, logarithmic: plot.logarithmic, below }
    }

    fn x(&self, x: f64) -> f64 {
        PLANE.x((scaled(x, self.logarithmic) - self.x.0) / (self.x.1 - self.x.0))
    }

    fn y(&self, y: f64) -> f64 {
        PLANE.y(scaled(y, self.vertical == Vertical::Counts), self.y)
    }
}

/// What a sum of parts of a whole may be above it by.
const ROUNDING: f64 = 1e-9;

/// Where the bar of a point begins: on those of the series before it at the same place.
fn base(plot: &Plot, series: &Series, number: usize) -> f64 {
    if series.mark != Mark::Stacked {
        return 0.0;
    }
    let x = series.points[number].x;
    let before = plot.series.iter().take_while(|it| !std::ptr::eq(*it, series)).filter(|it| it.mark == Mark::Stacked);
    before.flat_map(|it| &it.points).filter(|point| point.x == x).map(|point| point.y).sum()
}

fn scaled(x: f64, by_powers: bool) -> f64 {
    if by_powers { logarithmic(x) } else { x }
}

fn at(value: f64) -> String {
    format!("{value:.1}")
}

/// The plot, as the text of a file.
#[must_use]
pub fn svg(plot: &Plot) -> String {
    let on = Axes::of(plot);
    let columns = 3.min(plot.series.len().max(1));
    let rows = plot.series.len().div_ceil(columns);
    let legend = HEIGHT + on.below;
    let height = legend + ROW * (rows as f64 + 0.6);
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {}", at(height))) width=(WIDTH) height=(at(height))
            font-family="sans-serif" font-size="12" role="img" aria-label=(plot.title) {
            rect width="100%" height="100%" fill="#ffffff" {}
            text x=(at(LEFT)) y="18" font-size="14" font-weight="bold" { (plot.title) }
            (axes(plot, &on))
            @for (index, series) in plot.series.iter().enumerate() { (line(series, index, plot, &on)) }
            @for (index, series) in plot.series.iter().enumerate() {
                @let x = LEFT + (index % columns) as f64 * (WIDTH - LEFT) / columns as f64;
                @let y = legend + ((index / columns) as f64 + 0.9) * ROW;
                @if matches!(series.mark, Mark::Stacked | Mark::Bars) {
                    rect x=(at(x)) y=(at(y - 10.0)) width="26" height="11" fill=(OF_BARS[index % OF_BARS.len()]) stroke="#ffffff" {}
                } @else if series.mark == Mark::Boxes {
                    rect x=(at(x)) y=(at(y - 10.0)) width="26" height="11" fill="#cfe3f2" stroke=(COLOURS[0]) {}
                    line x1=(at(x + 13.0)) x2=(at(x + 13.0)) y1=(at(y - 10.0)) y2=(at(y + 1.0)) stroke=(COLOURS[1]) stroke-width="2.4" {}
                } @else if series.mark == Mark::Whiskers {
                    line x1=(at(x)) x2=(at(x + 26.0)) y1=(at(y - 4.0)) y2=(at(y - 4.0)) stroke="#555555" {}
                } @else {
                    line x1=(at(x)) x2=(at(x + 26.0)) y1=(at(y - 4.0)) y2=(at(y - 4.0)) stroke=(colour(index)) stroke-width="2" stroke-dasharray=(dash(index)) {}
                    (dot(x + 13.0, y - 4.0, index))
                }
                text x=(at(x + 32.0)) y=(at(y)) { (series.name) }
            }
        }
    };
    printable(&drawn.into_string()).into_owned() + "\n"
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

fn dash(index: usize) -> &'static str {
    DASHES[index / COLOURS.len() % DASHES.len()]
}

fn axes(plot: &Plot, on: &Axes) -> Markup {
    let decades = if on.logarithmic { on.x.1.ceil() as i32 } else { 0 };
    let powers = (0..decades).map(|power| 10_f64.powi(power)).filter(|&power| logarithmic(power) <= on.x.1);
    html! {
        @for (value, words) in ticks(on) {
            line x1=(at(LEFT)) x2=(at(PLANE.right)) y1=(at(on.y(value))) y2=(at(on.y(value))) stroke="#dddddd" {}
            text x=(at(LEFT - 6.0)) y=(at(on.y(value) + 4.0)) text-anchor="end" { (words) }
        }
        @if on.logarithmic {
            text x=(at(on.x(0.0))) y=(at(PLANE.bottom + 15.0)) text-anchor="middle" { "0" }
            @for power in powers {
                line x1=(at(on.x(power))) x2=(at(on.x(power))) y1=(at(PLANE.bottom)) y2=(at(PLANE.bottom + 4.0)) stroke="#555555" {}
                text x=(at(on.x(power))) y=(at(PLANE.bottom + 15.0)) text-anchor="middle" { (format!("{power}")) }
            }
        }
        @if !on.logarithmic && plot.names.is_empty() {
            @for number in numbers(on.x.1) {
                line x1=(at(on.x(number))) x2=(at(on.x(number))) y1=(at(PLANE.bottom)) y2=(at(PLANE.bottom + 4.0)) stroke="#555555" {}
                text x=(at(on.x(number))) y=(at(PLANE.bottom + 15.0)) text-anchor="middle" { (format!("{number}")) }
            }
        }
        @for (number, name) in plot.names.iter().enumerate() {
            (place(name, number, plot.names.len(), on))
        }
        line x1=(at(LEFT)) x2=(at(PLANE.right)) y1=(at(PLANE.bottom)) y2=(at(PLANE.bottom)) stroke="#555555" {}
        text x=(at((LEFT + PLANE.right) / 2.0)) y=(at(PLANE.bottom + 42.0 + on.below)) text-anchor="middle" { (plot.x) }
        text x="14" y=(at((TOP + PLANE.bottom) / 2.0)) text-anchor="middle" transform=(format!("rotate(-90 14 {})", at((TOP + PLANE.bottom) / 2.0))) { (plot.y) }
    }
}

/// Where the vertical axis has numbers, and which.
fn ticks(on: &Axes) -> Vec<(f64, String)> {
    match on.vertical {
        Vertical::Shares => {
            let share = |step| on.y * f64::from(step) / 5.0;
            (0..=5).map(share).map(|share| (share, format!("{}", (share * 1e4).round() / 100.0))).collect()
        }
        Vertical::Counts => {
            let powers = (0..=on.y.ceil() as i32).map(|power| 10_f64.powi(power));
            let counts = std::iter::once(0.0).chain(powers).filter(|&count| logarithmic(count) <= on.y + ROUNDING);
            counts.map(|count| (count, format!("{count}"))).collect()
        }
    }
}

/// Round numbers along a horizontal axis that is not logarithmic, from 0 to `most`: 4 to 11 of them.
fn numbers(most: f64) -> impl Iterator<Item = f64> {
    let power = 10_f64.powf(most.log10().floor() - 1.0);
    let step = [1.0, 2.0, 5.0, 10.0, 20.0].map(|of| of * power).into_iter().find(|step| most / step <= 10.0 + ROUNDING);
    let step = step.unwrap_or(most);
    (0..=10).map(move |number| f64::from(number) * step).take_while(move |number| *number <= most + ROUNDING)
}

/// The name of a place on the horizontal axis.
fn place(name: &str, number: usize, all: usize, on: &Axes) -> Markup {
    let (x, size) = (on.x(number as f64), if all > 9 { "10" } else { "12" });
    if all >= UPRIGHT {
        let (x, y) = (at(x + 3.5), at(PLANE.bottom + 8.0));
        return html! { text x=(x) y=(y) text-anchor="end" font-size=(size) transform=(format!("rotate(-90 {x} {y})")) { (name) } };
    }
    let low = if all > 9 && number % 2 == 1 { 28.0 } else { 15.0 };
    html! { text x=(at(x)) y=(at(PLANE.bottom + low)) text-anchor="middle" font-size=(size) { (name) } }
}

fn bars(series: &Series, index: usize, plot: &Plot, on: &Axes) -> Markup {
    let width = (on.x(1.0) - on.x(0.0)) * 0.8;
    html! {
        @for (number, point) in series.points.iter().enumerate() {
            @let base = base(plot, series, number);
            @let (low, high) = (on.y(base), on.y(base + point.y));
            rect x=(at(on.x(point.x) - width / 2.0)) y=(at(high)) width=(at(width)) height=(at(low - high)) fill=(OF_BARS[index % OF_BARS.len()]) stroke="#ffffff" stroke-width="0.5" {
                title { (series.name) ": " (format!("{:.1} %", 100.0 * point.y)) }
            }
        }
    }
}

fn line(series: &Series, index: usize, plot: &Plot, on: &Axes) -> Markup {
    if series.mark == Mark::Stacked {
        return bars(series, index, plot, on);
    }
    if matches!(series.mark, Mark::Boxes | Mark::Whiskers) {
        return boxes(series, on);
    }
    // Dots of one name stand beside each other.
    let many = plot.series.len() as f64;
    let step = if plot.names.is_empty() { 0.0 } else { (on.x(1.0) - on.x(0.0)) * 0.6 / many };
    let beside = (index as f64 - (many - 1.0) / 2.0) * step;
    let x = |point: &Point| on.x(point.x) + beside;
    // Distributions go up where something is, and stay.
    let path = series.points.iter().enumerate().map(|(number, point)| {
        let (x, y) = (at(x(point)), at(on.y(point.y)));
        if number == 0 { format!("M{x} {y}") } else { format!("H{x}V{y}") }
    });
    html! {
        @if series.mark == Mark::Steps {
            path d=(path.collect::<String>()) fill="none" stroke=(colour(index)) stroke-width="1.6" stroke-dasharray=(dash(index)) {
                title { (series.name) }
            }
        }
        @for point in &series.points {
            @if series.mark == Mark::Bars {
                rect x=(at(x(point) - step * 0.45)) y=(at(on.y(point.y))) width=(at(step * 0.9)) height=(at(on.y(0.0) - on.y(point.y))) fill=(OF_BARS[index % OF_BARS.len()]) {
                    title { (series.name) ": " (format!("{:.1} %", 100.0 * point.y)) }
                }
            }
            @if let Some((low, high)) = point.bounds {
                line x1=(at(x(point))) x2=(at(x(point))) y1=(at(on.y(low))) y2=(at(on.y(high))) stroke=(colour(index)) stroke-width="1.4" {}
            }
            @if series.mark == Mark::Dots { (dot(x(point), on.y(point.y), index)) }
        }
    }
}

fn boxes(series: &Series, on: &Axes) -> Markup {
    let width = (on.x(1.0) - on.x(0.0)) * if series.mark == Mark::Boxes { 0.5 } else { 0.25 };
    html! {
        @for point in &series.points {
            @let (x, y) = (on.x(point.x), on.y(point.y));
            @if let Some((low, high)) = point.bounds.map(|(low, high)| (on.y(low), on.y(high))) {
                @if series.mark == Mark::Boxes {
                    rect x=(at(x - width / 2.0)) y=(at(high)) width=(at(width)) height=(at(low - high)) fill="#cfe3f2" stroke=(COLOURS[0]) {}
                    line x1=(at(x - width / 2.0)) x2=(at(x + width / 2.0)) y1=(at(y)) y2=(at(y)) stroke=(COLOURS[1]) stroke-width="2.4" {}
                } @else {
                    line x1=(at(x)) x2=(at(x)) y1=(at(low)) y2=(at(high)) stroke="#555555" {}
                    @for end in [low, high] {
                        line x1=(at(x - width / 2.0)) x2=(at(x + width / 2.0)) y1=(at(end)) y2=(at(end)) stroke="#555555" {}
                    }
                }
            }
        }
    }
}

fn dot(x: f64, y: f64, index: usize) -> Markup {
    let square = index % 2 == 1;
    html! {
        @if square {
            rect x=(at(x - 3.2)) y=(at(y - 3.2)) width="6.4" height="6.4" fill=(colour(index)) {}
        } @else {
            circle cx=(at(x)) cy=(at(y)) r="3.6" fill=(colour(index)) {}
        }
    }
}
