//! The options of `beamline harden`.

use clap::{Args as Group, value_parser};
use methods::hardening::SchemeChoice;
use session::bundled;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Group)]
pub(crate) struct Harden {
    /// A capsule file, or the name of a bundled workload
    #[arg(value_name = "CAPSULE", value_parser = capsule)]
    pub(crate) capsule: String,
    /// How kernels are protected: drdv (duplicates in registers of their own, compared where data leaves the registers), sriv
    /// (a duplicate before each instruction, compared at once); with fastsig- before them, comparisons set a signature that
    /// is tested where the function ends: cheaper, but an error may reach memory before the launch is ended. With xorsig- the
    /// signature gathers by exclusive or, for comparison: it misses an error that is compared twice. hw-notify, hw-sig
    /// (of DRDV; with -sriv, of SRIV) are performance proxies of hardware that compares: they detect nothing. tld, tld-sig: two neighbouring lanes of a
    /// warp compute the same and compare what they write, in blocks of twice as many threads. auto: fastsig-drdv or
    /// fastsig-sriv for each kernel, by a tree that is learned from times on a GPU
    #[arg(long, value_name = "SCHEME", value_parser = scheme)]
    pub(crate) scheme: SchemeChoice,
    /// Execute loads from global, shared and generic memory twice, too (drdv, fastsig-drdv, sriv and fastsig-sriv): where threads
    /// share memory while the kernel runs, by atomics, fences, volatile accesses or a data race of the golden run, its loads stay
    /// single, and are counted
    #[arg(long)]
    pub(crate) loads: bool,
    /// Protect these instructions alone: kernel=NAME, lines=FILE:a-b, group=GROUP or pc=a-b (numbers of instructions in their
    /// functions); several of one kind add to each other, several kinds narrow the choice
    #[arg(long, value_name = "KIND=VALUE")]
    pub(crate) protect: Vec<String>,
    /// Protect the instructions that are worth it by a document: that of `approxilyzer --json`, `harden --json` or `campaign
    /// --json` on the same capsule
    #[arg(long, value_name = "F.json", conflicts_with = "protect", requires = "demand")]
    pub(crate) from: Option<PathBuf>,
    /// The most valuable instructions whose duplicates are at most this share of all dynamic instructions; checks and copies
    /// come on top
    #[arg(long, value_name = "SHARE", group = "demand", requires = "from")]
    pub(crate) overhead: Option<f64>,
    /// The cheapest instructions that have this share of the silent data corruptions
    #[arg(long, value_name = "SHARE", group = "demand", requires = "from")]
    pub(crate) coverage: Option<f64>,
    /// Write the hardened capsule into this file
    #[arg(long, value_name = "F.capsule")]
    pub(crate) out: PathBuf,
    /// Write the protected kernels into a copy of the executable that the capsule was recorded from, too (--executable-out), which
    /// then runs as it always does, on a GPU as well: not with tld and tld-sig, whose blocks have other sizes
    #[arg(long, value_name = "APP", requires = "executable_out")]
    pub(crate) executable: Option<PathBuf>,
    /// The copy of the executable
    #[arg(long, value_name = "F", requires = "executable")]
    pub(crate) executable_out: Option<PathBuf>,
    /// Runs of each of the three campaigns that compare before and after: the third has its faults in the original's
    /// instructions alone; 0 for none
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) runs: u64,
    /// The seed of all campaigns
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

/// The name of a capsule. An executable is refused before anything is said of the other options.
fn capsule(name: &str) -> Result<String, String> {
    if bundled::find(name).is_some() || !is_executable(Path::new(name)) {
        return Ok(name.to_owned());
    }
    Err(format!(
        "it is an ELF file, not a capsule. Record what it does with `beamline run --record app.capsule -- {name}`, then protect it with \
         `beamline harden app.capsule --scheme SCHEME --out hard.capsule --executable {name} --executable-out F`"
    ))
}

/// Whether a file begins as programs of Linux do.
fn is_executable(path: &Path) -> bool {
    let mut begin = [0; 4];
    path.is_file() && File::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == *b"\x7fELF"
}

fn scheme(word: &str) -> Result<SchemeChoice, String> {
    let words: Vec<&str> = SchemeChoice::words().collect();
    SchemeChoice::from_word(word).ok_or_else(|| format!("expected one of: {}", words.join(", ")))
}
