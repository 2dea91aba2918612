//! The 0/1 knapsack of protection: the cheapest items whose values add up to a demand.
//!
//! The method is that of minknap (D. Pisinger, *A minimal algorithm for the 0-1 knapsack problem*, Operations Research 45,
//! 1997), turned round to look for the least cost: items in the order of value per cost, all before the *break item* taken, and
//! from there outwards one item more at a time, on either side, by dynamic programming over sums of cost and value. A sum
//! is given up when another one is as cheap and as valuable, or when even with fractions of the items that are left it
//! becomes no cheaper than the best cover that is known.
//!
//! The answer is exact as long as the sums fit into [`Knapsack::STATES`]. Beyond that the best known cover is returned,
//! with a lower bound of the least cost: [`Cover::least`]. The time is that of sorting and, for a demand, of a few hundred to
//! a few thousand sums at each of the items near the break item.

use std::cmp::Ordering;

/// An item that can be taken or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnapsackItem {
    /// The cost of taking it.
    pub cost: u64,
    /// Its part of the demand.
    pub value: u64,
}

/// Items that a demand can be covered with.
#[derive(Clone, Debug)]
pub struct Knapsack {
    /// Those that are worth something, the most value per cost first, with their numbers.
    items: Vec<(usize, KnapsackItem)>,
    /// By item, the sums of those before it; behind the last one those of all.
    before: Vec<KnapsackItem>,
}

/// Items that cover a demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The numbers of the items, ascending.
    pub items: Vec<usize>,
    /// Their cost.
    pub cost: u64,
    /// Their value, which is at least the demand.
    pub value: u64,
    /// A lower bound of the cost of every cover: the cost itself if the answer is exact.
    pub least: u64,
}

/// A sum of items.
#[derive(Clone, Copy)]
struct Sum {
    cost: u64,
    value: u64,
    /// The last change that led to it, an index into the changes; the first one has none.
    change: u32,
}

/// An item that is taken behind the break item, or left before it.
#[derive(Clone, Copy)]
struct Change {
    item: u32,
    earlier: u32,
}

/// The sums that are made for one demand, and how each came about.
struct Search<'a> {
    items: &'a [(usize, KnapsackItem)],
    demand: u64,
    changes: Vec<Change>,
    /// By descending value and cost.
    sums: Vec<Sum>,
    /// The cost of the cheapest cover so far, and the change that led to it; without one, the break item is taken.
    best: (u64, Option<u32>),
}

/// The change of a sum that has none.
const FIRST: u32 = u32::MAX;

impl Knapsack {
    /// The sums that are kept for one demand, at most: some 200 MB.
    pub const STATES: usize = 10_000_000;

    /// Of these items, which are numbered from 0.
    #[must_use]
    pub fn new(items: impl IntoIterator<Item = KnapsackItem>) -> Self {
        let mut items: Vec<_> = items.into_iter().enumerate().filter(|(_, item)| item.value > 0).collect();
        items.sort_by(|(_, left), (_, right)| left.by_worth(*right));
        let mut before = vec![KnapsackItem { cost: 0, value: 0 }];
        for (at, (_, item)) in items.iter().enumerate() {
            let KnapsackItem { cost, value } = before[at];
            before.push(KnapsackItem { cost: cost + item.cost, value: value + item.value });
        }
        Self { items, before }
    }

    /// The value of all items.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.before.last().map_or(0, |all| all.value)
    }

    /// The cheapest items whose values are at least `demand`; none if those of all are less.
    #[must_use]
    pub fn cover(&self, demand: u64) -> Option<Cover> {
        self.cover_within(demand, Self::STATES)
    }

    fn cover_within(&self, demand: u64, states: usize) -> Option<Cover> {
        if demand == 0 {
            return Some(Cover { items: Vec::new(), cost: 0, value: 0, least: 0 });
        }
        // All before the break item are worth less than the demand, with it enough.
        let break_item = self.before.partition_point(|sum| sum.value < demand).checked_sub(1)?;
        let with = self.before.get(break_item + 1)?;
        let KnapsackItem { cost, value } = self.before[break_item];
        let sums = vec![Sum { cost, value, change: FIRST }];
        let search = Search { items: &self.items, demand, changes: Vec::new(), sums, best: (with.cost, None) };
        Some(search.run(break_item, states))
    }
}

impl KnapsackItem {
    /// The order of value per cost, descending: what costs nothing comes first.
    fn by_worth(self, other: Self) -> Ordering {
        let [left, right] = [(other.value, self.cost), (self.value, other.cost)]
            .map(|(value, cost)| u128::from(value) * u128::from(cost));
        left.cmp(&right)
    }
}

