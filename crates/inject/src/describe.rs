//! What the faults of a campaign on a program are, in sentences for reports: what is hit, how it changes, what is not hit, and
//! what executes the program.

use campaign::{Aim, Choices, Description};
use fault::TargetKind;
use std::collections::BTreeSet;

/// Kinds of faults that are named one by one.
const NAMED: usize = 6;

/// The faults of a campaign. `aims` are those of its method; without a method, the words of the campaign say them. Words that
/// are new here are shown as they are, and claim nothing.
#[must_use]
pub fn describe(config: &Choices, aims: Option<Vec<Aim>>) -> Description {
    let words = &config.selection;
    let own = || if words.method.is_some() { Vec::new() } else { vec![Aim::from(words.clone())] };
    let aims = aims.unwrap_or_else(own);
    Description { faults: in_words(config, &aims), not_hit: not_hit(&aims), machine: of_machine(config) }
}

/// The faults in words.
fn in_words(config: &Choices, aims: &[Aim]) -> String {
    let mut unlike: Vec<String> = Vec::new();
    for aim in aims {
        let said = fault(aim);
        if !unlike.contains(&said) {
            unlike.push(said);
        }
    }
    let what = match unlike.as_slice() {
        [] => "What is hit and how it changes is what the method picked, once in each run".to_owned(),
        [one] => format!("In {one}"),
        many => {
            let left = many.len().saturating_sub(NAMED);
            let named: Vec<&str> = many.iter().take(NAMED).map(String::as_str).collect();
            let more = if left > 0 { format!("; and {left} more kinds of faults") } else { String::new() };
            format!("Faults are of {} kinds, of which each run has one: in {}{more}", many.len(), named.join("; in "))
        }
    };
    format!("{what}. {}", drawn(config))
}

/// What one fault does, behind "in".
fn fault(aim: &Aim) -> String {
    let words = &aim.words;
    let model = words.model.as_deref().unwrap_or("flip");
    let (model, scope) = match model.split_once('@') {
        Some(one) if !model.contains('*') => one,
        _ => (model, words.scope.as_deref().unwrap_or("thread")),
    };
    let (place, change) = (aim.place.clone().unwrap_or_else(|| place(target(aim))), change(model));
    let who = match scope {
        _ if model.contains('*') => "of as many threads of a warp as the model says after `@`, or one".to_owned(),
        "thread" => "of one thread".to_owned(),
        "pair" => "of two threads of a warp".to_owned(),
        "warp" => "of every active thread of a warp".to_owned(),
        other => format!("of the scope `{other}`"),
    };
    format!("{place}, {change}, once, at one dynamic instruction {who}")
}

fn target(aim: &Aim) -> &str {
    aim.words.target.as_deref().unwrap_or("dst")
}

fn place(target: &str) -> String {
    match target {
        "dst" => "a destination register, after the instruction has written it".to_owned(),
        "pred" => "a destination predicate, after the instruction has written it".to_owned(),
        "addr" => "the address of an access to memory, for that access alone".to_owned(),
        "store" => "a value on its way to memory".to_owned(),
        "src" => "a source register, as one instruction reads it".to_owned(),
        "reg" => "an allocated register, at a random time".to_owned(),
        "mem" => "a byte of memory that the thread reaches, at a random time".to_owned(),
        "global" | "shared" | "local" | "const" => format!("a byte of {target} memory, at a random time"),
        other => match other.strip_prefix("reg:") {
            Some(registers) => format!("one of {registers} registers of 32 bits, allocated or not, at a random time"),
            None if is_chosen(other) => format!("the register {other} of a function, live or not, at a random time"),
            None => format!("the operand `{other}`"),
        },
    }
}

/// Whether a word chooses one register, as `reg7` does.
fn is_chosen(target: &str) -> bool {
    matches!(TargetKind::parse(target), Ok(TargetKind::ChosenRegister(_)))
}

fn change(model: &str) -> String {
    match model {
        "flip" => "one bit flips".to_owned(),
        "double" => "two adjacent bits flip".to_owned(),
        "double-any" => "two bits flip".to_owned(),
        "random" => "the value is replaced by another, uniform over its width".to_owned(),
        "zero" => "the value becomes zero".to_owned(),
        other => match other.split_once(':') {
            Some(("stuck0", mask)) => format!("the bits {mask} become 0"),
            Some(("stuck1", mask)) => format!("the bits {mask} become 1"),
            _ if other.contains('*') => {
                format!("the value changes by one of the models {}, by their weights", other.replace('|', ", "))
            }
            _ => format!("the value changes by the model `{other}`"),
        },
    }
}

