//! A language model with its prompts as the target system of a campaign.

use std::time::Instant;

use campaign::{
    Engine, EngineOffer, Engines, GoldenSummary, LabelColumn, Labels, Planner, RunFailure, RunIndex, SelectionWords,
    Site, Spot, Stratum, Subject, TargetError, Worker,
};
use outcome::{Criteria, End, FirstUse, Landed, Observation, Tier};

use super::fault::{GenerationFault, GenerationFaultError, GenerationHit, GenerationSpace};
use super::generate::{FaultyGeneration, Generation, Generator, GoldenGeneration};
use super::model::LanguageModel;
use super::outputs::{criteria, outputs};
use super::population::GenerationPopulation;
use crate::target::ENGINES;

/// The tokens by which every prompt is continued.
pub(super) const STEPS: usize = 48;

/// The words of each fault besides its layer.
static LABELS: [LabelColumn; 6] = [
    LabelColumn::number("prompt", "the prompt, by its number"),
    LabelColumn::number("step", "the step, counted from 0: that of the generated token of the same number"),
    LabelColumn::number("position", "the position of a stored key or value; the input, row or token of a weight"),
    LabelColumn::number("channel", "the channel, or the output of a weight"),
    LabelColumn::text("model", "the fault model, as ids write it"),
    LabelColumn::text("bits", "the bits that are hit or the value that replaces them, as ids write them"),
];

/// A model, its prompts, and their golden generations.
#[derive(Debug)]
pub struct LanguageTarget {
    model: LanguageModel,
    prompts: Vec<Vec<usize>>,
    lengths: Vec<usize>,
    golden: Vec<GoldenGeneration>,
    digest: String,
    seconds: f64,
}

impl LanguageTarget {
    /// Continues all prompts without a fault; `files` are what model and prompts were read from, for the digest. Each prompt has two
    /// tokens at least, of those of the model, and the model has the positions of it and of the steps.
    ///
    /// # Errors
    /// The number of the first prompt whose logits are not finite.
    #[expect(clippy::disallowed_methods, reason = "speed is measured with a clock; no result depends on it")]
    pub(super) fn new(model: LanguageModel, prompts: Vec<Vec<usize>>, files: &[&[u8]]) -> Result<Self, usize> {
        let start = Instant::now();
        let mut generator = Generator::new(model.clone(), STEPS);
        let golden: Vec<GoldenGeneration> = prompts.iter().map(|prompt| generator.golden(prompt)).collect();
        let wrong = |golden: &GoldenGeneration| golden.generation.logits.iter().any(|logit| !logit.is_finite());
        if let Some(number) = golden.iter().position(wrong) {
            return Err(number);
        }
        let mut hasher = blake3::Hasher::new();
        for part in files.iter().copied().chain([model.format().word().as_bytes()]) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let lengths = prompts.iter().map(Vec::len).collect();
        let digest = hasher.finalize().to_hex().to_string();
        Ok(Self { model, prompts, lengths, golden, digest, seconds: start.elapsed().as_secs_f64() })
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &LanguageModel {
        &self.model
    }

    /// The tokens of the prompts.
    #[must_use]
    pub fn prompts(&self) -> &[Vec<usize>] {
        &self.prompts
    }

    /// The golden generation after a prompt.
    #[must_use]
    pub fn golden_run(&self, prompt: usize) -> Option<&Generation> {
        self.golden.get(prompt).map(|golden| &golden.generation)
    }

    /// The usual criteria: another token makes a corrupted output bad.
    #[must_use]
    pub fn criteria(&self) -> Criteria {
        criteria()
    }

    fn space(&self) -> GenerationSpace<'_> {
        GenerationSpace { model: &self.model, lengths: &self.lengths, steps: STEPS }
    }

    /// The faulty generation of an id, from the prompt on.
    ///
    /// # Errors
    /// When the id cannot be read, or the model has no such place.
    pub fn generation(&self, id: &str) -> Result<FaultyGeneration, GenerationFaultError> {
        let hit = GenerationFault::parse(id)?.hit(self.space())?;
        Ok(Generator::new(self.model.clone(), STEPS).whole(&self.prompts[hit.prompt], Some(&hit)))
    }

    /// The site of a fault, from its text id.
    ///
    /// # Errors
    /// When the id cannot be read, or the model has no such place.
    pub fn site(&self, id: &str) -> Result<Site, TargetError> {
        let fault = GenerationFault::parse(id).map_err(|error| TargetError::from_error(&error))?;
        fault.hit(self.space()).map_err(|error| TargetError::from_error(&error))?;
        Ok(self.site_of(&fault))
    }

