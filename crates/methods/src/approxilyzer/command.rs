//! `beamline approxilyzer`: every error site of a program judged from one run of each class.

use super::settings::Settings;
use super::show;
use super::tally::SiteTally;
use super::target::Approxilyzer;
use crate::kit::{Campaigns, FinishedCampaign, StudyError};
use crate::method::{Answer, Applied, Command, CommandOption, Estimates, Request};
use campaign::{Results, StoreError};

/// The options that are parameters of the method, by the same names.
const KEYS: [&str; 4] = ["coverage", "decisions", "guards", "apart"];

/// The command.
pub(super) const COMMAND: Command = Command {
    name: "approxilyzer",
    about: "Judge every error site of a program from one run of each class of sites",
    options: &[
        CommandOption::any(
            "coverage",
            "SHARE",
            Some("0.99"),
            "Study classes, the largest first, up to this share of the sites",
        ),
        CommandOption::any(
            "decisions",
            "N|all",
            Some("50"),
            "Join instances of an instruction whose next N branch decisions are the same",
        ),
        CommandOption::any("guards", "true|false", Some("true"), "Count guards of other instructions as decisions"),
        CommandOption::any(
            "apart",
            "none|threads+blocks+launches",
            Some("none"),
            "Keep instances in different threads of a block, blocks or launches apart",
        ),
    ],
    without: &[("plot", "it draws none")],
    run,
};

fn run(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let mut settings = Settings::default();
    for key in KEYS {
        if let Some(value) = request.options.get::<String>(key)? {
            settings.set(key, &value).map_err(|error| StudyError::Words(error.to_string()))?;
        }
    }
    let word = settings.to_string();
    let method = Approxilyzer::new(&request.capsule, &campaigns.selection(&word))?;
    if method.runs() == 0 {
        let Estimates { json, study } = show::estimates(&method, &Default::default());
        return Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new() });
    }
    let FinishedCampaign { results, .. } = campaigns.make(&request.capsule, &word, &method, method.runs())?;
    let Estimates { json, study } = method.estimates(&results)?;
    Ok(Answer { json, study, files: Vec::new(), pictures: Vec::new() })
}

impl Applied for Approxilyzer {
    fn estimates(&self, results: &Results) -> Result<Estimates, StoreError> {
        Ok(show::estimates(self, &SiteTally::of(results)?))
    }
}