/// From what each run is drawn.
fn drawn(config: &Choices) -> String {
    let words = &config.selection;
    let target = words.target.as_deref().unwrap_or("dst");
    let time = target.starts_with("reg:")
        || is_chosen(target)
        || matches!(target, "reg" | "mem" | "global" | "shared" | "local" | "const");
    let said = match (&words.method, config.exhaustive) {
        (Some(method), _) => {
            let name = &method.name;
            return format!(
                "Sites are chosen as the published method `{name}` does, so that the rates on this page are of what it drew, \
                 no estimates for the program; `beamline report` shows the method's own."
            );
        }
        (None, true) => {
            "Every such fault of the selection was run, and is weighed by the chance with which a sampled campaign draws it."
        }
        (None, false) if time => {
            "Each run draws a point in time uniformly, a dynamic instruction of a thread that is selected, then what is hit \
             among all that is there at that time, then the bits."
        }
        (None, false) => {
            "Each run draws one dynamic instruction uniformly from all that have such an operand and are selected, then \
             one of its operands, then the bits."
        }
    };
    said.to_owned()
}

/// What is hit, and what is not. Words that are new here claim nothing.
fn not_hit(aims: &[Aim]) -> String {
    const REST: &str = "caches, schedulers and control logic are not";
    let parts: BTreeSet<Part<'_>> = aims.iter().map(|aim| Part::of(target(aim))).collect();
    let mut parts = parts.into_iter();
    match (parts.next(), parts.next()) {
        (Some(only), None) => match only {
            Part::Operands => format!("Only the operands named above are hit. Registers at rest, memory, {REST}."),
            Part::Allocated => {
                format!("Only registers that are allocated are hit, at rest. Operands in use, memory, {REST}.")
            }
            Part::Registers => {
                format!("Only registers are hit, at rest, allocated or not. Operands in use, memory, {REST}.")
            }
            Part::Memory => {
                format!("Only bytes of memory that threads reach are hit. Registers, operands, {REST}.")
            }
            Part::Space(space) => {
                format!("Only bytes of {space} memory are hit. Other memories, registers, operands, {REST}.")
            }
            Part::Other => "Only what is named above is hit.".to_owned(),
        },
        (Some(_), Some(_)) if aims.iter().all(|aim| Part::of(target(aim)) != Part::Other) => {
            "Only what is named above is hit, each in its share of the runs. Caches, schedulers and control logic are not."
                .to_owned()
        }
        (Some(_), Some(_)) => "Only what is named above is hit.".to_owned(),
        (None, _) => "Only what the method picked is hit.".to_owned(),
    }
}

/// A part of a GPU.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Operands,
    Allocated,
    Registers,
    Memory,
    Space(&'a str),
    Other,
}

impl<'a> Part<'a> {
    fn of(target: &'a str) -> Self {
        match target {
            "dst" | "pred" | "addr" | "store" | "src" => Self::Operands,
            "reg" => Self::Allocated,
            "mem" => Self::Memory,
            "global" | "shared" | "local" | "const" => Self::Space(target),
            _ if target.starts_with("reg:") || is_chosen(target) => Self::Registers,
            _ => Self::Other,
        }
    }
}

/// What executes the program: the simulator, with the profile of its addresses and the order of its warps.
fn of_machine(config: &Choices) -> Vec<String> {
    let instructions = "Instructions are those of PTX, as the application was compiled; the compiler that makes machine code \
                        merges, moves and removes some of them.";
    vec![of_addresses(config), format!("{instructions}{}{}", of_contraction(config), of_order(config))]
}

/// What stray accesses do.
fn of_addresses(config: &Choices) -> String {
    match config.addresses.as_deref() {
        None | Some("h200") => {
            "Accesses that miss what the program was given do what they do on an H200 (profile h200): near \
            allocations they succeed, farther away the address is illegal."
                .to_owned()
        }
        Some("strict") => {
            "Accesses that miss what the program was given end it, as under a sanitizer (profile strict); on a GPU \
            those that are near succeed."
                .to_owned()
        }
        Some(profile) => format!("Accesses that miss what the program was given do what the profile {profile} says."),
    }
}

