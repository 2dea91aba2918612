//! The parts of a network: tensors, operators, layers.

use crate::arithmetic::{ProductTerms, Quantisation, SumTerms, average};
use crate::float::Activation;

/// The size of a tensor, without the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// Channels.
    pub channels: usize,
}

impl Shape {
    /// How many positions it has.
    #[must_use]
    pub fn positions(self) -> usize {
        self.height * self.width
    }

    /// One position with as many channels.
    #[must_use]
    pub fn of_channels(self) -> Self {
        Self { height: 1, width: 1, ..self }
    }

    /// How many elements it has.
    #[must_use]
    pub fn elements(self) -> usize {
        self.positions() * self.channels
    }
}

/// The coordinates of the elements of a tensor, in the order of the axes of the file, without the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axes {
    /// The channel alone.
    Channels,
    /// Channel, row, column; it is stored position by position.
    Image,
    /// Row and column of a matrix such as tokens have: a shape of one row, whose columns are the rows and whose channels the columns.
    Matrix,
    /// Matrix, row, column of several matrices such as heads have: rows, columns and channels of the shape.
    Matrices,
}

/// A tensor that layers read and make.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its size.
    pub shape: Shape,
    /// Whether it has channels only: coordinates then have one number.
    pub flat: bool,
    /// The meaning of its bytes.
    pub quantisation: Quantisation,
}

/// A convolution; a dense layer is one whose window is its whole input.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// Rows and columns of its window.
    pub kernel: [usize; 2],
    /// Rows and columns from one window to the next.
    pub stride: [usize; 2],
    /// Rows and columns of zeros above and to the left of the input.
    pub pad: [usize; 2],
    /// In how many parts the channels are divided, each of which sees only its own.
    pub groups: usize,
    /// Weights by row, column, channel of the input, and channel of the output within its group.
    pub weights: Vec<i8>,
    /// The summand, for each channel of the output.
    pub bias: Vec<i32>,
    /// The factor of accumulators, for each channel of the output.
    pub multipliers: Vec<f32>,
    /// The meaning of a step of a weight, for each channel of the output.
    pub scales: Vec<f32>,
}

/// Windows over rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its rows and columns.
    pub kernel: [usize; 2],
    /// Rows and columns from one window to the next.
    pub stride: [usize; 2],
    /// Rows and columns above and to the left of the input.
    pub pad: [usize; 2],
    /// Rows and columns from one that is read to the next: 1 of windows without holes.
    pub dilation: [usize; 2],
}

/// Averages of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AveragePool {
    /// Its windows.
    pub window: Window,
    /// Whether a window is divided by its size also where it lies outside of the input, which then counts as zeros.
    pub counts_padding: bool,
}

/// The byte that a window makes of those that it reads of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reduction {
    /// The largest.
    Largest,
    /// The average.
    Average {
        /// The divisor, if it is not how many are read.
        count: Option<usize>,
        /// The quantisations of what is read and of what is made.
        quantisations: [Quantisation; 2],
    },
}

impl Reduction {
    /// The byte of these.
    pub(crate) fn of(self, bytes: impl Iterator<Item = u8>) -> u8 {
        match self {
            Self::Largest => bytes.max().unwrap_or(0),
            Self::Average { count, quantisations } => average(bytes, count, quantisations),
        }
    }
}

impl AveragePool {
    /// The divisor of a window, if it is not how many elements it reads.
    #[must_use]
    pub fn count(self) -> Option<usize> {
        self.counts_padding.then(|| self.window.kernel[0] * self.window.kernel[1])
    }

    pub(crate) fn reduction(self, from: &Tensor, to: &Tensor) -> Reduction {
        Reduction::Average { count: self.count(), quantisations: [from.quantisation, to.quantisation] }
    }
}

/// The byte that two bytes come to, for every pair of them.
pub(crate) trait PairTable {
    /// The byte of a pair.
    fn of(&self, a: u8, b: u8) -> u8;
    /// The same byte, computed.
    fn computed(&self, a: u8, b: u8) -> u8;
}

/// The byte of every pair of bytes, in the order in which [`in_pairs`] finds them.
fn all_pairs(of: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    (0..=u16::MAX).map(|pair| of((pair >> 8) as u8, pair as u8)).collect()
}

#[inline(always)]
fn in_pairs(pairs: &[u8], a: u8, b: u8) -> u8 {
    pairs[usize::from(a) << 8 | usize::from(b)]
}

