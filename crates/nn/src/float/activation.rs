//! Functions of one number that a layer ends with. One line of the table is a function: files are read by it, and layers computed.

use crate::exponential::{erf, gelu, gelu_erf, sigmoid, tanh};

/// A function of one number with what it was given of numbers: what a layer makes of each number before it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activation {
    /// The function.
    pub function: ActivationFunction,
    /// Its numbers, in the order of the table; those that it does not have are 0.
    pub numbers: [f32; 2],
}

impl Activation {
    /// A function with what ONNX says of its numbers where a file says nothing.
    #[must_use]
    pub fn usual(function: ActivationFunction) -> Self {
        let mut numbers = [0.0; 2];
        numbers.iter_mut().zip(function.attributes()).for_each(|(number, (_, usual))| *number = *usual);
        Self { function, numbers }
    }
}

/// A row: the operator of ONNX; its numbers by their attributes, with what they usually are; and what it makes of a number and of these.
/// Each row has a loop of its own.
macro_rules! activations {
    ($($name:ident [$($attribute:expr),*] |$value:ident, $numbers:pat_param| $made:expr;)*) => {
        /// A function of one number, by the operator's name in ONNX.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ActivationFunction {
            $(#[doc = stringify!($made)] $name,)*
        }

        impl ActivationFunction {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The operator's name in ONNX.
            #[must_use]
            pub fn operator(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Its numbers by their attributes, with what they usually are.
            #[must_use]
            pub fn attributes(self) -> &'static [(&'static str, f32)] {
                match self {
                    $(Self::$name => &[$($attribute),*],)*
                }
            }
        }

        impl Activation {
            /// Replaces each number by what the function makes of it.
            pub(crate) fn apply(self, values: &mut [f32]) {
                match self.function {
                    $(ActivationFunction::$name => {
                        let made = |$value: f32, $numbers: [f32; 2]| -> f32 { $made };
                        values.iter_mut().for_each(|value| *value = made(*value, self.numbers));
                    })*
                }
            }
        }
    };
}

activations! {
    Relu [] |x, _| clamped(x, [0.0, f32::INFINITY]);
    Clip [("min", f32::NEG_INFINITY), ("max", f32::INFINITY)] |x, bounds| clamped(x, bounds);
    LeakyRelu [("alpha", 0.01)] |x, [alpha, _]| if x < 0.0 { alpha * x } else { x };
    Sigmoid [] |x, _| sigmoid(x);
    HardSigmoid [("alpha", 0.2), ("beta", 0.5)] |x, [alpha, beta]| clamped(alpha * x + beta, [0.0, 1.0]);
    HardSwish [] |x, _| x * clamped(x * (1.0 / 6.0) + 0.5, [0.0, 1.0]);
    Tanh [] |x, _| tanh(x);
    Erf [] |x, _| erf(f64::from(x)) as f32;
    Gelu [("tanh", 0.0)] |x, [by_tanh, _]| if by_tanh == 0.0 { gelu_erf(x) } else { gelu(x) };
    Mul [("B", 1.0)] |x, [factor, _]| x * factor;
    Div [("B", 1.0)] |x, [divisor, _]| x / divisor;
    Add [("B", 0.0)] |x, [summand, _]| x + summand;
    Sub [("B", 0.0)] |x, [subtrahend, _]| x - subtrahend;
}

/// The nearest value within bounds; NaN stays.
fn clamped(value: f32, [low, high]: [f32; 2]) -> f32 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}
