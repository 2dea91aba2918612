//! The parts of a language model that faults are told of, in the order in which a step meets them.

/// The sizes of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelShape {
    /// The tokens that there are.
    pub tokens: usize,
    /// The channels of the residual stream.
    pub width: usize,
    /// The heads of attention.
    pub heads: usize,
    /// The elements between the two matrices of a feed-forward part.
    pub inner: usize,
    /// The layers.
    pub layers: usize,
    /// The positions that it knows.
    pub context: usize,
}

/// A part of a model: what it makes at each step, what it holds, and whether what it makes is kept for later steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPart {
    /// Its name, such as `h0.q`.
    pub name: String,
    /// The class that it belongs to.
    pub class: &'static str,
    /// The elements that it makes at each step; 0 of the table of positions, whose row is added within `embed`.
    pub outputs: usize,
    /// The sizes of its weight, empty if it has none: (row, channel) of a table, (input, output) of a matrix, or channels.
    pub weight: Vec<usize>,
    /// The elements of its bias.
    pub bias: usize,
    /// Whether what it makes is stored for later steps: keys and values.
    pub cached: bool,
}

/// The parts of a layer, by their place in it.
pub(crate) const LN1: usize = 0;
pub(crate) const QUERY: usize = 1;
pub(crate) const KEY: usize = 2;
pub(crate) const VALUE: usize = 3;
pub(crate) const ATTENTION: usize = 4;
pub(crate) const PROJECTION: usize = 5;
pub(crate) const LN2: usize = 6;
pub(crate) const EXPANSION: usize = 7;
pub(crate) const ACTIVATION: usize = 8;
pub(crate) const CONTRACTION: usize = 9;

/// How many parts a layer has.
pub(crate) const OF_LAYER: usize = 10;

/// The table of tokens.
pub(crate) const EMBED: usize = 0;

/// The table of positions.
pub(crate) const POSITION: usize = 1;

/// The number of a part of a layer.
pub(crate) fn number(layer: usize, part: usize) -> usize {
    2 + layer * OF_LAYER + part
}

/// All parts of a model of this shape; with a table of its own for the logits unless it is tied.
pub(crate) fn all(shape: ModelShape, tied: bool) -> Vec<ModelPart> {
    let ModelShape { tokens, width, inner, layers, context, .. } = shape;
    let part = |name: &str, class, outputs, weight: &[usize], bias, cached| ModelPart {
        name: name.to_owned(),
        class,
        outputs,
        weight: weight.to_vec(),
        bias,
        cached,
    };
    let mut all = vec![
        part("embed", "embedding", width, &[tokens, width], 0, false),
        part("position", "embedding", 0, &[context, width], 0, false),
    ];
    for layer in 0..layers {
        let (square, norm) = ([width, width], [width]);
        let of_layer: [(&str, &str, usize, &[usize], bool); OF_LAYER] = [
            ("ln1", "norm", width, &norm, false),
            ("q", "attention", width, &square, false),
            ("k", "attention", width, &square, true),
            ("v", "attention", width, &square, true),
            ("attention", "attention", width, &[], false),
            ("proj", "attention", width, &square, false),
            ("ln2", "norm", width, &norm, false),
            ("fc", "feed-forward", inner, &[width, inner], false),
            ("act", "feed-forward", inner, &[], false),
            ("out", "feed-forward", width, &[inner, width], false),
        ];
        all.extend(of_layer.map(|(name, class, outputs, weight, cached)| {
            let bias = if weight.is_empty() { 0 } else { outputs };
            part(&format!("h{layer}.{name}"), class, outputs, weight, bias, cached)
        }));
    }
    all.push(part("ln_f", "norm", width, &[width], width, false));
    let table = [tokens, width];
    all.push(part("logits", "logits", tokens, if tied { &[] } else { &table }, 0, false));
    all
}
