//! The words of a campaign on a network: what is hit, how many places at once, what happens there.

use campaign::{SelectionWords, TargetError};
use fault::{Model, ModelKind};
use stats::Draws;

use super::expression::Expression;
use crate::hit::LayerOperand;
use crate::network_sites::NetworkSites;

/// The kind of operand that a campaign hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandKind {
    /// Outputs of layers.
    Neuron,
    /// Weights.
    Weight,
    /// Biases.
    Bias,
    /// Inputs of layers.
    Input,
}

impl OperandKind {
    /// Reads the word; `dst` is what a campaign says where nothing else is said.
    pub(crate) fn parse(word: Option<&str>) -> Result<Self, TargetError> {
        match word {
            None | Some("dst" | "out" | "neuron") => Ok(Self::Neuron),
            Some("weight") => Ok(Self::Weight),
            Some("bias") => Ok(Self::Bias),
            Some("in" | "input") => Ok(Self::Input),
            Some(other) => Err(TargetError::new(format!(
                "hit `{other}`: of a network it is neuron (or out), weight, bias or input (or in)"
            ))),
        }
    }

    /// The operands of this kind that a layer with this number of inputs may have.
    pub(crate) fn operands(self, inputs: usize) -> Vec<LayerOperand> {
        match self {
            Self::Neuron => vec![LayerOperand::Out],
            Self::Weight => vec![LayerOperand::Weight],
            Self::Bias => vec![LayerOperand::Bias],
            Self::Input => (0..inputs).map(LayerOperand::In).collect(),
        }
    }
}

/// The change of a place.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// As in any program.
    Bits(ModelKind),
    /// A number between two replaces it, as near as it can be stored.
    Number(f64, f64),
    /// The number that a formula makes of the fault-free one replaces it, as near as it can be stored.
    Formula(Box<Expression>),
}

impl Change {
    /// Reads the word.
    pub(crate) fn parse(word: Option<&str>) -> Result<Self, TargetError> {
        let word = word.unwrap_or("flip");
        if let Some(formula) = word.strip_prefix("expr:") {
            let wrong = |why| TargetError::new(format!("use the model `{word}`: {why}; such as expr:2*x+1"));
            return Expression::parse(formula).map(|it| Self::Formula(Box::new(it))).map_err(wrong);
        }
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let bounds = if let Some(value) = word.strip_prefix("value:") {
            number(value).map(|value| (value, value))
        } else if let Some(range) = word.strip_prefix("range:") {
            let ends = range.split_once("..").and_then(|(a, b)| Some((number(a)?, number(b)?)));
            ends.filter(|(low, high)| low <= high)
        } else {
            return ModelKind::parse(word).map(Self::Bits).map_err(|error| {
                TargetError::new(format!(
                    "{error}, value:V or range:A..B (a number, or one between two) or expr:FORMULA of x"
                ))
            });
        };
        let wrong = || {
            let expected =
                "expected value:V or range:A..B in numbers that are finite, A not above B, such as range:-1..1";
            TargetError::new(format!("use the model `{word}`: {expected}"))
        };
        bounds.map(|(low, high)| Self::Number(low, high)).ok_or_else(wrong)
    }

    /// Whether it can hit elements of this number of bits.
    pub(crate) fn hits(&self, bits: u32) -> bool {
        match self {
            Self::Bits(kind) => kind.hits(bits),
            Self::Number(..) | Self::Formula(_) => true,
        }
    }

    /// Whether what it does to an element hangs on that.
    pub(crate) fn is_of_element(&self) -> bool {
        matches!(self, Self::Formula(_))
    }

    /// The change of an element in the inference on an image.
    pub(crate) fn draw(
        &self,
        draws: &mut Draws,
        sites: &NetworkSites<'_>,
        image: usize,
        (layer, operand, element): (usize, LayerOperand, usize),
    ) -> Option<Model> {
        let value = match self {
            Self::Bits(kind) => return kind.draw(draws, sites.network.bits(operand)),
            Self::Number(low, high) => low + (high - low) * draws.unit(),
            Self::Formula(formula) => {
                formula.number(draws, sites.numbers.fault_free(image, layer, operand, element)?)?
            }
        };
        Some(Model::Value(sites.network.stored(layer, operand, element, value)?.into()))
    }
}

/// How many places are hit at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) shape: ScopeShape,
    /// Whether each place changes in its own way.
    pub(crate) each: bool,
}

/// Which places belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScopeShape {
    /// One.
    One,
    /// All columns of a row.
    Row,
    /// All rows of a column.
    Column,
    /// A feature map; of weights, a filter.
    Channel,
    /// A tile of rows and columns; tiles lie side by side from the first row and column on.
    Tile(usize, usize),
    /// So many places of an operand, wherever they are.
    Any(usize),
    /// One place in each layer.
    Layers,
}

impl Scope {
    /// Reads the word.
    pub(crate) fn parse(word: Option<&str>) -> Result<Self, TargetError> {
        let word = word.unwrap_or("thread");
        let (name, each) = word.strip_suffix(":each").map_or((word, false), |name| (name, true));
        let count = |text: &str| text.parse::<usize>().ok().filter(|&count| (1..=1 << 16).contains(&count));
        let shape = match name.split_once(':') {
            None => match name {
                "thread" | "one" => Some(ScopeShape::One),
                "row" => Some(ScopeShape::Row),
                "column" => Some(ScopeShape::Column),
                "channel" => Some(ScopeShape::Channel),
                "layers" => Some(ScopeShape::Layers),
                _ => None,
            },
            Some(("tile", size)) => {
                let sizes = size.split_once('x').and_then(|(rows, columns)| Some((count(rows)?, count(columns)?)));
                sizes.map(|(rows, columns)| ScopeShape::Tile(rows, columns))
            }
            Some(("any", places)) => count(places).map(ScopeShape::Any),
            Some(_) => None,
        };
        shape.map(|shape| Self { shape, each }).ok_or_else(|| {
            TargetError::new(format!(
                "hit the scope `{word}`: of a network it is one (or thread), row, column, channel, tile:ROWSxCOLUMNS, any:N \
                 (places of a layer) or layers (one in each), and with :each behind it every place changes in its own way"
            ))
        })
    }

    /// Whether it is a pattern over rows and columns.
    pub(crate) fn needs_rows(self) -> bool {
        !matches!(self.shape, ScopeShape::One | ScopeShape::Any(_) | ScopeShape::Layers)
    }
}

/// Refuses what a network has nothing for.
pub(crate) fn check_words(selection: &SelectionWords) -> Result<(), TargetError> {
    let none = |what: &str, list: &[String]| match list.first() {
        Some(word) => {
            Err(TargetError::new(format!("select {what} `{word}`: a network has layers, operator classes and images")))
        }
        None => Ok(()),
    };
    none("source lines", &selection.lines)?;
    none("threads", &selection.threads)?;
    none("blocks", &selection.blocks)?;
    match &selection.method {
        Some(method) => Err(TargetError::new(format!("choose sites by `{method}`: no method is known for networks"))),
        None => Ok(()),
    }
}