    fn site_of(&self, fault: &GenerationFault) -> Site {
        let parts = self.model.parts();
        let number = parts.iter().position(|part| part.name == fault.layer).unwrap_or(0);
        let spot = Spot {
            kernel: fault.layer.clone(),
            pc: number as u32,
            target: fault.operand.word().to_owned(),
            group: parts[number].class.to_owned(),
            opcode: fault.layer.rsplit('.').next().unwrap_or_default().to_owned(),
            ..Spot::default()
        };
        let (position, channel) = match fault.at[..] {
            [position, channel] => ((position as u64).into(), channel),
            _ => (campaign::Label::None, fault.at.first().copied().unwrap_or_default()),
        };
        let labels = vec![
            (fault.prompt as u64).into(),
            (fault.step as u64).into(),
            position,
            (channel as u64).into(),
            fault.model.name().to_owned().into(),
            fault.model.bits().into(),
        ];
        Site::new(fault.to_string(), spot, Labels::new(labels))
    }
}

impl Subject for LanguageTarget {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn digest(&self) -> &str {
        &self.digest
    }

    /// Launches are prompts, threads the elements that the parts make at a step, instructions the multiplications with a weight.
    fn golden(&self) -> GoldenSummary {
        let read: usize = self.lengths.iter().map(|length| length - 1 + STEPS).sum();
        GoldenSummary {
            launches: self.prompts.len() as u64,
            threads: self.model.parts().iter().map(|part| part.outputs as u64).sum(),
            thread_instructions: self.model.macs() * read as u64,
            seconds: self.seconds,
        }
    }
}

impl Planner for LanguageTarget {
    fn labels(&self) -> &[LabelColumn] {
        &LABELS
    }

    fn plan(&self, runs: &[RunIndex], selection: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        let population = GenerationPopulation::new(self.space(), selection)?;
        let site = |run: &RunIndex| {
            let drawn = population.draw(seed, run.0);
            let (fault, stratum) = drawn.ok_or_else(|| TargetError::new("draw a fault: the selection has none"))?;
            Ok(Site { stratum, ..self.site_of(&fault) })
        };
        runs.iter().map(site).collect()
    }

    fn strata(&self, selection: &SelectionWords) -> Result<Vec<Stratum>, TargetError> {
        Ok(GenerationPopulation::new(self.space(), selection)?.strata())
    }
}

/// Faults that a thread has at once.
const TOGETHER: usize = 256;

impl Engines for LanguageTarget {
    fn offered(&self) -> &[EngineOffer] {
        &ENGINES
    }

    fn worker(&self, engine: &Engine) -> Result<Box<dyn Worker + '_>, TargetError> {
        engine.among(&ENGINES).map_err(|error| TargetError::from_error(&error))?;
        let generator = Generator::new(self.model.clone(), STEPS);
        Ok(Box::new(LanguageWorker { target: self, generator, is_delta: engine.word() != "full" }))
    }

    fn batch_size(&self, _: &Engine) -> usize {
        TOGETHER
    }
}

/// Runs faults on one thread.
struct LanguageWorker<'t> {
    target: &'t LanguageTarget,
    generator: Generator,
    is_delta: bool,
}

impl LanguageWorker<'_> {
    fn observe(&mut self, hit: &GenerationHit) -> Observation {
        let target = self.target;
        let (prompt, golden) = (&target.prompts[hit.prompt], &target.golden[hit.prompt]);
        let run = match self.is_delta {
            true => self.generator.from_golden(prompt, golden, hit),
            false => self.generator.whole(prompt, Some(hit)),
        };
        let tier = match (self.is_delta, run.stopped) {
            (false, _) => Tier::Full,
            (true, true) => Tier::Stopped,
            (true, false) => Tier::Delta,
        };
        let read = self.generator.reads(prompt, &run.generation.tokens, hit);
        let landed = run.hit.map(|bits| Landed { before: bits.before.into(), after: bits.after.into(), threads: 1 });
        Observation {
            landed,
            first_use: if read { FirstUse::Read { after: 1 } } else { FirstUse::Never },
            end: End::Completed,
            outputs: outputs(&golden.generation, &run.generation, hit.step),
            host_visible: false,
            strayed: 0,
            instructions: run.passes * target.model.macs(),
            tier,
            host: None,
        }
    }
}

impl Worker for LanguageWorker<'_> {
    fn run(&mut self, site: &Site) -> Result<Observation, RunFailure> {
        let id = site.fault().ok_or_else(|| RunFailure::new("run a fault: the site has none"))?;
        let fault = GenerationFault::parse(id).map_err(|error| RunFailure::from_error(&error))?;
        let hit = fault.hit(self.target.space()).map_err(|error| RunFailure::from_error(&error))?;
        Ok(self.observe(&hit))
    }

    fn batch_size(&self) -> usize {
        TOGETHER
    }

    fn run_batch(&mut self, sites: &[Site]) -> Vec<Result<Observation, RunFailure>> {
        sites.iter().map(|site| self.run(site)).collect()
    }
}
