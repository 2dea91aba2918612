//! The tables of the page.

use stats::Proportion;
use study::{Cell, Table};

use super::clock::TimedBlock;
use super::measured::{MODELS, Measured, OPERANDS, PATTERNS};
use super::survey::{Ends, Runs, missed, rate, said};
use crate::mean::SeedMean;

/// The ends of runs that hit a layer; none if there are none.
pub(super) fn layer_ends(runs: &Runs, layer: usize) -> Option<Ends> {
    Some(Ends::of(runs.all.iter().filter(|run| run.layer == layer))).filter(|ends| ends.runs > 0)
}

/// The ends of runs that flip a bit; none if there are none.
pub(super) fn bit_ends(runs: &Runs, bit: u32) -> Option<Ends> {
    Some(Ends::of(runs.all.iter().filter(|run| run.bit == Some(bit)))).filter(|ends| ends.runs > 0)
}

/// The columns of ends: how many runs, those with equal logits, those with another class.
const ENDS: [&str; 3] = ["runs", "equal logits", "another class"];

fn ends(of: Ends) -> [Cell; 3] {
    [Cell::Count(of.runs), rate(of.masked()), rate(of.class())]
}

fn named(name: &str, of: Ends) -> Vec<Cell> {
    std::iter::once(Cell::text(name)).chain(ends(of)).collect()
}

fn table(title: &str, first: &[&str], rest: &[&str]) -> Table {
    Table::new(title, &[first, rest].concat())
}

/// Outcomes by operand.
pub(super) fn operands(found: &Measured) -> Table {
    let mut table = table("Outcomes by operand", &["flip in a"], &ENDS);
    table.rows = OPERANDS.iter().zip(&found.operands).map(|(name, runs)| named(name, Ends::of(&runs.all))).collect();
    table
}

/// Outcomes by layer and operand.
pub(super) fn layers(found: &Measured) -> Table {
    let mut table = table("Outcomes by layer", &["layer", "flip in a"], &ENDS);
    for (layer, name) in found.layers.iter().enumerate() {
        for (operand, runs) in OPERANDS.iter().zip(&found.by_layer) {
            if let Some(of) = layer_ends(runs, layer) {
                table.rows.push([Cell::text(name)].into_iter().chain(named(operand, of)).collect());
            }
        }
    }
    table
}

/// The share of changed classes by bit of a byte.
pub(super) fn bits(found: &Measured) -> Table {
    let operands = || OPERANDS.into_iter().zip(&found.operands).filter(|(operand, _)| *operand != "bias");
    let columns: Vec<&str> = operands().map(|(operand, _)| operand).collect();
    let mut table = table("Another class, by bit", &["bit"], &columns);
    table.rows = (0..8)
        .map(|bit| {
            let each = operands().map(|(_, runs)| rate(bit_ends(runs, bit).and_then(Ends::class)));
            std::iter::once(Cell::Count(u64::from(bit))).chain(each).collect()
        })
        .collect();
    table
}

/// Outcomes of biases, by byte of their 32 bits.
pub(super) fn bias_bits(found: &Measured) -> Table {
    let mut table = table("Flips in biases, by byte", &["bits"], &ENDS);
    let runs = OPERANDS.iter().zip(&found.operands).filter(|(operand, _)| **operand == "bias");
    for (_, runs) in runs {
        table.rows = (0..4)
            .map(|byte| {
                let bits = byte * 8..byte * 8 + 8;
                let of = runs.all.iter().filter(|run| run.bit.is_some_and(|bit| bits.contains(&bit)));
                named(&format!("{} to {}", bits.start, bits.end - 1), Ends::of(of))
            })
            .collect();
    }
    table
}

/// The runs of single neurons that patterns are held against.
pub(super) fn single(found: &Measured) -> Option<&Runs> {
    found.operands.first()
}

/// Patterns, each held against a flip of one of its neurons.
pub(super) fn patterns(found: &Measured) -> Table {
    let mut table = table("Patterns of neurons", &["flip in"], &[&ENDS[..], &["missed by one neuron"]].concat());
    let Some(single) = single(found) else { return table };
    let row = |name: &str, runs: &Runs, missed: Option<Proportion>| {
        named(name, Ends::of(&runs.all)).into_iter().chain([rate(missed)]).collect()
    };
    table.rows.push(row("one neuron", single, None));
    for (name, runs) in PATTERNS.iter().zip(&found.patterns) {
        // One neuron in each layer is drawn otherwise, so that it has no run of one neuron beside it.
        let found = if *name == "layers" { None } else { missed(runs, single) };
        table.rows.push(row(name, runs, found));
    }
    table
}

