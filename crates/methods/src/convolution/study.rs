//! Faults in the kernel of a layer, and what the neurons that they leave changed do to the class.

use campaign::{Planner, RunIndex, SelectionWords, TargetError};
use capsule::Capsule;
use fault::Model;
use inject::site::fault_of;
use inject::{Array, CapsuleTarget, Golden, Keep, Machine, Setup, Strategy};
use nn::NetworkTarget;
use nn::delta::Delta;
use nn::forward::{Run, top_class};
use nn::hit::{Hit, LayerOperand, Place};
use nn::observe::Task;
use outcome::{Class, classify};
use stats::{Draws, Proportion};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::kernel::{KernelForm, convolution_of, kernel_capsule};
use super::pattern::NeuronPattern;
use crate::kit::StudyError;

/// A convolution that is run as a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Convolution<'t> {
    /// The network with its images.
    pub target: &'t NetworkTarget,
    /// The layer, by number.
    pub layer: usize,
    /// The kernel.
    pub form: KernelForm,
    /// How many images it is run on: the first that the network gets right.
    pub images: usize,
    /// How many faults there are: in the kernel, and as many in neurons.
    pub runs: u64,
    /// The seed of the draws.
    pub seed: u64,
}

/// How inferences with changed neurons of a layer end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// All of them.
    pub runs: u64,
    /// Those with the logits of the fault-free run.
    pub masked: u64,
    /// Those with another class.
    pub class: u64,
}

/// The ends of faults in the kernel of a layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerStudy {
    /// Images.
    pub images: usize,
    /// Faults in the kernel that landed.
    pub runs: u64,
    /// Those that left every neuron as it is.
    pub masked: u64,
    /// Those that ended the launch: a crash, or a hang.
    pub due: u64,
    /// Those of which it is not known how they end.
    pub undecided: u64,
    /// The others, by the shape of the neurons that differ.
    pub patterns: BTreeMap<NeuronPattern, Ends>,
    /// Of those that changed one neuron, the ones that flipped one bit of it.
    pub one_bit: u64,
    /// Changed neurons of all runs.
    pub neurons: u64,
    /// Flips of one bit of one neuron of the layer, on the same images.
    pub flips: Ends,
}

impl Ends {
    fn add(&mut self, of: Self) {
        self.runs += of.runs;
        self.masked += of.masked;
        self.class += of.class;
    }

    /// The share with another class.
    #[must_use]
    pub fn changes(self) -> Option<Proportion> {
        Proportion::new(self.class, self.runs).filter(|_| self.runs > 0)
    }
}

impl LayerStudy {
    fn add(&mut self, of: &Self) {
        self.runs += of.runs;
        self.masked += of.masked;
        self.due += of.due;
        self.undecided += of.undecided;
        self.one_bit += of.one_bit;
        self.neurons += of.neurons;
        self.flips.add(of.flips);
        for (pattern, ends) in &of.patterns {
            self.patterns.entry(*pattern).or_default().add(*ends);
        }
    }

    /// All runs that left neurons changed.
    #[must_use]
    pub fn corrupted(&self) -> Ends {
        let mut all = Ends::default();
        self.patterns.values().for_each(|ends| all.add(*ends));
        all
    }

    /// Of the runs with another class, those that changed other than one bit of one neuron at least by their shape.
    #[must_use]
    pub fn several(&self) -> Option<Proportion> {
        let all = self.corrupted().class;
        let single = self.patterns.get(&NeuronPattern::Single).map_or(0, |ends| ends.class);
        Proportion::new(all - single, all).filter(|_| all > 0)
    }
}

