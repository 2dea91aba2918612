//! Faults in quantised neural networks.

pub mod arithmetic;
pub mod delta;
pub mod fault;
pub mod file;
pub mod forward;
pub mod hit;
pub mod images;
pub mod network;
