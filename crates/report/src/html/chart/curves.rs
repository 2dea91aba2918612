//! Cumulative distributions over a logarithmic axis of instructions.

use maud::{Markup, html};

use super::{at, axis_of_shares, short, told};
use crate::document::{Curve, CurvePoint};
use crate::plane::{Plane, logarithmic};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 250.0;

/// The look of a curve: classes of outcomes have theirs everywhere, others take turns.
fn look(name: &str, index: usize) -> String {
    let known = match name {
        "sdc" => 0,
        "due" => 1,
        "masked" => 4,
        _ => index % 8,
    };
    format!("ln k{known}")
}

/// One step line for each curve, told apart by dashes as well as colour, with the band of its intervals.
pub(in crate::html) fn curves(curves: &[Curve], axis: &str, label: &str) -> Markup {
    let plane = Plane { left: 46.0, right: WIDTH - 14.0, top: 10.0, bottom: 196.0 };
    let last = curves.iter().flat_map(|curve| &curve.points).map(|point| point.at_most).max().unwrap_or(1);
    let decades = logarithmic(last.max(9) as f64).ceil() as i32;
    let x = |n: u64| plane.x(logarithmic(n as f64) / f64::from(decades));
    let powers: Vec<u64> = (0..decades).filter_map(|power| 10_u64.checked_pow(power as u32)).collect();
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) role="img" aria-label=(label) {
            (axis_of_shares(&plane, 1.0))
            text x=(at(x(0))) y=(at(plane.bottom + 16.0)) text-anchor="middle" { "0" }
            @for power in powers {
                line.ax x1=(at(x(power))) x2=(at(x(power))) y1=(at(plane.bottom)) y2=(at(plane.bottom + 4.0)) {}
                text x=(at(x(power))) y=(at(plane.bottom + 16.0)) text-anchor="middle" { (short(power)) }
            }
            @for (curve, index) in curves.iter().zip(0_usize..) {
                path class=(look(&curve.name, index)) d=(steps(&plane, curve, &x)) { title { (curve.name) } }
                @for point in thinned(&curve.points) {
                    circle cx=(at(x(point.at_most))) cy=(at(plane.y(point.share.rate.unwrap_or(0.0), 1.0))) r="5" fill="transparent" {
                        title { (curve.name) ": at most " (crate::number::count(point.at_most)) " in " (told(&point.share, "runs")) }
                    }
                }
            }
            text x=(at(plane.left)) y=(at(HEIGHT - 14.0)) { (axis) }
        }
        div.legend {
            @for (curve, index) in curves.iter().zip(0_usize..) {
                span {
                    svg width="34" height="10" aria-hidden="true" { line class=(look(&curve.name, index)) x1="0" x2="34" y1="5" y2="5" {} }
                    (curve.name) " (" (crate::number::count(curve.total)) ")"
                }
            }
        }
    }
}

fn steps(plane: &Plane, curve: &Curve, x: &dyn Fn(u64) -> f64) -> String {
    let mut path = format!("M{} {}", at(plane.left), at(plane.bottom));
    for point in &curve.points {
        path += &format!("H{}V{}", at(x(point.at_most)), at(plane.y(point.share.rate.unwrap_or(0.0), 1.0)));
    }
    path + &format!("H{}", at(plane.right))
}

/// Some of the points: marks need not be closer than the pointer is exact.
fn thinned(points: &[CurvePoint]) -> impl Iterator<Item = &CurvePoint> {
    points.iter().step_by(points.len().div_ceil(24).max(1))
}
