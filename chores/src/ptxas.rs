//! What we print, NVIDIA's assembler takes: every module at hand, read and printed again, goes through ptxas, and so do
//! modules with faults or protection written into them.

use crate::repo::{root, say};
use crate::{nvcc, workloads};
use anyhow::{Context, Result, ensure};
use capsule::Capsule;
use fault::{Target, TargetOperand};
use isa::{Base, Function, FunctionId, Instruction, Pc, Src};
use rewrite::{Scheme, StaticSite, Technique};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::random_kernels::{Forms, Kernel};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many random kernels, beside the modules of tests and workloads
    #[arg(long, default_value_t = 100)]
    kernels: u64,
    /// The key of all choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Of the modules with faults or protection, one in this number, chosen by the seed
    #[arg(long, value_name = "N", default_value = "1")]
    one_in: std::num::NonZeroU64,
}

/// A module: where it is from, and its text.
type Source = (String, String);

/// Assembles everything.
pub(crate) fn ptxas(args: &Args) -> Result<()> {
    let assembler = nvcc::install()?.root.join("bin/ptxas");
    let mut sources = tests()?;
    sources.extend(recorded()?);
    let written = [with_faults(&recorded()?)?, protected(&recorded()?)?].concat();
    let all = written.len();
    let chosen = testkit::one_in(args.one_in, args.seed, written);
    let left_out = all - chosen.len();
    sources.extend(chosen);
    let forms = Forms::all()?;
    let random = |number| (format!("random kernel {number}"), Kernel::new(&forms, args.seed, number).ptx);
    sources.extend((0..args.kernels).map(random));
    let wrong = testkit::in_parallel(&sources, |(name, text)| {
        let failure = assemble(&assembler, name, text).err()?;
        Some(format!("{name}: {failure:#}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    ensure!(wrong.is_empty(), "{} of {} are not taken:\n{}", wrong.len(), sources.len(), wrong.join("\n"));
    say(&format!("ptxas takes all {} modules as we print them; seed {}, {left_out} left out", sources.len(), args.seed))
}

/// The kernel tests, but for those whose text is wrong on purpose, and those with kernels that are refused, which cannot be
/// printed.
fn tests() -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for path in testkit::files(&testkit::filetests("kernels"), "ptx")? {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("error_") {
            continue;
        }
        if ptx::parse_parts(&name, &text).is_ok_and(|reading| !reading.refused.is_empty()) {
            say(&format!("{name} holds a kernel that is refused: left out"))?;
            continue;
        }
        found.push((name, text));
    }
    Ok(found)
}

/// The modules of the workloads' capsules.
pub(crate) fn recorded() -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for workload in workloads::all()? {
        let path: PathBuf = root().join("workloads").join(&workload.name).join(format!("{}.capsule", workload.name));
        let capsule = Capsule::open(&path)?;
        for blob in capsule.modules.iter().filter_map(|module| module.ptx) {
            let text = String::from_utf8_lossy(&capsule.blobs.get(blob)?).into_owned();
            found.push((format!("workload {}", workload.name), text));
        }
    }
    Ok(found)
}

/// Modules with faults written into them: of every form of an instruction, kind of operand and type of its register, the
/// first that there is.
fn with_faults(sources: &[Source]) -> Result<Vec<Source>> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    for (name, text) in sources {
        let module = ptx::parse(name, text).map_err(|errors| anyhow::anyhow!("{errors}"))?;
        let module = rewrite::without_contraction(rewrite::with_visible_variables(module));
        for (function, body) in (0..).map(FunctionId).zip(&module.functions) {
            for (pc, instruction) in (0..).map(Pc).zip(&body.body) {
                for operand in operands(body, instruction) {
                    let register = body.register(operand.register).ty;
                    if seen.insert((instruction.op.to_string(), operand.target.kind(), register, operand.offset != 0)) {
                        let site = StaticSite { function, pc, operand };
                        let rewritten = rewrite::with_fault(&module, &site)?;
                        let place = format!("{name}, {} {} of {}", pc.0, operand.target, body.name);
                        found.push((place, ptx::print(&rewritten)));
                    }
                }
            }
        }
    }
    Ok(found)
}

/// Modules with protection written into them, by every scheme, and with loads that are executed twice wherever they are: what the
/// assembler takes does not depend on who shares memory.
fn protected(sources: &[Source]) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    for (name, text) in sources {
        let module = ptx::parse(name, text).map_err(|errors| anyhow::anyhow!("{errors}"))?;
        for scheme in Scheme::all() {
            let protected = rewrite::protect(&module, scheme, &|_, _| true)?;
            found.push((format!("{name}, {}", scheme.word()), ptx::print(&protected.module)));
        }
        for scheme in Scheme::INSTRUCTIONS {
            let protected = rewrite::protect_each(&module, &|_| Technique { scheme, loads: true }, &|_, _| true)?;
            found.push((format!("{name}, {} with loads", scheme.word()), ptx::print(&protected.module)));
        }
    }
    Ok(found)
}

/// The operands of an instruction that are in registers.
fn operands(function: &Function, instruction: &Instruction) -> Vec<TargetOperand> {
    let operand = |target, register, offset| {
        let bits = function.register(register).width().bits();
        TargetOperand { target, register, bits, offset }
    };
    let written = instruction.writes().map(|(at, register)| operand(Target::Destination(at as u8), register, 0));
    let read = (0..).zip(&instruction.src).flat_map(|(at, source)| {
        let address = match source {
            Src::Address(Base::Reg(register), offset) => Some(operand(Target::Address(0), *register, *offset)),
            _ => None,
        };
        source.register().map(|register| operand(Target::Source(at), register, 0)).into_iter().chain(address)
    });
    written.chain(read).collect()
}

fn assemble(assembler: &Path, name: &str, text: &str) -> Result<()> {
    let module = ptx::parse(name, text).map_err(|errors| anyhow::anyhow!("{errors}"))?;
    let mut command = Command::new(assembler);
    // A module may be for a GPU that this assembler does not know any more; it is compiled for one that it does.
    command.args(["-arch=sm_90", "--compile-only", "-o", "/dev/null", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("start {}", assembler.display()))?;
    let mut input = child.stdin.take().context("no pipe to ptxas")?;
    let printed = ptx::print(&module);
    // It may refuse before it has read all.
    let _ = input.write_all(printed.as_bytes());
    drop(input);
    let output = child.wait_with_output().context("wait for ptxas")?;
    let said = [output.stdout, output.stderr].concat();
    let said: String = String::from_utf8_lossy(&said).lines().take(4).collect::<Vec<_>>().join("\n  ");
    ensure!(output.status.success(), "{}: {said}", output.status);
    Ok(())
}
