//! What was copied to the host elsewhere, compared as runs of ours are: with the same types of elements, by the same
//! numbers.

use crate::compare::Reference;
use crate::full::{Injector, Witness};
use crate::golden::{Golden, GoldenCopy, references};
use crate::run::{InjectError, locate};
use capsule::{Digest, Output};
use fault::Fault;
use outcome::{End, Observation, OutputDiff};
use simt::memory::GlobalMemory;

/// Outputs with the bytes that are right.
#[derive(Debug)]
pub struct OutputJudge {
    outputs: Vec<Output>,
    right: Vec<Vec<u8>>,
    references: Vec<Reference>,
}

impl OutputJudge {
    /// A judge of these outputs, of which a run without a fault gave these copies to the host.
    #[must_use]
    pub fn new(outputs: &[Output], right: Vec<Vec<u8>>) -> Self {
        let copy = |(at, bytes): (usize, &Vec<u8>)| {
            let output = outputs.iter().position(|output| output.copy as usize == at);
            GoldenCopy { event: 0, bytes: bytes.clone(), output, scratch: false }
        };
        let copies: Vec<GoldenCopy> = right.iter().enumerate().map(copy).collect();
        Self { outputs: outputs.to_vec(), references: references(outputs, &copies), right }
    }

    /// How each output differs, given all copies to the host of a run; one that is missing differs in all its bytes.
    #[must_use]
    pub fn differences(&self, copies: &[Vec<u8>]) -> Vec<OutputDiff> {
        let of = |(output, reference): (&Output, &Reference)| {
            let bytes = |copies: &[Vec<u8>]| copies.get(output.copy as usize).cloned().unwrap_or_default();
            reference.compare(&bytes(&self.right), &bytes(copies))
        };
        self.outputs.iter().zip(&self.references).map(of).collect()
    }
}

/// Runs faults by full re-execution, and tells what every copy to the host held.
#[derive(Debug)]
pub struct CopyWatch<'g>(Injector<'g>);

struct Digests(Vec<Digest>);

impl Witness for Digests {
    fn launched(&mut self, _: usize, _: &mut GlobalMemory) {}
    fn copied(&mut self, _: usize, _: usize, found: &[u8]) {
        self.0.push(Digest::of(found));
    }
}

/// The bytes of outputs, as far as they were copied to the host.
struct OutputBytes<'g> {
    golden: &'g Golden,
    bytes: Vec<Vec<u8>>,
}

impl Witness for OutputBytes<'_> {
    fn launched(&mut self, _: usize, _: &mut GlobalMemory) {}
    fn copied(&mut self, copy: usize, _: usize, found: &[u8]) {
        for (output, bytes) in self.golden.outputs().iter().zip(&mut self.bytes) {
            if output.copy as usize == copy {
                found.clone_into(bytes);
            }
        }
    }
}

impl<'g> CopyWatch<'g> {
    /// A watch with memory of its own.
    #[must_use]
    pub fn new(golden: &'g Golden) -> Self {
        Self(Injector::new(golden))
    }

    /// The observation of a fault, and the digest of every copy to the host of the whole program, as far as it came.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn run(&mut self, fault: &Fault) -> Result<(Observation, Vec<Digest>), InjectError> {
        let golden = self.0.golden();
        locate(golden, fault)?;
        let copied = golden.copies().iter().take(golden.position(fault.launch as usize).copies);
        let mut digests = Digests(copied.map(|copy| Digest::of(&copy.bytes)).collect());
        let observation = self.0.witnessed(fault, &mut digests)?;
        Ok((observation, digests.0))
    }

    /// The bytes of every output of a run with a fault, in the order of the outputs; `None` if the run did not come to its end.
    ///
    /// # Errors
    /// If the fault names a place that does not exist, or the capsule cannot be replayed.
    pub fn outputs(&mut self, fault: &Fault) -> Result<Option<Vec<Vec<u8>>>, InjectError> {
        let golden = self.0.golden();
        locate(golden, fault)?;
        let right = |output: &Output| golden.copies().get(output.copy as usize).map(|copy| copy.bytes.clone());
        let bytes = golden.outputs().iter().map(|output| right(output).unwrap_or_default()).collect();
        let mut outputs = OutputBytes { golden, bytes };
        let observation = self.0.witnessed(fault, &mut outputs)?;
        Ok((observation.end == End::Completed).then_some(outputs.bytes))
    }
}
