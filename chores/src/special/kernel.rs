//! A kernel that executes an instruction for consecutive numbers, and the GPU that runs it.

use super::operands::Operands;
use super::sweep::{Answers, Sweep};
use anyhow::{Context, Result};
use gpu::{Gpu, LaunchShape, LoadedModule};
use isa::{Alu, Type, Width};

/// Threads of a block.
const BLOCK: u32 = 256;

/// The GPU of this machine.
pub(super) struct OnGpu<'g>(pub(super) &'g Gpu);

impl Answers for OnGpu<'_> {
    fn of(&self, sweep: &Sweep) -> Result<Vec<u32>> {
        let alu = by_spelling(sweep.spelling)?;
        let kernel = Kernel::load(self.0, alu)?;
        let mut bytes = vec![0; sweep.count as usize * 4];
        kernel.run(sweep.from, sweep.step, &mut bytes)?;
        Ok(bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect())
    }
}

/// The instruction of a spelling.
pub(super) fn by_spelling(spelling: &str) -> Result<Alu> {
    let found = Alu::ALL.iter().copied().find(|alu| alu.pattern() == spelling);
    found.with_context(|| format!("there is no instruction `{spelling}`"))
}

/// The kernel of an instruction.
pub(super) struct Kernel<'g> {
    gpu: &'g Gpu,
    module: LoadedModule<'g>,
    /// Bytes of a result.
    size: usize,
}

impl<'g> Kernel<'g> {
    /// Has it compiled.
    pub(super) fn load(gpu: &'g Gpu, alu: Alu) -> Result<Self> {
        let module = gpu.load(&text(alu)).with_context(|| alu.pattern())?;
        Ok(Self { gpu, module, size: alu.destination().bytes() as usize })
    }

    /// The results for as many numbers as there is room for in `results`, from one on, in steps. There have to be whole
    /// blocks of them.
    pub(super) fn run(&self, from: u32, step: u32, results: &mut [u8]) -> Result<()> {
        let count = results.len() / self.size;
        let address = self.gpu.allocate(results.len() as u64)?;
        let params = [&address.to_le_bytes()[..], &from.to_le_bytes(), &step.to_le_bytes()].concat();
        let grid = [count as u32 / BLOCK, 1, 1];
        let shape = LaunchShape { grid, block: [BLOCK, 1, 1], shared_bytes: 0, cooperative: false };
        self.module.launch("sweep", shape, &params)?;
        self.gpu.synchronize()?;
        self.gpu.read(address, results)?;
        Ok(self.gpu.free(address)?)
    }
}

/// The module: thread i leaves the result of the number `from + i·step` in the i-th place behind `out`.
pub(super) fn text(alu: Alu) -> String {
    let kind = |ty: Type| match ty.width() {
        Width::B16 => "b16",
        Width::B64 => "b64",
        _ => "b32",
    };
    let (from, to) = (kind(alu.sources()[0]), kind(alu.destination()));
    let operands = if alu.sources().len() == 2 { "%a, %b" } else { "%a" };
    let (spelling, size) = (alu.pattern(), alu.destination().bytes());
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n
.visible .entry sweep(.param .u64 out, .param .u32 from, .param .u32 step) {{
    .reg .pred %p, %q;
    .reg .b32 %i, %n, %m;
    .reg .b64 %to, %x, %y;
    .reg .{from} %a, %b;
    .reg .{to} %d;
    mov.u32 %i, %ctaid.x; mov.u32 %m, %tid.x; mad.lo.u32 %i, %i, {BLOCK}, %m;
    ld.param.u32 %m, [from]; ld.param.u32 %n, [step]; mad.lo.u32 %n, %i, %n, %m;
    {}
    {spelling} %d, {operands};
    ld.param.u64 %to, [out]; mad.wide.u32 %to, %i, {size}, %to;
    st.global.{to} [%to], %d;
    ret;
}}\n",
        Operands::of(alu).ptx()
    )
}
