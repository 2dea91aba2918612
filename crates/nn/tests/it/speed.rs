//! How long runs take: `cargo test --release -p nn -- --ignored --nocapture speed`.

use std::time::Instant;

use campaign::{Engine, Engines, Planner, RunIndex, SelectionWords};
use nn::Fault;
use nn::delta::Delta;

use crate::kit::fashion;

#[test]
#[ignore = "measures and checks nothing"]
#[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "speed is measured with a clock")]
fn speed_of_both_engines() {
    let runs: Vec<RunIndex> = (0..200_000).map(RunIndex).collect();
    let sites = fashion().plan(&runs, &SelectionWords::default(), 1).unwrap();
    for (engine, count) in [("delta", 200_000), ("full", 2000)] {
        let mut worker = fashion().worker(&Engine::named(engine)).unwrap();
        let start = Instant::now();
        let macs: u64 = sites[..count].iter().map(|site| worker.run(site).unwrap().instructions).sum();
        let each = |total: f64| total / count as f64;
        eprintln!("{engine}: {:.1} us, {:.0} MACs a run", each(start.elapsed().as_secs_f64() * 1e6), each(macs as f64));
    }
    let network = fashion().network();
    let fault = |site: &campaign::Site| Fault::parse(site.fault().unwrap()).unwrap();
    let hits: Vec<_> = sites.iter().map(fault).map(|fault| (fault.image, fault.hit(network, 1000).unwrap())).collect();
    let mut delta = Delta::new(network);
    let start = Instant::now();
    let early = hits.iter().filter(|(image, hit)| {
        delta.run(&fashion().golden_run(*image), hit);
        !delta.differs(network.layers().len())
    });
    let early = early.count() as f64 / hits.len() as f64;
    let each = start.elapsed().as_secs_f64() * 1e6 / hits.len() as f64;
    eprintln!("delta without ids and observations: {each:.1} us, {:.1} % end before the logits", early * 100.0);
}
