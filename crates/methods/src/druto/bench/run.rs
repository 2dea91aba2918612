//! The inputs of a bench, run one by one or several at once, with what is known of them.

use std::panic::resume_unwind;
use std::thread;

use space::Point;

use super::{Bench, InputFacts, Ready, RefusedInput, nothing_said};
use crate::druto::fitness::Fitness;
use crate::druto::open_inputs::MOST_INSTRUCTIONS;
use crate::kit::{Realised, StudyError, now};

impl Bench<'_, '_> {
    /// Runs an input, or takes it from those that are still open; it costs the same. The inner error says why the input cannot
    /// be run.
    pub(in crate::druto) fn run(&mut self, point: &Point) -> Result<Result<Ready, String>, StudyError> {
        let opened = self.open(point)?;
        self.cost.seconds += opened.as_ref().map_or_else(|refused| refused.seconds, |(_, seconds)| *seconds);
        Ok(opened.map(|(capsule, _)| capsule).map_err(|refused| refused.why))
    }

    /// Inputs that are run at once: one for each worker, if memory has room for as many that are as large as they may be.
    pub(in crate::druto) fn at_once(&self) -> usize {
        let room = MOST_INSTRUCTIONS / self.inputs.space().limits().instructions.max(1);
        self.campaigns.workers().min(room as usize).max(1)
    }

    /// Runs those of the inputs that are not known, all at once, so that what asks for them next finds them open. One that had too
    /// little time or room beside the others is run again when it is asked for.
    pub(in crate::druto) fn run_at_once(&mut self, points: &[Point]) -> Result<(), StudyError> {
        let mut unknown = Vec::new();
        for point in points {
            let text = point.to_string();
            if self.known_facts(&text)?.is_none() && self.open.get(&text).is_none() {
                unknown.push((point, text));
            }
        }
        if unknown.len() < 2 || self.campaigns.is_stopped() {
            return Ok(());
        }
        let inputs = &*self.inputs;
        let run = |point| {
            let start = now();
            inputs.realise(point).map(|realised| (realised, start.elapsed().as_secs_f64()))
        };
        let realised: Vec<_> = thread::scope(|scope| {
            let all: Vec<_> = unknown.iter().map(|(point, _)| scope.spawn(move || run(point))).collect();
            all.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        for ((_, text), realised) in unknown.into_iter().zip(realised) {
            match realised? {
                (Realised::Ready(capsule, process), _) => drop(self.opened(text, *capsule, process)),
                (Realised::Not(why), seconds) => {
                    let refused = self.refuse(text.clone(), why, seconds);
                    self.campaigns.keep(&text, &self.words_of_facts(), &Err::<InputFacts, _>(refused))?;
                }
                (Realised::NotNow(_), _) => {}
            }
        }
        Ok(())
    }

    /// Keeps an input open that was run.
    fn opened(&mut self, text: String, capsule: Ready, process: f64) -> (Ready, f64) {
        let golden = capsule.golden_run();
        let seconds = process + golden.seconds() + golden.race_seconds();
        self.open.put(text, (capsule.clone(), seconds));
        (capsule, seconds)
    }

    fn words_of_facts(&self) -> String {
        format!("input facts of {}", self.kernel)
    }

    /// The facts of an input, if they are known or kept.
    fn known_facts(&mut self, text: &str) -> Result<Option<&Result<InputFacts, RefusedInput>>, StudyError> {
        if !self.known.contains_key(text)
            && let Some(facts) = self.campaigns.known(text, &self.words_of_facts())?
        {
            self.known.insert(text.to_owned(), facts);
        }
        Ok(self.known.get(text))
    }

    /// An input with its golden run, and the seconds that both took.
    pub(in crate::druto) fn open(&mut self, point: &Point) -> Result<Result<(Ready, f64), RefusedInput>, StudyError> {
        if self.campaigns.is_stopped() {
            return Err(self.campaigns.interrupted());
        }
        let text = point.to_string();
        if let Some(Err(why)) = self.known.get(&text) {
            return Ok(Err(why.clone()));
        }
        let start = now();
        let opened = match self.open.get(&text) {
            Some(opened) => opened,
            None => match (self.inputs.realise(point)?, start.elapsed().as_secs_f64()) {
                (Realised::Ready(capsule, process), _) => self.opened(text.clone(), *capsule, process),
                (Realised::Not(why), seconds) => return Ok(Err(self.refuse(text, why, seconds))),
                // It may run another time, so that it is not kept.
                (Realised::NotNow(why), seconds) => {
                    self.passing.insert(text.clone());
                    return Ok(Err(self.refuse(text, why, seconds)));
                }
            },
        };
        if self.kernel.is_empty() || self.known.contains_key(&text) {
            return Ok(Ok(opened));
        }
        let golden = opened.0.golden_run();
        let Some(fitness) = Fitness::all(golden, &self.kernel) else {
            let why = format!("it does not launch {}", fault::base_name(&self.kernel));
            return Ok(Err(self.refuse(text, why, opened.1)));
        };
        let facts = InputFacts { instructions: golden.thread_instructions(), fitness, seconds: opened.1 };
        self.known.insert(text, Ok(facts));
        Ok(Ok(opened))
    }

    /// Whether an input does the work that is known of it when it is run twice.
    pub(in crate::druto) fn repeats(&mut self, point: &Point) -> Result<bool, StudyError> {
        let Ok((capsule, _)) = self.open(point)? else { return Ok(false) };
        let Realised::Ready(again, _) = self.inputs.realise(point)? else { return Ok(false) };
        let known = self.known_instructions(point);
        Ok(again.golden_run().thread_instructions() == known && self.work_of(&again) == self.work_of(&capsule))
    }

    fn refuse(&mut self, text: String, why: String, seconds: f64) -> RefusedInput {
        let refused = RefusedInput { why, seconds };
        self.known.insert(text, Err(refused.clone()));
        refused
    }

    /// The facts of an input.
    pub(in crate::druto) fn facts(&mut self, point: &Point) -> Result<Result<InputFacts, String>, StudyError> {
        let text = point.to_string();
        if self.known_facts(&text)?.is_none() {
            drop(self.open(point)?);
            let what = self.words_of_facts();
            let facts = self.known.entry(text.clone()).or_insert_with(|| Err(nothing_said()));
            if !self.passing.contains(&text) {
                self.campaigns.keep(&text, &what, facts)?;
            }
        }
        let facts = self.known.get(&text).cloned().unwrap_or_else(|| Err(nothing_said()));
        self.cost.seconds += facts.as_ref().map_or_else(|refused| refused.seconds, |facts| facts.seconds);
        Ok(facts.map_err(|refused| refused.why))
    }
}
