//! Texture fetches: coordinates to elements, and elements to numbers.
//!
//! The formulas are those of the CUDA Programming Guide's appendix on texture fetching. It leaves open how weights are
//! rounded: here a coordinate is rounded to the nearest 1/256, the weight of the far corner of a plane to the nearest
//! 1/256, and the others follow, as they add up to those of each line. Fractions are mixed as integers of 16 bits,
//! halves rounded to halves. An H100 gives the same bits for all but the last bit of some mixtures of floating-point
//! numbers and of signed bytes, and some mixtures of eight elements, whose weights it rounds otherwise.

use super::descriptor::{half, nearest_half};
use super::{Channel, Descriptor, Edge, TexelFormat};
use crate::access::{LaneTrap, Memories, Word, read_one};
use isa::op::Fetch;
use isa::{Space, Type};

/// Steps from element to element.
const STEPS: f64 = 256.0;

/// The channels of an element, as it has them; missing ones are zero.
type Texel = [u32; 4];

/// Where an element is; `None` for the border.
type Place = Option<[u32; 3]>;

/// One lane's fetch. The coordinates are as they are written, a layer first.
pub(super) fn fetch(
    memories: &mut Memories<'_>,
    it: &Descriptor,
    fetch: Fetch,
    at: [u32; 4],
    lane: usize,
) -> Result<[u32; 4], LaneTrap> {
    let (layered, dimensions) = (fetch.geometry.is_layered(), fetch.geometry.dimensions());
    let at_rest = if layered { [at[1], at[2], 0] } else { [at[0], at[1], at[2]] };
    let layer = if layered { at[0].min(it.extent[2] - 1) } else { 0 };
    let corners = Corners { dimensions, layer };
    if fetch.from != Type::F32 {
        let place = edge(it.edges[0], f64::from(at_rest[0] as i32), it.extent[0]).map(|x| [x, 0, 0]);
        return Ok(converted(it.format, texel(memories, it, place, lane)?));
    }
    let axis = |of: usize| scaled(it, of, f32::from_bits(at_rest[of]));
    let sides = |of: usize, first: f64| [first, first + 1.0].map(|index| edge(it.edges[of], index, it.extent[of]));
    if !it.interpolates && fetch.gather.is_none() {
        let sides: [_; 3] = std::array::from_fn(|of| sides(of, axis(of).floor()));
        return Ok(converted(it.format, texel(memories, it, corners.place(&sides, 0), lane)?));
    }
    let steps: [f64; 3] = std::array::from_fn(|of| ((axis(of) - 0.5) * STEPS + 0.5).floor());
    let sides: [_; 3] = std::array::from_fn(|of| sides(of, (steps[of] / STEPS).floor()));
    if let Some(channel) = fetch.gather {
        let mut gathered = [0; 4];
        for (value, corner) in gathered.iter_mut().zip([2, 3, 1, 0]) {
            let texel = texel(memories, it, corners.place(&sides, corner), lane)?;
            *value = converted(it.format, texel)[usize::from(channel) % 4];
        }
        return Ok(gathered);
    }
    // Of an infinite coordinate no fraction is left.
    let fractions = steps.map(|steps| steps.rem_euclid(STEPS) as i32);
    let mut sum = [0.0; 4];
    for (corner, weight) in weights(dimensions, fractions).into_iter().enumerate() {
        if weight != 0 {
            let texel = texel(memories, it, corners.place(&sides, corner), lane)?;
            for (sum, bits) in sum.iter_mut().zip(texel) {
                *sum += f64::from(weight) * number(it.format, bits);
            }
        }
    }
    Ok(sum.map(|sum| rounded(it.format, sum / STEPS)))
}

/// The elements around a place.
struct Corners {
    dimensions: usize,
    layer: u32,
}

impl Corners {
    /// One of up to eight, whose bits say on which side of each axis it is.
    fn place(&self, sides: &[[Option<u32>; 2]; 3], corner: usize) -> Place {
        let mut place = [0, 0, self.layer];
        for of in 0..self.dimensions {
            place[of] = sides[of][corner >> of & 1]?;
        }
        Some(place)
    }
}

/// A coordinate in elements.
fn scaled(it: &Descriptor, axis: usize, at: f32) -> f64 {
    let repeats = matches!(it.edges[axis], Edge::Wrap | Edge::Mirror);
    // Of numbers as large as this no fraction is left, and all are even.
    let at = if at.is_nan() || (repeats && at.abs() >= 16_777_216.0) { 0.0 } else { at.into() };
    if it.normalized { at * f64::from(it.extent[axis]) } else { at }
}

/// Which of so many elements a whole number stands for.
fn edge(edge: Edge, index: f64, count: u32) -> Option<u32> {
    let (all, last) = (f64::from(count), f64::from(count - 1));
    let index = match edge {
        Edge::Clamp => index.clamp(0.0, last),
        Edge::Wrap => index.rem_euclid(all),
        Edge::Mirror => {
            let twice = index.rem_euclid(2.0 * all);
            twice.min(2.0 * all - 1.0 - twice)
        }
        Edge::Border if index < 0.0 || index > last => return None,
        Edge::Border => index,
    };
    Some((index as u32).min(count - 1))
}

