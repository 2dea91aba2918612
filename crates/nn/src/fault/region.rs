//! Places that lie together: `5:3:11` is one, `5:3:*` a row, `5:0-1:4-7` a tile, `5:*:*` a feature map.

use std::fmt;

/// Values of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// One.
    One(usize),
    /// From the first to the last, both included; the last is above the first.
    Range(usize, usize),
    /// All that there are.
    All,
}

/// Values of each coordinate, in ONNX' order without the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementRegion(pub Vec<Span>);

impl Span {
    /// The values between two, both included.
    #[must_use]
    pub fn between(first: usize, last: usize) -> Self {
        if first < last { Self::Range(first, last) } else { Self::One(first) }
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let Some((first, last)) = text.split_once('-') else { return whole(text).map(Self::One) };
        let (first, last) = (whole(first)?, whole(last)?);
        (first < last).then_some(Self::Range(first, last))
    }

    /// The values, of as many as there are; none if they reach beyond.
    fn values(self, size: usize) -> Option<std::ops::RangeInclusive<usize>> {
        let (first, last) = match self {
            Self::One(value) => (value, value),
            Self::Range(first, last) => (first, last),
            Self::All => (0, size.checked_sub(1)?),
        };
        (last < size).then_some(first..=last)
    }
}

impl ElementRegion {
    /// One place.
    #[must_use]
    pub fn place(at: &[usize]) -> Self {
        Self(at.iter().copied().map(Span::One).collect())
    }

    /// Reads `5:3:11`, `5:3:*` or `5:0-1:4-7`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.split(':').map(Span::parse).collect::<Option<_>>().map(Self)
    }

    /// The only place, if it is but one.
    #[must_use]
    pub fn only(&self) -> Option<Vec<usize>> {
        self.0.iter().map(|&span| if let Span::One(at) = span { Some(at) } else { None }).collect()
    }

    /// How many places it has in a space of these sizes; none if it reaches beyond or has other coordinates.
    #[must_use]
    pub fn count(&self, sizes: &[usize]) -> Option<usize> {
        if self.0.len() != sizes.len() {
            return None;
        }
        let counts = self.0.iter().zip(sizes).map(|(span, &size)| span.values(size).map(Iterator::count));
        counts.product()
    }

    /// Its places in a space of these sizes, the last coordinate first; none where [`count`](Self::count) has none.
    #[must_use]
    pub fn places(&self, sizes: &[usize]) -> Vec<Vec<usize>> {
        if self.count(sizes).is_none() {
            return Vec::new();
        }
        let mut all = vec![Vec::new()];
        for values in self.0.iter().zip(sizes).filter_map(|(span, &size)| span.values(size)) {
            all = all.iter().flat_map(|at| values.clone().map(move |value| [&at[..], &[value]].concat())).collect();
        }
        all
    }
}

/// A whole number in digits alone.
pub(super) fn whole(text: &str) -> Option<usize> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => write!(f, "{value}"),
            Self::Range(first, last) => write!(f, "{first}-{last}"),
            Self::All => f.write_str("*"),
        }
    }
}

impl fmt::Display for ElementRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, span) in self.0.iter().enumerate() {
            write!(f, "{}{span}", if number == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}
