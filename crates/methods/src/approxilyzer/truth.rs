//! Exhaustive campaigns as the truth about error sites: which ones are, and the outcomes of their sites.

use campaign::{Planner, Results, SelectionWords, StoreError, Subject, TargetError};
use fault::Selection;
use inject::threads::Thread;
use inject::{CapsuleTarget, MachineWords};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::kit::StudyError;
use crate::kit::chosen::first_explicit;

/// The outcome of every error site of some launches of a capsule.
pub struct Truth<'a> {
    pub(super) capsule: &'a CapsuleTarget,
    results: &'a Results,
    words: SelectionWords,
    units: u64,
    stop: &'a AtomicBool,
}

impl<'a> Truth<'a> {
    /// An exhaustive campaign as the truth about the kernels that a method judges on a capsule; `stop` ends what is compared with
    /// it.
    ///
    /// # Errors
    /// If it is not exhaustive, of another capsule, machine or launches, of some sites of a thread only, or not finished.
    pub fn of(
        capsule: &'a CapsuleTarget,
        results: &'a Results,
        kernels: &[String],
        stop: &'a AtomicBool,
    ) -> Result<Self, StudyError> {
        let config = results.config();
        if !results.is_exhaustive() {
            return Err(refused("it is a sample; make it with `beamline campaign CAPSULE --exhaustive`"));
        }
        let (of, digest) = (results.digest()?, capsule.digest());
        if of != digest {
            return Err(refused(&format!(
                "it is of the capsule {of} (`{}`), and this one is {digest}",
                config.capsule
            )));
        }
        let MachineWords { addresses, contract, order } = capsule.golden_run().machine_words();
        if (&config.addresses, &config.contract, &config.order) != (&addresses, &contract, &order) {
            return Err(refused("its machine is another one: give both the same `addresses`, `contract` and `order`"));
        }
        let words = config.selection.clone();
        if let Some(key) = first_explicit(&words, &["kernel", "threads", "blocks"]) {
            return Err(refused(&format!(
                "it is chosen by `{key}`: make it of every destination, of kernels, blocks or threads"
            )));
        }
        let launches = |kernels: &[String]| -> Result<Vec<bool>, TargetError> {
            let selection =
                Selection::default().in_kernels(kernels).map_err(|error| TargetError::from_error(&error))?;
            let launches = capsule.golden_run().launches().iter();
            Ok(launches.map(|launch| selection.holds_launch(&launch.program.name, launch.number)).collect())
        };
        if launches(&words.kernel)? != launches(kernels)? {
            let said = |kernels: &[String]| match kernels {
                [] => "all kernels".to_owned(),
                some => format!("--kernel {}", some.join(",")),
            };
            return Err(refused(&format!(
                "it is of other launches: it was made of {}, and {} is compared",
                said(&words.kernel),
                said(kernels)
            )));
        }
        let units = capsule.sweep(&words)?.units();
        Ok(Self { capsule, results, words, units, stop })
    }

    /// The kernels that it is made of.
    pub(super) fn kernels(&self) -> &[String] {
        &self.words.kernel
    }

    /// The launches that it is of, with their blocks and threads, as they were asked for.
    pub(super) fn launches(&self) -> String {
        let SelectionWords { kernel, blocks, threads, .. } = &self.words;
        let part = |name: &str, some: &[String]| {
            if some.is_empty() { String::new() } else { format!(" {name} {}", some.join(",")) }
        };
        let kernels = if kernel.is_empty() { "all kernels".to_owned() } else { kernel.join(",") };
        kernels + &part("blocks", blocks) + &part("threads", threads)
    }

    /// Calls `visit` with the threads of each unit and the outcomes of their sites, in the order of threads, dynamic
    /// instructions, destinations and bits, each as [`Outcome::code`](outcome::Outcome::code).
    pub(super) fn visit(&self, visit: &mut dyn FnMut(&[Thread], &[u8])) -> Result<(), StudyError> {
        let (mut seen, mut unknown) = (0, None);
        self.results.visit_units(&mut |unit, outcomes| {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            match self.capsule.threads_of(&self.words, unit) {
                Ok(threads) => {
                    seen += 1;
                    visit(&threads, &outcomes);
                }
                Err(error) => unknown = Some(error),
            }
        })?;
        self.check_stop()?;
        if let Some(error) = unknown {
            return Err(error.into());
        }
        if seen != self.units {
            return Err(refused(&format!(
                "it has {seen} of {} units; finish it with the same command, or merge its shards",
                self.units
            )));
        }
        Ok(())
    }

    /// Ends the comparison if it is to end.
    ///
    /// # Errors
    /// If so.
    pub(super) fn check_stop(&self) -> Result<(), StudyError> {
        if self.stop.load(Ordering::Relaxed) { Err(StudyError::Interrupted) } else { Ok(()) }
    }

    /// The codes of the outcomes that it has.
    pub(super) fn codes(&self) -> Result<Vec<u8>, StoreError> {
        let mut codes: Vec<u8> = self.results.counts()?.iter().map(|count| count.outcome.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        Ok(codes)
    }
}

pub(super) fn refused(why: &str) -> StudyError {
    StudyError::Refused(format!("hold classes against the truth: {why}"))
}
