//! The kernels of a random capsule.

use crate::fuzz::Dice;
use std::fmt::Write;

/// Buffers that a kernel gets.
pub(super) const BUFFERS: usize = 3;

/// Registers that hold values.
const VALUES: usize = 6;

/// The name of a kernel of the module.
pub(super) fn name(number: usize) -> String {
    format!("kernel_{number}")
}

/// A module of so many kernels.
pub(super) fn module(dice: &mut Dice, kernels: usize) -> String {
    let mut text = String::from(".version 8.0\n.target sm_80\n.address_size 64\n\n");
    text += FUNCTION;
    for number in 0..kernels {
        let alone = dice.one_in(3);
        text += &Kernel { dice, text: String::new(), labels: 0, alone }.write(number);
    }
    text
}

struct Kernel<'d> {
    dice: &'d mut Dice,
    text: String,
    labels: u32,
    /// Its threads have to do with each other only where two buffers are one.
    alone: bool,
}

/// A function that kernels call: it calls itself up to three times, as its second argument says.
const FUNCTION: &str = ".func (.param .b32 out) mix(.param .b32 value, .param .b32 times)
{
    .reg .b32 %v, %n, %r;
    .reg .pred %p;
    ld.param.u32 %v, [value];
    ld.param.u32 %n, [times];
    and.b32 %n, %n, 3;
    mad.lo.u32 %r, %v, 5, %n;
    setp.eq.u32 %p, %n, 0;
    @%p bra done;
    sub.u32 %n, %n, 1;
    {
        .param .b32 a;
        .param .b32 b;
        .param .b32 c;
        st.param.b32 [a], %r;
        st.param.b32 [b], %n;
        call (c), mix, (a, b);
        ld.param.b32 %n, [c];
    }
    xor.b32 %r, %r, %n;
    add.u32 %r, %r, %v;
done:
    st.param.b32 [out], %r;
    ret;
}

";

/// Blocks have no more threads than this.
const THREADS: usize = 64;

