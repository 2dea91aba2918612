//! What large launches take of memory: what their threads do that differs, not how many there are.

use campaign::Engines;
use campaign::config::SelectionWords;
use capsule::{Capsule, Event};
use inject::Resources;
use testkit::tiers::{compare, target_with};

/// A workload whose kernel walks in strides of the whole grid, with so many blocks that most have nothing to do.
fn with_blocks(blocks: u32) -> Capsule {
    let path = testkit::filetests("../workloads/blackscholes/blackscholes.capsule");
    let mut capsule = Capsule::open(path).unwrap();
    for event in &mut capsule.events {
        if let Event::Launch(launch) = event {
            launch.grid = [blocks, 1, 1];
        }
    }
    capsule
}

#[test]
fn a_million_threads_that_do_the_same_are_kept_as_a_few() {
    let resources = Resources { memory: 64 << 20, ..Resources::default() };
    let golden = |blocks| {
        let target = target_with(with_blocks(blocks), resources).unwrap();
        let compared = compare(&target, &SelectionWords::default(), 20, 1).unwrap();
        assert_eq!((compared.faults, compared.disagreements), (20, Vec::<String>::new()));
        (target.golden_run().threads(), target.memory().unwrap().golden)
    };
    let (few, many) = (golden(1 << 8), golden(1 << 13));
    assert_eq!(many.0, 32 * few.0);
    assert!(many.1 - few.1 < (many.0 - few.0) / 100, "{few:?} {many:?}");
}
