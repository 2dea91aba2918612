//! The minimiser (thesis, Algorithm 3.1): one parameter after the other, the smallest value that keeps the quality.

use serde::{Deserialize, Serialize};
use space::{Kind, Point, Space, Value};
use std::collections::BTreeMap;

use super::coverage::{Criterion, Executed, Quality};
use crate::kit::{Campaigns, Inputs, OpenedCapsule, Realised, StudyError};

/// The goal of a search: the quality that the input has to keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    /// The criterion.
    pub(super) criterion: Criterion,
    /// The share of the reference's.
    pub(super) share: f64,
}

/// An input that was run.
#[derive(Clone)]
pub(super) struct Evaluated {
    /// The input.
    pub(super) point: Point,
    /// Its golden run is done.
    pub(super) capsule: OpenedCapsule,
    /// Its quality.
    pub(super) quality: Quality,
}

impl Evaluated {
    /// The cost of its run: the objective of the search. Seconds would change from day to day.
    pub(super) fn instructions(&self) -> u64 {
        self.capsule.golden_run().thread_instructions()
    }
}

/// An input and the cost of its run.
#[derive(Clone)]
struct Candidate {
    point: Point,
    measured: Measured,
}

/// What is kept of an input that was run: its capsule is not.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Measured {
    instructions: u64,
    quality: Quality,
}

/// The evaluation under which the digest of a capsule is kept that lies beside.
const KEPT: &str = "capsule";

/// The capsule of an input that an earlier run of the command left, if it did.
fn kept(
    inputs: &mut dyn Inputs,
    point: &Point,
    campaigns: &Campaigns<'_>,
) -> Result<Option<OpenedCapsule>, StudyError> {
    match campaigns.known::<String>(&point.to_string(), KEPT)? {
        Some(digest) => inputs.open_kept(point, &digest, &campaigns.dir),
        None => Ok(None),
    }
}

/// Looks for a small input.
pub(super) struct Minimiser<'a> {
    inputs: &'a mut dyn Inputs,
    space: Space,
    target: Target,
    reference: Executed,
    /// By its text, what an input came to; none if it could not be run.
    known: BTreeMap<String, Option<Measured>>,
    refused: Vec<(String, String)>,
    /// The input that was run last, and the best of those that were run now.
    last: Option<Evaluated>,
    best: Option<Evaluated>,
}

/// A search that is over.
pub(super) struct Minimised {
    /// The reference input.
    pub(super) reference: Evaluated,
    /// The smallest input found; the reference if none is smaller.
    pub(super) smallest: Evaluated,
    /// How many inputs were run.
    pub(super) evaluations: u64,
    /// Inputs that could not be run, and why.
    pub(super) refused: Vec<(String, String)>,
}

impl Minimised {
    /// The same with both capsules in files, from which they are opened.
    ///
    /// # Errors
    /// If they cannot be written.
    pub(super) fn kept(mut self, inputs: &mut dyn Inputs, campaigns: &Campaigns<'_>) -> Result<Self, StudyError> {
        for input in [&mut self.reference, &mut self.smallest] {
            input.capsule = inputs.keep(&input.point, &input.capsule, &campaigns.dir)?;
            let digest = input.capsule.golden_run().capsule().digest().to_string();
            campaigns.keep(&input.point.to_string(), KEPT, &digest)?;
        }
        Ok(self)
    }
}

