//! Every special function beside the GPU's, for every argument.

use super::compare::{Differences, compare};
use super::kernel::Kernel;
use super::operands::Operands;
use crate::repo::say;
use anyhow::{Result, ensure};
use gpu::Gpu;
use isa::Alu;

/// Results that are fetched at once.
const CHUNK: u64 = 1 << 25;

/// Compares all forms, and prints a table.
pub(super) fn verify(gpu: &Gpu) -> Result<()> {
    let mut wrong = 0;
    say("| form | inputs | differing | first examples |\n|---|---:|---:|---|")?;
    for alu in forms() {
        let differences = form(gpu, alu)?;
        say(&row(alu, &differences))?;
        wrong += usize::from(differences.count > 0);
    }
    say(&format!("\n{} forms, {wrong} differ", forms().count()))?;
    ensure!(wrong == 0, "{wrong} forms differ from the GPU");
    Ok(())
}

/// The instructions that the special function unit executes, or that are made of such.
pub(super) fn forms() -> impl Iterator<Item = Alu> {
    let special = |alu: &Alu| alu.pattern().contains(".approx") || alu.pattern().starts_with("div.full");
    Alu::ALL.iter().copied().filter(special)
}

/// Compares one form; while we compute, the GPU's next results are fetched.
fn form(gpu: &Gpu, alu: Alu) -> Result<Differences> {
    let (kernel, size) = (Kernel::load(gpu, alu)?, u64::from(alu.destination().bytes()));
    let count = Operands::of(alu).count();
    let chunk = CHUNK.min(count);
    let buffer = || vec![0; (chunk * size) as usize];
    let (mut ready, mut next, mut all) = (buffer(), buffer(), Differences::default());
    kernel.run(0, 1, &mut ready)?;
    for from in (0..count).step_by(chunk as usize) {
        let after = from + chunk;
        let (fetched, found) = std::thread::scope(|scope| {
            let found = scope.spawn(|| compare(alu, from as u32, &ready));
            let fetched = if after < count { kernel.run(after as u32, 1, &mut next) } else { Ok(()) };
            (fetched, found.join().unwrap_or_default())
        });
        fetched?;
        all.join(&found);
        std::mem::swap(&mut ready, &mut next);
    }
    Ok(all)
}

fn row(alu: Alu, differences: &Differences) -> String {
    let two = alu.sources().len() == 2;
    let examples = differences.first.iter().map(|one| {
        let second = if two { format!(", {:#x}", one.operands[1]) } else { String::new() };
        format!("{:#x}{second}: {:#x}, the GPU {:#x}", one.operands[0], one.ours, one.theirs)
    });
    let examples = examples.collect::<Vec<_>>().join("; ");
    format!("| `{}` | {} | {} | {examples} |", alu.pattern(), Operands::of(alu).count(), differences.count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::kernel;

    #[test]
    fn every_special_function_is_compared_by_a_kernel_that_executes_it() {
        let mut count = 0;
        for alu in forms() {
            let text = kernel::text(alu);
            let module = ptx::parse("sweep.ptx", &text).unwrap_or_else(|error| panic!("{}: {error:?}", alu.pattern()));
            let (_, kernel) = module.kernel("sweep").expect("the module has the kernel");
            let executed = kernel.body.iter().filter(|instruction| instruction.op.to_string() == alu.pattern());
            assert_eq!(executed.count(), 1, "{text}");
            count += 1;
        }
        assert_eq!(count, 30);
    }
}
