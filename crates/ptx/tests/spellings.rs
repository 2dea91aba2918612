//! Every spelling that the instruction set has is read in an instruction, and printed as it was written.

use isa::op::families::{FAMILIES, Family};
use isa::op::{OperandKind, spelling};
use isa::{Alu, Op, Type, Width};

/// Every spelling of the table of pure instructions.
fn pure_spellings() -> Vec<String> {
    Alu::spelled().flat_map(|alu| isa::alu::spellings(alu.pattern())).collect()
}

/// Every spelling of the machine's own instructions whose operands [`instruction`] can write.
fn family_spellings() -> Vec<String> {
    let all = FAMILIES.iter().flat_map(Family::spellings);
    all.filter(|spelling| !["bra", "brx", "call"].iter().any(|head| spelling.starts_with(head))).collect()
}

/// A register of each width; `%q1` of 128 bits.
fn register(ty: Type, number: usize) -> String {
    let name = match ty.width() {
        Width::Pred => "p",
        Width::B16 => "h",
        Width::B32 => "r",
        Width::B64 => "d",
        Width::B128 => "q",
    };
    format!("%{name}{number}")
}

fn operand(kind: OperandKind, number: usize) -> String {
    match kind {
        OperandKind::Value(ty) | OperandKind::Loose(ty) => register(ty, number),
        OperandKind::Vector(ty, count) => {
            let elements: Vec<String> = (0..count).map(|_| register(ty, number)).collect();
            format!("{{{}}}", elements.join(", "))
        }
        OperandKind::Address => "[%d1+8]".to_owned(),
        OperandKind::Texel { ty, count, layered } => {
            let coordinate = |at: u8| register(if layered && at == 0 { Type::S32 } else { ty }, number);
            let coordinates: Vec<String> = (0..count).map(coordinate).collect();
            format!("[%d1, {{{}}}]", coordinates.join(", "))
        }
        OperandKind::Label => "LABEL".to_owned(),
    }
}

/// An instruction with this spelling and operands that fit it.
fn instruction(spelling: &str) -> String {
    let shape = spelling::parse(spelling).map(|op| op.signature()).expect(spelling);
    let dst: Vec<String> = shape.dst.iter().enumerate().map(|(at, &kind)| operand(kind, at + 1)).collect();
    let mut operands = if dst.is_empty() { vec![] } else { vec![dst.join("|")] };
    operands.extend(shape.src.iter().enumerate().map(|(at, source)| operand(source.kind, at + 1)));
    format!("\t{spelling} {}", operands.join(", ")).trim_end().to_owned() + ";"
}

fn check(spellings: &[String]) {
    let lines: Vec<String> = spellings.iter().map(|spelling| instruction(spelling)).collect();
    let registers = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<9>;";
    let head = ".version 8.0 .target sm_90 .address_size 64 .entry kernel()";
    let text = format!("{head} {{\n{registers}\n{}\n}}", lines.join("\n"));
    let module = ptx::parse("spellings", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let printed = ptx::print(&module);
    let found: Vec<&str> = printed.lines().filter(|line| line.starts_with('\t') && !line.contains(".reg")).collect();
    assert_eq!(found.len(), lines.len());
    for (found, line) in found.iter().zip(&lines) {
        assert_eq!(found, line);
    }
}

#[test]
fn every_pure_spelling_is_read_and_printed_as_written() {
    let spellings = pure_spellings();
    assert!(spellings.len() > 500);
    check(&spellings);
}

#[test]
fn every_family_spelling_is_read_and_printed_as_written() {
    let spellings = family_spellings();
    assert!(spellings.len() > 2000, "{}", spellings.len());
    for head in ["ld.volatile.global.v2.u32", "atom.acq_rel.gpu.global.cas.b64", "barrier.cta.red.popc.aligned.u32"] {
        assert!(spellings.iter().any(|spelling| spelling == head), "{head}");
    }
    check(&spellings);
}

#[test]
fn every_move_of_parts_is_printed_as_written() {
    let mut lines = Vec::new();
    for (ty, parts) in [("b32", "%h1, %h2"), ("b64", "%r1, %r2"), ("f64", "%h1, %h2, %h3, %h4"), ("b128", "%d1, %d2")] {
        let whole = match ty {
            "b32" => "%r3",
            "b128" => "%q1",
            _ => "%d3",
        };
        lines.push(format!("\tmov.{ty} {whole}, {{{parts}}};"));
        lines.push(format!("\tmov.{ty} {{{parts}}}, {whole};"));
    }
    let registers = ".reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b128 %q<9>;";
    let text =
        format!(".version 8.3 .target sm_80 .address_size 64 .entry k() {{ {registers}\n{}\n}}", lines.join("\n"));
    let module = ptx::parse("moves", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let printed = ptx::print(&module);
    for line in &lines {
        assert!(printed.contains(line.as_str()), "{line}\n{printed}");
    }
    assert!(module.functions[0].body.iter().all(|instruction| matches!(instruction.op, Op::MovVector(_))));
}
