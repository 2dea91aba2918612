//! Studies of what the ISA leaves open: how much outcomes depend on what a machine makes of it.
//!
//! The same faults run on machines that differ in one thing. As the golden run is the same on all of them, so are the sites
//! of a seed, and outcomes can be compared run by run.

mod addresses;
mod compared;
mod order;

use crate::method::StudyOffer;

/// The studies.
pub static STUDIES: &[StudyOffer] = &[
    StudyOffer {
        name: "addresses",
        about: "what addresses decide that a program was not given",
        make: addresses::study,
    },
    StudyOffer { name: "order", about: "what the order of warps and blocks decides", make: order::study },
];
