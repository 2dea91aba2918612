//! Where both agree and where they do not, counted.

use crate::protocol::MachineInfo;
use crate::row::Row;
use crate::rows::Rows;
use outcome::Class;
use serde::Serialize;
use stats::{Confidence, Proportion};
use std::collections::BTreeMap;

/// How many faults are named for each way to disagree.
const EXAMPLES: usize = 3;

/// A share with Wilson's interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The number of faults.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// Their ratio; none of nothing.
    pub rate: Option<f64>,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl Share {
    fn of(hits: impl Iterator<Item = bool>) -> Self {
        let (count, of) = hits.fold((0, 0), |(count, of), hit| (count + u64::from(hit), of + 1));
        let proportion = Proportion::from_counts(count, of - count);
        let interval = proportion.wilson(Confidence::PERCENT_95);
        Self { count, of, rate: proportion.rate(), low: interval.low, high: interval.high }
    }
}

/// How many faults came to one end on the simulator and to another, or the same, on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndPair {
    /// Masked, corrupted, crashed, hung or not landed on the simulator.
    pub simulator: String,
    /// The same of the machine.
    pub machine: String,
    /// The number of faults.
    pub count: u64,
}

/// How many crashes have one name on the simulator and one on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CodePair {
    /// The simulator's trap.
    pub simulator: String,
    /// The machine's name for its error.
    pub machine: String,
    /// The number of faults.
    pub count: u64,
}

/// A way to disagree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// What both say.
    pub what: String,
    /// How many faults.
    pub count: u64,
    /// Some of them, by their text ids.
    pub examples: Vec<String>,
}

/// What a comparison came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// What ran the faults; more than one where allocations were at other places.
    pub machines: Vec<MachineInfo>,
    /// Runs of rewritten kernels without a fault that gave the simulator's copies to the host, of all.
    pub fault_free: Share,
    /// Faults that came to the same end on both, of all that both ran to one.
    pub agree: Share,
    /// Faults that come to their end so late, as the simulator knows, that the machine was not waited for.
    pub late: u64,
    /// Of those that came to another end: faults that come to the machine's in the simulator, too, where memory lies as it did
    /// there.
    pub placed: u64,
    /// The same for those that came to one end on the simulator.
    pub by_end: BTreeMap<String, Share>,
    /// Of the corruptions that both saw, those with the same bytes.
    pub same_bytes: Share,
    /// How many came to which ends.
    pub ends: Vec<EndPair>,
    /// Of the crashes that both saw, what both call them.
    pub codes: Vec<CodePair>,
    /// The ways to disagree, the most frequent first.
    pub disagreements: Vec<Disagreement>,
    /// Faults that could not be run, by the reason.
    pub refused: BTreeMap<String, u64>,
}

impl Agreement {
    /// Counts rows.
    #[must_use]
    pub fn of(rows: &Rows) -> Self {
        let (late, all): (Vec<&Row>, Vec<&Row>) = rows.rows.iter().partition(|row| row.is_late());
        let both = |row: &&&Row, class: Class| row.simulated.class == class && row.class == class;
        let crashed = |row: &&&Row| row.ends() == ("crash", "crash");
        let [same, other] = rows.fault_free;
        let runs = (0..same).map(|_| true).chain((0..other).map(|_| false));
        Self {
            machines: rows.machines.clone(),
            fault_free: Share::of(runs),
            agree: Share::of(all.iter().map(|row| row.agrees())),
            late: late.len() as u64,
            placed: all.iter().filter(|row| row.placed).count() as u64,
            by_end: by_end(&all),
            same_bytes: Share::of(all.iter().filter(|row| both(row, Class::Sdc)).filter_map(|row| row.same_bytes())),
            ends: pairs(all.iter().map(|row| row.ends()))
                .map(|((simulator, machine), count)| EndPair {
                    simulator: simulator.to_owned(),
                    machine: machine.to_owned(),
                    count,
                })
                .collect(),
            codes: pairs(all.iter().filter(crashed).map(|row| (row.simulated.kind.clone(), row.kind.clone())))
                .map(|((simulator, machine), count)| CodePair { simulator, machine, count })
                .collect(),
            disagreements: disagreements(&all),
            refused: pairs(rows.refused.iter().map(|(_, reason)| reason.clone())).collect(),
        }
    }
}

