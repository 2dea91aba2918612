//! Every chart, by what it draws.

use campaign::summary::{Outcomes, Rate};

use super::*;
use crate::document::{BitRates, Curve, CurvePoint, Decade, HeatRow, Histogram, RateAccount};

fn rate(count: u64, of: u64) -> Rate {
    let share = count as f64 / of as f64;
    Rate { count, rate: Some(share), low: (share - 0.05).max(0.0), high: (share + 0.05).min(1.0) }
}

fn outcomes(masked: u64, sdc: u64, due: u64) -> Outcomes<Rate> {
    let of = masked + sdc + due;
    Outcomes { masked: rate(masked, of), sdc: rate(sdc, of), due: rate(due, of), undecided: rate(0, of) }
}

fn unknown() -> Rate {
    Rate { count: 0, rate: None, low: 0.0, high: 1.0 }
}

/// The values of an attribute of the elements called `name`, in order.
fn values(svg: &str, name: &str, attribute: &str) -> Vec<f64> {
    let (tag, attribute) = (format!("<{name} "), format!(" {attribute}=\""));
    let elements = svg.split(tag.as_str()).skip(1);
    let value = |element: &str| {
        let inside = format!(" {}", element.split('>').next()?);
        inside.split(attribute.as_str()).nth(1)?.split('"').next()?.parse().ok()
    };
    elements.filter_map(value).collect()
}

#[test]
fn the_bar_of_shares_is_full_and_in_proportion() {
    let svg = shares(&outcomes(50, 30, 20), "runs").into_string();
    let widths: Vec<f64> = values(&svg, "rect", "width").into_iter().filter(|width| *width > 100.0).collect();
    assert_eq!(widths, [300.0, 200.0, 500.0]);
    assert!(svg.contains("SDC: 30.00 % (25.00–35.00), 30 runs"), "{svg}");
}

#[test]
fn marks_stand_at_their_rates_with_their_intervals() {
    let mark = |outcomes| Mark { tick: "7".into(), name: "bit 7".into(), runs: 100, outcomes };
    let svg = rates(&[mark(outcomes(50, 50, 0)), mark(outcomes(0, 100, 0))], "bit", "rates", "runs").into_string();
    // 100 % is at 10, 0 % at 180.
    assert_eq!(values(&svg, "circle", "cy"), [95.0, 10.0]);
    assert!(values(&svg, "line", "y1").iter().any(|y| (y - 103.5).abs() < 1e-9), "{svg}");
    assert_eq!(svg.matches("<path").count(), 2, "a triangle for each DUE");
    assert!(svg.contains("bit 7, SDC: 50.00 % (45.00–55.00), 50 runs"), "{svg}");
}

#[test]
fn nothing_is_drawn_of_what_is_not_known() {
    let unknown = Outcomes { masked: unknown(), sdc: unknown(), due: unknown(), undecided: unknown() };
    let mark = Mark { tick: "0".into(), name: "none".into(), runs: 3, outcomes: unknown };
    let svg = rates(&[mark], "bit", "rates", "runs").into_string();
    assert!(!svg.contains("<circle") && !svg.contains("<path"), "{svg}");
    let bar = shares(&unknown, "runs").into_string();
    assert!(bar.contains("nothing landed"), "{bar}");
    assert!(!rates(&[], "bit", "rates", "runs").into_string().contains("NaN"));
}

