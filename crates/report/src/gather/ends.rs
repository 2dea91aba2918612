//! How long a corruption lives, and where it kills.

use campaign::RowView;
use outcome::{Class, FirstUse};
use std::collections::{BTreeMap, HashMap};

use super::Logarithmic;

/// A way to die: the kind, and where.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Death {
    pub(crate) kind: String,
    pub(crate) kernel: String,
    pub(crate) pc: Option<u32>,
    pub(crate) line: Option<u32>,
}

/// First uses and ends of landed faults.
#[derive(Debug, Default)]
pub(crate) struct EndCounts {
    /// Instructions from the fault to the first read, by class of outcome.
    pub(crate) to_use: BTreeMap<Class, Logarithmic>,
    /// Instructions from the first use to the end, by kind of death.
    pub(crate) to_end: BTreeMap<String, Logarithmic>,
    /// Values that were replaced unread, and that nothing read or replaced.
    pub(crate) overwritten: u64,
    pub(crate) never: u64,
    /// Deaths; a place of none has not been seen.
    deaths: HashMap<(u32, u32, Option<u32>, Option<u32>), u64>,
    words: Words,
}

/// Texts that recur, numbered.
#[derive(Debug, Default)]
struct Words {
    numbers: HashMap<String, u32>,
    words: Vec<String>,
}

impl Words {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.words.len() as u32;
        self.numbers.insert(word.to_owned(), number);
        self.words.push(word.to_owned());
        number
    }

    fn word(&self, number: u32) -> String {
        self.words.get(number as usize).cloned().unwrap_or_default()
    }
}

impl EndCounts {
    pub(crate) fn add(&mut self, row: &RowView<'_>) {
        if !row.class.has_landed() {
            return;
        }
        match row.first_use {
            Some(FirstUse::Read { after }) => self.to_use.entry(row.class).or_default().add(after),
            Some(FirstUse::Overwritten { .. }) => self.overwritten += 1,
            Some(FirstUse::Never) => self.never += 1,
            None => {}
        }
        if row.class == Class::Due {
            self.died(row);
        }
    }

    fn died(&mut self, row: &RowView<'_>) {
        let kind = row.kind.unwrap_or_default();
        if let Some(end) = &row.ended {
            match self.to_end.get_mut(kind) {
                Some(latencies) => latencies.add(end.after),
                None => self.to_end.entry(kind.to_owned()).or_default().add(end.after),
            }
        }
        let kernel = row.ended.map_or("", |end| end.kernel);
        let (pc, line) = (row.ended.map(|end| end.pc), row.ended.and_then(|end| end.line));
        let key = (self.words.number(kind), self.words.number(kernel), pc, line);
        *self.deaths.entry(key).or_default() += 1;
    }

    /// Every way to die, most frequent first.
    pub(crate) fn deaths(&self) -> Vec<(Death, u64)> {
        let named = self.deaths.keys().copied().map(|key| {
            let (kind, kernel, pc, line) = key;
            let death = Death { kind: self.words.word(kind), kernel: self.words.word(kernel), pc, line };
            (death, self.deaths.get(&key).copied().unwrap_or(0))
        });
        let mut deaths: Vec<(Death, u64)> = named.collect();
        deaths.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
        deaths
    }
}
