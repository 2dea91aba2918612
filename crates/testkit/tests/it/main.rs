//! Everything under `filetests/`, and what of fault injection does not fit a file.

mod defects;
mod elements;
mod engines;
mod exhaustive;
mod kernels;
mod sampling;
mod stories;
mod vectors;

/// The bundled workloads.
const WORKLOADS: [&str; 12] = [
    "aes",
    "bfs",
    "blackscholes",
    "gemm",
    "hash",
    "hotspot",
    "matmul",
    "mriq",
    "pathfinder",
    "reduce",
    "sad",
    "transpose",
];

/// Panics with the first failures and how many there are.
fn report(what: &str, failures: &[String]) {
    let shown: Vec<&str> = failures.iter().take(400).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} {what}:\n{}", failures.len(), shown.join("\n"));
}
