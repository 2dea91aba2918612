//! What a fault does and to how many threads, drawn together: one way, or several by weight.

use crate::error::SelectionError;
use crate::model::{Model, ModelKind};
use crate::scope::ScopeKind;
use stats::{Cumulative, Draws};
use std::fmt;

/// One way in which a fault shows: what happens to the bits, in how many threads of the warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// What happens to the bits.
    pub model: ModelKind,
    /// How many threads are hit at once.
    pub scope: ScopeKind,
}

impl Pattern {
    /// Whether it can hit an operand of so many bits of an instruction that so many threads of a warp execute together.
    #[must_use]
    pub fn hits(self, width: u32, threads: u32) -> bool {
        self.scope.least() <= threads && self.model.hits(width)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scope {
            ScopeKind::Thread => self.model.fmt(f),
            scope => write!(f, "{}@{scope}", self.model),
        }
    }
}

/// The patterns that a campaign draws from, each with its weight in [`Patterns::UNIT`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patterns(Vec<(u64, Pattern)>);

impl Default for Patterns {
    fn default() -> Self {
        Self::from(Pattern::default())
    }
}

impl From<Pattern> for Patterns {
    fn from(pattern: Pattern) -> Self {
        Self(vec![(Self::UNIT, pattern)])
    }
}

/// What is wrong with the words of patterns.
fn wrong(found: &str) -> SelectionError {
    let expected = "WEIGHT*MODEL or WEIGHT*MODEL@SCOPE, joined by |, such as 0.4*flip|0.6*random@warp; weights are from 0.000001 \
                    to 1000000";
    SelectionError::Word { key: "model", found: found.to_owned(), expected: expected.to_owned() }
}

impl Patterns {
    /// The weight 1.
    pub const UNIT: u64 = 1_000_000;

    /// Reads the words of a campaign: one model with a scope, or several by weight, each with its own.
    ///
    /// # Errors
    /// If a word means nothing, or there are several patterns and a scope besides.
    pub fn parse(model: Option<&str>, scope: Option<&str>) -> Result<Self, SelectionError> {
        if let Some(words) = model.filter(|words| words.contains('*')) {
            if let Some(scope) = scope.filter(|&scope| scope != "thread") {
                return Err(SelectionError::Scopes(scope.to_owned()));
            }
            return words.split('|').map(|part| weighted(part.trim())).collect::<Result<_, _>>().map(Self);
        }
        if let Some(words) = model.filter(|words| words.contains('@')) {
            if let Some(scope) = scope.filter(|&scope| scope != "thread") {
                return Err(SelectionError::Scopes(scope.to_owned()));
            }
            return if words.contains('|') { Err(wrong(words)) } else { scoped(words).map(Self::from) };
        }
        let model = model.map_or(Ok(ModelKind::default()), ModelKind::parse)?;
        let scope = scope.map_or(Ok(ScopeKind::default()), ScopeKind::parse)?;
        Ok(Self::from(Pattern { model, scope }))
    }

