//! The special functions of a GPU: measured, solved for, verified.
//!
//! `--solve` asks for what the tables of `isa::semantics::approx` are made of and writes them, `--verify` compares every
//! function with the GPU for every argument. `docs/design/special.md` says what is solved.

mod compare;
mod functions;
mod kernel;
mod operands;
mod sample;
mod segment;
mod solve;
mod source;
mod sweep;
mod verify;

use crate::repo::{root, say};
use anyhow::{Context, Result};
use functions::FUNCTIONS;
use gpu::Gpu;
use kernel::OnGpu;
use std::path::{Path, PathBuf};
use sweep::{Answers, Folder};

/// One of these, on a machine with a GPU or with what one answered.
#[derive(clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(false)))]
pub(crate) struct Args {
    /// Compare every function with the GPU of this machine, for every argument
    #[arg(long, group = "what")]
    verify: bool,
    /// Write the tables of coefficients anew
    #[arg(long, group = "what")]
    solve: bool,
    /// Write a sample of answers as instruction vectors
    #[arg(long, group = "what")]
    sample: bool,
    /// Keep the answers that tables are made of in this folder
    #[arg(long, group = "what", value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Take the answers from a folder that `--dump` wrote, not from the GPU
    #[arg(long, value_name = "DIR", conflicts_with_all = ["verify", "dump"])]
    from: Option<PathBuf>,
    /// Write to this file, not into the repository
    #[arg(long, value_name = "FILE", conflicts_with_all = ["verify", "dump"])]
    to: Option<PathBuf>,
}

/// Where the tables stand.
const TABLES: &str = "crates/isa/src/semantics/approx/tables.rs";
/// Where the sample stands.
const SAMPLE: &str = "filetests/instructions/special.vec";

/// Does what the arguments say.
pub(crate) fn special(args: &Args) -> Result<()> {
    if let Some(folder) = &args.from {
        return keep(args, &Folder(folder.clone()));
    }
    let gpu = Gpu::open()?;
    let description = gpu.description();
    say(&format!("{}, driver for CUDA {}.{}", description.name, description.driver.0, description.driver.1))?;
    match &args.dump {
        _ if args.verify => verify::verify(&gpu),
        Some(folder) => dump(folder, &OnGpu(&gpu)),
        None => keep(args, &OnGpu(&gpu)),
    }
}

/// Writes tables or a sample.
fn keep(args: &Args, answers: &dyn Answers) -> Result<()> {
    let (place, text) = if args.solve { (TABLES, tables(answers)?) } else { (SAMPLE, sample::sample(answers)?) };
    let path = args.to.clone().unwrap_or_else(|| root().join(place));
    std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    say(&format!("{} is written", path.display()))
}

fn tables(answers: &dyn Answers) -> Result<String> {
    let mut solved = Vec::new();
    for function in &FUNCTIONS {
        let table = solve::solve(function, answers)?;
        let (bias, low, high) = (table.bias, table.room.0, table.room.1);
        say(&format!("{}: {} segments, bias {bias} of {low} to {high}", function.name, table.segments.len()))?;
        solved.push((function, table));
    }
    Ok(source::source(&solved))
}

fn dump(folder: &Path, answers: &dyn Answers) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    for sweep in FUNCTIONS.iter().flat_map(|function| function.sweeps) {
        let path = folder.join(sweep.file_name());
        let bytes: Vec<u8> = answers.of(sweep)?.into_iter().flat_map(u32::to_le_bytes).collect();
        std::fs::write(&path, bytes).with_context(|| format!("write {}", path.display()))?;
        say(&path.display().to_string())?;
    }
    Ok(())
}
