//! Fault-free runs of all images, on all processors.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;

/// The most that fault-free runs take of memory, in bytes.
const KEPT: usize = 4 << 30;

/// Images that a thread runs one after the other.
const IMAGES: usize = 16;

/// The runs of images that a network gets right.
pub(crate) struct FaultFreeRuns<R> {
    /// By image its run, as far as memory allows; none of images that are not right.
    pub(crate) golden: Vec<Option<R>>,
    /// The images that are right, ascending.
    pub(crate) right: Vec<usize>,
}

/// Runs all images. `is_right` sees the runs in the order of images; `bytes` is what one takes of memory.
///
/// # Errors
/// The first of `is_right`.
pub(crate) fn fault_free_runs<R: Send, E>(
    images: usize,
    run: impl Fn(usize) -> R + Sync,
    bytes: impl Fn(&R) -> usize,
    mut is_right: impl FnMut(usize, &R) -> Result<bool, E>,
) -> Result<FaultFreeRuns<R>, E> {
    let threads = available_parallelism().map_or(1, NonZeroUsize::get);
    let (mut golden, mut right, mut left) = (Vec::new(), Vec::new(), KEPT);
    let run = &run;
    for first in (0..images).step_by(threads * IMAGES) {
        let parts = (0..threads).map(|thread| first + thread * IMAGES).take_while(|&part| part < images);
        let runs: Vec<R> = std::thread::scope(|scope| {
            let of_part = |part: usize| move || (part..images.min(part + IMAGES)).map(run).collect::<Vec<R>>();
            let started: Vec<_> = parts.map(|part| scope.spawn(of_part(part))).collect();
            started
                .into_iter()
                .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        for (image, run) in (first..).zip(runs) {
            let is_right = is_right(image, &run)?;
            right.extend(is_right.then_some(image));
            let rest = left.checked_sub(bytes(&run)).filter(|_| is_right);
            left = rest.unwrap_or(left);
            golden.push(rest.map(|_| run));
        }
    }
    Ok(FaultFreeRuns { golden, right })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_the_order_of_images_and_kept_where_they_are_right_and_fit() {
        let size = |run: &usize| if *run == 10 { KEPT } else { 1 };
        let of = |images| fault_free_runs(images, |image| image * 2, size, |image, _| Ok::<_, ()>(image != 3)).unwrap();
        for images in [0, 1, 17, 1000] {
            let FaultFreeRuns { golden, right } = of(images);
            assert_eq!(right, (0..images).filter(|&image| image != 3).collect::<Vec<_>>());
            let expected = (0..images).map(|image| (image != 3 && image != 5).then_some(image * 2));
            assert_eq!(golden, expected.collect::<Vec<_>>());
        }
        let refused =
            fault_free_runs(1000, |image| image, |_| 0, |image, _| if image < 500 { Ok(true) } else { Err(image) });
        assert_eq!(refused.err(), Some(500));
    }
}
