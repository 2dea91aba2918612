//! Loads and stores: addresses of a warp, and the bytes behind them in every state space.
//!
//! Every combination of space, element and kind of address is a small function of its own. Two shapes are told apart
//! by looking at three lanes first, in the warp and in each of its halves: neighbouring lanes at neighbouring addresses,
//! and all lanes at one address. The rest is one pass over the lanes.

mod address;
mod block;
mod executing;
mod global;
mod local;
mod one;
mod order;
mod space;
mod table;
mod word;

pub(crate) use executing::{Addresses, Executing, LaneTrap, Memories, addresses, inside};
pub(crate) use local::LocalWindow;
pub(crate) use one::{exchange_one, read_one, write_one};
pub(crate) use table::{load, store};
pub(crate) use word::{Word, read_row, write_row};
