//! The text of a random kernel.

use super::dice::Dice;
use super::forms::Forms;
use super::registers::{Class, RECORD, bits_of, declarations, load_all, store_all};
use isa::{Op, Type};
use std::fmt::Write;

/// The name of every kernel.
pub const NAME: &str = "random";
/// How deep branches and loops are nested.
const DEEPEST: usize = 3;

/// A kernel that is being written.
pub(super) struct Body<'a> {
    forms: &'a Forms,
    dice: &'a mut Dice,
    text: String,
    threads: u32,
    labels: usize,
    depth: usize,
    /// Statements that are left.
    left: usize,
    /// Whether all threads of the block are here together.
    together: bool,
}

impl<'a> Body<'a> {
    /// The module of a kernel for blocks of so many threads.
    pub(super) fn write(forms: &'a Forms, dice: &'a mut Dice, threads: u32) -> String {
        let left = *dice.choose(&[3, 10, 40, 120]);
        let text = String::new();
        let mut body = Self { forms, dice, text, threads, labels: 0, depth: 0, left, together: true };
        while body.left > 0 {
            body.statement();
        }
        let statements = body.text;
        format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n
.const .align 8 .b64 table[8] = {{1, 0xffffffffffffffff, 0x8000000000000000, 0x7ff0000000000000, 3, 0x3ff0000000000000, 0x12345678, 0}};
.shared .align 8 .b8 slots[{}];

.func (.param .b32 out) mix(.param .b32 a, .param .b64 b)\n{{\n    .reg .b32 %x<4>;\n    .reg .b64 %y;\n    .reg .pred %z;
    ld.param.b32 %x0, [a];\n    ld.param.b64 %y, [b];\n    cvt.u32.u64 %x1, %y;\n    setp.lt.s32 %z, %x0, %x1;
    @%z bra LESS;\n    mad.lo.s32 %x0, %x0, 31, %x1;\n    bra END;\nLESS:\n    xor.b32 %x0, %x1, 0x55555555;\nEND:
    st.param.b32 [out], %x0;\n    ret;\n}}\n
.visible .entry {}(.param .u64 in, .param .u64 out, .param .u64 cells)\n{{\n{}    .local .align 8 .b8 scratch[64];
    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    ld.param.u64 %cells, [cells];
    mov.u32 %thread, %tid.x;\n    mov.u32 %global, %ctaid.x;\n    mad.lo.u32 %global, %global, {threads}, %thread;
    mul.wide.u32 %t64, %global, {};\n    add.u64 %in, %in, %t64;\n    add.u64 %out, %out, %t64;
{}{SCRATCH}{statements}{}    ret;\n}}\n",
            threads * 8,
            NAME,
            declarations(),
            RECORD,
            load_all(),
            store_all(),
        )
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    fn place(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn register(&mut self, class: Class) -> String {
        class.register(self.dice.below(class.count()))
    }

    fn guard(&mut self) -> String {
        if !self.dice.one_in(6) {
            return String::new();
        }
        let predicate = self.register(Class::Pred);
        if self.dice.one_in(2) { format!("@{predicate} ") } else { format!("@!{predicate} ") }
    }

    fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        match self.dice.below(100) {
            0..62 => self.pure(),
            62..70 if self.depth < DEEPEST => self.branch(),
            70..76 if self.depth < DEEPEST => self.repeat(),
            76..79 if self.depth < DEEPEST => self.table(),
            79..84 => self.local(),
            84..87 => self.atomic(),
            87..90 => self.cross(),
            90..92 => self.call(),
            92..94 => self.constant(),
            94..97 if self.together => self.warp(),
            97..100 if self.together => self.exchange(),
            _ => self.pure(),
        }
    }

    /// A few statements that some threads skip.
    fn some(&mut self, most: usize) {
        let together = std::mem::replace(&mut self.together, false);
        self.depth += 1;
        for _ in 0..1 + self.dice.below(most) {
            self.statement();
        }
        self.depth -= 1;
        self.together = together;
    }

