//! The work of a layer on what differs: sums of windows, and the bytes that they come to.

use super::altered::Term;
use super::changes::{Changes, changed};
use crate::arithmetic::requantise;
use crate::hit::LayerOperand;
use crate::level::{Level, WIDTH};
use crate::network::{Conv, Shape, Tensor, Window};
use crate::operator::{PairTable, Reduction};

/// The memory that a layer needs while it is worked on; all zero and empty in between.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Changes of sums, for each element of the output.
    pub(super) sums: Vec<i32>,
    /// Whether a position of the output is touched.
    pub(super) marks: Vec<bool>,
    /// The touched positions.
    pub(super) touched: Vec<u32>,
    /// Changed channels of one position, each with the first channel of the output that reads it, and its change.
    pub(super) channels: Vec<(usize, usize, i16)>,
    /// Pairs of channels of one position of which one has changed, with their changes.
    pub(super) pairs: Vec<Pair>,
    /// Columns of the kernel, each with the column of the windows that read one position by it.
    pub(super) columns: Vec<(usize, usize)>,
}

/// Two neighbouring channels of which one has changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    /// How many pairs lie before it.
    pub(super) number: u32,
    pub(super) deltas: [i16; 2],
}

/// An input whose channels stand behind those of others.
pub(super) struct JoinedInput<'a> {
    pub(super) changes: &'a Changes,
    /// Its bytes in the fault-free run.
    pub(super) bytes: &'a [u8],
    pub(super) tensor: &'a Tensor,
}

/// How many channels there may be for each one that differs, for all of them to be worked on at once.
const DENSE: usize = 16;

impl Scratch {
    #[inline(always)]
    pub(super) fn touch(&mut self, position: usize) {
        if !std::mem::replace(&mut self.marks[position], true) {
            self.touched.push(position as u32);
        }
    }

    /// Changes the sums of all windows that read a changed position.
    #[inline(always)]
    pub(super) fn convolve(&mut self, conv: &Conv, weights: &[i16], input: &Changes, from: Shape, to: Shape) -> u64 {
        let (per_group, channels_per_group) = (to.channels / conv.groups, from.channels / conv.groups);
        let (mut macs, shape) = (0, conv.window());
        for &position in &input.positions {
            let position = position as usize;
            let (y, x) = (position / from.width, position % from.width);
            let deltas = &input.deltas[position * from.channels..][..from.channels];
            let count = deltas.iter().map(|&delta| usize::from(delta != 0)).sum::<usize>();
            // Of each channel alone, all at once are done sooner than a few that have to be found.
            let is_dense = [per_group, channels_per_group] == [1; 2] && count * DENSE >= deltas.len();
            let mut channels = std::mem::take(&mut self.channels);
            channels.clear();
            if !is_dense {
                let changed = deltas.iter().copied().enumerate().filter(|&(_, delta)| delta != 0);
                channels
                    .extend(changed.map(|(channel, delta)| (channel, channel / channels_per_group * per_group, delta)));
            }
            for r in 0..conv.kernel[0] {
                let Some(row) = shape.window_of(0, y, r, to.height) else { continue };
                for s in 0..conv.kernel[1] {
                    let Some(column) = shape.window_of(1, x, s, to.width) else { continue };
                    let window = row * to.width + column;
                    self.touch(window);
                    let sums = &mut self.sums[window * to.channels..][..to.channels];
                    let tap = (r * conv.kernel[1] + s) * from.channels;
                    if is_dense {
                        let products = deltas.iter().zip(&weights[tap..]);
                        for (sum, (&delta, &weight)) in sums.iter_mut().zip(products) {
                            *sum += i32::from(delta) * i32::from(weight);
                        }
                    }
                    for &(channel, first, delta) in &channels {
                        let weights = &weights[(tap + channel) * per_group..][..per_group];
                        for (sum, &weight) in sums[first..][..per_group].iter_mut().zip(weights) {
                            *sum += i32::from(delta) * i32::from(weight);
                        }
                    }
                    macs += (count * per_group) as u64;
                }
            }
            self.channels = channels;
        }
        macs
    }

