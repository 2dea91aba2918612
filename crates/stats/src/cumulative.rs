//! Things that stand for several numbers each, numbered through: a uniform number finds each with its weight.

/// Things in order, each with the numbers that it stands for: the first from 0, each other from where the one before ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cumulative<T> {
    /// Each with the first number behind its own.
    ends: Vec<(T, u64)>,
}

impl<T> Default for Cumulative<T> {
    fn default() -> Self {
        Self { ends: Vec::new() }
    }
}

impl<T> Cumulative<T> {
    /// Adds a thing that stands for the next `count` numbers.
    pub fn push(&mut self, thing: T, count: u64) {
        self.ends.push((thing, self.total() + count));
    }

    /// How many numbers there are.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.ends.last().map_or(0, |(_, end)| *end)
    }

    /// Whether there is nothing that stands for a number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The thing that stands for a number, and how many of its numbers are before this one; none past the last.
    #[must_use]
    pub fn find(&self, number: u64) -> Option<(&T, u64)> {
        let at = self.ends.partition_point(|(_, end)| *end <= number);
        let before = at.checked_sub(1).map_or(0, |before| self.ends[before].1);
        self.ends.get(at).map(|(thing, _)| (thing, number - before))
    }

    /// The things, in order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.ends.iter().map(|(thing, _)| thing)
    }
}

impl<T> FromIterator<(T, u64)> for Cumulative<T> {
    fn from_iter<I: IntoIterator<Item = (T, u64)>>(things: I) -> Self {
        let mut table = Self::default();
        things.into_iter().for_each(|(thing, count)| table.push(thing, count));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_finds_its_thing(counts in prop::collection::vec(0u64..4, 0..9)) {
            let table: Cumulative<usize> = counts.iter().copied().enumerate().collect();
            let all: Vec<(usize, u64)> =
                counts.iter().enumerate().flat_map(|(thing, &count)| (0..count).map(move |at| (thing, at))).collect();
            prop_assert_eq!(table.total(), all.len() as u64);
            prop_assert_eq!(table.is_empty(), all.is_empty());
            let found: Vec<_> = (0..table.total()).filter_map(|number| table.find(number)).collect();
            prop_assert_eq!(found, all.iter().map(|(thing, at)| (thing, *at)).collect::<Vec<_>>());
            prop_assert_eq!(table.find(table.total()), None);
        }
    }
}
