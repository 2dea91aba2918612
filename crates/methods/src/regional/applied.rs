//! What the method makes of the rows of a campaign.

use campaign::{Results, StoreError};

use super::show;
use super::tally::Tally;
use super::target::Regional;
use crate::method::{Applied, Estimates};

impl Applied for Regional {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        Ok(show::estimates(self, &Tally::of(results)?))
    }
}
