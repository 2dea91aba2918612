//! The options of `beamline harden`.

use clap::{Args as Group, value_parser};
use methods::hardening::Scheme;
use std::path::PathBuf;

#[derive(Debug, Group)]
pub(crate) struct Harden {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE")]
    pub(crate) capsule: String,
    /// How kernels are protected: drdv (duplicates in registers of their own, compared where data leaves the registers), sriv
    /// (a duplicate before each instruction, compared at once); with fastsig- before them, comparisons set a signature that
    /// is tested where the function ends: cheaper, but an error may reach memory before the launch is ended
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    pub(crate) scheme: Scheme,
    /// Write the hardened capsule into this file
    #[arg(long, value_name = "F.capsule")]
    pub(crate) out: PathBuf,
    /// Runs of each of the two campaigns that compare before and after; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) runs: u64,
    /// The seed of both campaigns
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// Run both on the GPU of this machine: whether their results are the same, and how long each kernel takes
    #[arg(long)]
    pub(crate) gpu: bool,
    /// How often each of them is run and timed on the GPU
    #[arg(long, value_name = "N", default_value_t = 25, requires = "gpu", value_parser = value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn scheme(word: &str) -> Result<Scheme, String> {
    let words: Vec<&str> = Scheme::ALL.into_iter().map(Scheme::word).collect();
    Scheme::from_word(word).ok_or_else(|| format!("expected one of: {}", words.join(", ")))
}
