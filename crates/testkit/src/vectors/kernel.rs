//! The kernel that executes a form, as PTX text.
//!
//! Thread `i` finds its operands in a record of 16 bytes each at `in`, and the results' old values in a record at
//! `out`, where it leaves the new ones. Threads from `limit` on leave at once, so that warps are partly active.

use super::form::{Form, is_immediate};
use super::read::TestVector;
use isa::{Type, Width};
use std::fmt::Write;

/// Bytes of one operand in memory.
pub(super) const CELL: usize = 16;

/// The ways in which a form is executed; each is a kernel of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelVariant {
    /// As it is.
    Plain,
    /// Under a guard that is true in odd threads; the others keep their old values.
    Guarded,
    /// With the first result in the register of the first source of its width.
    InPlace,
    /// With constants as sources: one thread executes all rows.
    Constant,
}

impl KernelVariant {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Plain, Self::Guarded, Self::InPlace, Self::Constant];

    /// The name of the kernel.
    #[must_use]
    pub fn kernel(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Guarded => "guarded",
            Self::InPlace => "in_place",
            Self::Constant => "constant",
        }
    }

    /// Whether a form can be executed so.
    #[must_use]
    pub fn fits(self, form: &Form) -> bool {
        match self {
            Self::Plain | Self::Guarded => true,
            Self::InPlace => in_place(form).is_some(),
            // There are no constants of half precision.
            Self::Constant => form.sources.iter().all(|&ty| matches!(ty.bits(), 16 | 32 | 64) && !is_half(ty)),
        }
    }
}

fn is_half(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2)
}

/// The source whose register the first result can take.
fn in_place(form: &Form) -> Option<usize> {
    let width = form.results.first()?.width();
    form.sources.iter().enumerate().position(|(at, ty)| ty.width() == width && !is_immediate(&form.spelling, at))
}

fn register(ty: Type, number: usize) -> String {
    let class = match ty.width() {
        Width::Pred => 'p',
        Width::B16 => 'h',
        Width::B32 => 'r',
        Width::B64 => 'd',
        Width::B128 => 'q',
    };
    format!("%{class}{number}")
}

/// The first register of the results.
const RESULT: usize = 6;

/// A module with the kernels of those variants that fit; the rows share the form and its immediate operands.
#[must_use]
pub fn module_text(form: &Form, rows: &[TestVector], variants: &[KernelVariant]) -> String {
    let mut text = String::from(".version 8.5\n.target sm_90\n.address_size 64\n");
    for variant in variants.iter().copied().filter(|variant| variant.fits(form)) {
        let body = match variant {
            KernelVariant::Constant => constants(form, rows),
            _ => threads(form, variant, rows),
        };
        let name = variant.kernel();
        let _ = write!(
            text,
            "\n.visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 limit)\n{{\n{REGISTERS}{body}DONE:\n    ret;\n}}\n"
        );
    }
    text
}

const REGISTERS: &str = "    .reg .pred %p<8>, %odd, %past;
    .reg .b16 %h<8>, %byte;
    .reg .b32 %r<8>, %block, %threads, %thread, %limit, %bit;
    .reg .b64 %d<8>, %in, %out, %at, %low, %high;
    .reg .b128 %q<8>;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
";

/// Each thread executes one row.
fn threads(form: &Form, variant: KernelVariant, rows: &[TestVector]) -> String {
    let (sources, results) = (form.sources.len() * CELL, form.results.len() * CELL);
    let mut text = format!(
        "    mov.u32 %block, %ctaid.x;
    mov.u32 %threads, %ntid.x;
    mov.u32 %thread, %tid.x;
    and.b32 %bit, %thread, 1;
    setp.eq.u32 %odd, %bit, 1;
    mad.lo.u32 %thread, %block, %threads, %thread;
    ld.param.u32 %limit, [limit];
    setp.ge.u32 %past, %thread, %limit;
    @%past bra DONE;
    mul.wide.u32 %at, %thread, {sources};
    add.u64 %in, %in, %at;
    mul.wide.u32 %at, %thread, {results};
    add.u64 %out, %out, %at;\n"
    );
    for (at, &ty) in form.sources.iter().enumerate() {
        load(&mut text, ty, at, "%in", at * CELL);
    }
    for (at, &ty) in form.results.iter().enumerate() {
        load(&mut text, ty, RESULT + at, "%out", at * CELL);
    }
    let names = results_of(form, variant);
    let operands: Vec<String> = form.sources.iter().enumerate().map(|(at, &ty)| source(form, rows, at, ty)).collect();
    let guard = if variant == KernelVariant::Guarded { "@%odd " } else { "" };
    execute(&mut text, form, guard, &names, &operands);
    for (at, (&ty, name)) in form.results.iter().zip(&names).enumerate() {
        store(&mut text, ty, name, at * CELL);
    }
    text
}

