//! Layers of a network as kernels: which neurons faults in instructions leave changed.

use methods::convolution::{Convolution, Ends, KernelForm, LayerStudy, NeuronPattern};
use methods::kit::StudyError;
use nn::{NetworkTarget, bundled};
use stats::Proportion;
use std::sync::atomic::AtomicBool;
use study::{Cell, Table};

use super::networks::NETWORK;
use super::survey::{rate, said};

/// The layers, of one group each.
const LAYERS: [&str; 6] = ["c1", "c2", "c3", "c4", "pw", "c5"];

/// Images that each kernel is run on.
const IMAGES: usize = 200;

/// A layer as a kernel, irradiated.
#[derive(Clone, Debug)]
pub(super) struct KernelRuns {
    pub(super) layer: &'static str,
    pub(super) form: KernelForm,
    pub(super) found: LayerStudy,
}

/// Faults in both kernels of each layer.
pub(super) fn kernels(threads: usize, stop: &AtomicBool, runs: u64) -> Result<Vec<KernelRuns>, StudyError> {
    let target: &NetworkTarget = &bundled::open(NETWORK).map_err(|error| StudyError::Words(error.to_string()))?;
    let mut all = Vec::new();
    for name in LAYERS {
        let layer = target.network().layer_named(name);
        let layer = layer.ok_or_else(|| StudyError::Words(format!("find the layer {name}: it is missing")))?;
        for form in KernelForm::ALL {
            let of = Convolution { target, layer, form, images: IMAGES, runs, seed: 1 };
            all.push(KernelRuns { layer: name, form, found: of.study(threads, stop)? });
        }
    }
    Ok(all)
}

fn share(count: u64, of: u64) -> Option<Proportion> {
    Proportion::new(count, of).filter(|_| of > 0)
}

/// The shapes that faults in the kernels of a kind leave, all layers together.
fn patterns(all: &[KernelRuns], form: KernelForm) -> Vec<(NeuronPattern, Ends)> {
    let of = |pattern: &NeuronPattern| {
        let found = all.iter().filter(|it| it.form == form).filter_map(|it| it.found.patterns.get(pattern));
        let sum = found.fold(Ends::default(), |sum, ends| Ends {
            runs: sum.runs + ends.runs,
            masked: sum.masked + ends.masked,
            class: sum.class + ends.class,
        });
        (*pattern, sum)
    };
    NeuronPattern::ALL.iter().map(of).collect()
}

/// The ends of faults in each kernel.
pub(super) fn table(all: &[KernelRuns]) -> Table {
    let columns = [
        "layer",
        "kernel",
        "runs",
        "no neuron differs",
        "crash or hang",
        "another class",
        "one neuron flips",
        "several neurons",
    ];
    let mut table = Table::new("Layers as kernels", &columns);
    let row = |it: &KernelRuns| {
        let found = &it.found;
        vec![
            Cell::text(it.layer),
            Cell::text(it.form.word()),
            Cell::Count(found.runs),
            rate(share(found.masked, found.runs)),
            rate(share(found.due, found.runs)),
            rate(found.corrupted().changes()),
            rate(found.flips.changes()),
            rate(found.several()),
        ]
    };
    table.rows = all.iter().map(row).collect();
    table
}

/// The shapes of neurons that differ.
pub(super) fn shapes(all: &[KernelRuns]) -> Table {
    let columns = ["neurons that differ", "direct", "another class", "tiled", "another class"];
    let mut table = Table::new("Shapes of the neurons that differ", &columns);
    let of = KernelForm::ALL.map(|form| patterns(all, form));
    let sums = of.each_ref().map(|patterns| patterns.iter().map(|(_, ends)| ends.runs).sum::<u64>());
    table.rows = NeuronPattern::ALL
        .iter()
        .enumerate()
        .map(|(at, pattern)| {
            let cells = (0..of.len()).flat_map(|form| {
                let ends = of[form][at].1;
                [rate(share(ends.runs, sums[form])), rate(ends.changes())]
            });
            std::iter::once(Cell::text(pattern.word())).chain(cells).collect()
        })
        .collect();
    table
}

/// How much single flips miss, in words.
pub(super) fn sentence(all: &[KernelRuns]) -> String {
    let of = |form: KernelForm| {
        let found = patterns(all, form);
        let class: u64 = found.iter().map(|(_, ends)| ends.class).sum();
        let several: u64 =
            found.iter().filter(|(it, _)| *it != NeuronPattern::Single).map(|(_, ends)| ends.class).sum();
        let single: u64 = found.iter().filter(|(it, _)| *it == NeuronPattern::Single).map(|(_, ends)| ends.runs).sum();
        let one_bit: u64 = all.iter().filter(|it| it.form == form).map(|it| it.found.one_bit).sum();
        format!(
            "{}: of the runs that change the class, {} change several neurons; of those that change one neuron, {} flip one bit of it",
            form.word(),
            said(share(several, class)),
            said(share(one_bit, single))
        )
    };
    format!("{}.", KernelForm::ALL.map(of).join(". "))
}