impl Search<'_> {
    fn run(mut self, break_item: usize, states: usize) -> Cover {
        // Items from `left` to before `right` are decided.
        let (mut left, mut right) = (break_item, break_item);
        let mut exact = true;
        self.prune(left, right);
        while !self.sums.is_empty() && (left > 0 || right < self.items.len()) {
            if self.changes.len() + 2 * self.sums.len() > states {
                exact = false;
                break;
            }
            if right < self.items.len() {
                self.branch(right, |sum, item| (sum.cost + item.cost, sum.value + item.value));
                right += 1;
                self.prune(left, right);
            }
            if left > 0 {
                left -= 1;
                self.branch(left, |sum, item| (sum.cost - item.cost, sum.value - item.value));
                self.prune(left, right);
            }
        }
        let open = self.sums.iter().filter_map(|sum| self.bound(*sum, left, right));
        let least = if exact { None } else { open.min() }.map_or(self.best.0, |open| open.min(self.best.0));
        self.cover(break_item, least)
    }

    /// Adds to each sum the one that differs in an item, and keeps those that no other one is better than.
    fn branch(&mut self, item: usize, changed: impl Fn(Sum, KnapsackItem) -> (u64, u64)) {
        let of = self.items[item].1;
        let changes = &mut self.changes;
        let with: Vec<Sum> = self
            .sums
            .iter()
            .map(|&sum| {
                let (cost, value) = changed(sum, of);
                changes.push(Change { item: item as u32, earlier: sum.change });
                Sum { cost, value, change: (changes.len() - 1) as u32 }
            })
            .collect();
        let mut merged: Vec<Sum> = Vec::with_capacity(2 * with.len());
        let (mut old, mut new) = (self.sums.iter().peekable(), with.iter().peekable());
        // The most valuable first, the cheaper one first of two that are worth the same.
        let key = |sum: &Sum| (std::cmp::Reverse(sum.value), sum.cost);
        while let Some(sum) = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) if key(a) <= key(b) => old.next(),
            (Some(_), None) => old.next(),
            _ => new.next(),
        } {
            if merged.last().is_none_or(|last| sum.cost < last.cost) {
                merged.push(*sum);
            }
        }
        self.sums = merged;
    }

    /// Keeps the best cover, and the sums that may lead to a better one.
    fn prune(&mut self, left: usize, right: usize) {
        for sum in self.sums.iter().filter(|sum| sum.value >= self.demand) {
            if sum.cost < self.best.0 {
                self.best = (sum.cost, Some(sum.change));
            }
        }
        let sums = std::mem::take(&mut self.sums);
        let best = self.best.0;
        self.sums =
            sums.into_iter().filter(|sum| self.bound(*sum, left, right).is_some_and(|least| least < best)).collect();
    }

    /// The least cost that a sum may come to with fractions of the items that are left; none if it never covers the demand.
    fn bound(&self, sum: Sum, left: usize, right: usize) -> Option<u64> {
        let product = |cost: u64, value: u64| u128::from(cost) * u128::from(value);
        if sum.value >= self.demand {
            // What is too much, of the item that gives the least for its cost.
            let Some((_, item)) = left.checked_sub(1).map(|last| self.items[last]) else { return Some(sum.cost) };
            let saved = product(item.cost, sum.value - self.demand) / u128::from(item.value);
            Some(sum.cost.saturating_sub(u64::try_from(saved).unwrap_or(u64::MAX)))
        } else {
            let (_, item) = self.items.get(right)?;
            let more = product(item.cost, self.demand - sum.value).div_ceil(u128::from(item.value));
            Some(sum.cost.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)))
        }
    }

    fn cover(&self, break_item: usize, least: u64) -> Cover {
        let mut taken = vec![false; self.items.len()];
        taken[..break_item].fill(true);
        match self.best.1 {
            None => taken[break_item] = true,
            Some(mut at) => {
                while let Some(&Change { item, earlier }) = self.changes.get(at as usize) {
                    taken[item as usize] = !taken[item as usize];
                    at = earlier;
                }
            }
        }
        let all = self.items.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(item, _)| *item);
        let (mut items, mut cost, mut value) = (Vec::new(), 0, 0);
        for (number, item) in all {
            items.push(number);
            cost += item.cost;
            value += item.value;
        }
        items.sort_unstable();
        Cover { items, cost, value, least }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Draws;
    use proptest::prelude::*;

    fn items(of: &[(u64, u64)]) -> Vec<KnapsackItem> {
        of.iter().map(|&(cost, value)| KnapsackItem { cost, value }).collect()
    }

    fn cover(of: &[(u64, u64)], demand: u64) -> Option<Cover> {
        Knapsack::new(items(of)).cover(demand)
    }

    /// The least cost over all subsets.
    fn by_subsets(of: &[(u64, u64)], demand: u64) -> Option<u64> {
        let sum = |subset: u32| {
            let taken = of.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1);
            taken.fold((0, 0), |(cost, value), (_, item)| (cost + item.0, value + item.1))
        };
        (0..1 << of.len()).map(sum).filter(|(_, value)| *value >= demand).map(|(cost, _)| cost).min()
    }

    fn agrees(of: &[(u64, u64)], demand: u64) {
        let found = cover(of, demand);
        assert_eq!(found.as_ref().map(|cover| cover.cost), by_subsets(of, demand), "{of:?} for {demand}");
        if let Some(Cover { items, cost, value, least }) = found {
            assert_eq!(cost, items.iter().map(|&at| of[at].0).sum::<u64>());
            assert_eq!(value, items.iter().map(|&at| of[at].1).sum::<u64>());
            assert!(value >= demand && least == cost && items.is_sorted());
        }
    }

    /// Thesis, Section 2.5.3: A has 30 % of the output corruptions and 5 % of the instructions, B 20 % and 10 %.
    #[test]
    fn half_of_the_corruptions_cost_both_instructions_or_one_where_the_other_is_tolerated() {
        assert_eq!(cover(&[(5, 30), (10, 20)], 50).unwrap().cost, 15);
        let tolerated = cover(&[(0, 30), (10, 20)], 50).unwrap();
        assert_eq!((tolerated.cost, tolerated.items), (10, vec![0, 1]));
        assert_eq!(cover(&[(5, 30), (10, 20)], 51), None);
    }

    #[test]
    fn items_that_cost_nothing_are_taken_and_those_worth_nothing_left() {
        assert_eq!(cover(&[], 0).unwrap().cost, 0);
        assert_eq!(cover(&[], 1), None);
        assert_eq!(cover(&[(0, 0), (7, 0), (0, 3), (2, 1)], 4).unwrap().items, [2, 3]);
        assert_eq!(
            cover(&[(u64::MAX / 4, u64::MAX / 4); 3], u64::MAX / 2).unwrap().cost,
            u64::MAX / 4 * 2 + u64::MAX / 4
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn no_subset_of_random_items_is_cheaper(of in prop::collection::vec((0u64..200, 0u64..200), 0..15), share in 0u64..=105) {
            agrees(&of, of.iter().map(|item| item.1).sum::<u64>() * share / 100);
        }

        /// As of instructions: few counts, and sites in proportion to them.
        #[test]
        fn no_subset_of_items_whose_values_follow_their_costs_is_cheaper(
            of in prop::collection::vec((prop::sample::select(vec![64u64, 640, 2000]), 0u64..=33), 0..15),
            share in 0u64..=100,
        ) {
            let of: Vec<(u64, u64)> = of.into_iter().map(|(count, bits)| (count, count * bits)).collect();
            agrees(&of, of.iter().map(|item| item.1).sum::<u64>() * share / 100);
        }
    }

    #[test]
    fn no_subset_of_eighteen_items_is_cheaper() {
        for seed in 0..6 {
            let mut draws = Draws::new(seed, 0);
            let mut below = |n| draws.below(n).unwrap();
            let of: Vec<(u64, u64)> = (0..18).map(|_| (below(10_000), below(1_000_000))).collect();
            let all = of.iter().map(|item| item.1).sum::<u64>();
            [10, 50, 90, 99, 100].into_iter().for_each(|share| agrees(&of, all * share / 100));
        }
    }

    #[test]
    fn ten_thousand_items_are_exact_and_never_dearer_than_the_greedy_choice() {
        let mut draws = Draws::new(7, 0);
        let mut below = |n| draws.below(n).unwrap();
        let random: Vec<(u64, u64)> = (0..10_000).map(|_| (1 + below(1_000_000), below(32_000_000))).collect();
        let alike: Vec<(u64, u64)> =
            (0..10_000).map(|_| 1 + below(1_000_000)).map(|count| (count, count * 32)).collect();
        for of in [random, alike] {
            let knapsack = Knapsack::new(items(&of));
            for permille in [500, 900, 950, 990, 1000] {
                let demand = knapsack.value() / 1000 * permille;
                let found = knapsack.cover(demand).unwrap();
                assert_eq!(found.least, found.cost, "{permille}");
                let greedy = knapsack.before.iter().find(|sum| sum.value >= demand).unwrap().cost;
                assert!(found.cost <= greedy && found.value >= demand);
            }
        }
    }

    #[test]
    fn with_too_few_sums_the_least_cost_lies_between_the_bound_and_the_cost() {
        let mut draws = Draws::new(11, 0);
        let of: Vec<(u64, u64)> = (0..200).map(|_| draws.below(1 << 30).unwrap()).map(|it| (it, it * 3 + 1)).collect();
        let knapsack = Knapsack::new(items(&of));
        let demand = knapsack.value() / 3;
        let exact = knapsack.cover(demand).unwrap();
        for states in [0, 10, 1000] {
            let Cover { cost, value, least, .. } = knapsack.cover_within(demand, states).unwrap();
            assert!(least <= exact.least && exact.cost <= cost && value >= demand);
            assert!((cost - least) as f64 <= 0.02 * cost as f64, "{least} {cost}");
        }
    }
}