/// The instruction. The carry flag is set from the last operand before it, and read into the last result after it.
fn execute(text: &mut String, form: &Form, guard: &str, names: &[String], operands: &[String]) {
    let (reads, writes) = form.flags();
    let (operands, before) = operands.split_at(operands.len() - usize::from(reads));
    let (names, after) = names.split_at(names.len() - usize::from(writes));
    for flag in before {
        let _ = writeln!(text, "    selp.u32 %bit, 1, 0, {flag};\n    add.cc.u32 %bit, %bit, 0xffffffff;");
    }
    let _ = writeln!(text, "    {guard}{} {}, {};", form.spelling, names.join("|"), operands.join(", "));
    for flag in after {
        let _ = writeln!(text, "    {guard}addc.u32 %bit, 0, 0;\n    {guard}setp.ne.u32 {flag}, %bit, 0;");
    }
}

fn results_of(form: &Form, variant: KernelVariant) -> Vec<String> {
    let mut names: Vec<String> = form.results.iter().enumerate().map(|(at, &ty)| register(ty, RESULT + at)).collect();
    if variant == KernelVariant::InPlace
        && let Some(at) = in_place(form)
    {
        names[0] = register(form.results[0], at);
    }
    names
}

fn source(form: &Form, rows: &[TestVector], at: usize, ty: Type) -> String {
    match rows.first() {
        Some(row) if is_immediate(&form.spelling, at) => constant(ty, row.operands[at]),
        _ => register(ty, at),
    }
}

/// One thread executes all rows, one after the other.
fn constants(form: &Form, rows: &[TestVector]) -> String {
    let mut text = String::new();
    let names = results_of(form, KernelVariant::Constant);
    for (index, row) in rows.iter().enumerate() {
        let types = form.sources.iter().map(|&ty| spelled(form, ty));
        let operands: Vec<String> = types.zip(&row.operands).map(|(ty, &bits)| constant(ty, bits)).collect();
        execute(&mut text, form, "", &names, &operands);
        for (at, (&ty, name)) in form.results.iter().zip(&names).enumerate() {
            store(&mut text, ty, name, (index * form.results.len() + at) * CELL);
        }
    }
    text
}

/// The type that a constant is written in. Instructions that only move or mask bits, such as `abs.f32`, have integers
/// in the table, but what they are spelled with says float.
fn spelled(form: &Form, ty: Type) -> Type {
    let mut words = form.spelling.rsplit('.');
    // `slct.f64.f32`: the last type is that of the operand that decides.
    let word = if form.spelling.starts_with("slct.") { words.nth(1) } else { words.next() };
    match (word, ty) {
        (Some("f32"), Type::U32) => Type::F32,
        (Some("f64"), Type::U64) => Type::F64,
        _ => ty,
    }
}

fn constant(ty: Type, bits: u128) -> String {
    match ty {
        Type::F32 => format!("0f{bits:08X}"),
        Type::F64 => format!("0d{bits:016X}"),
        _ => format!("{bits:#x}"),
    }
}

fn load(text: &mut String, ty: Type, number: usize, base: &str, offset: usize) {
    let name = register(ty, number);
    let _ = match ty.width() {
        Width::Pred => writeln!(text, "    ld.global.u8 %byte, [{base}+{offset}];\n    setp.ne.u16 {name}, %byte, 0;"),
        Width::B128 => writeln!(
            text,
            "    ld.global.v2.b64 {{%low, %high}}, [{base}+{offset}];\n    mov.b128 {name}, {{%low, %high}};"
        ),
        width => writeln!(text, "    ld.global.b{} {name}, [{base}+{offset}];", width.bits()),
    };
}

fn store(text: &mut String, ty: Type, name: &str, offset: usize) {
    let _ = match ty.width() {
        Width::Pred => writeln!(text, "    selp.u16 %byte, 1, 0, {name};\n    st.global.u8 [%out+{offset}], %byte;"),
        Width::B128 => writeln!(
            text,
            "    mov.b128 {{%low, %high}}, {name};\n    st.global.v2.b64 [%out+{offset}], {{%low, %high}};"
        ),
        width => writeln!(text, "    st.global.b{} [%out+{offset}], {name};", width.bits()),
    };
}
