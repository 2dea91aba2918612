//! What campaigns on networks do, in sentences for reports.

use campaign::{Description, SelectionWords};

/// What the faults of a selection are, and what they are not.
#[must_use]
pub fn describe(words: &SelectionWords) -> Description {
    let change = match words.model.as_deref() {
        Some("random") => "its byte is replaced by another, uniform over all",
        Some("zero") => "its byte becomes zero",
        _ => "one of its eight bits flips",
    };
    let layers = if words.kernel.is_empty() && words.group.is_empty() {
        "the convolutions".to_owned()
    } else {
        let parts: Vec<&str> = words.kernel.iter().chain(&words.group).map(String::as_str).collect();
        format!("the layers {}", parts.join(", "))
    };
    Description {
        faults: format!(
            "In the stored output of one neuron of one inference, after requantisation and Relu, {change}. Each run draws an \
             image that the network classifies as its label says, a neuron of {layers}, and the bit, each with the same chance."
        ),
        not_hit: "Only outputs of neurons are hit. Weights, biases, inputs, accumulators, and the machine that computes them \
                  are not."
            .to_owned(),
        machine: vec![
            "Masked means equal logits; good means other logits and the same class; bad means another class, which is what \
             is called a misclassification or an SDC elsewhere."
                .to_owned(),
            "The network computes in integers as ONNX Runtime does on an x86 processor. Another engine may round \
             otherwise."
                .to_owned(),
        ],
    }
}
