//! Everything under `filetests/`, and what of fault injection does not fit a file.

mod addresses;
mod ahead;
mod approxilyzer;
mod approxilyzer_addresses;
mod approxilyzer_learned;
mod approxilyzer_purity;
mod approxilyzer_sources;
mod approxilyzer_stores;
mod approxilyzer_tuning;
mod approxilyzer_validation;
mod circuit;
mod contraction;
mod defects;
mod elements;
mod engines;
mod exhaustive;
mod gpu_qin;
mod guest;
mod hardened;
mod hardened_lanes;
mod hardened_parts;
mod kernels;
mod method;
mod printed;
mod rewritten;
mod sampling;
mod scratch;
mod sizes;
mod stories;
mod tracking;
mod vectors;

/// The folders of `workloads/`.
fn workloads() -> Vec<String> {
    let folder = std::fs::read_dir(testkit::filetests("../workloads")).unwrap();
    let mut names: Vec<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The seed of long tests, of which a part is run: the whole check sets and prints one that changes with the date.
fn seed() -> u64 {
    std::env::var("BEAMLINE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(7)
}

/// One item in six, by the seed: each of them on one of six days.
fn sixth<T>(items: Vec<T>) -> Vec<T> {
    testkit::one_in(const { std::num::NonZeroU64::new(6).unwrap() }, seed(), items)
}

/// Panics with the first failures and how many there are.
fn report(what: &str, failures: &[String]) {
    let shown: Vec<&str> = failures.iter().take(400).map(String::as_str).collect();
    let seed = seed();
    assert!(failures.is_empty(), "{} {what} (BEAMLINE_SEED={seed}):\n{}", failures.len(), shown.join("\n"));
}
