//! Which classes are studied: the largest first, up to a share of the sites.

/// The classes that are studied where `sizes` are their sites and `known` the sites that are known without a run, as indices into
/// `sizes`, in the order in which they are studied.
pub(super) fn largest(sizes: &[u64], known: u64, coverage: f64) -> Vec<usize> {
    let all: u64 = known + sizes.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&class| sizes[class] > 0).collect();
    // The order of equal ones is that of their keys.
    order.sort_by_key(|&class| std::cmp::Reverse(sizes[class]));
    let mut covered = known;
    let short = |class: &usize| {
        let lacks = (covered as f64) < coverage * all as f64;
        covered += sizes[*class];
        lacks
    };
    order.into_iter().take_while(short).collect()
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn the_largest_classes_are_studied_until_the_share_is_reached() {
        let sizes = [2, 5, 0, 5, 1];
        assert!(largest(&sizes, 7, 0.35).is_empty());
        assert_eq!(largest(&sizes, 7, 0.6), [1]);
        assert_eq!(largest(&sizes, 7, 0.61), [1, 3]);
        assert_eq!(largest(&sizes, 7, 1.0), [1, 3, 0, 4]);
    }
}
