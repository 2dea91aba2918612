//! Declarations of variables and their initial values.

use super::text::{linkage, put};
use isa::{Module, Relocation, Symbol, Type, Variable};
use std::fmt::Write as _;

/// A list of parameters in parentheses.
pub(super) fn parameters(out: &mut String, parameters: &[Variable], separator: &str) {
    out.push('(');
    for (index, parameter) in parameters.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        out.push_str(if index > 0 || separator != " " { separator } else { "" });
        head(out, parameter);
    }
    out.push(')');
}

/// `.visible .global .align 4 .u32 x = 7`
pub(super) fn declaration(out: &mut String, module: &Module, variable: &Variable) {
    out.push_str(linkage(variable.linkage));
    head(out, variable);
    if variable.init.is_empty() && variable.relocations.is_empty() {
        return;
    }
    out.push_str(" = ");
    let values = values(module, variable).join(", ");
    if is_array(variable) {
        put!(out, "{{{values}}}");
    } else {
        out.push_str(&values);
    }
}

/// `.param .align 8 .b8 x[16]`
pub(super) fn head(out: &mut String, variable: &Variable) {
    put!(out, ".{} ", variable.space);
    if variable.align != variable.element.bytes() {
        put!(out, ".align {} ", variable.align);
    }
    put!(out, ".{} {}", variable.element, variable.name);
    if variable.bytes == 0 {
        out.push_str("[]");
    } else if is_array(variable) {
        put!(out, "[{}]", variable.bytes / u64::from(variable.element.bytes()));
    }
}

/// Whether a variable is written with a bound. A structure of one byte is an array, a scalar of one is not `.b8`.
fn is_array(variable: &Variable) -> bool {
    variable.element == Type::B8 || variable.bytes != u64::from(variable.element.bytes())
}

/// The elements of the initial value.
fn values(module: &Module, variable: &Variable) -> Vec<String> {
    let width = variable.element.bytes() as usize;
    let mut values: Vec<String> = variable
        .init
        .chunks(width)
        .map(|chunk| {
            let mut bytes = [0; 16];
            bytes[..chunk.len()].copy_from_slice(chunk);
            number(variable.element, u128::from_le_bytes(bytes))
        })
        .collect();
    for relocation in &variable.relocations {
        let at = relocation.at as usize / width;
        let address = address(module, variable, relocation);
        let parts = (0..8 / width.min(8)).map(|part| match width {
            8 => address.clone(),
            _ => format!("0x{:X}({address})", 0xff_u64 << (8 * part)),
        });
        for (part, text) in parts.enumerate() {
            if let Some(value) = values.get_mut(at + part) {
                *value = text;
            }
        }
    }
    values
}

fn number(ty: Type, bits: u128) -> String {
    match ty {
        Type::F32 => format!("0f{bits:08X}"),
        Type::F64 => format!("0d{bits:016X}"),
        Type::S8 => (bits as i8).to_string(),
        Type::S16 => (bits as i16).to_string(),
        Type::S32 => (bits as i32).to_string(),
        Type::S64 => (bits as i64).to_string(),
        _ => bits.to_string(),
    }
}

fn address(module: &Module, variable: &Variable, relocation: &Relocation) -> String {
    let name = match relocation.symbol {
        Symbol::Module(index) => module.variables.get(index as usize).map_or(&*variable.name, |it| &it.name),
        Symbol::Function(id) => module.functions.get(id.0 as usize).map_or(&*variable.name, |it| &it.name),
        _ => &variable.name,
    };
    let name = if relocation.generic { format!("generic({name})") } else { name.to_owned() };
    if relocation.addend == 0 { name } else { format!("{name}+{}", relocation.addend) }
}