    /// The pattern, if there is but one.
    #[must_use]
    pub fn only(&self) -> Option<Pattern> {
        if let [(_, only)] = *self.0 { Some(only) } else { None }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Pattern> {
        self.0.iter().map(|&(_, pattern)| pattern)
    }

    /// Whether one of them can hit such an operand.
    #[must_use]
    pub fn hits(&self, width: u32, threads: u32) -> bool {
        self.iter().any(|pattern| pattern.hits(width, threads))
    }

    /// How many threads must execute an instruction together so that an operand of so many bits can be hit; none if it
    /// cannot be.
    #[must_use]
    pub fn least(&self, width: u32) -> Option<u32> {
        self.iter().filter(|pattern| pattern.model.hits(width)).map(|pattern| pattern.scope.least()).min()
    }

    /// A pattern by its weight among those that can hit such an operand, and what it does to the bits; none if there is
    /// none.
    #[must_use]
    pub fn draw(&self, draws: &mut Draws, width: u32, threads: u32) -> Option<(Model, ScopeKind)> {
        let hit = self.0.iter().filter(|(_, pattern)| pattern.hits(width, threads));
        let hit: Cumulative<Pattern> = hit.map(|&(weight, pattern)| (pattern, weight)).collect();
        let number = if self.0.len() == 1 { 0 } else { draws.below(hit.total())? };
        let (pattern, _) = hit.find(number)?;
        Some((pattern.model.draw(draws, width)?, pattern.scope))
    }
}

/// Reads `0.4*flip@pair`.
fn weighted(part: &str) -> Result<(u64, Pattern), SelectionError> {
    let (weight, pattern) = part.split_once('*').ok_or_else(|| wrong(part))?;
    let weight: f64 = weight.trim().parse().map_err(|_| wrong(part))?;
    let weight = (weight * Patterns::UNIT as f64).round();
    if !(1.0..=1e12).contains(&weight) {
        return Err(wrong(part));
    }
    Ok((weight as u64, scoped(pattern)?))
}

/// Reads `flip@pair`.
fn scoped(pattern: &str) -> Result<Pattern, SelectionError> {
    let (model, scope) = pattern.split_once('@').unwrap_or((pattern, "thread"));
    Ok(Pattern { model: ModelKind::parse(model.trim())?, scope: ScopeKind::parse(scope.trim())? })
}

impl fmt::Display for Patterns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(only) = self.only() {
            return only.fmt(f);
        }
        for (at, (weight, pattern)) in self.0.iter().enumerate() {
            let before = if at == 0 { "" } else { "|" };
            write!(f, "{before}{}*{pattern}", *weight as f64 / Self::UNIT as f64)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn read(words: &str) -> Patterns {
        Patterns::parse(Some(words), None).unwrap()
    }

    #[test]
    fn patterns_are_read_as_they_are_printed() {
        for words in
            ["0.4*flip|0.6*random@warp", "1*flip:3|2.5*burst:4:0xff@lanes:8|0.000001*zero@pair", "1*flip|1*flip"]
        {
            assert_eq!(read(words).to_string(), words);
        }
        assert_eq!(read("1*double").to_string(), "double", "one pattern is a model");
        assert_eq!(Patterns::parse(Some("zero"), Some("pair")).unwrap().to_string(), "zero@pair");
        for words in ["double-any@warp", "flip:3@lanes:8"] {
            assert_eq!(read(words).to_string(), words, "a list of one needs no weight");
            assert_eq!(read(words), read(&format!("1*{words}")));
        }
    }

    #[test]
    fn they_are_drawn_by_their_weights_among_those_that_can_hit() {
        let patterns = read("1*flip|2*double@pair|3*zero@warp");
        let draw = |width: u32, threads: u32| {
            let mut counts: BTreeMap<String, u32> = BTreeMap::new();
            for run in 0..6000 {
                let (model, scope) = patterns.draw(&mut Draws::new(5, run), width, threads).unwrap();
                *counts.entry(format!("{}@{scope}", model.name())).or_default() += 1;
            }
            counts.into_iter().collect::<Vec<_>>()
        };
        let near = |found: &[(String, u32)], expected: &[(&str, u32)]| {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for ((name, count), (wanted, number)) in found.iter().zip(expected) {
                assert!(name == wanted && count.abs_diff(*number) < 200, "{found:?}");
            }
        };
        near(&draw(32, 32), &[("flip@pair", 2000), ("flip@thread", 1000), ("zero@warp", 3000)]);
        near(&draw(32, 1), &[("flip@thread", 1500), ("zero@warp", 4500)]);
        near(&draw(1, 32), &[("flip@thread", 1500), ("zero@warp", 4500)]);
        assert_eq!(read("1*double|1*flip@pair").draw(&mut Draws::new(5, 0), 1, 1), None);
    }

    #[test]
    fn one_pattern_takes_no_draw_of_its_own() {
        for run in 0..50 {
            let alone = ModelKind::default().draw(&mut Draws::new(9, run), 32);
            assert_eq!(Patterns::default().draw(&mut Draws::new(9, run), 32, 1).map(|(model, _)| model), alone);
        }
    }

    #[test]
    fn threads_that_are_needed_follow_from_the_operand() {
        let patterns = read("1*double|1*flip@pair");
        assert_eq!([1, 32].map(|width| patterns.least(width)), [Some(2), Some(1)]);
        assert_eq!(read("1*double|1*flip:3").least(1), None);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for words in [
            "0*flip",
            "-1*flip",
            "x*flip",
            "NaN*flip",
            "inf*flip",
            "1*flip|flip",
            "1*twist",
            "1*flip@block",
            "1*flip|",
            "flip@block",
            "flip@warp|zero@pair",
            "flip@",
        ] {
            assert!(Patterns::parse(Some(words), None).is_err(), "{words}");
        }
        let error = Patterns::parse(Some("1*flip|1*zero"), Some("warp")).unwrap_err();
        assert!(error.to_string().contains("@warp"), "{error}");
        assert!(Patterns::parse(Some("flip@pair"), Some("warp")).is_err());
    }
}
