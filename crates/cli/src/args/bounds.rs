//! What a command fails by.

use campaign::Bound;
use clap::Args as Group;

/// What a command fails by.
#[derive(Debug, Group)]
pub(crate) struct Bounds {
    /// Exit with 2 if a rate is beyond a bound with its whole interval, for example sdc>0.05, due.hang>=1% or
    /// gemm/sdc+due>0.1; may be repeated
    #[arg(long, value_name = "EXPR")]
    pub(crate) fail_if: Vec<Bound>,
    /// Exit with 2 also if the interval of a rate holds its bound
    #[arg(long)]
    pub(crate) fail_if_undecided: bool,
}
