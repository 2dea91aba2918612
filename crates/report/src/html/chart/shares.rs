//! What all landed faults came to, as one bar.

use campaign::summary::{Outcomes, Rate};
use maud::{Markup, html};

use super::{at, told};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 26.0;

/// A bar of three parts: solid, hatched, empty; what is undecided is dotted between the last two.
pub(in crate::html) fn shares(outcomes: &Outcomes<Rate>, what: &str) -> Markup {
    let parts = [
        ("s", "SDC", &outcomes.sdc),
        ("d", "DUE", &outcomes.due),
        ("u", "undecided", &outcomes.undecided),
        ("m", "masked", &outcomes.masked),
    ];
    let is_shown = |class: &str| class != "u" || outcomes.undecided.count > 0;
    let width = |rate: &Rate| rate.rate.unwrap_or(0.0) * WIDTH;
    let start = |index: usize| parts[..index].iter().map(|(_, _, rate)| width(rate)).sum::<f64>();
    html! {
        figure {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width="100%" height=(HEIGHT) preserveAspectRatio="none" role="img"
                aria-label="shares of SDC, DUE and masked" style="height:26px" {
                defs { pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.bar width="6" height="6" {} rect.d width="3.4" height="6" stroke="none" {}
                } }
                @for (index, (class, name, rate)) in parts.into_iter().enumerate().filter(|(_, part)| is_shown(part.0)) {
                    rect class=(if class == "u" { "m" } else { class }) x=(at(start(index))) y="1" width=(at(width(rate))) height=(HEIGHT - 2.0)
                        style=[match class { "d" => Some("fill:url(#hatch)"), "u" => Some("stroke-dasharray:2 3"), _ => None }]
                        vector-effect="non-scaling-stroke" {
                        title { (name) ": " (told(rate, what)) }
                    }
                }
            }
        }
    }
}
