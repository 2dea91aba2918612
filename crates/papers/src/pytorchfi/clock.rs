//! The time that the processor works, and what a fault adds to that of an inference.

use fault::Model;
use nn::NetworkTarget;
use nn::delta::Delta;
use nn::forward::forward;
use nn::hit::{Hit, LayerOperand, Place};
use stats::Draws;
use std::fs::read_to_string;
use std::hint::black_box;

/// Seconds that the processor has worked for this thread; none where the system does not say it.
pub(super) fn cpu_seconds() -> Option<f64> {
    let text = read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<u64>().ok().map(|nanoseconds| nanoseconds as f64 / 1e9)
}

/// Seconds of an inference, the mean of a block of them. All kinds take the same images.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TimedBlock {
    /// Without a fault.
    pub(super) plain: f64,
    /// With a fault that hits nothing.
    pub(super) idle: f64,
    /// With a flip in a neuron, the whole network run again.
    pub(super) neuron: f64,
    /// With a flip in a weight, the whole network run again.
    pub(super) weight: f64,
    /// With a flip in a neuron, only what differs.
    pub(super) delta: f64,
}

/// Times blocks of inferences, each of this number of images.
pub(super) fn timed(target: &NetworkTarget, blocks: u64, images: usize) -> Vec<TimedBlock> {
    (0..blocks).map_while(|block| timed_block(target, block, images)).collect()
}

/// An image with a fault in a neuron and one in a weight.
struct TimedFault {
    image: usize,
    neuron: Hit,
    weight: Hit,
}

/// How often faults are run by what differs for one run of everything, so that the clock sees it.
const OFTEN: usize = 20;

fn timed_block(target: &NetworkTarget, block: u64, images: usize) -> Option<TimedBlock> {
    let network = target.network();
    let mut draws = Draws::new(block, 0);
    let faults = (0..images).map(|_| drawn(target, &mut draws)).collect::<Option<Vec<_>>>()?;
    let pixels = |fault: &TimedFault| target.images().pixels(fault.image);
    let each = |of: &dyn Fn(&TimedFault)| Some(seconds_of(|| faults.iter().for_each(of))? / images as f64);
    let idle = Hit::new(Vec::new());
    let whole = |fault: &TimedFault, hit: Option<&Hit>| drop(black_box(forward(network, pixels(fault), hit)));
    let plain = each(&|fault| whole(fault, None))?;
    let idle = each(&|fault| whole(fault, Some(&idle)))?;
    let neuron = each(&|fault| whole(fault, Some(&fault.neuron)))?;
    let weight = each(&|fault| whole(fault, Some(&fault.weight)))?;
    let golden: Vec<_> = faults.iter().map(|fault| target.golden_run(fault.image)).collect();
    let mut engine = Delta::new(network);
    let delta = seconds_of(|| {
        for _ in 0..OFTEN {
            for (fault, golden) in faults.iter().zip(&golden) {
                black_box(engine.run(golden, &fault.neuron));
            }
        }
    })?;
    let delta = delta / (images * OFTEN) as f64;
    Some(TimedBlock { plain, idle, neuron, weight, delta })
}

/// An image, and a neuron and a weight of convolutions and dense layers, each with the same chance.
fn drawn(target: &NetworkTarget, draws: &mut Draws) -> Option<TimedFault> {
    let network = target.network();
    let image = draws.below(target.images().count() as u64)? as usize;
    let hit = |draws: &mut Draws, operand: LayerOperand| {
        let sizes = network.layers().iter().enumerate().map(|(layer, it)| {
            let neurons = network.output(layer).shape.elements();
            it.conv().map_or(0, |conv| if operand == LayerOperand::Out { neurons } else { conv.weights.len() })
        });
        let sizes: Vec<usize> = sizes.collect();
        let mut element = draws.below(sizes.iter().sum::<usize>() as u64)? as usize;
        let layer = sizes.iter().position(|&size| {
            let is_here = element < size;
            element -= if is_here { 0 } else { size };
            is_here
        })?;
        let model = Model::single(draws.below(8)? as u32);
        Some(Hit::new(vec![Place { layer, operand, element, model }]))
    };
    Some(TimedFault { image, neuron: hit(draws, LayerOperand::Out)?, weight: hit(draws, LayerOperand::Weight)? })
}

/// How long the processor works on something.
fn seconds_of(work: impl FnOnce()) -> Option<f64> {
    let start = cpu_seconds()?;
    work();
    Some(cpu_seconds()? - start)
}
