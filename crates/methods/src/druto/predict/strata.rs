//! Which threads of a launch are followed, and for how many each stands: a stratified sample by executed instructions.

use stats::Draws;
use std::collections::BTreeMap;

/// Draws threads of a launch, by the instructions that each executes: about `wanted`, each with the threads that it stands for.
///
/// Threads that execute alike many instructions are a stratum. Each stratum gives one thread, and more by its share of
/// all instructions, so that a single thread of a block that writes its result is followed. If there are more strata than
/// threads are wanted, neighbours are joined until each part has about the same instructions, and each part gives one.
pub(super) fn drawn(counts: impl Iterator<Item = u32>, wanted: u64, draws: &mut Draws) -> BTreeMap<u64, f64> {
    let mut sorted: Vec<(u32, u64)> = counts.zip(0..).collect();
    sorted.sort_unstable();
    let executed = |stratum: &[(u32, u64)]| stratum.iter().map(|it| u128::from(it.0)).sum::<u128>();
    let (total, wanted) = (executed(&sorted).max(1), u128::from(wanted.max(1)));
    let mut strata: Vec<&[(u32, u64)]> = sorted.chunk_by(|one, other| one.0 == other.0).collect();
    if strata.len() as u128 > wanted {
        strata.clear();
        let (mut first, mut before) = (0, 0);
        for at in 0..sorted.len() {
            let part = before * wanted / total;
            before += u128::from(sorted[at].0);
            if before * wanted / total > part || at + 1 == sorted.len() {
                strata.push(&sorted[first..=at]);
                first = at + 1;
            }
        }
    }
    let spare = wanted.saturating_sub(strata.len() as u128);
    let mut found = BTreeMap::new();
    for stratum in strata {
        let size = stratum.len();
        let parts = size.min(1 + (spare * executed(stratum) / total) as usize);
        // One of each part of the stratum, in the order of threads: threads of many blocks are drawn.
        for part in 0..parts {
            let (from, to) = (size * part / parts, size * (part + 1) / parts);
            let drawn = draws.below((to - from) as u64).unwrap_or_default() as usize;
            found.insert(stratum[from + drawn].1, (to - from) as f64);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_alone_does_something_is_always_followed() {
        // Blocks of 128 threads; the first of each executes three instructions more.
        let counts = || (0..1024).map(|thread| if thread % 128 == 0 { 103 } else { 100 });
        for seed in 0..20 {
            let drawn = drawn(counts(), 16, &mut Draws::new(seed, 0));
            let first: Vec<f64> = drawn.iter().filter(|it| it.0 % 128 == 0).map(|it| *it.1).collect();
            assert_eq!(first.iter().sum::<f64>(), 8.0);
            assert_eq!(drawn.values().sum::<f64>(), 1024.0);
            assert!((15..=17).contains(&drawn.len()), "{drawn:?}");
        }
    }

    #[test]
    fn many_strata_are_joined_so_that_each_has_about_the_same_instructions() {
        let drawn = drawn(1..=1000, 10, &mut Draws::new(1, 0));
        assert_eq!(drawn.values().sum::<f64>(), 1000.0);
        assert_eq!(drawn.len(), 10);
        let (few, many) = (drawn.values().next().unwrap(), drawn.values().last().unwrap());
        assert!(few > &200.0 && many < &60.0, "{drawn:?}");
    }

    #[test]
    fn a_launch_has_no_more_threads_than_it_has() {
        assert_eq!(drawn([7, 7, 7].into_iter(), 64, &mut Draws::new(0, 0)).into_values().collect::<Vec<_>>(), [1.0; 3]);
        assert!(drawn(std::iter::empty(), 64, &mut Draws::new(0, 0)).is_empty());
        assert_eq!(drawn([0, 0].into_iter(), 1, &mut Draws::new(0, 0)).values().sum::<f64>(), 2.0);
    }
}
