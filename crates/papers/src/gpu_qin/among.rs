//! Kernels by what is true of them.

use super::survey::MeasuredKernel;
use crate::words::listed;

/// The kernel with one of the paper's names.
pub(super) fn named<'k>(kernels: &'k [MeasuredKernel], name: &str) -> Option<&'k MeasuredKernel> {
    kernels.iter().find(|it| it.paper.name == name)
}

/// The names of kernels of which something is true.
pub(super) fn those(kernels: &[MeasuredKernel], is: impl Fn(&MeasuredKernel) -> bool) -> Vec<&'static str> {
    kernels.iter().filter(|it| is(it)).map(|it| it.paper.name).collect()
}

/// `3 of 17: A, B and C`; without the names where there are none.
pub(super) fn counted(names: &[&str], all: usize) -> String {
    let names_of = if names.is_empty() { String::new() } else { format!(": {}", listed(names)) };
    format!("{} of {all}{names_of}", names.len())
}

/// The least and the most of some values; zero of none.
pub(super) fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let wider = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
    let found = values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider);
    if found.0 <= found.1 { found } else { (0.0, 0.0) }
}
