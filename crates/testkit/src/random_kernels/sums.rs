//! Random kernels of products and sums without rounding modifiers, which an assembler may join.
//!
//! All numbers are of one type. Every product multiplies a value that is loaded for it alone, from a place that names it, so
//! that it is found again in machine code; every branch and guard has a predicate of its own, and something is stored
//! on every path, so that no compiler knows one branch by another or has nothing to do in one.

use super::dice::Dice;
use super::registers::RECORD;
use std::fmt::Write as _;

/// A type of numbers, as kernels spell it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) ty: &'static str,
    /// The type of its loads, stores and moves.
    raw: &'static str,
    register: &'static str,
    pub(super) bytes: usize,
    flush: &'static str,
}

/// The types that are joined.
const TYPES: [Numbers; 5] = [
    Numbers { ty: "f32", raw: "f32", register: ".f32", bytes: 4, flush: "" },
    Numbers { ty: "f32", raw: "f32", register: ".f32", bytes: 4, flush: ".ftz" },
    Numbers { ty: "f64", raw: "f64", register: ".f64", bytes: 8, flush: "" },
    Numbers { ty: "f16x2", raw: "b32", register: ".b32", bytes: 4, flush: "" },
    Numbers { ty: "bf16x2", raw: "b32", register: ".b32", bytes: 4, flush: "" },
];

/// Registers that statements choose from.
const REGISTERS: usize = 8;
/// How deep branches are nested.
const DEEPEST: usize = 2;

/// A kernel that is being written.
pub(super) struct Sums<'a> {
    dice: &'a mut Dice,
    numbers: Numbers,
    text: String,
    /// How many places of the record are read, and how many are written.
    loaded: usize,
    stored: usize,
    predicates: usize,
    labels: usize,
    /// The registers that were written last by what sums may be joined with.
    recent: Vec<String>,
    together: bool,
}

impl<'a> Sums<'a> {
    /// The text of a kernel, and the type of its numbers.
    pub(super) fn write(dice: &'a mut Dice, threads: u32) -> (String, Numbers) {
        let numbers = *dice.choose(&TYPES);
        let left = *dice.choose(&[4, 8, 16, 28]);
        let (text, recent) = (String::new(), Vec::new());
        let mut sums =
            Self { dice, numbers, text, loaded: 0, stored: 0, predicates: 0, labels: 0, recent, together: true };
        for register in 0..REGISTERS {
            sums.load(&format!("%v{register}"));
        }
        sums.statements(left, 0);
        for register in 0..REGISTERS {
            if sums.dice.one_in(2) {
                sums.store("", &format!("%v{register}"));
            }
        }
        let statements = sums.text;
        let text = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n
.visible .entry {}(.param .u64 in, .param .u64 out, .param .u64 cells)\n{{
    .reg .pred %p<{}>;\n    .reg .b32 %r<4>;\n    .reg .b64 %in, %out, %at;\n    .reg {} %v<{REGISTERS}>, %t<64>;
    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    cvta.to.global.u64 %in, %in;\n    cvta.to.global.u64 %out, %out;
    mov.u32 %r0, %tid.x;\n    mov.u32 %r1, %ctaid.x;\n    mad.lo.u32 %r0, %r1, {threads}, %r0;
    mul.wide.u32 %at, %r0, {RECORD};\n    add.u64 %in, %in, %at;\n    add.u64 %out, %out, %at;
{statements}    ret;\n}}\n",
            super::NAME,
            sums.predicates + 1,
            numbers.register,
        );
        (text, numbers)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    /// Whether the record has another place to read, and one to write.
    fn has_places(&self) -> bool {
        let places = RECORD / self.numbers.bytes - REGISTERS - 1;
        self.loaded < places && self.stored < places
    }

    fn load(&mut self, register: &str) {
        let at = self.loaded * self.numbers.bytes;
        self.loaded += 1;
        self.line(&format!("ld.global.{} {register}, [%in+{at}];", self.numbers.raw));
    }

    fn store(&mut self, guard: &str, register: &str) {
        let at = self.stored * self.numbers.bytes;
        self.stored += 1;
        self.line(&format!("{guard}st.global.{} [%out+{at}], {register};", self.numbers.raw));
    }

    fn register(&mut self) -> String {
        format!("%v{}", self.dice.below(REGISTERS))
    }

    /// A value, rather one that a product may have come to.
    fn value(&mut self) -> String {
        let recent = self.recent.len().min(3);
        if recent == 0 || self.dice.one_in(3) {
            return self.register();
        }
        self.recent[self.recent.len() - 1 - self.dice.below(recent)].clone()
    }