/// The sum of two tensors, for every pair of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct SumTable {
    sums: Vec<u8>,
    terms: SumTerms,
}

impl SumTable {
    /// The sums of bytes of the first two quantisations, in bytes of the third.
    #[must_use]
    pub fn new(quantisations: [Quantisation; 3]) -> Self {
        let terms = SumTerms::new(quantisations);
        Self { sums: all_pairs(|a, b| terms.sum(a, b)), terms }
    }

    /// The sum of two bytes.
    #[must_use]
    #[inline]
    pub fn of(&self, a: u8, b: u8) -> u8 {
        in_pairs(&self.sums, a, b)
    }
}

impl PairTable for SumTable {
    #[inline(always)]
    fn of(&self, a: u8, b: u8) -> u8 {
        in_pairs(&self.sums, a, b)
    }

    /// Faster where it is compiled for a host that joins products and sums.
    #[inline(always)]
    fn computed(&self, a: u8, b: u8) -> u8 {
        self.terms.sum(a, b)
    }
}

/// The product of two tensors, for every pair of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct ProductTable {
    products: Vec<u8>,
    terms: ProductTerms,
}

impl ProductTable {
    /// The products of bytes of the first two quantisations, in bytes of the third. Signed bytes of a product have 128 added, and
    /// so has their zero point; they are rounded before.
    #[must_use]
    pub fn new(quantisations: [Quantisation; 3], is_signed: bool) -> Self {
        let terms = ProductTerms::new(quantisations, is_signed);
        Self { products: all_pairs(|a, b| terms.product(a, b)), terms }
    }

    /// The product of two bytes.
    #[must_use]
    #[inline]
    pub fn of(&self, a: u8, b: u8) -> u8 {
        in_pairs(&self.products, a, b)
    }
}

impl PairTable for ProductTable {
    #[inline(always)]
    fn of(&self, a: u8, b: u8) -> u8 {
        in_pairs(&self.products, a, b)
    }

    #[inline(always)]
    fn computed(&self, a: u8, b: u8) -> u8 {
        self.terms.product(a, b)
    }
}

/// A function of one number, for every byte.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionTable {
    bytes: Box<[u8; 256]>,
    /// The function at the value of each byte, before it is stored.
    values: Box<[f32; 256]>,
    /// The quantisation of what is read.
    from: Quantisation,
}

impl FunctionTable {
    /// A function of the values of bytes of the first quantisation, in bytes of the second.
    #[must_use]
    pub fn new(activation: Activation, [from, to]: [Quantisation; 2]) -> Self {
        let mut values = Box::new(std::array::from_fn(|byte| from.value(byte as u8)));
        activation.apply(&mut values[..]);
        let bytes = Box::new(values.map(|value| to.stored(value)));
        Self { bytes, values, from }
    }

    /// The function of a byte.
    #[must_use]
    #[inline]
    pub fn of(&self, byte: u8) -> u8 {
        self.bytes[usize::from(byte)]
    }

    /// The function and its slope between bytes, along the lines that join what it is at neighbouring ones. At a byte the slope is
    /// the mean of both sides.
    pub(crate) fn real(&self, value: f64) -> [f64; 2] {
        let step = f64::from(self.from.scale);
        let at = value / step + f64::from(self.from.zero);
        let below = at.floor().clamp(0.0, 254.0);
        let known = |byte: usize| f64::from(self.values[byte]);
        let slope = |byte: usize| (known(byte + 1) - known(byte)) / step;
        let first = below as usize;
        let nearest = at.round();
        let is_byte = (at - nearest).abs() < 1e-6 && (1.0..=254.0).contains(&nearest);
        let here = if is_byte {
            let byte = nearest as usize;
            (slope(byte - 1) + slope(byte)) / 2.0
        } else {
            slope(first)
        };
        [known(first) + (at - below) * step * slope(first), here]
    }
}

/// The operation of a layer.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// Convolves; Relu is the clamp of its bytes.
    Conv(Conv),
    /// Sums up all inputs with weights.
    Dense(Conv),
    /// Adds two tensors.
    Add(SumTable),
    /// Multiplies two tensors; one of them may have a number for each channel alone, as the gate of squeeze and excitation has.
    Multiply(ProductTable),
    /// A function of each number.
    Function(FunctionTable),
    /// The largest byte of each channel in each window; what lies outside of the input counts for nothing.
    MaxPool(Window),
    /// The average of each channel in each window.
    AveragePool(AveragePool),
    /// The channels of all inputs, one after the other, each byte in the quantisation of the output.
    Concat,
    /// The average of each channel over all positions, of values that are added up in floating point.
    Mean,
    /// The average of each channel over all positions.
    GlobalAverage {
        /// The factor of the sum of a channel.
        multiplier: f32,
    },
}

