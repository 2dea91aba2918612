//! How much of a kernel its most popular groups stand for.

use crate::gpu_qin::grouping::{Grouping, KernelGroups};
use study::{Mark, Plot, Point, Series, Vertical};

/// The share of threads in the most popular groups, kernel by kernel.
#[must_use]
pub fn popularity(capsule: &str, grouping: &Grouping, short_name: fn(&str) -> &str) -> Plot {
    let series = grouping.kernels.iter().map(|kernel| popular(short_name(&kernel.kernel), kernel)).collect();
    popularity_of(&format!("groups-{capsule}"), &format!("{capsule}: threads in the most popular groups"), series)
}

/// The same of kernels that are given as lines.
#[must_use]
pub fn popularity_of(name: &str, title: &str, series: Vec<Series>) -> Plot {
    Plot {
        name: name.to_owned(),
        title: title.to_owned(),
        x: "groups, the most popular first".to_owned(),
        logarithmic: true,
        names: Vec::new(),
        y: "share of the threads (%)".to_owned(),
        vertical: Vertical::Shares,
        series,
    }
}

/// A kernel's line, with the number of its groups.
#[must_use]
pub fn popular(name: &str, kernel: &KernelGroups) -> Series {
    let point = |(number, y): (u32, f64)| Point { x: number.into(), y, bounds: None };
    let name = format!("{name} ({})", kernel.groups.len());
    Series { name, mark: Mark::Steps, points: (1..).zip(kernel.cumulative()).map(point).collect() }
}
