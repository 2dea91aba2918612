//! Which products ptxas joins with sums, compared with what we say it does: random kernels through NVIDIA's assembler and
//! disassembler.

mod sass;
mod workloads;

use crate::kernels::keep;
use crate::nvcc;
use crate::repo::say;
use crate::tools::Tools;
use anyhow::{Context, Result, ensure};
use isa::{Base, Contraction, Function, Instruction, Op, Reg, Src};
use sass::Offsets;
use testkit::random_kernels::{Kernel, NAME};

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
    /// The architecture to assemble for, from sm_90 on: before, not all types are there
    #[arg(long, default_value = "sm_90")]
    arch: String,
    /// The assembler's level of optimisation, 1 to 3
    #[arg(long, default_value_t = 3)]
    level: u8,
}

/// Kernels of one module: the disassembler takes longer to start than for any of them.
const TOGETHER: usize = 40;

/// Assembles random kernels and compares.
pub(crate) fn contraction(args: &Args) -> Result<()> {
    let tools = Tools {
        assembler: nvcc::install()?.root.join("bin/ptxas"),
        disassembler: nvcc::disassembler()?,
        arch: args.arch.clone(),
        level: args.level,
    };
    let numbers: Vec<u64> = (args.first..args.first + args.count).collect();
    let batches: Vec<&[u64]> = numbers.chunks(TOGETHER).collect();
    let compared = testkit::in_parallel(&batches, |batch| compare(&tools, args.seed, batch));
    let (mut joined, mut wrong) = (0, Vec::new());
    for batch in compared {
        for (number, expected, found) in batch? {
            joined += expected.len();
            if expected != found {
                let path = keep(args.seed, number, &Kernel::of_sums(args.seed, number))?;
                wrong.push(format!(
                    "kernel {number}: we join the products at {expected:?}, ptxas those at {found:?}; its text is in {}",
                    path.display()
                ));
            }
        }
    }
    ensure!(wrong.is_empty(), "{} of {} kernels differ:\n{}", wrong.len(), args.count, wrong.join("\n"));
    say(&format!("ptxas joins the {joined} products of {} kernels that we join, and no other", args.count))?;
    workloads::compare(&tools)
}

/// What we join in each kernel, and what the assembler does.
fn compare(tools: &Tools, seed: u64, numbers: &[u64]) -> Result<Vec<(u64, Offsets, Offsets)>> {
    let texts: Vec<String> = numbers.iter().map(|&number| Kernel::of_sums(seed, number).ptx).collect();
    let listing = tools.listing(&module(numbers, &texts), &[])?;
    let one = |(&number, text): (&u64, &String)| {
        let (expected, factors) = expected(text)?;
        let seen = sass::joined(&listing, &name(number), &factors);
        let seen = seen.with_context(|| format!("find kernel {number}"))?;
        Ok((number, &expected - &seen.unknown, &seen.joined - &seen.unknown))
    };
    numbers.iter().zip(&texts).map(one).collect()
}

fn name(number: u64) -> String {
    format!("{NAME}_{number}")
}

/// One module of all kernels, each under a name of its own.
fn module(numbers: &[u64], texts: &[String]) -> String {
    let entry = format!(".entry {NAME}(");
    let kernel = |(number, text): (&u64, &String)| {
        let from = text.find(".visible").unwrap_or(0);
        text[from..].replace(&entry, &format!(".entry {}(", name(*number)))
    };
    let kernels: String = numbers.iter().zip(texts).map(kernel).collect();
    format!(".version 8.5\n.target sm_90\n.address_size 64\n{kernels}")
}

/// The products that we join, and all.
fn expected(text: &str) -> Result<(Offsets, Offsets)> {
    let module = ptx::parse(NAME, text).map_err(|errors| anyhow::anyhow!("{errors}"))?;
    let (_, function) = module.kernel(NAME).context("find the kernel in its own text")?;
    let at = |product| origin(function, product);
    let joined = Contraction::of(function).products;
    let joined = joined.keys().map(|pc| at(&function.body[pc.index()])).collect::<Result<_>>()?;
    let all = function.body.iter().filter(|instruction| is_product(instruction)).map(at).collect::<Result<_>>()?;
    Ok((joined, all))
}

fn is_product(instruction: &Instruction) -> bool {
    matches!(&instruction.op, Op::Alu(form) if form.spelling().starts_with("mul.") && !form.spelling().contains("wide"))
}

/// Where the first factor of a product was loaded from.
fn origin(function: &Function, product: &Instruction) -> Result<u64> {
    let Some(Src::Reg(factor)) = product.src.first() else { anyhow::bail!("a product of no register") };
    let loads = function.body.iter().filter(|instruction| is_load_of(instruction, *factor));
    let mut at = loads.filter_map(|load| match load.src.first() {
        Some(Src::Address(Base::Reg(_), offset)) => u64::try_from(*offset).ok(),
        _ => None,
    });
    at.next_back().with_context(|| format!("find the load for {}", product.op))
}

fn is_load_of(instruction: &Instruction, register: Reg) -> bool {
    matches!(instruction.op, Op::Ld(_)) && instruction.writes().any(|(_, written)| written == register)
}
