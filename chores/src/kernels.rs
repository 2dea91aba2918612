//! Random kernels on every instruction-set level of this host, and on its GPU where there is one, as they are or protected: all must
//! leave the same bytes.

use crate::repo::{root, say};
use anyhow::{Context, Result, ensure};
use device::Contract;
use gpu::{Gpu, GpuError, LaunchShape};
use rewrite::Scheme;
use std::path::PathBuf;
use testkit::hardened::{HardenedKernel, KernelText};
use testkit::random_kernels::{Forms, Kernel, NAME};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many kernels
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The key of all choices: other seeds make other kernels
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kernels of products and sums that an assembler may join, in place of kernels of all instructions
    #[arg(long)]
    sums: bool,
    /// Execute them on the GPU of this machine too
    #[arg(long)]
    gpu: bool,
    /// On the GPU, execute them protected by this scheme
    #[arg(long, requires = "gpu", value_parser = scheme)]
    scheme: Option<Scheme>,
}

fn scheme(word: &str) -> Result<Scheme, String> {
    Scheme::from_word(word).ok_or_else(|| {
        let words: Vec<&str> = Scheme::all().map(Scheme::word).collect();
        format!("it is none of {}", words.join(", "))
    })
}

/// The text that the GPU executes for a kernel: its own, or that protected by a scheme.
fn text(kernel: &Kernel, scheme: Option<Scheme>) -> Result<KernelText, Found> {
    let Some(scheme) = scheme else {
        return Ok(KernelText { ptx: kernel.ptx.clone(), threads: kernel.threads });
    };
    let module = ptx::parse("kernel.ptx", &kernel.ptx).map_err(|errors| Found::Differs(errors.to_string()))?;
    KernelText::hardened(kernel, &module, scheme.into(), &|_, _| true).map_err(|found| match found {
        HardenedKernel::Refused(_) => Found::Unprotected,
        other => Found::Differs(format!("{other:?}")),
    })
}

/// What came of a kernel.
enum Found {
    Same,
    /// The driver's compiler does not take it.
    Refused(String),
    /// Only as the driver's compiler optimises it: without, it is the same.
    Optimised(String),
    Differs(String),
    /// The scheme does not take it.
    Unprotected,
}

/// Executes them and compares.
pub(crate) fn kernels(args: &Args) -> Result<()> {
    let forms = Forms::all()?;
    let kernel = |number| match args.sums {
        true => Kernel::of_sums(args.seed, number),
        false => Kernel::new(&forms, args.seed, number),
    };
    let numbers: Vec<u64> = (args.first..args.first + args.count).collect();
    let simulated = testkit::in_parallel(&numbers, |&number| simulate(&kernel(number)));
    let gpu = args.gpu.then(Gpu::open).transpose()?;
    let (mut refused, mut optimised, mut wrong, mut unprotected) = (0, 0, 0, 0);
    for (&number, simulated) in numbers.iter().zip(simulated) {
        let kernel = kernel(number);
        let found = match (simulated, &gpu) {
            (Err(what), _) => Found::Differs(what),
            (Ok(expected), Some(gpu)) => match text(&kernel, args.scheme) {
                Ok(text) => on_gpu(gpu, &kernel, &text, &expected).or_else(|error| {
                    // A kernel that fails ends all work of the process on the GPU.
                    let path = keep(args.seed, number, &kernel)?;
                    Err(error.context(format!(
                        "execute kernel {number} on the GPU: its text is in {}; those behind it are not executed: go on with \
                         --first {}",
                        path.display(),
                        number + 1
                    )))
                })?,
                Err(found) => found,
            },
            (Ok(_), None) => Found::Same,
        };
        match found {
            Found::Same => {}
            Found::Unprotected => unprotected += 1,
            Found::Refused(what) => {
                refused += 1;
                say(&format!("kernel {number}: not executed on the GPU: {what:.400}"))?;
            }
            Found::Optimised(what) => {
                optimised += 1;
                let path = keep(args.seed, number, &kernel)?;
                say(&format!("kernel {number}, optimised by ptxas: {what}; its text is in {}", path.display()))?;
            }
            Found::Differs(what) => {
                wrong += 1;
                say(&format!(
                    "kernel {number}: {what}; its text is in {}",
                    keep(args.seed, number, &kernel)?.display()
                ))?;
            }
        }
    }
    let levels: Vec<String> = testkit::levels().map(|level| level.to_string()).collect();
    let by = args
        .scheme
        .map_or_else(String::new, |scheme| format!(" by {}, which does not take {unprotected}", scheme.word()));
    let on = gpu.map_or_else(String::new, |gpu| format!(" and on {}{by}", gpu.description().name));
    say(&format!(
        "{} kernels on {}{on}: {wrong} differ, {optimised} only as ptxas optimises them, {refused} refused",
        args.count,
        levels.join(", ")
    ))?;
    ensure!(wrong + refused == 0, "{wrong} kernels differ, {refused} are refused");
    Ok(())
}

/// What all levels leave behind; an error where they differ.
pub(crate) fn simulate(kernel: &Kernel) -> Result<Vec<u8>, String> {
    let mut first: Option<Vec<u8>> = None;
    for level in testkit::levels() {
        let found = kernel.simulate(level, Contract::Ptxas)?;
        let expected = first.get_or_insert_with(|| found.clone());
        if let Some(what) = kernel.difference(expected, &found) {
            return Err(format!("{level} differs: {what}"));
        }
    }
    first.ok_or_else(|| "this host has no level".to_owned())
}

fn on_gpu(gpu: &Gpu, kernel: &Kernel, text: &KernelText, expected: &[u8]) -> Result<Found> {
    match execute(gpu, kernel, text, BEST) {
        Ok(found) => Ok(match kernel.difference(expected, &found) {
            Some(what) if is_as_written(gpu, kernel, text)? => Found::Optimised(what),
            Some(what) => Found::Differs(format!("the GPU differs: {what}")),
            None => Found::Same,
        }),
        Err(GpuError::Refused { said, .. }) => Ok(Found::Refused(said)),
        Err(error) => Err(error.into()),
    }
}

/// Whether the GPU leaves what the simulator does where neither joins products with sums, the compiler because it does not
/// optimise.
fn is_as_written(gpu: &Gpu, kernel: &Kernel, text: &KernelText) -> Result<bool, GpuError> {
    let found = execute(gpu, kernel, text, 0)?;
    Ok(testkit::levels().all(|level| kernel.simulate(level, Contract::Off).as_ref() == Ok(&found)))
}

/// The driver's compiler at its best.
const BEST: u8 = 4;

/// What the GPU leaves behind, from a module compiled at a level of optimisation.
fn execute(gpu: &Gpu, kernel: &Kernel, text: &KernelText, level: u8) -> Result<Vec<u8>, GpuError> {
    let module = gpu.load_at(&text.ptx, level)?;
    let mut output = vec![0; kernel.output_bytes()];
    let shape =
        LaunchShape { grid: [kernel.blocks, 1, 1], block: [text.threads, 1, 1], shared_bytes: 0, cooperative: false };
    module.run(NAME, shape, &kernel.input, &mut output, |from, to| kernel.arguments(from, to))?;
    Ok(output)
}

/// Writes a kernel where it can be looked at.
pub(crate) fn keep(seed: u64, number: u64, kernel: &Kernel) -> Result<PathBuf> {
    let folder = root().join("target/kernels");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let path = folder.join(format!("{seed}-{number}.ptx"));
    std::fs::write(&path, &kernel.ptx).with_context(|| format!("write {}", path.display()))?;
    Ok(path)
}
