//! Changes of sums of products, two channels of the input and [`WIDTH`] of the output at once.

use super::changes::Changes;
use super::scratch::{Pair, Scratch};
use crate::level::{Level, WIDTH, product};
use crate::network::{Conv, Shape};

/// The weights of a convolution of one group, by tap, pair of channels of the input, and channel of the output.
///
/// The last pair of an odd number of channels has zeros; so have channels beyond those of the output, up to a multiple of
/// [`WIDTH`].
#[derive(Clone, Debug, Default)]
pub(super) struct PairedWeights {
    weights: Vec<[i16; 2]>,
    pairs: usize,
    /// Channels of the output, with those that are filled up.
    channels: usize,
}

impl PairedWeights {
    /// Of weights in the order of [`Conv::weights`].
    pub(super) fn new(weights: &[i8], from: usize, to: usize) -> Self {
        let (pairs, channels) = (from.div_ceil(2), to.next_multiple_of(WIDTH));
        let taps = weights.len() / (from * to);
        let mut made = vec![[0; 2]; taps * pairs * channels];
        for (at, row) in weights.chunks_exact(to).enumerate() {
            let (tap, channel) = (at / from, at % from);
            let paired = &mut made[(tap * pairs + channel / 2) * channels..][..to];
            for (pair, &weight) in paired.iter_mut().zip(row) {
                pair[channel % 2] = i16::from(weight);
            }
        }
        Self { weights: made, pairs, channels }
    }
}

impl Scratch {
    /// Changes the sums of all windows that read a changed position, of a convolution of one group.
    #[inline(always)]
    pub(super) fn convolve_paired<L: Level>(
        &mut self,
        level: L,
        conv: &Conv,
        weights: &PairedWeights,
        input: &Changes,
        [from, to]: [Shape; 2],
    ) -> u64 {
        let (mut macs, shape) = (0, conv.window());
        let mut pairs = std::mem::take(&mut self.pairs);
        let mut columns = std::mem::take(&mut self.columns);
        pairs.resize(from.channels.div_ceil(2), Pair::default());
        let of_tap = weights.pairs * weights.channels;
        for &position in &input.positions {
            let position = position as usize;
            let (y, x) = (position / from.width, position % from.width);
            let deltas = &input.deltas[position * from.channels..][..from.channels];
            let pairs = changed_pairs(deltas, &mut pairs);
            let changed = deltas.iter().map(|&delta| u32::from(delta != 0)).sum::<u32>() as usize;
            columns.clear();
            columns.extend((0..conv.kernel[1]).filter_map(|s| Some((s, shape.window_of(1, x, s, to.width)?))));
            for r in 0..conv.kernel[0] {
                let Some(row) = shape.window_of(0, y, r, to.height) else { continue };
                for &(s, column) in &columns {
                    let window = row * to.width + column;
                    self.touch(window);
                    let sums = &mut self.sums[window * to.channels..][..to.channels];
                    let tap = &weights.weights[(r * conv.kernel[1] + s) * of_tap..][..of_tap];
                    add_products(level, sums, tap, weights.channels, pairs);
                }
                macs += (changed * to.channels * columns.len()) as u64;
            }
        }
        (self.pairs, self.columns) = (pairs, columns);
        macs
    }
}

/// The pairs of which one has changed, at the beginning of memory for all of them.
#[inline(always)]
fn changed_pairs<'p>(deltas: &[i16], pairs: &'p mut [Pair]) -> &'p [Pair] {
    let (whole, rest) = deltas.as_chunks::<2>();
    let mut found = 0;
    for (number, &deltas) in whole.iter().enumerate() {
        // Written in any case: a branch would often be foretold wrong.
        pairs[found] = Pair { number: number as u32, deltas };
        found += usize::from(deltas != [0; 2]);
    }
    if let [last] = *rest
        && last != 0
    {
        pairs[found] = Pair { number: whole.len() as u32, deltas: [last, 0] };
        found += 1;
    }
    &pairs[..found]
}

/// The weights of a tap, [`WIDTH`] channels of the output at once.
#[derive(Clone, Copy)]
struct TapWeights<'w> {
    chunks: &'w [[[i16; 2]; WIDTH]],
    /// How many there are for each pair.
    each: usize,
}

/// Adds the products to sums that stay in registers, from the chunk `first` on.
#[inline(always)]
fn add_to<L: Level, const N: usize>(
    level: L,
    sums: &mut [[i32; WIDTH]; N],
    weights: TapWeights<'_>,
    first: usize,
    pairs: &[Pair],
) {
    let mut found: [L::Sums; N] = std::array::from_fn(|at| level.load(&sums[at]));
    for &Pair { number, deltas: inputs } in pairs {
        let Some(chunks) = weights.chunks[number as usize * weights.each + first..].first_chunk::<N>() else {
            continue;
        };
        for (sums, chunk) in found.iter_mut().zip(chunks) {
            *sums = level.products(*sums, chunk, inputs);
        }
    }
    for (found, sums) in found.into_iter().zip(sums) {
        level.store(found, sums);
    }
}

