//! One fault and its text id.

use crate::error::{ParseFaultError, number, wrong};
use crate::isa::Isa;
use crate::model::Model;
use crate::target::{Scope, Target};
use std::fmt;
use std::str::FromStr;

/// A fault: one place and time, and what happens to the bits there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The instruction set that the place is in.
    pub isa: Isa,
    /// The launch, from 0 in the order of the capsule.
    pub launch: u32,
    /// The block, linear in its grid.
    pub cta: u64,
    /// The thread, linear in its block.
    pub thread: u32,
    /// The dynamic instruction: how many instructions the thread executed (with a true guard) before this one.
    pub dynamic: u64,
    /// What is hit.
    pub target: Target,
    /// What happens to its bits.
    pub model: Model,
    /// Which threads are hit.
    pub scope: Scope,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { isa, launch, cta, thread, dynamic, target, model, scope } = self;
        write!(f, "isa={isa},launch={launch},cta={cta},thread={thread},dyn={dynamic},target={target}")?;
        write!(f, ",model={},bits={}", model.name(), model.bits())?;
        if *scope == Scope::Thread { Ok(()) } else { write!(f, ",scope={scope}") }
    }
}

const KEYS: [&str; 9] = ["launch", "cta", "thread", "dyn", "target", "model", "bits", "scope", "isa"];

impl FromStr for Fault {
    type Err = ParseFaultError;

    /// Reads an id; the keys may come in any order, and `pc` and `line` are ignored. An id without `isa` is of PTX.
    fn from_str(text: &str) -> Result<Self, ParseFaultError> {
        let mut values: [Option<&str>; KEYS.len()] = [None; KEYS.len()];
        for part in text.trim().split(',') {
            let (key, value) = part.split_once('=').ok_or_else(|| ParseFaultError::NotAPair(part.to_owned()))?;
            if matches!(key, "pc" | "line") {
                continue;
            }
            let at = KEYS.iter().position(|known| *known == key);
            let slot = &mut values[at.ok_or_else(|| ParseFaultError::UnknownKey(key.to_owned()))?];
            if slot.replace(value).is_some() {
                return Err(ParseFaultError::Twice(key.to_owned()));
            }
        }
        let get = |at: usize| values[at].ok_or(ParseFaultError::Missing(KEYS[at]));
        let isa = |name: &str| Isa::new(name).ok_or_else(|| wrong("isa", name, "an instruction set such as ptx"));
        Ok(Self {
            isa: values[8].map_or(Ok(Isa::PTX), isa)?,
            launch: number("launch", get(0)?)?,
            cta: number("cta", get(1)?)?,
            thread: number("thread", get(2)?)?,
            dynamic: number("dyn", get(3)?)?,
            target: Target::parse(get(4)?)?,
            model: Model::parse(get(5)?, get(6)?)?,
            scope: values[7].map_or(Ok(Scope::Thread), Scope::parse)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::EXAMPLE;
    use crate::target::Memory;
    use proptest::prelude::*;
    use std::num::NonZeroU128;

    fn target() -> impl Strategy<Value = Target> {
        let operand = any::<u8>().prop_flat_map(|at| {
            let of = [Target::Destination, Target::Address, Target::Stored, Target::Source].map(|of| of(at));
            prop::sample::select(of.to_vec())
        });
        let memory = (prop::sample::select(&Memory::ALL[..]), any::<u64>());
        let memory = memory.prop_map(|(memory, address)| Target::Memory(memory, address));
        prop_oneof![operand, any::<u32>().prop_map(Target::Register), memory]
    }

    fn model() -> impl Strategy<Value = Model> {
        let mask = || (1u128..).prop_map(|mask| NonZeroU128::new(mask).unwrap());
        let stuck = (mask(), any::<bool>()).prop_map(|(mask, ones)| Model::Stuck { mask, ones });
        prop_oneof![mask().prop_map(Model::Flip), any::<u128>().prop_map(Model::Value), Just(Model::Zero), stuck]
    }

    proptest! {
        #[test]
        fn an_id_parses_to_the_fault_that_printed_it(
            (launch, cta, thread, dynamic) in any::<(u32, u64, u32, u64)>(),
            isa in prop::sample::select(&["ptx", "sass-sm_90", "toy"][..]),
            target in target(),
            model in model(),
            scope in prop_oneof![Just(Scope::Thread), Just(Scope::Warp), any::<u32>().prop_map(Scope::Pair),
                                 (1u32..).prop_map(Scope::Lanes)],
        ) {
            let isa = Isa::new(isa).unwrap();
            let fault = Fault { isa, launch, cta, thread, dynamic, target, model, scope };
            prop_assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault));
        }

        #[test]
        fn no_text_panics(text: String) {
            let _ = text.parse::<Fault>();
        }
    }

    #[test]
    fn the_printed_id_is_the_documented_one() {
        assert_eq!(EXAMPLE.parse::<Fault>().unwrap().to_string(), EXAMPLE);
    }

    #[test]
    fn pc_and_line_are_ignored_the_order_is_free_and_ptx_need_not_be_said() {
        let shuffled = "line=88,bits=12,dyn=204,model=flip,target=dst0,pc=9,launch=3,thread=65,cta=17";
        assert_eq!(shuffled.parse::<Fault>(), EXAMPLE.parse());
    }

    #[test]
    fn each_mistake_says_what_was_expected() {
        let message = |text: &str| text.parse::<Fault>().unwrap_err().to_string();
        assert_eq!(
            message(&EXAMPLE.replace("cta=17", "cta=-1")),
            "read `cta=-1` in the fault id: expected a whole number, from 0"
        );
        assert!(message("launch=3").contains("`cta` is missing"));
        assert!(message("whatever").contains("expected key=value"));
        for target in ["dst", "dst-1", "dst300", "reg", "sRc0", "global@12", "global@0x", "param@0x1", "mem"] {
            assert!(message(&EXAMPLE.replace("dst0", target)).contains("expected dst0, addr0"), "{target}");
        }
        assert!(message(&EXAMPLE.replace("flip", "twist")).contains("stuck0 or stuck1"));
        assert!(message(&EXAMPLE.replace("flip", "zero")).contains("expected all"));
        assert!(message(&EXAMPLE.replace("flip", "random")).contains("0x1f"));
        assert!(message(&format!("{EXAMPLE},scope=block")).contains("pair+7"));
        assert!(message(&EXAMPLE.replace("bits=12", "bits=3+3")).contains("ascending"));
        assert!(message(&EXAMPLE.replace("bits=12", "bits=128")).contains("0 to 127"));
        assert!(message(&EXAMPLE.replace("ptx", "P T X")).contains("an instruction set such as ptx"));
        assert!(message(&format!("{EXAMPLE},cta=1")).contains("twice"));
        assert!(message(&format!("{EXAMPLE},colour=1")).contains("`colour`"));
    }
}