    fn pure(&mut self) {
        let form = self.dice.choose(self.forms.list()).clone();
        // Of a guarded `set`, ptxas 13.0 forgets the old value where the guard is false.
        let guard = if matches!(form.op, Op::Set(..)) { String::new() } else { self.guard() };
        let constant = self.dice.below(6 * form.sources.len());
        let mut operands = Vec::new();
        for (at, &ty) in form.sources.iter().enumerate() {
            let Some(class) = Class::of(ty) else { return };
            let spelled = form.spelling.rsplit('.').next().and_then(Type::from_word);
            operands.push(if form.spelling.starts_with("lop3.") && at == 3 {
                self.dice.below(256).to_string()
            } else if at == constant && class == Class::Int32 && spelled == Some(ty) && !wants_registers(&form.spelling)
            {
                format!(
                    "{:#x}",
                    *self.dice.choose(&[0usize, 1, 2, 5, 31, 32, 255, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff])
                )
            } else {
                self.register(class)
            });
        }
        let mut results: Vec<String> = Vec::new();
        for &ty in &form.results {
            let Some(class) = Class::of(ty) else { return };
            let mut register = self.register(class);
            while results.contains(&register) {
                register = self.register(class);
            }
            results.push(register);
        }
        let line = format!("{guard}{} {}, {};", form.spelling, results.join("|"), operands.join(", "));
        self.line(&line);
    }

    fn branch(&mut self) {
        let (other, end) = (self.label(), self.label());
        let predicate = self.register(Class::Pred);
        let not = if self.dice.one_in(2) { "!" } else { "" };
        self.line(&format!("@{not}{predicate} bra {other};"));
        self.some(5);
        self.line(&format!("bra {end};"));
        self.place(&other);
        if self.dice.one_in(2) {
            self.some(4);
        }
        self.place(&end);
    }

    /// A loop: each thread takes as many rounds as one of its registers says, or all take as many.
    fn repeat(&mut self) {
        let (start, counter) = (self.label(), format!("%n{}", self.depth));
        if self.dice.one_in(3) {
            let rounds = 1 + self.dice.below(6);
            self.line(&format!("mov.u32 {counter}, {rounds};"));
        } else {
            let register = self.register(Class::Int32);
            self.line(&format!("and.b32 {counter}, {register}, 7;"));
        }
        self.place(&start);
        self.some(4);
        self.line(&format!("sub.s32 {counter}, {counter}, 1;"));
        self.line(&format!("setp.gt.s32 %loop, {counter}, 0;"));
        self.line(&format!("@%loop bra {start};"));
    }

    fn table(&mut self) {
        let labels: Vec<String> = (0..4).map(|_| self.label()).collect();
        let (name, end) = (self.label(), self.label());
        let register = self.register(Class::Int32);
        self.line(&format!("and.b32 %t32, {register}, 3;"));
        self.place(&name);
        self.line(&format!(".branchtargets {};", labels.join(", ")));
        self.line(&format!("brx.idx %t32, {name};"));
        for label in &labels {
            self.place(label);
            self.some(2);
            if self.dice.one_in(2) {
                self.line(&format!("bra {end};"));
            }
        }
        self.place(&end);
    }

    /// A store to local memory and a load from it, at places that threads choose.
    fn local(&mut self) {
        let class = *self.dice.choose(&[Class::Int16, Class::Int32, Class::Int64]);
        let (place, value, guard) = (self.register(Class::Int32), self.register(class), self.guard());
        let (bits, mask) = (class.ty().bits(), 64 - class.ty().bytes());
        self.line(&format!("and.b32 %t32, {place}, {mask};"));
        self.line("mov.u32 %u32, scratch;\n    add.u32 %t32, %t32, %u32;");
        if self.dice.one_in(2) {
            self.line(&format!("{guard}st.local.b{bits} [%t32], {value};"));
        } else {
            self.line(&format!("{guard}ld.local.b{bits} {value}, [%t32];"));
        }
    }

    /// An update whose order among threads does not matter: each operation has cells of its own.
    fn atomic(&mut self) {
        let operations = ["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32", "add.u64", "max.s64"];
        let which = self.dice.below(operations.len());
        let class = if operations[which].ends_with("64") { Class::Int64 } else { Class::Int32 };
        let (place, value, guard) = (self.register(Class::Int32), self.register(class), self.guard());
        self.line(&format!(
            "and.b32 %t32, {place}, 15;\n    mul.wide.u32 %t64, %t32, 8;\n    add.u64 %t64, %t64, %cells;"
        ));
        self.line(&format!("{guard}red.global.{} [%t64+{}], {value};", operations[which], which * 128));
    }

