//! What a run is planned to hit.
//!
//! The campaign knows of a site what results are grouped by, its [`Spot`], and takes everything else as the target
//! declares it: [`LabelColumn`]s, one value of each in [`Labels`]. A target of another kind (another instruction set, a
//! neural network, a program on a processor) has other labels, and needs no change here.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use outcome::words;

/// The number of a run in its campaign, from 0; with the seed, it determines the run's random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunIndex(pub u64);

impl fmt::Display for RunIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What one run is planned to hit, and what the target knows of it without running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The fault, or why there is none.
    pub intent: Intent,
    /// The place in the program.
    pub spot: Spot,
    /// What the target declares in [`Planner::labels`](crate::Planner::labels), in that order.
    pub labels: Labels,
    /// How many sites of the population the run stands for: one, unless a method chose it to represent others. Rates
    /// count it so often.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: u64,
    /// The stratum that it was drawn from, by its number in [`Planner::strata`](crate::Planner::strata), if the campaign
    /// has strata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stratum: Option<u32>,
}

fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(weight: &u64) -> bool {
    *weight == 1
}

/// What a run is to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Inject the fault with this text id, which alone is enough to repeat the run.
    Fault(String),
    /// Nothing: the method that chooses sites gives the run up, for this reason. Its row says that nothing landed.
    GivenUp(String),
}

/// A place in the program that faults hit: an operand of a static instruction, or what stands for that in the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Spot {
    /// The part of the program that runs by itself: a kernel, a layer.
    pub kernel: String,
    /// The static instruction, by its number in the kernel.
    pub pc: u32,
    /// The operand, such as `dst0`.
    pub target: String,
    /// The instruction group.
    pub group: String,
    /// The instruction's mnemonic.
    pub opcode: String,
    /// The source file, where known.
    pub file: Option<String>,
    /// The source line, where known.
    pub line: Option<u32>,
}

/// What a target says of each site besides its spot: a column of the rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelColumn {
    /// Its name: lower-case letters, digits and `_`, a letter first; unlike the columns that all rows have.
    pub name: Cow<'static, str>,
    /// What its values are.
    pub kind: LabelKind,
    /// What it means, for those who read the rows.
    pub meaning: Cow<'static, str>,
}

words! {
    /// What the values of a label are.
    pub enum LabelKind ("kind of label") {
        /// Whole numbers from 0.
        Number = "number",
        /// Texts.
        Text = "text",
    }
}

impl LabelColumn {
    /// A column of numbers.
    #[must_use]
    pub const fn number(name: &'static str, meaning: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: LabelKind::Number, meaning: Cow::Borrowed(meaning) }
    }

    /// A column of texts.
    #[must_use]
    pub const fn text(name: &'static str, meaning: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), kind: LabelKind::Text, meaning: Cow::Borrowed(meaning) }
    }
}

/// The value of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Label {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
    /// The site has none.
    None,
}

impl From<u32> for Label {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u64> for Label {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<String> for Label {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// The labels of a site, by position: the names are those of the target's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labels(Vec<Label>);

impl Labels {
    /// Labels in the order of the target's columns.
    #[must_use]
    pub fn new(labels: Vec<Label>) -> Self {
        Self(labels)
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> &[Label] {
        &self.0
    }

    /// The number at a position; `None` for a text, and where there is none.
    #[must_use]
    pub fn number(&self, position: usize) -> Option<u64> {
        match self.0.get(position)? {
            Label::Number(number) => Some(*number),
            Label::Text(_) | Label::None => None,
        }
    }

    /// The text at a position; `None` for a number, and where there is none.
    #[must_use]
    pub fn text(&self, position: usize) -> Option<&str> {
        match self.0.get(position)? {
            Label::Text(text) => Some(text),
            Label::Number(_) | Label::None => None,
        }
    }
}

impl Site {
    /// A site that stands for itself alone.
    #[must_use]
    pub fn new(fault: String, spot: Spot, labels: Labels) -> Self {
        Self { intent: Intent::Fault(fault), spot, labels, weight: 1, stratum: None }
    }

    /// The id of the fault; none of a run that is given up.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        match &self.intent {
            Intent::Fault(id) => Some(id),
            Intent::GivenUp(_) => None,
        }
    }

    /// The same with the names of its labels, which are those of these columns.
    #[must_use]
    pub fn named(&self, columns: &[LabelColumn]) -> NamedSite {
        let names = columns.iter().map(|column| column.name.clone().into_owned());
        NamedSite {
            id: self.fault().map(str::to_owned),
            given_up: self.given_up().map(str::to_owned),
            spot: self.spot.clone(),
            labels: names.zip(self.labels.all().iter().cloned()).collect(),
        }
    }

    /// Why the run is given up, if it is.
    #[must_use]
    pub fn given_up(&self) -> Option<&str> {
        match &self.intent {
            Intent::Fault(_) => None,
            Intent::GivenUp(reason) => Some(reason),
        }
    }
}

/// A site by itself, for documents: flat, with its labels under their names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSite {
    /// The id of the fault; absent from a run that is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Why the run is given up, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_up: Option<String>,
    /// The place in the program.
    #[serde(flatten)]
    pub spot: Spot,
    /// The labels, by name.
    #[serde(flatten)]
    pub labels: BTreeMap<String, Label>,
}

impl NamedSite {
    /// The number that a label holds; `None` if it holds none.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.labels.get(name)? {
            Label::Number(number) => Some(*number),
            Label::Text(_) | Label::None => None,
        }
    }

    /// The text that a label holds; `None` if it holds none.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.labels.get(name)? {
            Label::Text(text) => Some(text),
            Label::Number(_) | Label::None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_site_is_flat_and_read_back_as_it_was() {
        let columns = [LabelColumn::number("launch", ""), LabelColumn::text("bits", ""), LabelColumn::text("none", "")];
        let spot = Spot { kernel: "k".into(), line: Some(3), ..Spot::default() };
        let site = Site::new("id".into(), spot, Labels::new(vec![3_u32.into(), "7".into(), Label::None]));
        let named = site.named(&columns);
        let json = serde_json::to_value(&named).unwrap();
        assert_eq!([&json["id"], &json["kernel"], &json["bits"]], ["id", "k", "7"]);
        assert_eq!((json["launch"].as_u64(), json["none"].is_null()), (Some(3), true));
        assert_eq!(serde_json::from_value::<NamedSite>(json).unwrap(), named);
        assert_eq!((named.number("launch"), named.text("bits"), named.number("bits")), (Some(3), Some("7"), None));
    }
}