impl<'a> Minimiser<'a> {
    /// Finds an input of the quality `target`, from the reference.
    ///
    /// # Errors
    /// If the reference cannot be run, or the search is interrupted.
    pub(super) fn run(
        inputs: &'a mut dyn Inputs,
        target: Target,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Minimised, StudyError> {
        let space = inputs.space().clone();
        let point = space.reference();
        let capsule = match kept(inputs, &point, campaigns)? {
            Some(capsule) => capsule,
            None => reference(inputs, &point)?,
        };
        let executed = Executed::of(capsule.golden_run());
        let reference = Evaluated { quality: executed.quality(&executed), point, capsule };
        let start = Candidate { point: reference.point.clone(), measured: reference.measured() };
        let known = BTreeMap::from([(start.point.to_string(), Some(start.measured))]);
        let mut search =
            Self { inputs, space, target, reference: executed, known, refused: Vec::new(), last: None, best: None };
        let mut best = start.clone();
        for number in search.order(&start, campaigns)? {
            best = search.shrink(&best, number, campaigns)?;
        }
        let found = search.best.take().filter(|it| it.point == best.point);
        let smallest = match found {
            _ if best.point == reference.point => reference.clone(),
            Some(found) => found,
            None => search.again(&best, campaigns)?,
        };
        let evaluations = search.known.len() as u64;
        Ok(Minimised { reference, smallest, evaluations, refused: search.refused })
    }

    /// Runs an input, once.
    fn evaluate(&mut self, point: &Point, campaigns: &mut Campaigns<'_>) -> Result<Option<Candidate>, StudyError> {
        let text = point.to_string();
        let candidate = |measured| Candidate { point: point.clone(), measured };
        if let Some(known) = self.known.get(&text) {
            return Ok(known.map(candidate));
        }
        if campaigns.is_stopped() {
            return Err(campaigns.interrupted());
        }
        // By the reference's text, since quality is relative to it.
        let what = format!("quality of {}", self.space.reference());
        let measured = match campaigns.known(&text, &what)? {
            Some(measured) => measured,
            None => match self.inputs.realise(point)? {
                Realised::Ready(capsule, _) => {
                    let it = self.evaluated(point, *capsule);
                    let measured: Result<Measured, String> = Ok(it.measured());
                    self.last = Some(it);
                    campaigns.keep(&text, &what, &measured)?;
                    measured
                }
                Realised::Not(why) => {
                    let measured = Err(why);
                    campaigns.keep(&text, &what, &measured)?;
                    measured
                }
                Realised::NotNow(why) => Err(why),
            },
        };
        let found = match measured {
            Ok(measured) => Some(measured),
            Err(why) => {
                self.refused.push((text.clone(), why));
                None
            }
        };
        self.known.insert(text, found);
        Ok(found.map(candidate))
    }

    fn evaluated(&self, point: &Point, capsule: OpenedCapsule) -> Evaluated {
        let quality = Executed::of(capsule.golden_run()).quality(&self.reference);
        Evaluated { point: point.clone(), capsule, quality }
    }

    /// The capsule of an input that an earlier run of the command measured.
    fn again(&mut self, best: &Candidate, campaigns: &Campaigns<'_>) -> Result<Evaluated, StudyError> {
        let point = &best.point;
        if let Some(capsule) = kept(self.inputs, point, campaigns)? {
            return Ok(self.evaluated(point, capsule));
        }
        let why = match self.inputs.realise(point)? {
            Realised::Ready(capsule, _) => {
                let again = self.evaluated(point, *capsule);
                if again.instructions() == best.measured.instructions {
                    return Ok(again);
                }
                varies(best.measured.instructions, again.instructions())
            }
            Realised::Not(why) | Realised::NotNow(why) => format!("{why}, though it ran before"),
        };
        Err(StudyError::Refused(format!("run {} with the input {point} again: {why}", self.inputs.name())))
    }

    /// Keeps the capsule of the best input so far, if it was run now.
    fn remember(&mut self, best: &Candidate) {
        if let Some(last) = self.last.take_if(|last| last.point == best.point) {
            self.best = Some(last);
        }
    }

    /// The parameters, the one with the largest effect on the cost first: of two values of each, with the others as in the
    /// reference, the one that saves more counts.
    fn order(&mut self, reference: &Candidate, campaigns: &mut Campaigns<'_>) -> Result<Vec<usize>, StudyError> {
        let mut effects = Vec::new();
        for number in 0..self.space.parameters().len() {
            let mut least = reference.measured.instructions;
            for value in self.tried(number, &reference.point) {
                let point = reference.point.with(number, value);
                least = least.min(self.evaluate(&point, campaigns)?.map_or(u64::MAX, |it| it.measured.instructions));
            }
            effects.push((least, number));
        }
        effects.sort_unstable();
        Ok(effects.into_iter().map(|(_, number)| number).collect())
    }

    /// The smallest value of a parameter and one in the middle; of a choice all others; of a seed, which has no order, none.
    fn tried(&self, number: usize, point: &Point) -> Vec<Value> {
        let (parameter, now) = (&self.space.parameters()[number], point.value(number));
        if let Kind::Choice(words) = &parameter.kind {
            return words.iter().cloned().map(Value::Text).filter(|word| Some(word) != now).collect();
        }
        let Some((least, now)) = parameter.smallest().zip(now).filter(|(least, now)| least < *now) else {
            return Vec::new();
        };
        let middle = parameter.middle(&least, now);
        std::iter::once(least).chain(middle).collect()
    }

    /// Whether an input keeps the quality.
    fn passes(&self, found: &Candidate) -> bool {
        found.measured.quality.of(self.target.criterion).share() >= self.target.share
    }

    /// The input with the smallest value of one parameter that keeps the quality and costs no more.
    fn shrink(
        &mut self,
        best: &Candidate,
        number: usize,
        campaigns: &mut Campaigns<'_>,
    ) -> Result<Candidate, StudyError> {
        let mut best = best.clone();
        let parameter = self.space.parameters()[number].clone();
        if matches!(parameter.kind, Kind::Choice(_)) {
            for value in self.tried(number, &best.point) {
                let found = self.evaluate(&best.point.with(number, value), campaigns)?;
                let cheaper = |it: &Candidate| it.measured.instructions < best.measured.instructions;
                if let Some(found) = found.filter(|it| self.passes(it) && cheaper(it)) {
                    self.remember(&found);
                    best = found;
                }
            }
            return Ok(best);
        }
        let Some(mut low) = parameter.smallest() else { return Ok(best) };
        // The least value itself, then halves between one that fails and the best.
        let mut next = best.point.value(number).filter(|now| low < **now).map(|_| low.clone());
        while let Some(value) = next {
            let found = self.evaluate(&best.point.with(number, value.clone()), campaigns)?;
            let no_dearer = |it: &Candidate| it.measured.instructions <= best.measured.instructions;
            match found.filter(|it| self.passes(it) && no_dearer(it)) {
                Some(found) => {
                    let least = value == low;
                    self.remember(&found);
                    best = found;
                    if least {
                        break;
                    }
                }
                None => low = value,
            }
            next = best.point.value(number).and_then(|now| parameter.middle(&low, now));
        }
        Ok(best)
    }
}

/// The capsule of the reference, which has to give the GPU the same to do twice: else no input can be compared with it.
fn reference(inputs: &mut dyn Inputs, point: &Point) -> Result<OpenedCapsule, StudyError> {
    let run = || match inputs.realise(point)? {
        Realised::Ready(capsule, _) => Ok(*capsule),
        Realised::Not(why) | Realised::NotNow(why) => {
            Err(StudyError::Refused(format!("run {} with the reference input {point}: {why}", inputs.name())))
        }
    };
    let (first, second) = (run()?, run()?);
    let [one, two] = [&first, &second].map(|it| it.golden_run().thread_instructions());
    let executed = Executed::of(second.golden_run());
    let same = Executed::of(first.golden_run()).quality(&executed) == executed.quality(&executed);
    if one == two && same {
        return Ok(first);
    }
    let name = inputs.name();
    Err(StudyError::Refused(format!("run {name} with the reference input {point} twice: {}", varies(one, two))))
}

/// That an application is not the same twice.
fn varies(one: u64, two: u64) -> String {
    format!(
        "it gives the GPU another work each time ({one} and {two} thread instructions); fix its seed, or whatever else differs, so that \
         inputs can be compared"
    )
}

impl Evaluated {
    fn measured(&self) -> Measured {
        Measured { instructions: self.instructions(), quality: self.quality }
    }
}