    /// A predicate that nobody knows anything of.
    fn predicate(&mut self) -> String {
        let at = self.loaded * self.numbers.bytes;
        self.loaded += 1;
        let name = format!("%p{}", self.predicates);
        self.predicates += 1;
        self.line(&format!(
            "ld.global.u32 %r2, [%in+{at}];\n    and.b32 %r2, %r2, 1;\n    setp.eq.u32 {name}, %r2, 0;"
        ));
        if self.dice.one_in(2) { format!("@{name} ") } else { format!("@!{name} ") }
    }

    fn guard(&mut self) -> String {
        if self.dice.one_in(8) { self.predicate() } else { String::new() }
    }

    fn statements(&mut self, left: usize, depth: usize) {
        for _ in 0..left {
            if !self.has_places() {
                return;
            }
            match self.dice.below(100) {
                0..30 => self.product(),
                30..70 => self.sum(),
                70..74 => {
                    let (guard, value) = (self.guard(), self.value());
                    self.store(&guard, &value);
                }
                74..79 => self.pass_on("mov"),
                // The machine cannot negate an operand of this type; the assembler then does what it likes with it.
                79..84 if self.numbers.ty != "bf16x2" => self.pass_on("neg"),
                84..88 => self.other(),
                88..90 if self.together => self.line("bar.sync 0;"),
                90..91 => self.line("membar.gl;"),
                91..95 if depth < DEEPEST => self.branch(depth),
                _ => self.label(),
            }
        }
    }

    fn product(&mut self) {
        let (guard, factor) = (self.guard(), self.value());
        let (own, to) = (format!("%t{}", self.loaded), self.register());
        self.load(&own);
        self.line(&format!("{guard}mul{}.{} {to}, {own}, {factor};", self.numbers.flush, self.numbers.ty));
        self.recent.push(to);
    }

    fn sum(&mut self) {
        let (guard, a, b, to) = (self.guard(), self.value(), self.value(), self.register());
        let name = *self.dice.choose(&["add", "add", "sub"]);
        self.line(&format!("{guard}{name}{}.{} {to}, {a}, {b};", self.numbers.flush, self.numbers.ty));
    }

    fn pass_on(&mut self, name: &str) {
        let (guard, from, to) = (self.guard(), self.value(), self.register());
        let spelling = if name == "mov" { self.numbers.raw } else { self.numbers.ty };
        if from != to {
            self.line(&format!("{guard}{name}.{spelling} {to}, {from};"));
            self.recent.push(to);
        }
    }

    fn other(&mut self) {
        let (guard, a, b, c, to) = (self.guard(), self.value(), self.value(), self.register(), self.register());
        let (flush, ty) = (self.numbers.flush, self.numbers.ty);
        let line = match self.dice.below(2) {
            0 => format!("{guard}fma.rn{flush}.{ty} {to}, {a}, {b}, {c};"),
            _ => format!("{guard}add.rn{flush}.{ty} {to}, {a}, {b};"),
        };
        self.line(&line);
    }

    /// Statements that some threads skip, with a label that is jumped to.
    fn branch(&mut self, depth: usize) {
        let predicate = self.predicate();
        self.labels += 1;
        let label = format!("L{}", self.labels);
        self.line(&format!("{predicate}bra {label};"));
        let together = std::mem::replace(&mut self.together, false);
        let most = 1 + self.dice.below(5);
        self.statements(most, depth + 1);
        let value = self.register();
        self.store("", &value);
        self.together = together;
        let _ = writeln!(self.text, "{label}:");
    }

    /// A label that nothing jumps to, or a jump over nothing.
    fn label(&mut self) {
        self.labels += 1;
        let label = format!("L{}", self.labels);
        if self.dice.one_in(2) {
            self.line(&format!("bra {label};"));
        }
        let _ = writeln!(self.text, "{label}:");
    }
}

/// The bits of numbers of a type that are neither large nor small, so that roundings show.
pub(super) fn operand(dice: &mut Dice, numbers: Numbers) -> Vec<u8> {
    let random = dice.below(usize::MAX) as u64;
    let half = |bits: u64, exponent: u64, fraction: u32| {
        let number = (exponent - 1 + (bits >> 1 & 3)) << fraction | (bits >> 3 & ((1 << fraction) - 1));
        (number | (bits & 1) << 15) as u16
    };
    let halves = |exponent, fraction| {
        let [low, high] = [random, random >> 32].map(|bits| u32::from(half(bits, exponent, fraction)));
        (low | high << 16).to_le_bytes().to_vec()
    };
    match numbers.ty {
        "f64" => ((1022 + (random & 3)) << 52 | random >> 12 | (random & 4) << 61).to_le_bytes().to_vec(),
        "f16x2" => halves(15, 10),
        "bf16x2" => halves(127, 7),
        _ => ((126 + (random & 3)) << 23 | random >> 41 | (random & 4) << 29).to_le_bytes()[..4].to_vec(),
    }
}
