//! What a study came to: tables and plots as data, for terminals, pages and programs alike.
//!
//! Whoever measures something makes one of these; `report` knows how each kind of value is written, and nothing of what
//! was measured.

mod sheet;

pub use sheet::{Sheet, SheetColumn, SheetValue};

use serde::Serialize;

/// A study of one or more capsules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Study {
    /// `beamline.study/1`
    pub format: &'static str,
    /// The word that asks for it.
    pub name: &'static str,
    /// What is asked.
    pub title: String,
    /// How it is answered: what was run, what is counted.
    pub method: String,
    /// The answers.
    pub tables: Vec<Table>,
    /// The answers as lines and dots.
    pub plots: Vec<Plot>,
}

/// Rows under columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, as long as the columns are many.
    pub rows: Vec<Vec<Cell>>,
    /// What is to be said below it, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number of things.
    Count(u64),
    /// A share of a whole, from 0 to 1.
    Share(f64),
    /// A rate and its bounds, from 0 to 1.
    Rate {
        /// The estimate.
        rate: f64,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// Bounds of a rate, from 0 to 1, without an estimate.
    Bounds {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// A difference of two rates.
    Difference(f64),
    /// Any number.
    Number(f64),
    /// Any number and its bounds.
    Quantity {
        /// The estimate.
        value: f64,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// Nothing is known.
    None,
}

/// Lines, dots or bars over an axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plot {
    /// A word for its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The horizontal axis, with its unit.
    pub x: String,
    /// Whether that axis is logarithmic.
    pub logarithmic: bool,
    /// Names on the horizontal axis, at 0, 1, 2, …, instead of numbers.
    pub names: Vec<String>,
    /// The vertical axis, with its unit; shares are in percent.
    pub y: String,
    /// What the vertical axis is of.
    pub vertical: Vertical,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// What a vertical axis is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vertical {
    /// Shares of a whole, from 0 to 1, shown in percent.
    #[default]
    Shares,
    /// Counts from 0, by powers of ten.
    Counts,
}

/// How points of a plot are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Dots, with bounds where there are any.
    Dots,
    /// A line that goes up at each point and stays, as of a distribution.
    Steps,
    /// Bars on those of the series before at the same place: parts of a whole.
    Stacked,
    /// Bars beside those of the other series, as of histograms.
    Bars,
    /// Boxes from one bound to the other with a line across, as of the quartiles and the median.
    Boxes,
    /// Thin lines from one bound to the other, below boxes of the same place.
    Whiskers,
}

/// One line, or dots with bounds, or parts of bars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// How its points are drawn.
    pub mark: Mark,
    /// The points: x, y, and the bounds of y if there are any.
    pub points: Vec<Point>,
}

/// A point of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// The bounds of y.
    pub bounds: Option<(f64, f64)>,
}

/// Arrays as pictures, one frame after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// A word for its file.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// The frames, of one size.
    pub frames: Vec<Frame>,
    /// The number of the frame that programs show which know no animation.
    pub still: usize,
}

/// Panels side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// A line below the title of the picture.
    pub caption: String,
    /// The panels, from the left.
    pub panels: Vec<Panel>,
}

/// An array as a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// A line above it.
    pub caption: String,
    /// The meanings of the values 0 and 1, below its scale of colours; empty where it has none.
    pub ends: [String; 2],
    /// How many values a row has.
    pub width: usize,
    /// What colours mean.
    pub palette: Palette,
    /// The values, from 0 to 1, row by row; NaN is no number.
    pub values: Vec<f64>,
    /// A grey picture of this size that shows through them, from 0 to 1; empty for none.
    pub below: Vec<f64>,
}

/// The colours of values from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// From black to white.
    Grey,
    /// From black over red and yellow to white, as of something hot.
    Heat,
}

impl Study {
    /// A study without answers yet.
    #[must_use]
    pub fn new(name: &'static str, title: impl Into<String>, method: impl Into<String>) -> Self {
        Self {
            format: "beamline.study/1",
            name,
            title: title.into(),
            method: method.into(),
            tables: Vec::new(),
            plots: Vec::new(),
        }
    }
}

impl Table {
    /// A table without rows yet.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { title: title.into(), columns, rows: Vec::new(), notes: Vec::new() }
    }
}

/// A count as people read it, for plain text: `1 234 567`.
#[must_use]
pub fn spaced(n: u64) -> String {
    set_apart(n, ' ')
}

/// A count whose groups of three digits are set apart by `space`.
#[must_use]
pub fn set_apart(n: u64, space: char) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(space);
        }
        text.push(digit);
    }
    text
}

impl Cell {
    /// Words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}
