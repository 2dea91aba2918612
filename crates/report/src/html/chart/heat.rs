//! Rates by instruction group and bit, as a map.
//!
//! The size of a square and its lightness both grow with the rate, so that the map can be read without colour. What has
//! an interval wider than a quarter has a frame only: there is too little to show.

use campaign::summary::Rate;
use maud::{Markup, html};

use super::{at, told};
use crate::document::{BitRates, HeatRow};

const CELL: f64 = 13.0;
const LEFT: f64 = 116.0;
const TOP: f64 = 8.0;
/// An interval wider than this leaves a frame.
const WIDE: f64 = 0.25;

/// Of which class the rates are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::html) enum Of {
    Sdc,
    Due,
}

impl Of {
    fn name(self) -> &'static str {
        match self {
            Self::Sdc => "SDC",
            Self::Due => "DUE",
        }
    }

    fn rate(self, part: &BitRates) -> &Rate {
        match self {
            Self::Sdc => &part.account.outcomes.sdc,
            Self::Due => &part.account.outcomes.due,
        }
    }
}

pub(in crate::html) fn heat(rows: &[HeatRow], of: Of, what: &str) -> Markup {
    let bits = rows.iter().flat_map(|row| &row.bits).map(|part| part.bit + 1).max().unwrap_or(1);
    let (right, bottom) = (LEFT + f64::from(bits) * CELL, TOP + rows.len() as f64 * CELL);
    let (width, height) = ((right + 8.0).max(460.0), bottom + 62.0);
    let label = format!("{} rate by instruction group and bit", of.name());
    html! {
        svg.b[of == Of::Due] viewBox=(format!("0 0 {} {}", at(width), at(height))) width=(at(width)) height=(at(height))
            role="img" aria-label=(label) {
            @for (row, y) in rows.iter().zip(0..) {
                @let y = TOP + f64::from(y) * CELL;
                text x=(at(LEFT - 7.0)) y=(at(y + 10.5)) text-anchor="end" { (row.group) }
                rect.h0 x=(at(LEFT)) y=(at(y)) width=(at(right - LEFT)) height=(at(CELL - 1.0)) {}
                @for part in &row.bits { (cell(&row.group, part, of, y, what)) }
            }
            @for bit in (0..bits).step_by(8) {
                text x=(at(LEFT + (f64::from(bit) + 0.5) * CELL)) y=(at(bottom + 14.0)) text-anchor="middle" { (bit) }
            }
            text x=(at(LEFT)) y=(at(bottom + 30.0)) { "bit" }
            (key(of, bottom + 38.0))
        }
    }
}

fn cell(group: &str, part: &BitRates, of: Of, y: f64, what: &str) -> Markup {
    let rate = of.rate(part);
    let Some(share) = rate.rate else { return Markup::default() };
    let side = 3.0 + 9.0 * share;
    let inset = (CELL - 1.0 - side) / 2.0;
    let x = LEFT + f64::from(part.bit) * CELL + inset;
    let few = rate.high - rate.low > WIDE;
    let class = if few { "few".to_owned() } else { format!("h{}", step(share)) };
    if share == 0.0 && !few {
        return Markup::default();
    }
    html! {
        rect class=(class) x=(at(x)) y=(at(y + inset)) width=(at(side)) height=(at(side)) {
            title { (group) " bit " (part.bit) ", " (of.name()) ": " (told(rate, what)) }
        }
    }
}

/// The step of lightness, 1 to 9.
fn step(share: f64) -> u32 {
    1 + (share * 9.0).floor().clamp(0.0, 8.0) as u32
}

fn key(of: Of, y: f64) -> Markup {
    let shares = [0.05, 0.25, 0.5, 0.75, 1.0];
    html! {
        @for (share, index) in shares.into_iter().zip(0..) {
            @let side = 3.0 + 9.0 * share;
            @let x = LEFT + f64::from(index) * 62.0;
            rect class=(format!("h{}", step(share))) x=(at(x)) y=(at(y + 6.0 - side / 2.0)) width=(at(side)) height=(at(side)) {}
            text x=(at(x + 16.0)) y=(at(y + 10.0)) { (format!("{:.0} %", share * 100.0)) }
        }
        rect.few x=(at(LEFT + 310.0)) y=(at(y + 2.0)) width="8" height="8" {}
        text x=(at(LEFT + 324.0)) y=(at(y + 10.0)) { "too few to tell" }
        text x=(at(LEFT - 7.0)) y=(at(y + 10.0)) text-anchor="end" { (of.name()) " rate" }
    }
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn lightness_has_nine_steps() {
        assert_eq!([0.0, 0.1, 0.12, 0.5, 1.0].map(step), [1, 1, 2, 5, 9]);
    }
}