impl Convolution<'_> {
    /// The kernel on the first image, as an application would have recorded it.
    ///
    /// # Errors
    /// When the layer is not a convolution of one group, or the network gets no image right.
    pub fn capsule(&self) -> Result<Capsule, StudyError> {
        let golden = self.target.golden_run(self.right()?[0]);
        kernel_capsule(self.target.network(), self.layer, &golden, self.form).map(|(capsule, _)| capsule)
    }

    /// The first images that the network gets right, at least one.
    fn right(&self) -> Result<Vec<usize>, StudyError> {
        if self.target.images().task() != Task::Classification {
            return Err(StudyError::Words(
                "run a layer as a kernel: the network finds objects, and what faults do is told by the class"
                    .to_owned(),
            ));
        }
        let right = |&image: &usize| {
            let label = self.target.images().labels().get(image).copied();
            label.map(usize::from) == Some(top_class(self.target.golden_run(image).logits()))
        };
        let images: Vec<usize> = (0..self.target.images().count()).filter(right).take(self.images.max(1)).collect();
        match images.is_empty() {
            true => Err(StudyError::Words(
                "run a layer as a kernel: the network classifies no image as labelled".to_owned(),
            )),
            false => Ok(images),
        }
    }

    /// Injects into the kernel on each image, and into single neurons beside it. The result is a function of all but `jobs`.
    ///
    /// # Errors
    /// When the layer is not a convolution of one group, the kernel makes other bytes than the network, or the work is stopped.
    pub fn study(&self, jobs: usize, stop: &AtomicBool) -> Result<LayerStudy, StudyError> {
        convolution_of(self.target.network(), self.layer)?;
        let images = self.right()?;
        let (next, sum) =
            (AtomicUsize::new(0), Mutex::new(LayerStudy { images: images.len(), ..LayerStudy::default() }));
        let work = || -> Result<(), StudyError> {
            let mut delta = Delta::new(self.target.network());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(&image) = images.get(number) else { return Ok(()) };
                let runs = (number as u64..self.runs).step_by(images.len()).map(RunIndex).collect::<Vec<_>>();
                let found = on_image(self, image, &runs, &mut delta, stop)?;
                sum.lock().unwrap_or_else(PoisonError::into_inner).add(&found);
            }
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs.clamp(1, images.len())).map(|_| scope.spawn(work)).collect();
            workers.into_iter().try_for_each(|worker| match worker.join() {
                Ok(ended) => ended,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        Ok(sum.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

fn on_image(
    of: &Convolution<'_>,
    image: usize,
    runs: &[RunIndex],
    delta: &mut Delta<'_>,
    stop: &AtomicBool,
) -> Result<LayerStudy, StudyError> {
    let golden = of.target.golden_run(image);
    let kernel = opened(of, &golden)?;
    let shape = of.target.network().output(of.layer).shape;
    let array = Array {
        name: "neurons".to_owned(),
        address: kernel.1,
        element: None,
        shape: vec![shape.elements() as u64],
        stride: None,
        launches: None,
    };
    let mut tracker = kernel.0.tracker(Strategy::Auto, &[array]);
    if tracker.golden(0, 0) != golden.tensors[of.layer + 1] {
        return Err(StudyError::Refused(format!(
            "run the layer `{}` as a kernel: it makes other bytes than the network",
            of.target.network().layers()[of.layer].name
        )));
    }
    let criteria = kernel.0.criteria();
    let mut found = LayerStudy::default();
    for site in kernel.0.plan(runs, &SelectionWords::default(), of.seed)? {
        if stop.load(Ordering::Relaxed) {
            return Err(StudyError::Unkept);
        }
        let fault = fault_of(&site).map_err(|error| TargetError::from_error(&error))?;
        let tracked = tracker.run(&fault, Keep::Ends).map_err(|error| TargetError::from_error(&error))?;
        let class = classify(&tracked.observation, &criteria).class();
        match class {
            Class::NotLanded | Class::Failed => continue,
            Class::Due => found.due += 1,
            Class::Undecided => found.undecided += 1,
            Class::Masked | Class::Sdc => {
                let changed: Vec<(usize, u8)> =
                    tracked.changes.iter().flat_map(|change| &change.runs).flat_map(bytes).collect();
                found.neurons += changed.len() as u64;
                let elements: Vec<usize> = changed.iter().map(|(element, _)| *element).collect();
                match NeuronPattern::of(&elements, shape) {
                    None => found.masked += 1,
                    Some(pattern) => {
                        if let [(element, byte)] = changed[..] {
                            let before = golden.tensors[of.layer + 1][element];
                            found.one_bit += u64::from((before ^ byte).count_ones() == 1);
                        }
                        let places = changed.iter().map(|&(element, byte)| Place {
                            layer: of.layer,
                            operand: LayerOperand::Out,
                            element,
                            model: Model::Value(byte.into()),
                        });
                        let ends = end(of, delta, &golden, &Hit::new(places.collect()));
                        found.patterns.entry(pattern).or_default().add(ends);
                    }
                }
            }
        }
        found.runs += 1;
    }
    for run in runs {
        let mut draws = Draws::new(of.seed, run.0);
        let element = draws.below(shape.elements() as u64).unwrap_or(0) as usize;
        let bit = draws.below(8).unwrap_or(0) as u32;
        found.flips.add(end(of, delta, &golden, &Hit::neuron(of.layer, element, Model::single(bit))));
    }
    Ok(found)
}

/// The kernel on an image, its golden run done, and where its output lies.
fn opened(of: &Convolution<'_>, golden: &Run) -> Result<(CapsuleTarget, u64), StudyError> {
    let (capsule, address) = kernel_capsule(of.target.network(), of.layer, golden, of.form)?;
    let refused = |error: &dyn std::error::Error| StudyError::Refused(error.to_string());
    let golden = Golden::run_on(Arc::new(capsule), Machine::default()).map_err(|error| refused(&error))?;
    Ok((CapsuleTarget::set_up(golden, &Setup::default())?, address))
}

fn bytes((offset, bytes): &(u64, Vec<u8>)) -> impl Iterator<Item = (usize, u8)> {
    let first = *offset as usize;
    bytes.iter().enumerate().map(move |(at, &byte)| (first + at, byte))
}

/// How an inference with these changes ends.
fn end(of: &Convolution<'_>, delta: &mut Delta<'_>, golden: &Run, hit: &Hit) -> Ends {
    delta.run(golden, hit);
    let logits = delta.tensor(golden, of.target.network().layers().len());
    Ends {
        runs: 1,
        masked: u64::from(*logits == *golden.logits()),
        class: u64::from(top_class(&logits) != top_class(golden.logits())),
    }
}
