//! `beamline fit`: the rate at which an application fails under particle strikes.

use campaign::SelectionWords;
use stats::{Confidence, Margin, sample_size};
use std::collections::BTreeMap;

use super::beam_test::BeamTest;
use super::events::FLUX;
use super::fleet::Fleet;
use super::ipa::Unit;
use super::issue::KnownIssueRate;
use super::protection::Protection;
use super::settings::{SdcKind, Settings};
use super::show::{self, StudyParts};
use super::target::TwoLevel;
use crate::kit::{Campaigns, MethodSettings, StudyError, lasting};
use crate::method::{Answer, Command, CommandOption, Request};

/// How tight each chance of an end is, if nothing is said: as in the paper.
const MARGIN: &str = "0.03";

/// Runs of a cell, at most; more is a slip of the keyboard.
const MOST: u64 = 10_000_000;

/// The command.
pub(super) const FIT: Command = Command {
    name: "fit",
    about: "Compose the rate of silent data corruption from rates of strikes and from faults (the two-level model)",
    options: &[
        CommandOption::any(
            "ipa",
            "NAME|FILE",
            Some("K40"),
            "Rates of strikes by instruction type and manifestation: a bundled table, or a file",
        ),
        CommandOption::any(
            "issue",
            "RATE|NAME|FILE|none",
            None,
            "Instructions that a multiprocessor issues in a cycle: a number, measured ones of the bundled workloads (H200), the \
             paper's for programs of like name (K40), a file, or none, for rates of one instruction in each cycle [default: H200]",
        ),
        CommandOption::of_words(
            "grouping",
            "GROUPING",
            &[
                ("alike", "the instructions that the table counts with the measured ones"),
                ("measured", "the measured instructions alone"),
            ],
            Some("alike"),
            "Which instructions have the rates of a type",
        ),
        CommandOption::any(
            "sdc",
            "any|bad|ERROR",
            Some("any"),
            "What counts as silent data corruption: outputs that differ at all, as in the paper, those that fail their criterion, or \
             those with an element whose relative error is above a number, such as 1e-6",
        ),
        CommandOption::any(
            "margin",
            "E",
            Some(MARGIN),
            "Make as many faults of each type and manifestation as bound its chance within ±E at 95 %",
        ),
        CommandOption::any(
            "target",
            "RATE",
            None,
            "Say whether the rate exceeds this one, in the unit of the IPA table; needs an issue rate",
        ),
        CommandOption::any(
            "protect",
            "KERNEL[=COVERAGE],…",
            None,
            "Tell the rate that is left where kernels are protected; a coverage is the share of SDC that is removed [default: 1]",
        ),
        CommandOption::any(
            "gpus",
            "N",
            None,
            "Tell the mean time to SDC of this number of GPUs; needs an IPA table in FIT and an issue rate",
        ),
        CommandOption::any(
            "beam",
            "EVENTS/FLUENCE",
            None,
            "Compare with a beam test of the application: silent corruptions, and neutrons for each cm²; needs an IPA table in FIT and an \
             issue rate",
        ),
        CommandOption::any(
            "flux",
            "N",
            Some(FLUX),
            "For --beam, neutrons for each cm² and hour at which the rates of the IPA table hold",
        ),
    ],
    without: &[],
    criteria: None,
    run: fit,
};

/// Runs that each cell has, so that every chance is known to a margin.
///
/// # Errors
/// If the margin is none.
pub fn runs_of_cell(margin: f64) -> Result<u64, StudyError> {
    let known = Margin::new(margin).map_err(|error| StudyError::Words(error.to_string()))?;
    let runs = sample_size(known, Confidence::PERCENT_95);
    if runs > MOST {
        return Err(StudyError::Words(format!(
            "take the margin {margin}: it asks for {runs} faults of each type and manifestation; \
            0.001 is tight"
        )));
    }
    Ok(runs)
}

