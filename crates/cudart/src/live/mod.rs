//! What the process of a live run and the one that watches it tell each other.
//!
//! A live run is the application itself with one fault. Before it starts, what its launches do without a fault is
//! written into a [`golden_trace`]; its process replays the launches before the faulty one from there, and writes what
//! happens after the fault into a [`report`]. Whether it does the same as in the recording up to the fault is decided
//! event by event, by the [fingerprint](device_op::DeviceOp::fingerprint) of each.
//!
//! Both are memory files that the process inherits. Their numbers, and what it is to do, stand in the variable
//! [`VARIABLE`] as words of the form `key=value`:
//!
//! ```text
//! BEAMLINE_LIVE="trace=5 report=9 parent=4711 fuel=10000 loops=0 replay=1 fault=launch=3,cta=17,…"
//! ```

pub mod corruption;
pub mod device_op;
pub mod golden_trace;
pub mod orders;
pub mod report;

pub use orders::{Orders, VARIABLE};
