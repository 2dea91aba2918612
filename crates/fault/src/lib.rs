//! What can go wrong, as data.
//!
//! A [`Fault`] says where and when a bit flips, and has a text id that prints and parses to itself. A [`Selection`]
//! says which dynamic instructions a campaign draws from; a [`Census`] counts them by thread, so that a uniform
//! draw finds its site. Nothing here touches a machine.

mod census;
mod fault;
mod names;
mod selection;

pub use census::{Census, Member};
pub use fault::{Fault, Model, ParseFaultError, Target};
pub use names::base_name;
pub use selection::{Ranges, Selection, SelectionError, elements};
