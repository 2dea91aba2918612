//! What a report says of deaths, latencies and magnitudes.

use campaign::summary::Rate;
use serde::Serialize;

use super::Capped;

/// A cause of death at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeathShare {
    /// The kind of DUE.
    pub kind: String,
    /// The kernel, where known.
    pub kernel: Option<String>,
    /// The static instruction, where known.
    pub pc: Option<u32>,
    /// Its text, where it is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The source line, where known.
    pub line: Option<u32>,
    /// Its share of all DUE.
    #[serde(flatten)]
    pub share: Rate,
}

/// How long corruptions live.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latencies {
    /// Values that were replaced before anything read them, as a share of what landed.
    pub overwritten: Rate,
    /// Values that nothing read or replaced before their thread ended.
    pub never_used: Rate,
    /// Instructions of the thread from the fault to the first read, by class.
    pub to_use: Vec<Curve>,
    /// Instructions from the first use to the end, by kind of DUE, the most frequent first.
    pub to_end: Vec<Curve>,
}

/// A cumulative distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Of what.
    pub name: String,
    /// How many numbers.
    pub total: u64,
    /// At least half, nine tenths, and 99 hundredths of the numbers are at most this (to 12.5 %).
    pub half: u64,
    /// See `half`.
    pub nine_tenths: u64,
    /// See `half`.
    pub ninety_nine: u64,
    /// How many, and which share, are at most how large; exact at each point.
    pub points: Vec<CurvePoint>,
}

/// A point of a cumulative distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// So large at most.
    pub at_most: u64,
    /// Are so many.
    #[serde(flatten)]
    pub share: Rate,
}

/// How large silent corruptions are; all shares are of the runs with one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MagnitudeShares {
    /// Runs with a silent corruption.
    pub runs: u64,
    /// The largest relative error of an element.
    pub max_relative: Histogram,
    /// The relative error of an output as a whole.
    pub l2: Histogram,
    /// How many elements differ.
    pub elements: Histogram,
    /// Which share of all elements differs.
    pub share: Histogram,
    /// Runs with an element that became NaN.
    pub new_nan: Rate,
    /// Runs with an element that became infinite.
    pub new_infinite: Rate,
    /// Runs in which an output differs, by its name.
    pub outputs: Capped<Named>,
}

/// A share with a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The share.
    #[serde(flatten)]
    pub share: Rate,
}

/// Counts by decade.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// From 10^n up to 10^(n+1), ascending, without gaps.
    pub decades: Vec<Decade>,
    /// Exactly zero.
    pub zero: Rate,
    /// Infinite.
    pub infinite: Rate,
    /// No number.
    pub nan: Rate,
}

/// Numbers of a decade.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decade {
    /// The n of 10^n, where it begins.
    pub exponent: i32,
    /// Its share.
    #[serde(flatten)]
    pub share: Rate,
}
