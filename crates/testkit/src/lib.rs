//! Tests as data, and what reads them.
//!
//! - [`vectors`]: instruction vectors, `filetests/instructions/*.vec`. Each line is one execution of one instruction;
//!   the expected bits come from an independent oracle (`oracle.py` beside them), never from Beamline.
//! - [`kernels`]: kernel tests, `filetests/kernels/*.ptx`. Each is a PTX file whose head says what to run on which
//!   buffers, what must come out, how a run must end, and what faults must do.
//! - [`fuzz`]: fuzzing of what reads bytes that nobody vouches for, `fuzz/`.
//!
//! - [`random_kernels`]: random kernels whose results are defined to the bit, for comparing machines.
//! - [`hardened`]: random kernels with protection written into them, compared with the kernels as they are.
//! - [`rewritten`]: faults written into kernels, compared with the same faults injected.
//!
//! Files are found on disk; a line or directive that is not understood fails the test. Everything runs at every
//! instruction-set level of the host. This crate is for tests only: nothing else depends on it.

pub mod fuzz;
pub mod hardened;
pub mod kernels;
pub mod random_capsules;
pub mod random_kernels;
pub mod rewritten;
pub mod tiers;
pub mod vectors;

use inject::{CapsuleTarget, Setup};
use session::capsules;
use simt::LevelName;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder `filetests/` of the repository, or one inside it.
#[must_use]
pub fn filetests(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filetests").join(folder)
}

/// The files of a folder that end in `.extension`, by name.
///
/// # Errors
/// If the folder cannot be read.
pub fn files(folder: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    Ok(paths)
}

/// A bundled workload, ready for faults; a test ends where there is none.
///
/// # Panics
/// If there is no such workload, or it has no golden run.
#[must_use]
pub fn workload(name: &str) -> Arc<CapsuleTarget> {
    let capsule = capsules::open(name).unwrap_or_else(|error| panic!("{name}: {error}"));
    capsules::target(capsule, &Setup::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The instruction-set levels that this host has.
pub fn levels() -> impl Iterator<Item = LevelName> {
    LevelName::ALL.into_iter().filter(|level| level.is_available())
}

/// One item in `one_in`, by a seed: seeds that follow each other choose all in turn.
pub fn one_in<T>(one_in: NonZeroU64, seed: u64, items: Vec<T>) -> Vec<T> {
    let offset = seed % one_in;
    (0..)
        .zip(items)
        .filter(|(number, _)| (number + offset).is_multiple_of(one_in.get()))
        .map(|(_, item)| item)
        .collect()
}

/// Does `work` on every item, on as many threads as the host has cores; the results are in the order of the items.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores.min(items.len())).map(|_| scope.spawn(worker)).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