fn fit(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let mut files = BTreeMap::new();
    let settings = Settings::of_options(request.options.of(&["ipa", "issue", "grouping", "sdc"]))?;
    let settings = settings.held(&mut files).map_err(StudyError::Words)?;
    let target = request.options.get::<f64>("target")?;
    if let Some(target) = target.filter(|target| !(target.is_finite() && *target > 0.0)) {
        return Err(StudyError::Words(format!("compare with the target {target}: it must be a rate above 0")));
    }
    let runs = runs_of_cell(request.options.get("margin")?.unwrap_or_default())?;
    let words = SelectionWords { files, ..campaigns.selection(settings.choice()) };
    let mut method = TwoLevel::new(&request.capsule, &words)?;
    let (fleet, beam) = in_fit(request, &method)?;
    let kernels = method.shares().kernels.keys().map(String::as_str);
    let protect = request.options.get::<String>("protect")?;
    let protection = protect.map(|words| Protection::read(&words, kernels)).transpose().map_err(StudyError::Words)?;
    // Rows depend neither on the issue rate nor on what counts, so that others are composed of the same ones.
    let kept = Settings { issue: "none".to_owned(), sdc: SdcKind::Any, ..settings };
    let label = Settings { ipa: lasting::short(&kept.ipa), ..kept.clone() }.choice().to_string();
    let runs = runs * method.cells() as u64;
    method.keep_files_of(&kept).map_err(StudyError::Words)?;
    let finished = campaigns.planned(&request.capsule, &label, kept.choice(), &method, runs)?;
    let (composition, counted) = method.compose(&finished.results)?;
    let estimates = show::estimates(&StudyParts {
        method: &method,
        composition: &composition,
        counted: &counted,
        target,
        fleet,
        beam,
        protection: protection.as_ref(),
    });
    Ok(Answer {
        json: estimates.json,
        study: estimates.study,
        files: Vec::new(),
        pictures: Vec::new(),
        sheets: Vec::new(),
    })
}

/// The fleet and the beam test that a request names, for which the rates of a method have to be in FIT.
fn in_fit(request: &Request, method: &TwoLevel) -> Result<(Option<Fleet>, Option<BeamTest>), StudyError> {
    let options = &request.options;
    let flux = options.get("flux")?.unwrap_or_default();
    let fleet = options.get::<u64>("gpus")?.map(Fleet::of).transpose().map_err(StudyError::Words)?;
    let beam = options.get::<String>("beam")?.map(|words| BeamTest::of(&words, flux));
    let beam = beam.transpose().map_err(StudyError::Words)?;
    if beam.is_none() && options.first_explicit(&["flux"]).is_some() {
        return Err(StudyError::Words("take --flux: it is for --beam, which is missing".to_owned()));
    }
    if let Some(key) = options.first_explicit(&["gpus", "beam"]) {
        let table = method.table();
        check_fit(&table.name, &table.unit(), method.issue())
            .map_err(|why| StudyError::Words(format!("take --{key}: {why}")))?;
    }
    Ok((fleet, beam))
}

/// Whether the rates of a table in a unit, at an issue rate, are in FIT.
fn check_fit(table: &str, unit: &Unit, issue: Option<&KnownIssueRate>) -> Result<(), String> {
    if let Unit::Relative(reference) = unit {
        return Err(format!(
            "the rates of the IPA table `{table}` are relative to {reference}, and rates in FIT are needed; give --ipa a table in FIT, \
             such as `beamline events --table` writes"
        ));
    }
    let unknown = || "the issue rate of the application is not known; say it with --issue".to_owned();
    issue.map(drop).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_that_are_not_in_fit_are_refused() {
        let known = KnownIssueRate { rate: 2.0, source: "given by --issue".into(), profile: None };
        let relative = Unit::Relative("IMAD".into());
        assert_eq!(check_fit("mine", &Unit::Fit, Some(&known)), Ok(()));
        for (unit, issue, part) in [
            (&relative, Some(&known), "`mine` are relative to IMAD, and rates in FIT are needed"),
            (&Unit::Fit, None, "the issue rate of the application is not known; say it with --issue"),
        ] {
            let error = check_fit("mine", unit, issue).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
