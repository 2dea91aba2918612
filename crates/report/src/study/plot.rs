//! A plot as an SVG file of its own: for pages of documentation, which have no style of ours.
//!
//! Series are told apart by colour, by dashes and by the shape of their dots. Names that do not fit are the reader's to
//! find in the legend.

use maud::{Markup, html};
use study::{Plot, Point, Series};

use crate::plane::{Plane, end_of_axis, logarithmic};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 34.0;
const ROW: f64 = 17.0;
/// Okabe and Ito's colours, which people with any colour vision tell apart.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#555555", "#56b4e9", "#e69f00"];
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// Where axes of shares end.
const ENDS: [f64; 11] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
/// The paper that numbers stand on.
const PLANE: Plane = Plane { left: LEFT, right: WIDTH - 16.0, top: TOP, bottom: HEIGHT - 46.0 };

/// Which numbers the axes have.
struct Axes {
    /// The least and the most along the horizontal axis, after its scale.
    x: (f64, f64),
    /// The most along the vertical one.
    y: f64,
    logarithmic: bool,
}

impl Axes {
    fn of(plot: &Plot) -> Self {
        let points = || plot.series.iter().flat_map(|series| &series.points);
        let most_x = points().map(|point| scaled(point.x, plot.logarithmic)).fold(0.0, f64::max);
        let x = if plot.names.is_empty() { (0.0, most_x.max(1.0)) } else { (-0.5, plot.names.len() as f64 - 0.5) };
        let top = points().map(|point| point.bounds.map_or(point.y, |(_, high)| high)).fold(0.0, f64::max);
        Self { x, y: end_of_axis(top, &ENDS), logarithmic: plot.logarithmic }
    }

    fn x(&self, x: f64) -> f64 {
        PLANE.x((scaled(x, self.logarithmic) - self.x.0) / (self.x.1 - self.x.0))
    }

    fn y(&self, y: f64) -> f64 {
        PLANE.y(y, self.y)
    }
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
    let height = HEIGHT + ROW * (rows as f64 + 0.6);
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {}", at(height))) width=(WIDTH) height=(at(height))
            font-family="sans-serif" font-size="12" role="img" aria-label=(plot.title) {
            rect width="100%" height="100%" fill="#ffffff" {}
            text x=(at(LEFT)) y="18" font-size="14" font-weight="bold" { (plot.title) }
            (axes(plot, &on))
            @for (index, series) in plot.series.iter().enumerate() { (line(series, index, plot, &on)) }
            @for (index, series) in plot.series.iter().enumerate() {
                @let x = LEFT + (index % columns) as f64 * (WIDTH - LEFT) / columns as f64;
                @let y = HEIGHT + ((index / columns) as f64 + 0.9) * ROW;
                line x1=(at(x)) x2=(at(x + 26.0)) y1=(at(y - 4.0)) y2=(at(y - 4.0)) stroke=(colour(index)) stroke-width="2" stroke-dasharray=(dash(index)) {}
                (dot(x + 13.0, y - 4.0, index))
                text x=(at(x + 32.0)) y=(at(y)) { (series.name) }
            }
        }
    };
    drawn.into_string() + "\n"
}

fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

fn dash(index: usize) -> &'static str {
    DASHES[index / COLOURS.len() % DASHES.len()]
}

fn axes(plot: &Plot, on: &Axes) -> Markup {
    let shares = (0..=5).map(|step| on.y * f64::from(step) / 5.0);
    let decades = if on.logarithmic { on.x.1.ceil() as i32 } else { 0 };
    let powers = (0..decades).map(|power| 10_f64.powi(power)).filter(|&power| logarithmic(power) <= on.x.1);
    html! {
        @for share in shares {
            line x1=(at(LEFT)) x2=(at(PLANE.right)) y1=(at(on.y(share))) y2=(at(on.y(share))) stroke="#dddddd" {}
            text x=(at(LEFT - 6.0)) y=(at(on.y(share) + 4.0)) text-anchor="end" { (format!("{}", (share * 1e4).round() / 100.0)) }
        }
        @if on.logarithmic {
            text x=(at(on.x(0.0))) y=(at(PLANE.bottom + 15.0)) text-anchor="middle" { "0" }
            @for power in powers {
                line x1=(at(on.x(power))) x2=(at(on.x(power))) y1=(at(PLANE.bottom)) y2=(at(PLANE.bottom + 4.0)) stroke="#555555" {}
                text x=(at(on.x(power))) y=(at(PLANE.bottom + 15.0)) text-anchor="middle" { (format!("{power}")) }
            }
        }
        @for (number, name) in plot.names.iter().enumerate() {
            @let low = if plot.names.len() > 9 && number % 2 == 1 { 28.0 } else { 15.0 };
            text x=(at(on.x(number as f64))) y=(at(PLANE.bottom + low)) text-anchor="middle" font-size=(if plot.names.len() > 9 { "10" } else { "12" }) { (name) }
        }
        line x1=(at(LEFT)) x2=(at(PLANE.right)) y1=(at(PLANE.bottom)) y2=(at(PLANE.bottom)) stroke="#555555" {}
        text x=(at((LEFT + PLANE.right) / 2.0)) y=(at(PLANE.bottom + 42.0)) text-anchor="middle" { (plot.x) }
        text x="14" y=(at((TOP + PLANE.bottom) / 2.0)) text-anchor="middle" transform=(format!("rotate(-90 14 {})", at((TOP + PLANE.bottom) / 2.0))) { (plot.y) }
    }
}

fn line(series: &Series, index: usize, plot: &Plot, on: &Axes) -> Markup {
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
        @if series.joined {
            path d=(path.collect::<String>()) fill="none" stroke=(colour(index)) stroke-width="1.6" stroke-dasharray=(dash(index)) {
                title { (series.name) }
            }
        }
        @for point in &series.points {
            @if let Some((low, high)) = point.bounds {
                line x1=(at(x(point))) x2=(at(x(point))) y1=(at(on.y(low))) y2=(at(on.y(high))) stroke=(colour(index)) stroke-width="1.4" {}
            }
            @if !series.joined { (dot(x(point), on.y(point.y), index)) }
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
