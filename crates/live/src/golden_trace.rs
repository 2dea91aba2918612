//! The trace of a golden run: what its launches do without a fault, for the processes of live runs.

use capsule::{Digest, Region};
use cudart::live::device_op::fingerprints;
use cudart::live::golden_trace::{GoldenTraceWriter, LaunchRecord};
use inject::Golden;
use std::collections::BTreeMap;

/// The regions that the outputs of a golden run are copied from, each with the numbers of all copies of it, in order.
pub(crate) fn output_regions(golden: &Golden) -> Vec<(Region, Vec<usize>)> {
    let from = |event: usize| golden.capsule().events[event].reads().copied();
    let (mut regions, mut known) = (Vec::<(Region, Vec<usize>)>::new(), BTreeMap::new());
    let key = |it: &Region| [it.address, it.width, it.height, it.depth, it.pitch, it.slice];
    for copy in golden.copies().iter().filter(|copy| copy.output.is_some()) {
        let Some(region) = from(copy.event) else { continue };
        known.entry(key(&region)).or_insert_with(|| {
            regions.push((region, Vec::new()));
            regions.len() - 1
        });
    }
    for (number, copy) in golden.copies().iter().enumerate() {
        if let Some(&at) = from(copy.event).and_then(|region| known.get(&key(&region))) {
            regions[at].1.push(number);
        }
    }
    regions
}

/// Writes the trace of a golden run.
///
/// # Errors
/// If some of the capsule's contents cannot be read.
pub(crate) fn write(golden: &Golden) -> Result<Vec<u8>, capsule::Error> {
    let mut writer = GoldenTraceWriter::default();
    for launch in golden.launches() {
        let read = golden.read_arguments(launch);
        let (recorded, counts) = (golden.recorded(launch), launch.counts());
        let record = LaunchRecord { launch: recorded, counts, printed: &launch.printed, read: &read };
        writer.launch(&record, golden.changed(launch));
    }
    for (region, copies) in output_regions(golden) {
        writer.region(&region, copies.iter().map(|&copy| Digest::of(&golden.copies()[copy].bytes)));
    }
    Ok(writer.finish(&fingerprints(golden.capsule())?))
}