impl Kernel<'_> {
    fn write(mut self, number: usize) -> String {
        let statements = 3 + self.dice.below(8);
        for _ in 0..statements {
            match self.dice.below(8) {
                0 | 1 if !self.alone => self.exchange(),
                2 if !self.alone => self.collective(),
                _ => self.statement(2),
            }
        }
        // What a thread has computed is stored, so that a fault in it may matter.
        self.access("st");
        format!(
            ".visible .entry {}(.param .u64 b0, .param .u64 b1, .param .u64 b2, .param .u64 salt)\n{{
    .reg .b32 %v<{VALUES}>, %t, %n, %i, %g, %s, %x, %count;\n    .reg .b64 %b<{BUFFERS}>, %a, %long;\n    .reg .pred %p;
    .shared .align 4 .b8 slots[{}];
    .local .align 8 .b8 own[64];
    ld.param.u64 %b0, [b0];\n    ld.param.u64 %b1, [b1];\n    ld.param.u64 %b2, [b2];\n    ld.param.u64 %long, [salt];
    cvt.u32.u64 %x, %long;\n    mov.u32 %t, %tid.x;\n    mov.u32 %n, %ntid.x;\n    mov.u32 %g, %ctaid.x;
    mad.lo.u32 %g, %g, %n, %t;\n    mov.u32 %s, slots;\n    mad.lo.u32 %s, %t, 4, %s;\n{}{}    ret;\n}}\n\n",
            name(number),
            4 * THREADS,
            (0..VALUES).map(|at| format!("    mad.lo.u32 %v{at}, %g, {}, %x;\n", 2 * at + 1)).collect::<String>(),
            self.text,
        )
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn value(&mut self) -> String {
        format!("%v{}", self.dice.below(VALUES))
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Something that threads may do by themselves, nested at most so deep.
    fn statement(&mut self, depth: usize) {
        match self.dice.below(if depth > 0 { 12 } else { 10 }) {
            0 | 1 => self.access("ld"),
            2 | 3 => self.access("st"),
            4 if !self.alone => self.atomic(),
            5 => self.spill(),
            6 => self.call(),
            4 | 7..10 => self.arithmetic(),
            10 => self.choice(depth - 1),
            _ => self.repetition(depth - 1),
        }
    }

    fn arithmetic(&mut self) {
        let (to, one, other) = (self.value(), self.value(), self.value());
        let operation =
            *self.dice.pick(&["add.u32", "mul.lo.u32", "xor.b32", "min.s32", "sub.u32"]).unwrap_or(&"add.u32");
        self.line(&format!("{operation} {to}, {one}, {other};"));
    }

    /// Leaves the address of an element in `%a`: of the thread's own, a neighbour's, any that a value names, or one for
    /// all threads.
    fn element(&mut self) {
        let (shift, buffer) = (self.dice.below(512), self.dice.below(BUFFERS));
        match self.dice.below(8) {
            _ if self.alone => self.line("mov.u32 %i, %g;"),
            0 => {
                let value = self.value();
                self.line(&format!("mov.u32 %i, {value};"));
            }
            1 => self.line(&format!("mov.u32 %i, {shift};")),
            2 => self.line(&format!("sub.u32 %i, {shift}, %g;")),
            3 => self.line(&format!("mad.lo.u32 %i, %g, 2, {shift};")),
            4 => self.line(&format!("add.u32 %i, %g, {shift};")),
            _ => self.line("mov.u32 %i, %g;"),
        }
        self.line("and.b32 %i, %i, 511;");
        self.line(&format!("mad.wide.u32 %a, %i, 4, %b{buffer};"));
    }

    fn access(&mut self, which: &str) {
        self.element();
        let (value, other) = (self.value(), self.value());
        // Global addresses are generic ones, too.
        let space = *self.dice.pick(&[".global", ".global", ""]).unwrap_or(&"");
        let kind = *self.dice.pick(&["u32", "u32", "u32", "u32", "u8", "u16", "v2"]).unwrap_or(&"u32");
        let (kind, values) = match kind {
            "v2" => {
                self.line("and.b64 %a, %a, -8;");
                ("v2.u32", format!("{{{value}, {other}}}"))
            }
            kind => (kind, value),
        };
        match which {
            // One register cannot be loaded twice.
            "ld" if values.starts_with('{') => self.line(&format!("ld{space}.{kind} {{%count, %i}}, [%a];")),
            "ld" => self.line(&format!("ld{space}.{kind} {values}, [%a];")),
            _ => self.line(&format!("st{space}.{kind} [%a], {values};")),
        }
        if which == "ld" && kind == "v2.u32" {
            let (to, from) = (self.value(), *self.dice.pick(&["%count", "%i"]).unwrap_or(&"%i"));
            self.line(&format!("mov.u32 {to}, {from};"));
        }
    }

    /// A value goes to the thread's own memory and comes back from there, perhaps another.
    fn spill(&mut self) {
        let (from, to, one, other) = (self.value(), self.value(), self.value(), self.value());
        let generic = self.dice.one_in(2);
        let place = |kernel: &mut Self, value: &str| {
            kernel.line(&format!("and.b32 %i, {value}, 15;"));
            kernel.line("mov.u64 %long, own;");
            kernel.line("mad.wide.u32 %a, %i, 4, %long;");
            if generic {
                kernel.line("cvta.local.u64 %a, %a;");
            }
        };
        let space = if generic { "" } else { ".local" };
        place(self, &one);
        self.line(&format!("st{space}.u32 [%a], {from};"));
        place(self, &other);
        self.line(&format!("ld{space}.u32 {to}, [%a];"));
    }

    /// A call of a function, which may call itself.
    fn call(&mut self) {
        let (to, value, times) = (self.value(), self.value(), self.value());
        self.line(&format!("and.b32 %i, {times}, 3;"));
        self.line("{");
        self.line(".param .b32 a;\n    .param .b32 b;\n    .param .b32 c;");
        self.line(&format!("st.param.b32 [a], {value};"));
        self.line("st.param.b32 [b], %i;");
        self.line("call (c), mix, (a, b);");
        self.line(&format!("ld.param.b32 {to}, [c];"));
        self.line("}");
    }

    /// Threads of a warp exchange values, or ask the machine what only it knows.
    fn collective(&mut self) {
        let (to, from, by) = (self.value(), self.value(), 1 + self.dice.below(8));
        match self.dice.below(4) {
            0 => self.line(&format!("shfl.sync.bfly.b32 {to}, {from}, {by}, 31, -1;")),
            1 => self.line(&format!("shfl.sync.down.b32 {to}, {from}, {by}, 31, -1;")),
            2 => {
                self.line(&format!("setp.gt.s32 %p, {from}, 0;"));
                self.line(&format!("vote.sync.ballot.b32 {to}, %p, -1;"));
            }
            _ => self.line(&format!("mov.u32 {to}, %clock;")),
        }
    }

    fn atomic(&mut self) {
        self.element();
        let (to, operand, swap) = (self.value(), self.value(), self.value());
        let line = match self.dice.below(5) {
            0 => format!("atom.global.add.u32 {to}, [%a], {operand};"),
            1 => format!("atom.global.exch.b32 {to}, [%a], {operand};"),
            2 => format!("atom.global.cas.b32 {to}, [%a], {operand}, {swap};"),
            3 => format!("red.global.max.u32 [%a], {operand};"),
            _ => format!("atom.global.xor.b32 {to}, [%a], {operand};"),
        };
        self.line(&line);
    }

    /// Threads of a block exchange values through shared memory.
    fn exchange(&mut self) {
        let (from, to, by) = (self.value(), self.value(), 1 + self.dice.below(9));
        self.line(&format!("st.shared.u32 [%s], {from};"));
        self.line("bar.sync 0;");
        self.line(&format!("add.u32 %i, %t, {by};"));
        self.line("rem.u32 %i, %i, %n;");
        self.line("mul.lo.u32 %i, %i, 4;");
        self.line("mov.u32 %count, slots;");
        self.line("add.u32 %i, %i, %count;");
        self.line(&format!("ld.shared.u32 {to}, [%i];"));
        self.line("bar.sync 0;");
    }

    /// Some threads do more.
    fn choice(&mut self, depth: usize) {
        let (value, mask, end) = (self.value(), 1 << self.dice.below(4), self.label());
        self.line(&format!("and.b32 %i, {value}, {mask};"));
        self.line("setp.eq.u32 %p, %i, 0;");
        self.line(&format!("@%p bra {end};"));
        self.statement(depth);
        let _ = writeln!(self.text, "{end}:");
    }

    /// Something is done up to three times.
    fn repetition(&mut self, depth: usize) {
        let (value, start) = (self.value(), self.label());
        let counter = format!("%count_{start}");
        self.line(&format!(".reg .b32 {counter};"));
        self.line(&format!("and.b32 {counter}, {value}, 3;"));
        let _ = writeln!(self.text, "{start}:");
        self.statement(depth);
        self.line(&format!("sub.u32 {counter}, {counter}, 1;"));
        self.line(&format!("setp.gt.s32 %p, {counter}, 0;"));
        self.line(&format!("@%p bra {start};"));
    }
}