#[test]
fn a_square_of_the_map_grows_with_its_rate_and_is_a_frame_where_little_is_known() {
    let part = |bit, sdc: Rate| BitRates {
        bit,
        account: RateAccount {
            runs: 9,
            not_landed: 0,
            failed: 0,
            outcomes: Outcomes { masked: rate(1, 2), sdc, due: rate(0, 2), undecided: rate(0, 2) },
            bad: None,
        },
    };
    let wide = Rate { count: 1, rate: Some(0.5), low: 0.1, high: 0.9 };
    let bits = vec![part(0, rate(10, 100)), part(1, rate(90, 100)), part(2, wide), part(3, rate(0, 100))];
    let rows = [HeatRow { group: "<g>".into(), bits }];
    let svg = heat(&rows, Of::Sdc, "runs").into_string();
    let titled: Vec<&str> = svg.split("<rect ").skip(1).filter(|rect| rect.contains("<title>")).collect();
    assert_eq!(titled.len(), 3, "a rate of zero leaves its place empty");
    let side = |rect: &str| rect.split("width=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<f64>().ok());
    assert!(side(titled[0]) < side(titled[1]));
    assert!(titled[0].starts_with("class=\"h1\"") && titled[1].starts_with("class=\"h9\""), "{titled:?}");
    assert!(titled[2].starts_with("class=\"few\""), "{titled:?}");
    assert!(svg.contains("&lt;g&gt; bit 1, SDC: 90.00 %") && !svg.contains("<g>"), "{svg}");
}

#[test]
fn a_curve_climbs_in_steps_to_the_top() {
    let point = |at_most, count| CurvePoint { at_most, share: rate(count, 4) };
    let points = vec![point(0, 1), point(9, 2), point(999, 4)];
    let curve = Curve { name: "hang".into(), total: 4, half: 9, nine_tenths: 999, ninety_nine: 999, points };
    let svg = curves(&[curve], "instructions", "latency").into_string();
    // Three decades over 580 pixels from 46: n stands at log10(n + 1).
    assert!(svg.contains("M46 196H46V149.5H239.3V103H626V10H626"), "{svg}");
    assert!(svg.contains("hang: at most 9 in 50.00 %"), "{svg}");
    let empty = curves(&[], "instructions", "latency").into_string();
    assert!(empty.contains("<svg") && !empty.contains("NaN"), "{empty}");
}

#[test]
fn a_histogram_keeps_zero_infinity_and_nan_apart() {
    let decades = [(-2, 10), (-1, 20)].map(|(exponent, count)| Decade { exponent, share: rate(count, 100) });
    let of = Histogram { decades: decades.into(), zero: rate(5, 100), infinite: rate(60, 100), nan: rate(0, 100) };
    let svg = histogram(&of, "error", "errors").into_string();
    let bars: Vec<&str> = svg.split("<rect ").skip(1).collect();
    assert_eq!(bars.len(), 4, "no bar of NaN, of which there is none");
    assert!(svg.contains(">∞<") && svg.contains(">10⁻²<") && !svg.contains(">NaN<"), "{svg}");
    // The axis ends at 80 %, since the bound of 60 % is 65 %.
    assert!(svg.contains(">80 %<"), "{svg}");
    let heights = values(&svg, "rect", "height");
    assert!((heights[3] - 60.0 / 80.0 * 140.0).abs() < 0.1, "{heights:?}");
}

#[test]
fn a_histogram_loses_nothing_however_far_its_numbers_go() {
    let every = |exponent: i32| Decade { exponent, share: rate(u64::from(exponent % 50 == 0), 100) };
    let of = Histogram {
        decades: (-324..=308).map(every).collect(),
        zero: rate(5, 100),
        infinite: rate(1, 100),
        nan: rate(2, 100),
    };
    let svg = histogram(&of, "error", "errors").into_string();
    for there in ["10³⁰⁰…: 1.00 %", "10⁻³⁰⁰…: 1.00 %", "0: 5.00 %", "∞: 1.00 %", "NaN: 2.00 %"] {
        assert!(svg.contains(there), "no `{there}`");
    }
    let (left, widths) = (values(&svg, "rect", "x"), values(&svg, "rect", "width"));
    assert_eq!(left.len(), 633 + 3);
    assert!(left.is_sorted() && widths.iter().all(|width| *width > 0.5), "{left:?} {widths:?}");
    let width: f64 = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap();
    assert!(width < 1300.0 && left[635] + widths[635] <= width, "{width}");
    // Names keep their distance.
    let names: Vec<f64> = values(&svg, "text", "x").into_iter().filter(|x| *x > 90.0 && *x < 1100.0).collect();
    assert!(names.windows(2).all(|pair| pair[1] - pair[0] >= 50.0), "{names:?}");
}
