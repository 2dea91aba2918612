//! The most valuable items of a knapsack for a budget.

use stats::{Cover, Knapsack};

/// The items of the largest demand whose cheapest cover is within a budget.
pub(crate) fn most_within(knapsack: &Knapsack, budget: u64) -> Cover {
    let (mut within, mut beyond) = (0, knapsack.value() + 1);
    let mut best = Cover { items: Vec::new(), cost: 0, value: 0, least: 0 };
    while beyond - within > 1 {
        let demand = within + (beyond - within) / 2;
        match knapsack.cover(demand).filter(|cover| cover.cost <= budget) {
            Some(cover) => (within, best) = (cover.value.max(demand), cover),
            None => beyond = demand,
        }
    }
    best
}