    /// The bits of a float as an integer.
    fn cross(&mut self) {
        let float =
            *self.dice.choose(&[Class::Single, Class::Double, Class::Half, Class::Brain, Class::Halves, Class::Brains]);
        let register = self.register(float);
        self.text += &bits_of(float, &register);
        let bits = float.ty().bits();
        let class = match bits {
            16 => Class::Int16,
            32 => Class::Int32,
            _ => Class::Int64,
        };
        let to = self.register(class);
        self.line(&format!("mov.b{bits} {to}, %t{bits};"));
        if self.dice.one_in(2) {
            let from = self.register(class);
            self.line(&format!("mov.b{bits} {register}, {from};"));
        }
    }

    fn call(&mut self) {
        let (a, b, result) = (self.register(Class::Int32), self.register(Class::Int64), self.register(Class::Int32));
        self.line("{\n    .param .b32 pa;\n    .param .b64 pb;\n    .param .b32 po;");
        self.line(&format!("st.param.b32 [pa], {a};\n    st.param.b64 [pb], {b};"));
        self.line(&format!("call (po), mix, (pa, pb);\n    ld.param.b32 {result}, [po];\n    }}"));
    }

    fn constant(&mut self) {
        let (place, value) = (self.register(Class::Int32), self.register(Class::Int64));
        self.line(&format!("and.b32 %t32, {place}, 56;\n    cvt.u64.u32 %t64, %t32;\n    mov.u64 %u64, table;"));
        self.line(&format!("add.u64 %t64, %t64, %u64;\n    ld.const.b64 {value}, [%t64];"));
    }

    /// Whole warps, together.
    fn warp(&mut self) {
        let (a, b, c, to) = (
            self.register(Class::Int32),
            self.register(Class::Int32),
            self.register(Class::Int32),
            self.register(Class::Int32),
        );
        let (p, q) = (self.register(Class::Pred), self.register(Class::Pred));
        let line = match self.dice.below(6) {
            0 => {
                let mode = *self.dice.choose(&["up", "down", "bfly", "idx"]);
                format!(
                    "and.b32 %t32, {b}, 31;\n    and.b32 %u32, {c}, 0x1f1f;\n    shfl.sync.{mode}.b32 {to}|{q}, {a}, %t32, %u32, -1;"
                )
            }
            1 => format!("vote.sync.{}.pred {q}, {p}, -1;", *self.dice.choose(&["all", "any", "uni"])),
            2 => format!("vote.sync.ballot.b32 {to}, {p}, -1;"),
            3 => format!("and.b32 %t32, {a}, 3;\n    match.any.sync.b32 {to}, %t32, -1;"),
            4 => format!("and.b32 %t32, {a}, 1;\n    match.all.sync.b32 {to}|{q}, %t32, -1;"),
            _ => {
                let operation = *self.dice.choose(&["add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"]);
                format!("redux.sync.{operation} {to}, {a}, -1;")
            }
        };
        self.line(&line);
    }

    /// Every thread leaves something in shared memory and takes what another left.
    fn exchange(&mut self) {
        let (value, place, to) =
            (self.register(Class::Int64), self.register(Class::Int32), self.register(Class::Int64));
        let last = self.threads - 1;
        self.line("mov.u32 %u32, slots;\n    mad.lo.u32 %t32, %thread, 8, %u32;");
        self.line(&format!("st.shared.b64 [%t32], {value};\n    bar.sync 0;"));
        self.line(&format!("and.b32 %t32, {place}, {last};\n    mad.lo.u32 %t32, %t32, 8, %u32;"));
        if self.dice.one_in(3) {
            let added = self.register(Class::Int32);
            self.line(&format!(
                "red.shared.add.u32 [%t32], {added};\n    bar.sync 0;\n    mad.lo.u32 %t32, %thread, 8, %u32;"
            ));
        }
        self.line(&format!("ld.shared.b64 {to}, [%t32];\n    bar.sync 0;"));
    }
}

/// Instructions that take constants only in some places, or only small ones.
fn wants_registers(spelling: &str) -> bool {
    ["v", "bfe.", "bfi."].iter().any(|head| spelling.starts_with(head))
}

/// Zeroes the local memory.
const SCRATCH: &str = "    mov.u64 %t64, 0;
    st.local.b64 [scratch], %t64;\n    st.local.b64 [scratch+8], %t64;\n    st.local.b64 [scratch+16], %t64;
    st.local.b64 [scratch+24], %t64;\n    st.local.b64 [scratch+32], %t64;\n    st.local.b64 [scratch+40], %t64;
    st.local.b64 [scratch+48], %t64;\n    st.local.b64 [scratch+56], %t64;\n";