fn by_end(rows: &[&Row]) -> BTreeMap<String, Share> {
    let mut found: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for row in rows {
        found.entry(row.ends().0.to_owned()).or_default().push(row.agrees());
    }
    found.into_iter().map(|(end, agree)| (end, Share::of(agree.into_iter()))).collect()
}

/// How often each comes, in their order.
fn pairs<K: Ord>(keys: impl Iterator<Item = K>) -> impl Iterator<Item = (K, u64)> {
    let mut counts: BTreeMap<K, u64> = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.into_iter()
}

fn disagreements(rows: &[&Row]) -> Vec<Disagreement> {
    let mut found: BTreeMap<String, Disagreement> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.agrees()) {
        let what =
            format!("{} here, {} there", named(row.ends().0, &row.simulated.kind), named(row.ends().1, &row.kind));
        let fresh = || Disagreement { what: what.clone(), count: 0, examples: Vec::new() };
        let one = found.entry(what.clone()).or_insert_with(fresh);
        one.count += 1;
        if one.examples.len() < EXAMPLES {
            one.examples.push(row.fault.clone());
        }
    }
    let mut all: Vec<Disagreement> = found.into_values().collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.count));
    all
}

/// An end, of a crash with its kind.
fn named(end: &str, kind: &str) -> String {
    if end == "crash" { format!("{end} ({kind})") } else { end.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::HardwareEnd;
    use crate::row::SimulatedEnd;
    use capsule::Digest;

    fn row(number: u32, simulated: (Class, &str), machine: (Class, &str), same: bool) -> Row {
        let copies = |bytes: &[u8]| Digest::of(bytes);
        let completed = || HardwareEnd::Completed {
            outputs: Vec::new(),
            copies: copies(if same { b"a" } else { b"b" }),
            before: "0x0".into(),
        };
        let hardware = match machine.0 {
            Class::Due => HardwareEnd::Failed { name: machine.1.to_owned() },
            _ => completed(),
        };
        let (class, kind) = (simulated.0, simulated.1.to_owned());
        let copies = (class != Class::Due).then(|| copies(b"a"));
        Row {
            fault: format!("fault {number}"),
            kernel: "k".into(),
            pc: 0,
            opcode: "add.u32".into(),
            simulated: SimulatedEnd { class, kind, strayed: 0, instructions: 0, copies },
            hardware,
            class: machine.0,
            kind: machine.1.to_owned(),
            placed: false,
        }
    }

    #[test]
    fn ends_bytes_codes_and_disagreements_are_counted() {
        let (masked, sdc) = ((Class::Masked, "logical"), (Class::Sdc, "bad"));
        let (here, there) = ((Class::Due, "illegal_address"), (Class::Due, "CUDA_ERROR_INVALID_ADDRESS_SPACE"));
        let mut rows = Rows::default();
        rows.add(row(0, masked, masked, true)).unwrap();
        rows.add(row(1, sdc, sdc, true)).unwrap();
        rows.add(row(2, sdc, sdc, false)).unwrap();
        rows.add(row(3, here, there, true)).unwrap();
        for number in 4..9 {
            rows.add(row(number, here, masked, true)).unwrap();
        }
        rows.add(row(9, (Class::Due, "hang"), there, true)).unwrap();
        rows.refuse("fault 10".into(), "write it".into()).unwrap();
        let agreement = Agreement::of(&rows);
        assert_eq!((agreement.agree.count, agreement.agree.of), (4, 10));
        assert!(agreement.agree.low < 0.4 && 0.4 < agreement.agree.high);
        assert_eq!((agreement.same_bytes.count, agreement.same_bytes.of), (1, 2));
        let crash = agreement.by_end["crash"];
        assert_eq!((crash.count, crash.of), (1, 6));
        let code = CodePair { simulator: here.1.into(), machine: there.1.into(), count: 1 };
        assert_eq!(agreement.codes, [code]);
        let first = &agreement.disagreements[0];
        assert_eq!((first.what.as_str(), first.count), ("crash (illegal_address) here, masked there", 5));
        assert_eq!(first.examples, ["fault 4", "fault 5", "fault 6"]);
        assert_eq!(agreement.refused["write it"], 1);
    }
}
