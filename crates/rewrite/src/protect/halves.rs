//! Comparisons of halves, which have 16 bits, as words.
//!
//! The assembler of CUDA 13.0 makes one packed instruction of two neighbouring ones on halves (a `set`, or a conversion to `f16`), and
//! a duplicate stands beside its original. A comparison of two registers of 16 bits then reads one of them with what is in its
//! upper half, and differs without a fault (`records/protection.md`). A word of both halves has no such upper half.

use crate::code::Coder;
use facts::Reg;
use isa::{Op, Src, Type};

/// Two words that are equal if and only if two halves are: one has the first half below the second, the other above.
pub(super) fn crossed(coder: &mut Coder<'_>, [first, second]: [Reg; 2]) -> [Reg; 2] {
    [[first, second], [second, first]].map(|halves| {
        let word = coder.register(Type::B32);
        coder.push_op(Op::MovVector(Type::B32), &[word], halves.map(Src::Reg).to_vec());
        word
    })
}

#[cfg(test)]
mod tests {
    use crate::{Scheme, protect};

    #[test]
    fn halves_are_compared_as_words_that_hold_both() {
        let head = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n";
        let body = "{\n.reg .b64 %a;\n.reg .b16 %x, %y;\nld.param.u64 %a, [p];\nld.global.b16 %x, [%a];\nadd.s16 %y, %x, 1;\n\
                    st.global.b16 [%a], %y;\nret;\n}\n";
        let module = ptx::parse("k.ptx", &format!("{head}{body}")).unwrap();
        for scheme in Scheme::INSTRUCTIONS.into_iter().chain(Scheme::XOR) {
            let text = ptx::print(&protect(&module, scheme, &|_, _| true).unwrap().module);
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            let words: Vec<(&str, &str)> =
                lines.iter().filter_map(|line| line.strip_prefix("mov.b32 ")?.split_once(", {")).collect();
            let [(first, _), (second, _)] = words[..] else { panic!("{text}") };
            let compared = |line: &&str| {
                line.starts_with("setp.ne") && line.contains(".b32") && line.contains(&format!("{first}, {second}"))
            };
            assert!(lines.iter().any(compared), "{text}");
            assert!(!lines.iter().any(|line| line.starts_with("setp.ne") && line.contains(".b16")), "{text}");
        }
    }
}
