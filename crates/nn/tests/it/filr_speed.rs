//! How long the analysis of a network takes, and what it comes to:
//! `cargo test --release -p nn -- --ignored --nocapture filr_speed`, with `INJECTIONS`, `THREADS` and `SEED` in the environment.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use nn::filr::{Settings, analyse};

use crate::kit::fashion;

fn said(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "measures and checks nothing"]
#[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "speed is measured with a clock")]
fn filr_speed() {
    fashion();
    let settings = Settings {
        injections_per_map: said("INJECTIONS", 2048),
        threads: said("THREADS", 2) as usize,
        seed: said("SEED", 1),
        ..Settings::default()
    };
    let start = Instant::now();
    let filr = analyse(fashion(), &settings, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    eprintln!("{:.2} s, {:#?}", start.elapsed().as_secs_f64(), filr.injections);
    for curve in &filr.flr {
        eprintln!("{:?}: {:?}", curve.by, curve.agreement);
    }
    for curve in &filr.heuristics {
        eprintln!("{}: {:?}", curve.heuristic.word(), curve.agreement);
    }
    for cost in &filr.costs {
        eprintln!("{cost:?}");
    }
    for sweep in &filr.filr {
        let combination = sweep.combination.as_ref().unwrap();
        let (maps, reading) = (combination.maps.len(), combination.reading);
        eprintln!(
            "{reading:?}: threshold {}, {maps} maps, coverage {} of which reruns {:.4}, {:.4} twice, {:.4} again, overhead {:.4}",
            combination.threshold,
            combination.coverage,
            combination.coverage_by_reruns,
            combination.duplication,
            combination.reruns,
            combination.overhead
        );
    }
    eprintln!("{:#?}\n{:?}\n{}", filr.deployment, filr.correlations, filr.notes.join("\n"));
}