/// A step of the network, which makes one tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Its name, unlike those of others.
    pub name: String,
    /// The operator's name in the file.
    pub opcode: String,
    /// Its operation.
    pub operator: Operator,
    /// The tensors that it reads, by number.
    pub inputs: Vec<usize>,
}

impl Layer {
    /// The class of its operator: `conv`, `depthwise`, `dense`, `add`, `mul`, `activation`, `pool` or `concat`.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match &self.operator {
            Operator::Conv(conv) if conv.groups > 1 && conv.groups == conv.bias.len() => "depthwise",
            Operator::Conv(_) => "conv",
            Operator::Dense(_) => "dense",
            Operator::Add(_) => "add",
            Operator::Multiply(_) => "mul",
            Operator::Function(_) => "activation",
            Operator::MaxPool(_) | Operator::AveragePool(_) | Operator::Mean | Operator::GlobalAverage { .. } => "pool",
            Operator::Concat => "concat",
        }
    }

    /// Its weights and what belongs to them, if it has some.
    #[must_use]
    pub fn conv(&self) -> Option<&Conv> {
        match &self.operator {
            Operator::Conv(conv) | Operator::Dense(conv) => Some(conv),
            Operator::Add(_)
            | Operator::Multiply(_)
            | Operator::Function(_)
            | Operator::MaxPool(_)
            | Operator::AveragePool(_)
            | Operator::Concat
            | Operator::Mean
            | Operator::GlobalAverage { .. } => None,
        }
    }

    /// Its windows, if it has some.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        match &self.operator {
            Operator::MaxPool(window) => Some(*window),
            Operator::AveragePool(pool) => Some(pool.window),
            _ => self.conv().map(Conv::window),
        }
    }
}

impl Conv {
    /// The filter that a weight belongs to: the channel of the output; the input has this number of channels.
    #[must_use]
    pub fn filter_of(&self, weight: usize, channels: usize) -> usize {
        let per_group = self.bias.len() / self.groups;
        let channel = weight / per_group % channels;
        channel / (channels / self.groups) * per_group + weight % per_group
    }

    /// Its windows.
    #[must_use]
    pub fn window(&self) -> Window {
        Window { stride: self.stride, pad: self.pad, ..Window::plain(self.kernel) }
    }
}

impl Window {
    /// A window without holes, over an input without padding, that moves by one row and one column.
    #[must_use]
    pub fn plain(kernel: [usize; 2]) -> Self {
        Self { kernel, stride: [1, 1], pad: [0, 0], dilation: [1, 1] }
    }

    /// Rows (or columns) from the first that it reads to the last, both included; 0 of an empty one.
    #[must_use]
    pub fn extent(&self, axis: usize) -> usize {
        let holes = self.kernel[axis].saturating_sub(1).saturating_mul(self.dilation[axis]);
        holes.saturating_add(self.kernel[axis].min(1))
    }

    /// The row (or column) of the input that a window reads with its row (or column) `tap`; none in the padding, of an input of this
    /// size.
    #[must_use]
    #[inline]
    pub fn tap_of(&self, axis: usize, window: usize, tap: usize, size: usize) -> Option<usize> {
        let at = (window * self.stride[axis] + tap * self.dilation[axis]).checked_sub(self.pad[axis])?;
        (at < size).then_some(at)
    }

    /// The positions of the input that the window of a row and a column reads.
    pub fn reads(self, row: usize, column: usize, from: Shape) -> impl Iterator<Item = usize> {
        let along = move |axis: usize, window: usize, size: usize| {
            (0..self.kernel[axis]).filter_map(move |tap| self.tap_of(axis, window, tap, size))
        };
        let columns = move |y: usize| along(1, column, from.width).map(move |x| y * from.width + x);
        along(0, row, from.height).flat_map(columns)
    }

    /// Which window reads the row (or column) `at` with its row (or column) `tap`, of `windows` that there are.
    #[must_use]
    #[inline]
    pub fn window_of(&self, axis: usize, at: usize, tap: usize, windows: usize) -> Option<usize> {
        let from = (at + self.pad[axis]).checked_sub(tap * self.dilation[axis])?;
        let window = from / self.stride[axis];
        (from.is_multiple_of(self.stride[axis]) && window < windows).then_some(window)
    }
}
