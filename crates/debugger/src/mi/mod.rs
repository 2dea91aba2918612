//! Sessions of cuda-gdb, by its machine interface.
//!
//! A session is a process like any other that we start ([`process`]): it leads a group, and the group ends
//! when the session is dropped, whatever becomes of us. Every read has a deadline; nothing sleeps.

mod record;
mod session;
mod stop;

pub(crate) use session::{Session, Trouble};
pub(crate) use stop::{Focus, Stop, address};