    /// Changes the sums of all windows by what weights and biases are altered, times what the windows read.
    pub(super) fn alter(
        &mut self,
        conv: &Conv,
        altered: &[Term],
        bytes: &[u8],
        input: &Changes,
        from: &Tensor,
        to: Shape,
    ) -> u64 {
        let (per_group, channels) = (to.channels / conv.groups, from.shape.channels);
        let zero = i32::from(from.quantisation.zero);
        let mut macs = 0;
        for &Term { operand, element, by } in altered {
            if operand == LayerOperand::Bias {
                for window in 0..to.positions() {
                    self.touch(window);
                    let sum = &mut self.sums[window * to.channels + element];
                    *sum = sum.wrapping_add(by);
                }
                continue;
            }
            let (tap, channel) = (element / per_group / channels, element / per_group % channels);
            let filter = conv.filter_of(element, channels);
            let (r, s) = (tap / conv.kernel[1], tap % conv.kernel[1]);
            for position in 0..from.shape.positions() {
                let (y, x) = (position / from.shape.width, position % from.shape.width);
                let windows = (conv.window().window_of(0, y, r, to.height), conv.window().window_of(1, x, s, to.width));
                let (Some(row), Some(column)) = windows else { continue };
                let read = position * channels + channel;
                let value = i32::from(changed(bytes[read], input.deltas[read])) - zero;
                macs += 1;
                if value != 0 {
                    let window = row * to.width + column;
                    self.touch(window);
                    let sum = &mut self.sums[window * to.channels + filter];
                    *sum = sum.wrapping_add(value * by);
                }
            }
        }
        macs
    }

    /// Changes the sums of averages.
    pub(super) fn average(&mut self, input: &Changes, channels: usize) {
        self.touch(0);
        for &position in &input.positions {
            let deltas = &input.deltas[position as usize * channels..][..channels];
            for (sum, &delta) in self.sums.iter_mut().zip(deltas) {
                *sum += i32::from(delta);
            }
        }
    }

    /// Makes the bytes of all windows again that read a changed position.
    pub(super) fn pool(
        &mut self,
        (window, reduction): (Window, Reduction),
        input: &Changes,
        (bytes, golden): (&[u8], &[u8]),
        [from, to]: [Shape; 2],
        output: &mut Changes,
    ) {
        for &position in &input.positions {
            let (y, x) = (position as usize / from.width, position as usize % from.width);
            for row in (0..window.kernel[0]).filter_map(|r| window.window_of(0, y, r, to.height)) {
                for column in (0..window.kernel[1]).filter_map(|s| window.window_of(1, x, s, to.width)) {
                    self.touch(row * to.width + column);
                }
            }
        }
        while let Some(at) = self.touched.pop() {
            let at = at as usize;
            self.marks[at] = false;
            let mut differs = false;
            for channel in 0..to.channels {
                let read = window.reads(at / to.width, at % to.width, from).map(|at| at * from.channels + channel);
                let made = reduction.of(read.map(|read| changed(bytes[read], input.deltas[read])));
                let element = at * to.channels + channel;
                output.deltas[element] = i16::from(made) - i16::from(golden[element]);
                differs |= output.deltas[element] != 0;
            }
            if differs {
                output.positions.push(at as u32);
            }
        }
    }

