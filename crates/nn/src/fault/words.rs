//! A fault in a sentence: the image, the layer, the tensor, the position and the bits.

use std::fmt::Write as _;

use fault::Model;

use super::region::{ElementRegion, Span};
use super::{Fault, FaultPart};
use crate::float::ValueFormat;
use crate::hit::LayerOperand;

/// Ordinals of the inputs of a layer.
const ORDINALS: [&str; 8] = ["", "second ", "third ", "fourth ", "fifth ", "sixth ", "seventh ", "eighth "];

impl Fault {
    /// The fault in a sentence. Of a number in the floating-point format `format`, a bit is named with its field.
    ///
    /// ```
    /// use nn::{Fault, ValueFormat};
    /// let fault = Fault::parse("image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=30").unwrap();
    /// assert_eq!(
    ///     fault.sentence(Some(ValueFormat::Fp32)),
    ///     "In the inference on image 17, bit 30 (exponent) of the output of layer c3 at channel 5, row 3, column 11 flips."
    /// );
    /// ```
    #[must_use]
    pub fn sentence(&self, format: Option<ValueFormat>) -> String {
        let parts: Vec<String> = self.parts.iter().map(|part| part.clause(format)).collect();
        format!("In the inference on image {}, {}.", self.image, parts.join("; "))
    }
}

impl FaultPart {
    /// The change of a part: what changes, where, and how.
    fn clause(&self, format: Option<ValueFormat>) -> String {
        let regions: Vec<String> = self.at.iter().map(|at| position(self.operand, at)).collect();
        let is_one = matches!(&self.at[..], [at] if at.only().is_some());
        let number = if is_one { "" } else { "s" };
        let operand = match self.operand {
            LayerOperand::Out => format!("output{number}"),
            LayerOperand::Weight => format!("weight{number}"),
            LayerOperand::Bias => if is_one { "bias" } else { "biases" }.to_owned(),
            LayerOperand::In(which) => {
                format!("{}input{number}", ORDINALS.get(which).copied().unwrap_or_default())
            }
        };
        let place = format!("the {operand} of layer {} at {}", self.layer, regions.join(" and at "));
        let model = match &self.models[..] {
            [model] => *model,
            _ => return format!("each of {place} changes in a way of its own"),
        };
        match model {
            Model::Flip(mask) => {
                let (bits, one) = bits(mask.get(), format);
                format!("{bits} of {place} {}", if one { "flips" } else { "flip" })
            }
            Model::Stuck { mask, ones } => {
                let (bits, one) = bits(mask.get(), format);
                format!("{bits} of {place} {} {}", if one { "becomes" } else { "become" }, u8::from(ones))
            }
            Model::Value(value) => format!("the stored value {value:#x} replaces {place}"),
            Model::Zero => format!("{place} {} zero", if is_one { "becomes" } else { "become" }),
        }
    }
}

/// The bits of a mask in words, and whether it is one alone.
fn bits(mask: u128, format: Option<ValueFormat>) -> (String, bool) {
    let named: Vec<String> = (0..u128::BITS)
        .filter(|bit| mask >> bit & 1 == 1)
        .map(|bit| format.map_or_else(|| bit.to_string(), |format| format!("{bit} ({})", format.field(bit).word())))
        .collect();
    match &named[..] {
        [bit] => (format!("bit {bit}"), true),
        [first @ .., last] => (format!("bits {} and {last}", first.join(", ")), false),
        [] => ("no bit".to_owned(), true),
    }
}

/// The coordinates of places with their names.
fn position(operand: LayerOperand, at: &ElementRegion) -> String {
    let names: &[&str] = match (operand, at.0.len()) {
        (LayerOperand::Weight, 2) => &["output", "input"],
        (LayerOperand::Weight, _) => &["filter", "channel", "row", "column"],
        // Those of a matrix, as tokens have one, are the last two of several matrices, as heads have them.
        (_, 2) => &["row", "column"],
        _ => &["channel", "row", "column"],
    };
    let mut text = String::new();
    for (number, span) in at.0.iter().enumerate() {
        let name = names.get(number).copied().unwrap_or("coordinate");
        let comma = if number == 0 { "" } else { ", " };
        let _ = match span {
            Span::One(value) => write!(text, "{comma}{name} {value}"),
            Span::Range(first, last) => write!(text, "{comma}{name}s {first} to {last}"),
            Span::All => write!(text, "{comma}all {name}s"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_the_image_the_layer_the_tensor_the_position_and_the_bits() {
        let said = |part: &str, format| Fault::parse(&format!("image=2,{part}")).unwrap().sentence(format);
        let fp16 = Some(ValueFormat::Fp16);
        for (part, format, expected) in [
            (
                "layer=a,tensor=out,at=5:3:11,model=flip,bits=6",
                None,
                "bit 6 of the output of layer a at channel 5, row 3, column 11 flips",
            ),
            (
                "layer=a,tensor=in2,at=5:3:*,model=zero,bits=all",
                None,
                "the second inputs of layer a at channel 5, row 3, all columns become zero",
            ),
            (
                "layer=a,tensor=out,at=7,model=flip,bits=9+15",
                fp16,
                "bits 9 (mantissa) and 15 (sign) of the output of layer a at channel 7 flip",
            ),
            (
                "layer=a,tensor=out,at=7:2,model=zero,bits=all",
                None,
                "the output of layer a at row 7, column 2 becomes zero",
            ),
            (
                "layer=a,tensor=weight,at=1:2:0:2,model=stuck1,bits=3",
                None,
                "bit 3 of the weight of layer a at filter 1, channel 2, row 0, column 2 becomes 1",
            ),
            (
                "layer=f,tensor=weight,at=1:20,model=random,bits=0x1f",
                None,
                "the stored value 0x1f replaces the weight of layer f at output 1, input 20",
            ),
            (
                "layer=f,tensor=bias,at=1+4,model=flip,bits=30/1",
                None,
                "each of the biases of layer f at channel 1 and at channel 4 changes in a way of its own",
            ),
            (
                "layer=f,tensor=out,at=1,model=flip,bits=0;layer=g,tensor=out,at=0:1-2:4,model=flip,bits=1",
                None,
                "bit 0 of the output of layer f at channel 1 flips; bit 1 of the outputs of layer g at channel 0, rows 1 to 2, column 4 flips",
            ),
        ] {
            assert_eq!(said(part, format), format!("In the inference on image 2, {expected}."));
        }
    }
}
