//! The pure instructions that random kernels are made of.

use super::registers::Class;
use crate::vectors::{Form, ScriptError, read_all};
use isa::{Op, Type};
use std::collections::BTreeMap;

/// Every form whose results no compiler changes.
#[derive(Clone, Debug)]
pub struct Forms(Vec<Form>);

impl Forms {
    /// Those of `filetests/instructions` that take and give values of registers' classes.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn all() -> Result<Self, ScriptError> {
        let rows = read_all()?.into_iter().map(|row| ((row.form.spelling.clone(), row.form.results.len()), row.form));
        let forms: BTreeMap<_, Form> = rows.collect();
        Ok(Self(forms.into_values().filter(is_defined).collect()))
    }

    pub(super) fn list(&self) -> &[Form] {
        &self.0
    }
}

/// Whether a compiler may not make other bits of it: see the module.
fn is_defined(form: &Form) -> bool {
    let spelling = form.spelling.as_str();
    let types = || form.sources.iter().chain(&form.results);
    let pure = matches!(form.op, Op::Alu(_) | Op::Setp(_) | Op::Set(..) | Op::Lop3(_));
    let classed = types().all(|&ty| Class::of(ty).is_some()) && form.results.iter().all(|&ty| ty != Type::B128);
    // These look at the sign or the fraction of a NaN, or are for other GPUs.
    // ptxas 13.0 joins a conversion between half and bfloat16 with the next one, and loses the rounding between them.
    let looks =
        ["copysign", "xorsign", "tf32", "testp", ".f16.bf16", ".bf16.f16"].iter().any(|word| spelling.contains(word));
    pure && classed && !looks
}