    /// Puts what differs in one input behind the channels of those before, in the quantisation of the output.
    pub(super) fn join<'a>(
        &mut self,
        inputs: impl Iterator<Item = JoinedInput<'a>>,
        to: &Tensor,
        output: &mut Changes,
    ) {
        let (mut first, channels) = (0, to.shape.channels);
        for JoinedInput { changes, bytes, tensor } in inputs {
            let own = tensor.shape.channels;
            let stored = |byte: u8| i16::from(tensor.quantisation.rescaled(byte, to.quantisation));
            for &position in &changes.positions {
                self.touch(position as usize);
                let at = position as usize;
                let read = changes.deltas[at * own..][..own].iter().zip(&bytes[at * own..]);
                for (made, (&delta, &byte)) in output.deltas[at * channels + first..].iter_mut().zip(read) {
                    *made = if delta == 0 { 0 } else { stored(changed(byte, delta)) - stored(byte) };
                }
            }
            first += own;
        }
        while let Some(position) = self.touched.pop() {
            self.marks[position as usize] = false;
            let made = &output.deltas[position as usize * channels..][..channels];
            if made.iter().any(|&delta| delta != 0) {
                output.positions.push(position);
            }
        }
    }

    /// Adds or multiplies again where one of both differs. An input that has a number for each channel alone is read at every
    /// position.
    #[inline(always)]
    pub(super) fn combine<L: Level>(
        &mut self,
        _: L,
        table: &impl PairTable,
        inputs: [&Changes; 2],
        [a, b, golden]: [&[u8]; 3],
        shape: Shape,
        output: &mut Changes,
    ) {
        let channels = shape.channels;
        let is_gate = [a, b].map(|bytes| bytes.len() < golden.len());
        for (input, is_gate) in inputs.iter().zip(is_gate) {
            if is_gate && !input.positions.is_empty() {
                (0..shape.positions()).for_each(|position| self.touch(position));
            }
            for &position in input.positions.iter().filter(|_| !is_gate) {
                self.touch(position as usize);
            }
        }
        let made_of = |a: u8, b: u8| if L::FUSES { table.computed(a, b) } else { table.of(a, b) };
        for position in self.touched.drain(..) {
            self.marks[position as usize] = false;
            let at = position as usize * channels..(position as usize + 1) * channels;
            let read = is_gate.map(|is_gate| if is_gate { 0..channels } else { at.clone() });
            let (a, b, golden) = (&a[read[0].clone()], &b[read[1].clone()], &golden[at.clone()]);
            let [by_a, by_b] = [0, 1].map(|which| &inputs[which].deltas[read[which].clone()]);
            let bytes = a.iter().zip(b).zip(golden);
            let mut differs = 0;
            for ((made, (by_a, by_b)), ((&a, &b), &old)) in
                output.deltas[at].iter_mut().zip(by_a.iter().zip(by_b)).zip(bytes)
            {
                *made = i16::from(made_of(changed(a, *by_a), changed(b, *by_b))) - i16::from(old);
                differs |= *made;
            }
            if differs != 0 {
                output.positions.push(position);
            }
        }
    }

    /// Makes bytes of the touched sums, and keeps what differs.
    #[inline(always)]
    pub(super) fn requantise(
        &mut self,
        golden: &[i32],
        bytes: &[u8],
        multipliers: &[f32],
        zero: u8,
        output: &mut Changes,
    ) {
        let channels = multipliers.len();
        for position in self.touched.drain(..) {
            self.marks[position as usize] = false;
            let at = position as usize * channels..(position as usize + 1) * channels;
            let (sums, deltas) = (&mut self.sums[at.clone()], &mut output.deltas[at.clone()]);
            let (golden, bytes) = (&golden[at.clone()], &bytes[at]);
            let (sum_chunks, sum_rest) = sums.as_chunks_mut::<WIDTH>();
            let (delta_chunks, delta_rest) = deltas.as_chunks_mut::<WIDTH>();
            let (golden_chunks, golden_rest) = golden.as_chunks::<WIDTH>();
            let (byte_chunks, byte_rest) = bytes.as_chunks::<WIDTH>();
            let (factor_chunks, factor_rest) = multipliers.as_chunks::<WIDTH>();
            let mut differs = false;
            for ((sums, deltas), ((golden, bytes), factors)) in
                sum_chunks.iter_mut().zip(delta_chunks).zip(golden_chunks.iter().zip(byte_chunks).zip(factor_chunks))
            {
                differs |= requantise_all(sums, deltas, golden, bytes, factors, zero);
            }
            differs |= requantise_all(sum_rest, delta_rest, golden_rest, byte_rest, factor_rest, zero);
            if differs {
                output.positions.push(position);
            }
        }
    }
}

/// Makes the changes of bytes of changes of sums, which are then zero; whether one is not.
#[inline(always)]
fn requantise_all(
    sums: &mut [i32],
    deltas: &mut [i16],
    golden: &[i32],
    bytes: &[u8],
    multipliers: &[f32],
    zero: u8,
) -> bool {
    let mut differs = 0;
    let old = golden.iter().zip(bytes).zip(multipliers);
    for ((sum, delta), ((&golden, &byte), &multiplier)) in sums.iter_mut().zip(deltas).zip(old) {
        let new = requantise(golden.wrapping_add(std::mem::take(sum)), multiplier, zero);
        *delta = i16::from(new) - i16::from(byte);
        differs |= *delta;
    }
    differs != 0
}
