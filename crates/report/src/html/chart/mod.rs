//! Charts as SVG, made here: no library, no script, colours and fonts from the page's style.
//!
//! Every chart says in words what it shows (`role="img"` with a label) and gives each mark its numbers as a title. What
//! is told apart by colour is told apart by shape or dashes as well.

mod curves;
mod heat;
mod histogram;
mod rates;
mod shares;
#[cfg(test)]
mod tests;

use maud::{Markup, html};

pub(super) use curves::curves;
pub(super) use heat::{Of, heat};
pub(super) use histogram::histogram;
pub(super) use rates::{Mark, rates};
pub(super) use shares::shares;

use crate::number::percent;
use crate::plane::Plane;
use campaign::summary::Rate;

/// A coordinate with a tenth of a pixel.
fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Lines and labels of an axis of shares that ends at `max`.
fn axis_of_shares(plane: &Plane, max: f64) -> Markup {
    let ticks = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| part * max);
    html! {
        @for tick in ticks {
            line.ax x1=(at(plane.left)) x2=(at(plane.right)) y1=(at(plane.y(tick, max))) y2=(at(plane.y(tick, max))) {}
            text x=(at(plane.left - 6.0)) y=(at(plane.y(tick, max) + 4.0)) text-anchor="end" { (axis_percent(tick)) }
        }
    }
}

/// A tick in percent, without digits that say nothing.
fn axis_percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Where axes of shares end.
const ENDS: [f64; 11] = [0.001, 0.002, 0.004, 0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8];

/// A rate in a title: `12.00 % (10.10–14.20), 12 runs`.
fn told(rate: &Rate, what: &str) -> String {
    let Some(share) = rate.rate else { return "nothing landed".to_owned() };
    if rate.low == share && rate.high == share {
        return format!("{} %, {} {what}", percent(share), crate::number::count(rate.count));
    }
    let bounds = crate::number::bounds(rate.low, rate.high);
    format!("{} % ({bounds}), {} {what}", percent(share), crate::number::count(rate.count))
}

/// `n` in few characters, for axes: `1`, `64`, `4k`, `2M`.
fn short(n: u64) -> String {
    match n {
        0..10_000 => n.to_string(),
        10_000..10_000_000 => format!("{}k", n / 1000),
        10_000_000..10_000_000_000 => format!("{}M", n / 1_000_000),
        _ => format!("{:.0e}", n as f64),
    }
}

/// 10^n with a raised exponent.
fn power_of_ten(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁴' as u32 + (digit as u32 - '4' as u32)).unwrap_or(digit),
    };
    match exponent {
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        n => format!("10{}", n.to_string().chars().map(raised).collect::<String>()),
    }
}

#[cfg(test)]
mod formats {
    use super::*;
    use crate::plane::end_of_axis;

    #[test]
    fn axes_end_where_their_numbers_do() {
        assert_eq!([0.0, 0.05, 0.41, 0.97].map(|highest| end_of_axis(highest, &ENDS)), [0.001, 0.1, 0.6, 1.0]);
        assert_eq!([0.25, 0.0005, 1.0, 0.0].map(axis_percent), ["25 %", "0.05 %", "100 %", "0 %"]);
        assert_eq!([7, 20_000, 30_000_000].map(short), ["7", "20k", "30M"]);
        assert_eq!([0, 1, -7, 12].map(power_of_ten), ["1", "10", "10⁻⁷", "10¹²"]);
        assert_eq!([1.0, 2.25, 0.04].map(at), ["1", "2.2", "0"]);
    }
}
