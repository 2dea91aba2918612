//! What the method is to the program.

use campaign::{Aim, SelectionWords, TargetError};
use inject::CapsuleTarget;
use std::sync::Arc;

use super::command::GROUPS;
use super::settings::Settings;
use super::studies::STUDIES;
use super::target::{GpuQin, ParsedSettings};
use crate::kit::MethodSettings;
use crate::method::{Applied, Command, StudyOffer};

/// GPU-Qin.
pub struct GpuQinMethod;

impl crate::Method for GpuQinMethod {
    fn name(&self) -> &'static str {
        Settings::NAME
    }

    fn about(&self) -> &'static str {
        "a profile by the popularity of its group of threads, an instruction of it, any thread"
    }

    fn example(&self) -> Option<&'static str> {
        Some(
            "gpu-qin:iterations=none,window=1600, or gpu-qin:choice=unbiased for the same faults drawn from all \
             instructions of all threads",
        )
    }

    fn check(&self, words: &SelectionWords) -> Result<(), TargetError> {
        ParsedSettings::of(words).map(drop)
    }

    fn aims(&self, words: &SelectionWords) -> Result<Vec<Aim>, TargetError> {
        let place = "a destination register of an instruction, after it has executed, or a register from which it takes an \
                     address, or a source if it writes predicates only, before it executes";
        let aimed = SelectionWords { model: words.model.clone(), ..SelectionWords::default() };
        Ok(vec![Aim { words: aimed, place: Some(place.to_owned()) }])
    }

    fn apply(&self, capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Box<dyn Applied>, TargetError> {
        Ok(Box::new(GpuQin::new(capsule, words)?))
    }

    fn studies(&self) -> &'static [StudyOffer] {
        &STUDIES
    }

    fn commands(&self) -> &'static [Command] {
        const { &[GROUPS] }
    }
}
