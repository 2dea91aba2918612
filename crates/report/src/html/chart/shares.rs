//! What all landed faults came to, as one bar.

use campaign::summary::{Outcomes, Rate};
use maud::{Markup, html};

use super::{at, told};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 26.0;

/// A bar of three parts: solid, hatched, empty.
pub(in crate::html) fn shares(outcomes: &Outcomes<Rate>, what: &str) -> Markup {
    let parts = [("s", "SDC", &outcomes.sdc), ("d", "DUE", &outcomes.due), ("m", "masked", &outcomes.masked)];
    let width = |rate: &Rate| rate.rate.unwrap_or(0.0) * WIDTH;
    let start = |index: usize| parts[..index].iter().map(|(_, _, rate)| width(rate)).sum::<f64>();
    html! {
        figure {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width="100%" height=(HEIGHT) preserveAspectRatio="none" role="img"
                aria-label="shares of SDC, DUE and masked" style="height:26px" {
                defs { pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.bar width="6" height="6" {} rect.d width="3.4" height="6" stroke="none" {}
                } }
                @for (index, (class, name, rate)) in parts.into_iter().enumerate() {
                    rect class=(class) x=(at(start(index))) y="1" width=(at(width(rate))) height=(HEIGHT - 2.0)
                        style=[(class == "d").then_some("fill:url(#hatch)")]
                        vector-effect="non-scaling-stroke" {
                        title { (name) ": " (told(rate, what)) }
                    }
                }
            }
        }
    }
}
