//! How much of a kernel its most popular groups stand for.

use crate::gpu_qin::grouping::{Grouping, KernelGroups};
use crate::study::{Plot, Point, Series};

/// The share of threads in the most popular groups, kernel by kernel.
#[must_use]
pub fn popularity(capsule: &str, grouping: &Grouping, short_name: fn(&str) -> &str) -> Plot {
    let line = |kernel: &KernelGroups| {
        let point = |(number, y): (u32, f64)| Point { x: number.into(), y, bounds: None };
        let name = format!("{} ({})", short_name(&kernel.kernel), kernel.groups.len());
        Series { name, joined: true, points: (1..).zip(kernel.cumulative()).map(point).collect() }
    };
    Plot {
        name: format!("groups-{capsule}"),
        title: format!("{capsule}: threads in the most popular groups"),
        x: "groups, the most popular first".to_owned(),
        logarithmic: true,
        names: Vec::new(),
        y: "share of the threads (%)".to_owned(),
        series: grouping.kernels.iter().map(line).collect(),
    }
}
