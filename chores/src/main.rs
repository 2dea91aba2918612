//! The project's chores that need Beamline itself: what is recorded, measured, generated, or run against a compiler or
//! a GPU. `cargo xtask` starts them; `.ci/run` calls those that are checks.

mod apps;
mod automatic;
mod bench;
mod contraction;
mod end_to_end;
mod fuzz;
mod hardened;
mod issue;
mod kernels;
mod learned;
mod live;
mod microbenchmarks;
mod nvcc;
mod page;
mod protection;
mod ptxas;
mod repo;
mod sample;
mod special;
mod supported;
mod tiers;
mod tools;
mod vectors;
mod workloads;

use anyhow::Result;
use apps::Wanted;
use clap::{Parser, Subcommand};
use std::num::NonZeroU64;
use std::path::PathBuf;

#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Write docs/supported.md: the instructions and runtime calls that are supported
    Supported {
        /// Only see whether it is up to date
        #[arg(long)]
        check: bool,
    },
    /// Execute the instruction vectors on the GPU of this machine, and compare
    Vectors {
        /// Keep what it makes of the random rows
        #[arg(long)]
        bless: bool,
    },
    /// Execute random kernels at every instruction-set level, and on the GPU of this machine, and compare
    Kernels(kernels::Args),
    /// Compare the special functions with the GPU of this machine, or solve for their tables
    Special(special::Args),
    /// Assemble every module of tests and workloads, and random kernels, as we print them
    Ptxas(ptxas::Args),
    /// Count, in what NVIDIA's assembler makes of protected kernels, what protection computes twice
    Protection,
    /// Harden random kernels by every scheme, and compare what they compute in the simulator
    Hardened(hardened::Args),
    /// Make the table that the automatic choice of a scheme learns from, and say what the choice saves
    Automatic,
    /// Compare which products of random kernels NVIDIA's assembler joins with sums with those that we join
    Contraction(contraction::Args),
    /// Install NVIDIA's compiler from PyPI into a cache, and print where it is
    Nvcc,
    /// Build and record every workload, and compare with the committed capsules
    Workloads {
        /// Replace the committed capsules
        #[arg(long)]
        bless: bool,
        /// The key of the choice
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// One workload in this number, chosen by the seed
        #[arg(long, value_name = "N", default_value = "1")]
        one_in: NonZeroU64,
        /// Only these
        names: Vec<String>,
    },
    /// Run real applications end to end: built by nvcc, executed by `beamline run`
    EndToEnd {
        /// The small applications at every setting of the compiler, as a table
        #[arg(long)]
        all: bool,
        /// The key of the applications that are built at a second setting
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// One application in this number is built at a second setting
        #[arg(long, value_name = "N", default_value = "1")]
        one_in: NonZeroU64,
        /// Record what they do into this folder, for `beamline verify --gpu`
        #[arg(long, value_name = "DIR")]
        record: Option<PathBuf>,
    },
    /// Feed mutated texts and files to what reads them, and keep those that it does not survive
    Fuzz(fuzz::Args),
    /// Run faults by every tier, and compare what they observe and leave in memory
    Tiers(tiers::Args),
    /// Compare a sample of kernel tests, workloads, random capsules and kernels in every tier, for about a minute
    Sample(sample::Args),
    /// Predict the outcomes of error sites by a model that learned from exhaustive campaigns of other workloads
    Learned(learned::Args),
    /// Run faults in running applications, with replay and without, and compare what is seen
    Live {
        /// Faults of each application
        #[arg(long, default_value_t = 500)]
        runs: u64,
    },
    /// Strike the microbenchmarks in every way that an IPA table knows, and categorise what they log
    Microbenchmarks {
        /// Faults of each kind and program
        #[arg(long, default_value_t = 20)]
        runs: u64,
    },
    /// Make the issue rates of the bundled workloads from what a profiler counted on a GPU
    Issue,
    /// Measure what the page of a method needs, and write it
    Page(page::Args),
    /// Measure golden runs and campaigns of every workload, and print a record
    Bench(bench::Args),
}

fn main() -> Result<()> {
    match Args::parse().task {
        Task::Supported { check: true } => supported::check(),
        Task::Supported { check: false } => supported::write(),
        Task::Vectors { bless } => vectors::vectors(bless),
        Task::Kernels(args) => kernels::kernels(&args),
        Task::Special(args) => special::special(&args),
        Task::Microbenchmarks { runs } => microbenchmarks::microbenchmarks(runs),
        Task::Issue => issue::issue(),
        Task::Page(args) => page::page(&args),
        Task::Ptxas(args) => ptxas::ptxas(&args),
        Task::Protection => protection::protection(),
        Task::Hardened(args) => hardened::hardened(&args),
        Task::Automatic => automatic::automatic(),
        Task::Contraction(args) => contraction::contraction(&args),
        Task::Nvcc => repo::say(&nvcc::install()?.root.display().to_string()),
        Task::Workloads { bless, seed, one_in, names } => {
            workloads::workloads(bless, &names, workloads::Sample { seed, one_in })
        }
        Task::EndToEnd { all, seed, one_in, record } => {
            let wanted = if all { Wanted::All } else { Wanted::Part { seed, one_in } };
            end_to_end::end_to_end(wanted, record.as_deref())
        }
        Task::Fuzz(args) => fuzz::fuzz(&args),
        Task::Tiers(args) => tiers::tiers(&args),
        Task::Sample(args) => sample::sample(&args),
        Task::Learned(args) => learned::learned(&args),
        Task::Live { runs } => live::live(runs),
        Task::Bench(args) => bench::bench(&args),
    }
}
