//! Who stored last what lies in memory.

use std::collections::BTreeMap;
use std::ops::Range;

/// Addresses of a page.
const PAGE: u64 = 1 << 12;

/// By the address of an element, the value that was stored there last.
#[derive(Debug, Default)]
pub(super) struct ElementOwners {
    /// By page and address, the number of the value and one; 0 where there is none.
    pages: BTreeMap<u64, Vec<u32>>,
}

impl ElementOwners {
    /// The value that was stored at an address.
    pub(super) fn get(&self, address: u64) -> Option<usize> {
        let number = self.pages.get(&(address / PAGE))?[(address % PAGE) as usize];
        (number as usize).checked_sub(1)
    }

    /// Notes that a value was stored at an address.
    pub(super) fn insert(&mut self, address: u64, value: usize) {
        let page = self.pages.entry(address / PAGE).or_insert_with(|| vec![0; PAGE as usize]);
        page[(address % PAGE) as usize] = value as u32 + 1;
    }

    /// How often each value lies in a range; with `forget`, none does any more.
    pub(super) fn within(&mut self, range: Range<u64>, forget: bool) -> BTreeMap<usize, u64> {
        let mut found = BTreeMap::new();
        if range.is_empty() {
            return found;
        }
        for (number, page) in self.pages.range_mut(range.start / PAGE..=(range.end - 1) / PAGE) {
            let from = range.start.max(number * PAGE) - number * PAGE;
            let to = (range.end - number * PAGE).min(PAGE);
            for owner in &mut page[from as usize..to as usize] {
                if let Some(value) = (*owner as usize).checked_sub(1) {
                    *found.entry(value).or_default() += 1;
                }
                if forget {
                    *owner = 0;
                }
            }
        }
        found
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.pages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_over_pages_has_the_values_in_it() {
        let mut owners = ElementOwners::default();
        for (address, value) in [(PAGE - 4, 0), (PAGE, 7), (PAGE + 4, 7), (3 * PAGE, 2)] {
            owners.insert(address, value);
        }
        assert_eq!(owners.within(PAGE - 4..PAGE + 4, false), BTreeMap::from([(0, 1), (7, 1)]));
        assert_eq!(owners.within(PAGE..3 * PAGE + 1, true), BTreeMap::from([(7, 2), (2, 1)]));
        assert_eq!((owners.get(PAGE - 4), owners.get(PAGE)), (Some(0), None));
    }
}