/// Where products and sums are not those of a GPU.
fn of_contraction(config: &Choices) -> &'static str {
    match config.contract.as_deref() {
        Some("off") => " Products and sums that an assembler may join are each rounded by themselves (contract off).",
        _ => "",
    }
}

/// Where warps and blocks take turns otherwise than in other campaigns.
fn of_order(config: &Choices) -> String {
    match config.order.as_deref() {
        None | Some("races") => String::new(),
        Some(order) => format!(" All kernels execute their warps and blocks in one order (order {order})."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use campaign::SelectionWords;

    fn aim(target: &str) -> Aim {
        Aim::from(SelectionWords { target: Some(target.to_owned()), ..SelectionWords::default() })
    }

    #[test]
    fn what_was_hit_is_not_among_what_was_not() {
        let hit = [
            ("dst", "the operands named above", "Registers at rest, memory, caches"),
            ("pred", "the operands named above", "Registers at rest, memory, caches"),
            ("addr", "the operands named above", "Registers at rest, memory, caches"),
            ("store", "the operands named above", "Registers at rest, memory, caches"),
            ("src", "the operands named above", "Registers at rest, memory, caches"),
            ("reg", "registers that are allocated", "Operands in use, memory, caches"),
            ("reg:64", "registers", "Operands in use, memory, caches"),
            ("reg7", "registers", "Operands in use, memory, caches"),
            ("mem", "bytes of memory that threads reach", "Registers, operands, caches"),
            ("global", "bytes of global memory", "Other memories, registers, operands, caches"),
            ("shared", "bytes of shared memory", "Other memories, registers, operands, caches"),
            ("local", "bytes of local memory", "Other memories, registers, operands, caches"),
            ("const", "bytes of const memory", "Other memories, registers, operands, caches"),
        ];
        for (target, is, is_not) in hit {
            let sentence = not_hit(&[aim(target)]);
            assert!(sentence.starts_with(&format!("Only {is} are hit")), "{target}: {sentence}");
            assert!(sentence.contains(&format!(". {is_not}, schedulers and control logic are not.")), "{sentence}");
        }
        assert_eq!(not_hit(&[aim("laser")]), "Only what is named above is hit.");
        assert_eq!(not_hit(&[]), "Only what the method picked is hit.");
    }

    #[test]
    fn of_several_aims_nothing_that_is_hit_is_denied() {
        for aims in [["mem", "reg:64"], ["dst", "global"], ["reg", "src"]] {
            let sentence = not_hit(&aims.map(aim));
            assert!(!["emory", "egisters", "perands"].iter().any(|part| sentence.contains(part)), "{sentence}");
        }
        assert_eq!(not_hit(&[aim("dst"), aim("src")]), not_hit(&[aim("dst")]));
    }

    fn machine(text: &str) -> [String; 2] {
        describe(&Choices::from_toml(text, "it").unwrap(), None).machine.try_into().unwrap()
    }

    #[test]
    fn the_profile_of_addresses_is_named() {
        for (text, part) in [
            ("capsule = 'gemm'", "profile h200"),
            ("capsule = 'gemm'\naddresses = 'strict'", "profile strict"),
            ("capsule = 'gemm'\naddresses = 'own.toml'", "the profile own.toml says"),
        ] {
            let [sentence, _] = machine(text);
            assert!(sentence.contains(part), "{sentence}");
        }
    }

    #[test]
    fn products_and_sums_that_are_not_joined_are_named() {
        let [_, instructions] = machine("capsule = 'gemm'\ncontract = 'off'");
        assert!(instructions.starts_with("Instructions are") && instructions.ends_with("(contract off)."));
        let [_, instructions] = machine("capsule = 'gemm'\norder = 'blocks'");
        assert!(instructions.ends_with("(order blocks)."), "{instructions}");
        for text in ["capsule = 'gemm'", "capsule = 'gemm'\ncontract = 'ptxas'", "capsule = 'gemm'\norder = 'races'"] {
            let [_, instructions] = machine(text);
            assert!(!instructions.contains("(order ") && !instructions.contains("contract"), "{instructions}");
        }
    }
}
