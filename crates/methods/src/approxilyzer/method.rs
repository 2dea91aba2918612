//! What the method is to the program.

use campaign::{Aim, SelectionWords, TargetError};
use inject::CapsuleTarget;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::command::COMMAND;
use super::examples::SiteExamples;
use super::learned::LearningStudy;
use super::settings::NAME;
use super::target::{Approxilyzer, parsed};
use super::truth::Truth;
use super::validation::Validation;
use crate::kit::StudyError;
use crate::method::{Applied, Command, Estimates, ExhaustiveCampaign, OutcomeLearning};

/// Approxilyzer.
pub struct ApproxilyzerMethod;

impl crate::Method for ApproxilyzerMethod {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "one pilot for each class of error sites whose threads go the same way"
    }

    fn example(&self) -> Option<&'static str> {
        Some(
            "approxilyzer:coverage=0.99,decisions=50; `beamline approxilyzer` makes such a campaign with as many runs as it takes",
        )
    }

    fn rates_elsewhere(&self) -> Option<&'static str> {
        Some(
            "the runs are pilots of classes, and error sites of known outcome have no run; the rates of all sites are those of the method",
        )
    }

    fn check(&self, words: &SelectionWords) -> Result<(), TargetError> {
        parsed(words).map(drop)
    }

    fn aims(&self, words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
        parsed(words)?;
        Ok(vec![Aim::from(SelectionWords { method: None, ..words.clone() })])
    }

    fn apply(&self, capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Box<dyn Applied>, TargetError> {
        let method = Approxilyzer::new(capsule, words)?;
        match method.settings().validate {
            Some(size) => Ok(Box::new(Validation::new(Arc::new(method), size)?)),
            None => Ok(Box::new(method)),
        }
    }

    fn learning(&self) -> Option<OutcomeLearning> {
        Some(learn)
    }

    fn commands(&self) -> &'static [Command] {
        const { &[COMMAND] }
    }
}

fn learn(campaigns: &[ExhaustiveCampaign], jobs: usize, stop: &AtomicBool) -> Result<Estimates, StudyError> {
    let examples = |ExhaustiveCampaign { workload, capsule, results }: &ExhaustiveCampaign| {
        let truth = Truth::of(capsule, results, &results.config().selection.kernel, stop);
        truth.and_then(|truth| SiteExamples::of(workload, &truth)).map_err(|error| match error {
            StudyError::Refused(why) => StudyError::Refused(format!("learn from the campaign of {workload}: {why}")),
            other => other,
        })
    };
    let examples: Result<Vec<SiteExamples>, StudyError> = campaigns.iter().map(examples).collect();
    Ok(LearningStudy::of(examples?, jobs)?.estimates())
}
