//! What the numbers of a campaign do not say: it follows from what was hit, from what executed the instructions, and
//! from whether the host was in the loop. Every view takes its sentences from here.

use campaign::{Choices, Summary};

use crate::number::plain;

const CONDITIONAL: &str = "They are conditional: given that such a fault happens. How often it does, in a beam or in the \
    field, is another question; nothing here is a failure rate in time.";
const ONE_INPUT: &str = "An outcome is for one input. Another input has other rates.";

/// What the numbers do not say, in sentences; `not_hit` and `machine` are what the report says of that.
pub(crate) fn limits(not_hit: &str, machine: &[String]) -> Vec<String> {
    let own = [CONDITIONAL, not_hit].into_iter().map(str::to_owned);
    own.chain(machine.iter().cloned()).chain([ONE_INPUT.to_owned()]).collect()
}

/// What is to be known of the machine that executed a program.
pub(crate) fn of_machine(config: &Choices) -> Vec<String> {
    let instructions = format!("{}{}{}", of_instructions(config), of_contraction(config), of_order(config));
    vec![of_addresses(config), instructions]
}

/// What stray accesses do.
fn of_addresses(config: &Choices) -> String {
    if is_on_gpu(config) {
        return "Accesses that miss what the program was given do what the GPU does.".to_owned();
    }
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

fn is_on_gpu(config: &Choices) -> bool {
    config.engine.as_ref().is_some_and(|engine| engine.word() == "cuda-gdb")
}

/// Whose instructions were counted and hit.
fn of_instructions(config: &Choices) -> &'static str {
    if is_on_gpu(config) {
        "Instructions are those of the machine code that the GPU executed; another architecture or another version of the \
         compiler has others."
    } else {
        "Instructions are those of PTX, as the application was compiled; the compiler that makes machine code merges, moves \
         and removes some of them."
    }
}

/// What a summary counts.
pub(crate) fn counted(summary: &Summary) -> &'static str {
    if summary.exhaustive.is_some() { "faults" } else { "runs" }
}

/// What corruptions are called that no criterion accepts; `None` where nothing is judged.
pub(crate) fn bad_name(summary: &Summary) -> Option<&'static str> {
    let unjudged = summary.sdc.get("unjudged").is_some_and(|count| *count > 0);
    summary.config.is_judged().then_some(if unjudged { "bad or unjudged" } else { "bad" })
}

/// What is to be said of corruptions that the criteria do not reach: a sentence without its capital and its full stop.
pub(crate) fn of_unjudged(summary: &Summary) -> Option<String> {
    let unjudged = summary.sdc.get("unjudged").copied().filter(|count| *count > 0)?;
    summary.config.is_judged().then(|| {
        format!(
            "{} {} corrupted an output that has no criterion: they are unjudged, and count with the bad ones",
            plain(unjudged),
            counted(summary)
        )
    })
}

/// What is to be said of the host, if it saw anything: a sentence without its capital and its full stop.
pub(crate) fn of_host(summary: &Summary) -> Option<String> {
    let (what, visible, resolved) = (counted(summary), summary.host_visible, summary.resolved);
    let undecided = summary.outcomes.undecided.count;
    let bounds = "the bounds of each rate are those of none and of all of them; `--app` asks the application";
    let saw = format!("in {} {what} the host saw a difference before the end", plain(visible));
    let judged = "judged with the host in the loop";
    let assumed = "assumed to act as in the golden run";
    match (visible, resolved) {
        (0, _) => None,
        _ if undecided > 0 && resolved == 0 => Some(format!(
            "{saw} and was not asked what it would have done; {} are undecided: {bounds}",
            plain(undecided)
        )),
        _ if undecided > 0 => Some(format!(
            "{saw}; {} of them were {judged}, and {} are undecided: {bounds}",
            plain(resolved),
            plain(undecided)
        )),
        (_, 0) => Some(format!("{saw} and was {assumed}")),
        _ if visible == resolved => Some(format!("{saw}; all of them were {judged}")),
        _ => Some(format!("{saw}; {} of them were {judged}, in the others it was {assumed}", plain(resolved))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use campaign::Config;

    fn said(text: &str) -> [String; 5] {
        let all = limits("", &of_machine(&Choices::from(&Config::from_toml(text, "it").unwrap())));
        all.try_into().unwrap()
    }

    #[test]
    fn the_profile_of_addresses_is_named() {
        for (text, part) in [
            ("capsule = 'gemm'", "profile h200"),
            ("capsule = 'gemm'\naddresses = 'strict'", "profile strict"),
            ("capsule = 'gemm'\naddresses = 'own.toml'", "the profile own.toml says"),
            ("app = './a'\nengine = 'cuda-gdb'", "what the GPU does"),
        ] {
            let [_, _, sentence, ..] = said(text);
            assert!(sentence.contains(part), "{sentence}");
        }
    }

    #[test]
    fn products_and_sums_that_are_not_joined_are_named() {
        let [.., instructions, _] = said("capsule = 'gemm'\ncontract = 'off'");
        assert!(instructions.starts_with("Instructions are") && instructions.ends_with("(contract off)."));
        let [.., instructions, _] = said("capsule = 'gemm'\norder = 'blocks'");
        assert!(instructions.ends_with("(order blocks)."), "{instructions}");
        for text in ["capsule = 'gemm'", "capsule = 'gemm'\ncontract = 'ptxas'", "capsule = 'gemm'\norder = 'races'"] {
            let [.., instructions, _] = said(text);
            assert!(!instructions.contains("(order "), "{instructions}");
            assert!(!instructions.contains("contract"), "{instructions}");
        }
    }

    #[test]
    fn instructions_are_those_of_what_executed_them() {
        for engine in ["auto", "full", "delta", "lanes"] {
            let [.., instructions, _] = said(&format!("capsule = 'gemm'\nengine = '{engine}'"));
            assert!(instructions.starts_with("Instructions are those of PTX"), "{engine}: {instructions}");
        }
        for (engine, whose) in
            [("auto", "PTX"), ("full", "PTX"), ("cuda-gdb", "the machine code that the GPU executed")]
        {
            let [.., instructions, _] = said(&format!("app = './a'\nengine = '{engine}'"));
            assert!(
                instructions.starts_with(&format!("Instructions are those of {whose}")),
                "{engine}: {instructions}"
            );
        }
    }
}
