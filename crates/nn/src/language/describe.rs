//! Campaigns on generations, in sentences for reports.

use campaign::{Description, SelectionWords};

use super::target::STEPS;
use crate::float::ValueFormat;

/// The faults of a selection, and what is not hit.
#[must_use]
pub fn describe(words: &SelectionWords, format: ValueFormat) -> Description {
    let change = match words.model.as_deref() {
        None | Some("flip") => "one of its bits flips".to_owned(),
        Some("random") => "another value, uniform over all, replaces it".to_owned(),
        Some("zero") => "it becomes zero".to_owned(),
        Some(word) => format!("its bits change by the model {word}"),
    };
    let (element, member, not_hit) = match words.target.as_deref() {
        Some("weight") => (
            "one stored weight, from one step to the end of the generation",
            "a prompt, a step and a weight",
            "activations, biases, keys and values of earlier positions",
        ),
        Some("bias") => (
            "one stored bias, from one step to the end of the generation",
            "a prompt, a step and a bias",
            "activations, weights, keys and values of earlier positions",
        ),
        Some("cache") => (
            "one stored key or value of an earlier position, from one step to the end of the generation",
            "a prompt, a step, a position before that of the step, and a key or a value there",
            "activations, weights, biases",
        ),
        _ => (
            "the stored result of one part of the model, at one step",
            "a prompt, a step and an element of a part",
            "weights, biases, keys and values of earlier positions",
        ),
    };
    let layers = if words.kernel.is_empty() && words.group.is_empty() {
        "all layers".to_owned()
    } else {
        let parts: Vec<&str> = words.kernel.iter().chain(&words.group).map(String::as_str).collect();
        format!("the layers {}", parts.join(", "))
    };
    Description {
        faults: format!(
            "In {element}, {change}. Each run draws {member}, of {layers}: each such choice has the same chance, and so has each bit."
        ),
        not_hit: format!(
            "In this campaign {not_hit}, accumulators, the sums of the residual stream, scores of attention, the reading of \
             a prompt before its last token, and the machine that computes are not hit."
        ),
        machine: vec![
            format!(
                "A prompt is continued by {STEPS} tokens, each the one with the largest logit. Masked means equal logits at all steps; \
                 good means other logits and the same tokens; bad means another token. Logits that become NaN or infinite are detectable."
            ),
            format!(
                "Values are stored as {}; sums are added up in 32 bits, in the order of their inputs. Another engine adds in another \
                 order, and its sums differ in their last bits.",
                format.word()
            ),
        ],
    }
}
