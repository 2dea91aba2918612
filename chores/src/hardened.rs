//! Random kernels hardened by every scheme, without and with load duplication: in the simulator they leave the same bytes as before, or are refused with a reason.

use crate::kernels;
use crate::repo::say;
use anyhow::{Result, anyhow, ensure};
use rewrite::{Scheme, Unprotected};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use testkit::hardened::{HardenedKernel, OriginalKernel};
use testkit::random_kernels::{Forms, Kernel};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many kernels of each of the two kinds: of all instructions, and of products and sums
    #[arg(long, default_value_t = 500)]
    count: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The key of all choices: other seeds make other kernels
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The outcomes of a scheme with kernels of a kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SchemeTally {
    same: u64,
    /// By reason.
    refused: BTreeMap<String, u64>,
    /// The number of the kernel, and the difference.
    differing: Vec<(u64, String)>,
}

/// Outcomes by the kind of the kernels and the scheme.
type Tallies = BTreeMap<(&'static str, String), SchemeTally>;

/// The outcome by the words for a scheme; none where the kernel is not for it.
type Outcomes = Vec<(String, Option<HardenedKernel>)>;

/// The reason of kernels that load duplication leaves alone.
const SINGLE: &str = "loads stay single, since threads share memory";

/// Kernels that are compared at once: what they differ in is kept until all are done.
const BATCH: u64 = 256;

/// Hardens, executes and compares.
pub(crate) fn hardened(args: &Args) -> Result<()> {
    let forms = Forms::all()?;
    let mut tallies = Tallies::new();
    let last = args.first.saturating_add(args.count);
    for first in (args.first..last).step_by(BATCH as usize) {
        let numbers: Vec<u64> = (first..last.min(first.saturating_add(BATCH))).collect();
        let found = testkit::in_parallel(&numbers, |&number| {
            let kernels =
                [("all", Kernel::new(&forms, args.seed, number)), ("sums", Kernel::of_sums(args.seed, number))];
            kernels.map(|(kind, kernel)| (kind, compared(&kernel), kernel))
        });
        for (number, (kind, outcomes, kernel)) in
            numbers.into_iter().zip(found).flat_map(|(number, kinds)| kinds.map(|kind| (number, kind)))
        {
            let outcomes = outcomes.map_err(|what| anyhow!("kernel {number} of seed {}, {kind}: {what}", args.seed))?;
            for (scheme, outcome) in outcomes {
                let tally = tallies.entry((kind, scheme.clone())).or_default();
                if let Some(HardenedKernel::Differs(what)) = &outcome {
                    let path = kernels::keep(args.seed, number, &kernel)?;
                    say(&format!("kernel {number}, {kind}, {scheme}: {what:.400}; its text is in {}", path.display()))?;
                }
                tally.add(number, outcome);
            }
        }
    }
    say(&table(&tallies)?)?;
    let differing: usize = tallies.values().map(|tally| tally.differing.len()).sum();
    ensure!(differing == 0, "{differing} hardened kernels leave other bytes than before; they are named above");
    Ok(())
}

/// A kernel with every scheme, and with load duplication where schemes have it.
fn compared(kernel: &Kernel) -> Result<Outcomes, String> {
    let original = OriginalKernel::new(kernel)?;
    let plain = Scheme::all().map(|scheme| (scheme.word().to_owned(), Some(original.compare(scheme, &|_, _| true))));
    let loads = Scheme::INSTRUCTIONS
        .into_iter()
        .map(|scheme| (format!("{}, loads", scheme.word()), original.compare_with_loads(scheme, &|_, _| true)));
    Ok(plain.chain(loads).collect())
}

impl SchemeTally {
    fn add(&mut self, number: u64, outcome: Option<HardenedKernel>) {
        let Some(outcome) = outcome else {
            *self.refused.entry(SINGLE.to_owned()).or_default() += 1;
            return;
        };
        match outcome {
            HardenedKernel::Same => self.same += 1,
            HardenedKernel::Refused(reason) => *self.refused.entry(said(&reason)).or_default() += 1,
            HardenedKernel::Differs(what) => self.differing.push((number, what)),
        }
    }
}

/// A reason without the place that it is about.
fn said(reason: &Unprotected) -> String {
    match reason {
        Unprotected::Instruction { why, .. } => (*why).to_owned(),
        Unprotected::Byte { .. } => "it has registers of 8 bits".to_owned(),
        Unprotected::Code(refusal) => refusal.to_string(),
    }
}

/// The tallies, and how many pairs of a kernel and a scheme there are of each outcome.
fn table(tallies: &Tallies) -> Result<String> {
    let mut text = "| kernels | scheme | the same bits | refused | different |\n|---|---|---:|---|---:|\n".to_owned();
    let (mut same, mut refused, mut differing) = (0, 0, 0);
    for ((kind, scheme), tally) in tallies {
        let count: u64 = tally.refused.values().sum();
        let reasons: Vec<String> = tally.refused.iter().map(|(why, count)| format!("{count} {why}")).collect();
        let shown = if count == 0 { "0".to_owned() } else { reasons.join("; ") };
        writeln!(text, "| {kind} | {scheme} | {} | {shown} | {} |", tally.same, tally.differing.len())?;
        (same, refused, differing) = (same + tally.same, refused + count, differing + tally.differing.len());
    }
    writeln!(
        text,
        "\n{} pairs of a kernel and a scheme: {same} leave the same bits, {refused} are refused, {differing} differ",
        same + refused + differing as u64
    )?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewrite::Refusal;

    #[test]
    fn pairs_are_counted_by_outcome_and_reason() {
        let mut tally = SchemeTally::default();
        let reason = || Unprotected::Code(Refusal::Malformed("it waits".to_owned()));
        for outcome in [
            HardenedKernel::Same,
            HardenedKernel::Refused(reason()),
            HardenedKernel::Refused(reason()),
            HardenedKernel::Differs("one byte".to_owned()),
        ] {
            tally.add(7, Some(outcome));
        }
        tally.add(8, None);
        assert_eq!(tally.refused.remove(SINGLE), Some(1));
        assert_eq!(tally.differing, [(7, "one byte".to_owned())]);
        let text = table(&BTreeMap::from([(("all", "tld".to_owned()), tally)])).unwrap();
        assert!(text.contains(&format!("| all | tld | 1 | 2 {} | 1 |", said(&reason()))), "{text}");
        assert!(
            text.contains("4 pairs of a kernel and a scheme: 1 leave the same bits, 2 are refused, 1 differ"),
            "{text}"
        );
    }

    #[test]
    fn a_kernel_of_sums_is_compared_with_every_scheme() {
        let kernel = Kernel::of_sums(1, 0);
        let found = compared(&kernel).unwrap();
        assert_eq!(found.len(), Scheme::all().count() + Scheme::INSTRUCTIONS.len());
        assert!(found.iter().all(|(_, outcome)| *outcome == Some(HardenedKernel::Same)), "{found:?}");
    }
}
