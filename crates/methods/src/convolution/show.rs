//! The result of a study of a kernel, as tables and as a document.

use serde_json::{Value, json};
use stats::{Confidence, Proportion};
use study::{Cell, Table};

use super::kernel::KernelForm;
use super::pattern::NeuronPattern;
use super::study::{Ends, LayerStudy};

/// The version of the document.
const FORMAT: &str = "beamline.network-kernel/1";

fn rate(of: Option<Proportion>) -> Cell {
    let bounds = |of: Proportion| of.wilson(Confidence::PERCENT_95);
    of.and_then(|of| Some((of.rate()?, bounds(of)))).map_or(Cell::None, |(rate, bounds)| Cell::Rate {
        rate,
        low: bounds.low,
        high: bounds.high,
    })
}

fn share(count: u64, of: u64) -> Option<Proportion> {
    Proportion::new(count, of).filter(|_| of > 0)
}

/// The ends of faults in the kernel, and the shapes of the neurons that they leave changed.
#[must_use]
pub fn tables(network: &str, layer: &str, form: KernelForm, found: &LayerStudy) -> Vec<Table> {
    let mut ends = Table::new(
        format!("{network}, layer {layer} as the kernel {}: faults in registers", form.word()),
        &["end", "runs", "share"],
    );
    let corrupted = found.corrupted();
    let row = |name: &str, count: u64| vec![Cell::text(name), Cell::Count(count), rate(share(count, found.runs))];
    ends.rows = vec![
        row("every neuron is as it was", found.masked),
        row("neurons differ", corrupted.runs),
        row("crash or hang", found.due),
    ];
    ends.rows.extend((found.undecided > 0).then(|| row("undecided", found.undecided)));

    let columns = ["neurons that differ", "runs", "of these", "equal logits", "another class"];
    let mut shapes = Table::new("What these neurons do to the class", &columns);
    let row = |name: &str, ends: Ends, of: Option<u64>| {
        vec![
            Cell::text(name),
            Cell::Count(ends.runs),
            of.map_or(Cell::None, |of| rate(share(ends.runs, of))),
            rate(share(ends.masked, ends.runs)),
            rate(ends.changes()),
        ]
    };
    shapes.rows = NeuronPattern::ALL
        .iter()
        .filter_map(|pattern| Some(row(pattern.word(), *found.patterns.get(pattern)?, Some(corrupted.runs))))
        .collect();
    shapes.rows.push(row("all of these", corrupted, None));
    shapes.rows.push(row("beside it: one bit of one neuron flips", found.flips, None));
    shapes.notes.push(notes(found));
    vec![ends, shapes]
}

/// How much flips of single bits miss, in words.
fn notes(found: &LayerStudy) -> String {
    let percent = |of: Option<Proportion>| {
        of.and_then(|of| Some((of.rate()?, of.wilson(Confidence::PERCENT_95)))).map(|(rate, bounds)| {
            format!("{:.2} % ({:.2} to {:.2})", rate * 100.0, bounds.low * 100.0, bounds.high * 100.0)
        })
    };
    let single = found.patterns.get(&NeuronPattern::Single).copied().unwrap_or_default();
    let several = percent(found.several()).map_or_else(
        || "No run changes the class.".to_owned(),
        |share| format!("Of the runs that change the class, {share} have several changed neurons."),
    );
    let one_bit = percent(share(found.one_bit, single.runs))
        .map_or_else(String::new, |share| format!(" Of those that change one neuron, {share} flip one bit of it."));
    format!(
        "Runs are on {} images. {several}{one_bit} A fault is a flip of one bit of a register that an instruction has written, as \
         in a campaign on the kernel.",
        found.images,
    )
}

/// The same as a document.
#[must_use]
pub fn document(network: &str, layer: &str, form: KernelForm, found: &LayerStudy) -> Value {
    let ends = |ends: Ends| json!({ "runs": ends.runs, "equal_logits": ends.masked, "another_class": ends.class });
    let patterns = found.patterns.iter().map(|(pattern, of)| {
        let mut of = ends(*of);
        of["neurons"] = pattern.word().into();
        of
    });
    json!({
        "format": FORMAT,
        "network": network,
        "layer": layer,
        "kernel": form.word(),
        "images": found.images,
        "runs": found.runs,
        "masked": found.masked,
        "due": found.due,
        "undecided": found.undecided,
        "corrupted": ends(found.corrupted()),
        "patterns": patterns.collect::<Vec<_>>(),
        "one_bit_of_one_neuron": found.one_bit,
        "changed_neurons": found.neurons,
        "neuron_flips": ends(found.flips),
    })
}