/// Other models of a single neuron.
pub(super) fn models(found: &Measured) -> Table {
    let mut table = table("Models", &["model"], &ENDS);
    table.rows.extend(single(found).map(|runs| named("flip", Ends::of(&runs.all))));
    table.rows.extend(MODELS.iter().zip(&found.models).map(|(name, runs)| named(name, Ends::of(&runs.all))));
    table
}

/// The mean of multiplications of a run, as a share of those of a forward run.
pub(super) fn share_of_macs(found: &Measured, runs: &Runs) -> f64 {
    let sum: u64 = runs.all.iter().map(|run| run.macs).sum();
    sum as f64 / (runs.all.len().max(1) as f64 * found.macs[0].max(1) as f64)
}

/// Runs a second of the processor's time, with what a campaign does around them.
fn runs_a_second(runs: &Runs) -> Option<f64> {
    Some(runs.all.len() as f64 / runs.seconds.filter(|seconds| *seconds > 0.0)?)
}

/// The cost of runs.
pub(super) fn speed(found: &Measured) -> Table {
    let columns = ["campaign", "runs", "runs a CPU second", "MACs a run", "of a forward run"];
    let mut table = Table::new("Speed of campaigns", &columns);
    let row = |name: &str, runs: &Runs| {
        let share = share_of_macs(found, runs);
        let each = share * found.macs[0] as f64;
        vec![
            Cell::text(name),
            Cell::Count(runs.all.len() as u64),
            runs_a_second(runs).map_or(Cell::None, |rate| Cell::Count(rate.round() as u64)),
            Cell::Count(each.round() as u64),
            Cell::Share(share),
        ]
    };
    table.rows = OPERANDS.iter().zip(&found.operands).map(|(name, runs)| row(name, runs)).collect();
    table.rows.extend(PATTERNS.iter().zip(&found.patterns).map(|(name, runs)| row(name, runs)));
    table.rows.push(row("neuron, the whole network run again", &found.whole));
    table
}

/// The seconds of a kind of inference.
type SecondsOf = fn(&TimedBlock) -> f64;

/// Times of inferences, and their ratio to those without a fault.
pub(super) fn times(found: &Measured) -> Table {
    let mut table = Table::new("Time of an inference", &["inference", "microseconds", "of that without a fault"]);
    let kinds: [(&str, SecondsOf); 5] = [
        ("without a fault", |it| it.plain),
        ("with a fault of no place", |it| it.idle),
        ("with a flip in a neuron, run again as a whole", |it| it.neuron),
        ("with a flip in a weight, run again as a whole", |it| it.weight),
        ("with a flip in a neuron, only what differs", |it| it.delta),
    ];
    let row = |(name, of): (&str, SecondsOf)| {
        let microseconds = SeedMean::of(&found.blocks, |it| Some(of(it) * 1e6));
        let ratio = SeedMean::of(&found.blocks, |it| Some(of(it) / it.plain));
        vec![Cell::text(name), SeedMean::quantity(microseconds), SeedMean::quantity(ratio)]
    };
    table.rows = kinds.map(row).into();
    table
}

/// Where runs end.
pub(super) fn early(found: &Measured) -> Table {
    let columns = ["flip in a", "runs", "nothing differs before the last layer"];
    let mut table = Table::new("Runs that end early", &columns);
    let row =
        |(name, early): (&&str, &Proportion)| vec![Cell::text(*name), Cell::Count(early.trials()), rate(Some(*early))];
    table.rows = OPERANDS.iter().zip(&found.early).map(row).collect();
    table
}

/// How many runs end early.
pub(super) fn early_sentence(found: &Measured) -> String {
    let Some((runs, early)) = single(found).zip(found.early.first()) else { return String::new() };
    format!(
        "A run ends where nothing differs any more: of flips in neurons, {} do before the last layer. A run takes 1/{:.0} of the \
         MACs of a forward run.",
        said(Some(*early)),
        1.0 / share_of_macs(found, runs)
    )
}
