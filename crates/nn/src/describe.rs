//! What campaigns on networks do, in sentences for reports.

use campaign::{Description, SelectionWords};

use crate::float::ValueFormat;

/// What the faults of a selection are, and what they are not; the format is that of floating point, none means INT8.
#[must_use]
pub fn describe(words: &SelectionWords, format: Option<ValueFormat>) -> Description {
    let change = match words.model.as_deref() {
        None | Some("flip") => "one of its bits flips".to_owned(),
        Some("random") => "another value, uniform over all, replaces it".to_owned(),
        Some("zero") => "it becomes zero".to_owned(),
        Some(word) => match word.split_once(':') {
            Some(("value", value)) => format!("the number {value}, as near as it can be stored, replaces it"),
            Some(("range", range)) => {
                format!("a number drawn uniformly from {range}, as near as it can be stored, replaces it")
            }
            Some(("expr", formula)) => {
                format!("the number {formula}, where x is its fault-free one, as near as it can be stored, replaces it")
            }
            _ => format!("its bits change by the model {word}"),
        },
    };
    let (element, member, usual, not_hit) = match words.target.as_deref() {
        Some("weight") => {
            ("one stored weight in one inference", "a weight", "all layers that have some", "neurons, biases, inputs")
        }
        Some("bias") => (
            if format.is_some() {
                "one stored bias in one inference"
            } else {
                "one stored bias of 32 bits in one inference"
            },
            "a bias",
            "all layers that have some",
            "neurons, weights, inputs",
        ),
        Some("in" | "input") => {
            ("one element that a layer reads in one inference", "an element", "the image", "neurons, weights, biases")
        }
        _ => (
            if format.is_some() {
                "the stored output of one neuron of one inference, after Relu"
            } else {
                "the stored output of one neuron of one inference, after requantisation and Relu"
            },
            "a neuron",
            "the convolutions (of all layers with weights, where convolutions make less than half of the multiplications)",
            "weights, biases, inputs",
        ),
    };
    let layers = if words.kernel.is_empty() && words.group.is_empty() {
        usual.to_owned()
    } else {
        let parts: Vec<&str> = words.kernel.iter().chain(&words.group).map(String::as_str).collect();
        format!("the layers {}", parts.join(", "))
    };
    let scope = match words.scope.as_deref() {
        None | Some("thread" | "one") => String::new(),
        Some(scope) => match scope.strip_suffix(":each") {
            Some(scope) => format!(" All places of its `{scope}` are hit, each in a way of its own."),
            None => format!(" All places of its `{scope}` are hit, in the same way."),
        },
    };
    Description {
        faults: format!(
            "In {element}, {change}. Each run draws an image of which the network says what it shows, {member} of {layers}, \
             and what happens to it, each with the same chance.{scope}"
        ),
        not_hit: format!("In this campaign {not_hit}, accumulators, and the machine that computes are not hit."),
        machine: vec![
            "Masked means equal logits; good means other logits and the same class; bad means another class, which is what \
             is called a misclassification or an SDC elsewhere. Of a detector, bad means that an object is lost, found where \
             none is, or found as another class."
                .to_owned(),
            match format {
                None => "The network computes in integers as ONNX Runtime does on an x86 processor. Another engine may \
                         round otherwise."
                    .to_owned(),
                Some(format) => format!(
                    "Values are stored as {} after each operator, rounded to nearest, ties to even; sums are added up in 32 \
                     bits, bias first, then row by row, column by column, channel by channel. Another engine adds in another \
                     order, and its sums differ in their last bits. Logits that become NaN or infinite are detectable.",
                    format.word()
                ),
            },
        ],
    }
}