/// How many 256ths of each corner are taken.
fn weights(dimensions: usize, [a, b, c]: [i32; 3]) -> [i32; 8] {
    let product = |a: i32, b: i32| (a * b + 128) >> 8;
    let one = 256;
    if dimensions == 1 {
        return [one - a, a, 0, 0, 0, 0, 0, 0];
    }
    let ab = product(a, b);
    if dimensions == 2 {
        return [one - a - b + ab, a - ab, b - ab, ab, 0, 0, 0, 0];
    }
    let (ac, bc) = (product(a, c), product(b, c));
    let abc = product(b, ac);
    [
        one - a - b - c + ab + ac + bc - abc,
        a - ab - ac + abc,
        b - ab - bc + abc,
        ab - abc,
        c - ac - bc + abc,
        ac - abc,
        bc - abc,
        abc,
    ]
}

/// Reads an element.
fn texel(memories: &mut Memories<'_>, it: &Descriptor, place: Place, lane: usize) -> Result<Texel, LaneTrap> {
    let Some([x, y, z]) = place else { return Ok(it.border) };
    let address = it.place(u64::from(x) * it.format.bytes(), y, z);
    let bits = match it.format.bytes() {
        1 => read::<u8>(memories, address, lane)?,
        2 => read::<u16>(memories, address, lane)?,
        4 => read::<u32>(memories, address, lane)?,
        8 => read::<u64>(memories, address, lane)?,
        _ => read::<u128>(memories, address, lane)?,
    };
    let TexelFormat { channels, bits: each, .. } = it.format;
    let mask = u32::MAX >> (32 - u32::from(each));
    Ok(std::array::from_fn(|channel| {
        if channel < usize::from(channels) { (bits >> (channel * usize::from(each))) as u32 & mask } else { 0 }
    }))
}

pub(super) fn read<W: Word>(memories: &mut Memories<'_>, address: u64, lane: usize) -> Result<u128, LaneTrap> {
    read_one::<W>(memories, Space::Global, address, lane).map(Word::to_u128)
}

/// A channel as a signed integer.
fn signed(format: TexelFormat, bits: u32) -> i32 {
    let unused = 32 - u32::from(format.bits);
    (bits << unused) as i32 >> unused
}

/// An element as registers receive it.
fn converted(format: TexelFormat, texel: Texel) -> [u32; 4] {
    texel.map(|bits| match format.kind {
        Channel::Unsigned => bits,
        Channel::Signed => signed(format, bits) as u32,
        Channel::Float if format.bits == 32 => bits,
        Channel::Float => (half(bits as u16) as f32).to_bits(),
        Channel::SignedFraction => {
            let most = f64::from((1 << (format.bits - 1)) - 1);
            ((f64::from(signed(format, bits)) / most).max(-1.0) as f32).to_bits()
        }
        Channel::UnsignedFraction => ((f64::from(bits) / f64::from((1 << format.bits) - 1)) as f32).to_bits(),
    })
}

/// A channel as it is mixed: fractions in 65535ths, or 32767ths with a sign.
fn number(format: TexelFormat, bits: u32) -> f64 {
    match format.kind {
        Channel::UnsignedFraction if format.bits == 8 => f64::from(bits * 257),
        Channel::UnsignedFraction | Channel::Unsigned => f64::from(bits),
        Channel::SignedFraction if format.bits == 8 => f64::from(signed(format, bits)) * 32767.0 / 127.0,
        Channel::SignedFraction | Channel::Signed => f64::from(signed(format, bits)),
        Channel::Float if format.bits == 32 => f32::from_bits(bits).into(),
        Channel::Float => half(bits as u16),
    }
}

/// A mixture as a register receives it.
fn rounded(format: TexelFormat, sum: f64) -> u32 {
    let value = match format.kind {
        Channel::UnsignedFraction => (sum + 0.5).floor() / 65535.0,
        Channel::SignedFraction => ((sum + 0.5).floor() / 32767.0).max(-1.0),
        Channel::Float if format.bits == 16 => half(nearest_half(sum)),
        _ => sum,
    };
    (value as f32).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outside_is_where_the_edge_says() {
        let at = |which, index| edge(which, index, 4);
        assert_eq!([-1.0, 4.0, 1e30].map(|index| at(Edge::Clamp, index)), [Some(0), Some(3), Some(3)]);
        assert_eq!([-1.0, 4.0, 9.0].map(|index| at(Edge::Wrap, index)), [Some(3), Some(0), Some(1)]);
        assert_eq!([-1.0, 4.0, 7.0, 8.0].map(|index| at(Edge::Mirror, index)), [Some(0), Some(3), Some(0), Some(0)]);
        assert_eq!([-1.0, 0.0, 4.0].map(|index| at(Edge::Border, index)), [None, Some(0), None]);
    }

    #[test]
    fn weights_are_those_of_each_line() {
        for (a, b, c) in [(0, 0, 0), (255, 255, 255), (128, 1, 77), (3, 200, 128)] {
            let all = weights(3, [a, b, c]);
            assert_eq!(all.iter().sum::<i32>(), 256);
            assert_eq!((0..8).filter(|corner| corner & 1 == 1).map(|corner| all[corner]).sum::<i32>(), a);
            assert_eq!(weights(2, [a, b, 0])[2..4].iter().sum::<i32>(), b);
        }
    }
}
