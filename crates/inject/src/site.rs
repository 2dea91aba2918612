//! A fault in the words of a campaign: its spot, and the labels of its place and time.

use campaign::{Intent, LabelColumn, Labels, RunFailure, Site, Spot};
use fault::Fault;

/// What is said of each site: where and when in the program's execution it is, and what happens to which bits.
pub static LABELS: [LabelColumn; 6] = [
    LabelColumn::number("launch", "the launch, from 0 in their order"),
    LabelColumn::number("cta", "the block, linear in its grid"),
    LabelColumn::number("thread", "the thread, linear in its block"),
    LabelColumn::number("dynamic", "the dynamic instruction of the thread, from 0"),
    LabelColumn::text("model", "the fault model, as ids write it"),
    LabelColumn::text("bits", "the bits that are hit or the value that replaces them, as ids write them"),
];

/// The place and time that a site's labels name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Coordinates {
    /// The launch, from 0 in their order.
    pub launch: u32,
    /// The block, linear in its grid.
    pub cta: u64,
    /// The thread, linear in its block.
    pub thread: u32,
    /// The dynamic instruction of the thread, from 0.
    pub dynamic: u64,
}

impl Coordinates {
    /// Those of a site whose labels are [`LABELS`]; `None` if it lacks one.
    #[must_use]
    pub fn of(site: &Site) -> Option<Self> {
        let number = |position| site.labels.number(position);
        let small = |position| number(position).and_then(|number| u32::try_from(number).ok());
        Some(Self { launch: small(0)?, cta: number(1)?, thread: small(2)?, dynamic: number(3)? })
    }

    /// The labels of a run that is given up here: nothing happens to any bit.
    fn labels(self, model: &str, bits: String) -> Labels {
        let Self { launch, cta, thread, dynamic } = self;
        Labels::new(vec![launch.into(), cta.into(), thread.into(), dynamic.into(), model.into(), bits.into()])
    }
}

impl From<&Fault> for Coordinates {
    fn from(fault: &Fault) -> Self {
        let &Fault { launch, cta, thread, dynamic, .. } = fault;
        Self { launch, cta, thread, dynamic }
    }
}

/// The site of a fault. What of the spot is known of the instruction is given.
#[must_use]
pub fn site_of(fault: &Fault, spot: Spot) -> Site {
    let labels = Coordinates::from(fault).labels(fault.model.name(), fault.model.bits());
    Site::new(fault.to_string(), Spot { target: fault.target.to_string(), ..spot }, labels)
}

/// The site of a run that is given up when its fault would have been at a place and time.
#[must_use]
pub fn given_up(at: Coordinates, spot: Spot, reason: impl Into<String>) -> Site {
    let intent = Intent::GivenUp(reason.into());
    Site { intent, ..Site::new(String::new(), spot, at.labels("", String::new())) }
}

/// The fault that a site names.
///
/// # Errors
/// If it names none, or its id does not parse.
pub fn fault_of(site: &Site) -> Result<Fault, RunFailure> {
    let id = site.fault().ok_or_else(|| RunFailure::new("run a fault that was given up; this is a bug"))?;
    id.parse().map_err(|error: fault::ParseFaultError| RunFailure::from_error(&error))
}
