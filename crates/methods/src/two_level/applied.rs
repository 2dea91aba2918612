//! What the method makes of the rows of a campaign.

use campaign::{Results, StoreError};

use super::show::{self, StudyParts};
use super::target::TwoLevel;
use crate::method::{Applied, Estimates};

impl Applied for TwoLevel {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        let (composition, counted) = self.compose(results)?;
        Ok(show::estimates(&StudyParts {
            method: self,
            composition: &composition,
            counted: &counted,
            target: None,
            fleet: None,
            beam: None,
            protection: None,
        }))
    }
}