/// Adds the products of changed pairs with the weights of a tap.
#[inline(always)]
fn add_products<L: Level>(level: L, sums: &mut [i32], tap: &[[i16; 2]], channels: usize, pairs: &[Pair]) {
    let (whole, rest) = sums.as_chunks_mut::<WIDTH>();
    let done = whole.len() * WIDTH;
    let (tap_chunks, _) = tap.as_chunks::<WIDTH>();
    let weights = TapWeights { chunks: tap_chunks, each: channels / WIDTH };
    let (fours, others) = whole.as_chunks_mut::<4>();
    let mut first = fours.len() * 4;
    for (number, sums) in fours.iter_mut().enumerate() {
        add_to(level, sums, weights, number * 4, pairs);
    }
    let (twos, ones) = others.as_chunks_mut::<2>();
    for sums in twos {
        add_to(level, sums, weights, first, pairs);
        first += 2;
    }
    for sums in ones.as_chunks_mut::<1>().0 {
        add_to(level, sums, weights, first, pairs);
    }
    if !rest.is_empty() {
        for &Pair { number, deltas: inputs } in pairs {
            for (sum, &weights) in rest.iter_mut().zip(&tap[number as usize * channels + done..]) {
                *sum += product(weights, inputs);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::Quantisation;
    use crate::level::{Host, at_level};
    use crate::operator::{PairTable, ProductTable, SumTable};
    use stats::Draws;

    #[test]
    fn all_levels_make_the_sums_of_plain_loops_whatever_the_number_of_channels() {
        let mut draws = Draws::new(7, 0);
        for (from, to, stride) in [(1, 1, 1), (5, 90, 2), (16, 16, 1), (7, 31, 1), (64, 112, 2), (2, 48, 3)] {
            let mut draw = |most: u64| (draws.unit() * most as f64) as u64;
            let (kernel, pad) = ([3, 2], [1, 1]);
            let weights: Vec<i8> = (0..6 * from * to).map(|_| (draw(256) as i32 - 128) as i8).collect();
            let shapes = [(9, 8, from), (9_usize.div_ceil(stride), 9_usize.div_ceil(stride), to)]
                .map(|(height, width, channels)| Shape { height, width, channels });
            let conv = Conv {
                kernel,
                stride: [stride; 2],
                pad,
                groups: 1,
                weights: weights.clone(),
                bias: vec![0; to],
                multipliers: vec![1.0; to],
                scales: vec![1.0; to],
            };
            let mut input = Changes { deltas: vec![0; shapes[0].elements()], positions: Vec::new() };
            for at in (0..shapes[0].positions()).filter(|at| at % 3 != 1) {
                for delta in &mut input.deltas[at * from..][..from] {
                    *delta = if draw(2) == 0 { 0 } else { draw(511) as i16 - 255 };
                }
                input.positions.push(at as u32);
            }
            let scratch = || Scratch {
                sums: vec![0; shapes[1].elements()],
                marks: vec![false; shapes[1].positions()],
                ..Scratch::default()
            };
            let (mut plain, paired) = (scratch(), PairedWeights::new(&weights, from, to));
            let wide: Vec<i16> = weights.iter().copied().map(i16::from).collect();
            let macs = plain.convolve(&conv, &wide, &input, shapes[0], shapes[1]);
            assert!(macs > 0 && plain.sums.iter().any(|&sum| sum != 0));
            for host in Host::all() {
                let mut found = scratch();
                let done = at_level!(host, level => found.convolve_paired(level, &conv, &paired, &input, shapes));
                assert_eq!(
                    (done, &found.sums, &found.touched),
                    (macs, &plain.sums, &plain.touched),
                    "{host:?} {from} {to}"
                );
            }
        }
    }

    #[test]
    fn all_levels_add_and_multiply_as_the_tables_do() {
        let mut draws = Draws::new(8, 0);
        for number in 0..20 {
            let quantisations = [(); 3]
                .map(|()| Quantisation { scale: draws.unit() as f32 + 0.01, zero: (draws.unit() * 256.0) as u8 });
            let sums = SumTable::new(quantisations);
            all_levels_do_as(&sums, |a, b| sums.of(a, b));
            let products = ProductTable::new(quantisations, number % 2 == 0);
            all_levels_do_as(&products, |a, b| products.of(a, b));
        }
    }

    fn all_levels_do_as(table: &impl PairTable, expected: impl Fn(u8, u8) -> u8) {
        let input = Changes { deltas: vec![0; 1 << 16], positions: (0..256).collect() };
        let [a, b]: [Vec<u8>; 2] =
            [|pair: u32| (pair >> 8) as u8, |pair: u32| pair as u8].map(|of| (0..1 << 16).map(of).collect());
        let shape = Shape { height: 1, width: 256, channels: 256 };
        for host in Host::all() {
            let mut scratch = Scratch { marks: vec![false; 256], ..Scratch::default() };
            let mut made = Changes { deltas: vec![0; 1 << 16], positions: Vec::new() };
            let bytes = [&a[..], &b, &vec![0; 1 << 16]];
            at_level!(host, level => scratch.combine(level, table, [&input, &input], bytes, shape, &mut made));
            let pairs = a.iter().zip(&b).map(|(&a, &b)| i16::from(expected(a, b)));
            assert!(made.deltas.iter().copied().eq(pairs), "{host:?}");
        }
    }
}
