//! Instructions on the bytes or halves of a word, and other rare integer ones.

/// `bmsk`: as many ones as `width` from bit `at`. `.clamp` has none from bit 32 on; `.wrap` takes both modulo 32.
#[inline(always)]
#[must_use]
pub fn bmsk(clamp: bool, at: u32, width: u32) -> u32 {
    let end = (at & 31) + (width & 31);
    let from = if clamp && at > 31 { 0 } else { u32::MAX << (at & 31) };
    let beyond = end > 31 || clamp && (at > 31 || width > 31);
    from & if beyond { u32::MAX } else { !(u32::MAX << end) }
}

/// `szext`: the low `width` bits, extended with their sign or zeros. `.clamp` keeps all from 32 on; `.wrap` takes the
/// width modulo 32.
#[inline(always)]
#[must_use]
pub fn szext(clamp: bool, signed: bool, a: u32, width: u32) -> u32 {
    if clamp && width > 31 {
        return a;
    }
    let (width, above) = (width & 31, u32::MAX << (width & 31));
    let negative = signed && width != 0 && a >> ((width.wrapping_sub(1)) & 31) & 1 == 1;
    if negative { a | above } else { a & !above }
}

/// `fns`: the position of the n-th set bit of `mask` from bit `base` on, upward or for a negative n downward; all ones
/// where there is none. The zeroth is that at `base` itself.
#[must_use]
pub fn fns(mask: u32, base: u32, n: i32) -> u32 {
    // What an H100 gives where the distance does not fit.
    if n == i32::MIN {
        return 0;
    }
    if base > 31 {
        return u32::MAX;
    }
    let at = |position: &u32| mask >> position & 1 == 1;
    let skip = (n.unsigned_abs() as usize).saturating_sub(1);
    let found = match n {
        0 => Some(base).filter(at),
        1.. => (base..32).filter(at).nth(skip),
        _ => (0..=base).rev().filter(at).nth(skip),
    };
    found.unwrap_or(u32::MAX)
}

/// `prmt` with a mode: the selectors of the mode are chosen by the low two bits of `c`.
#[inline(always)]
#[must_use]
pub fn prmt(a: u32, b: u32, c: u32, selectors: [u32; 4]) -> u32 {
    super::int::prmt(a, b, selectors[(c & 3) as usize])
}

/// What `f` makes of the unsigned bytes of two words.
#[inline(always)]
#[must_use]
pub fn bytes(a: u32, b: u32, f: impl Fn(u8, u8) -> u8) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    u32::from_le_bytes(std::array::from_fn(|i| f(a[i], b[i])))
}

/// What `f` makes of the unsigned halves of two words.
#[inline(always)]
#[must_use]
pub fn halves(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// What `f` makes of the signed bytes of two words.
#[inline(always)]
#[must_use]
pub fn signed_bytes(a: u32, b: u32, f: impl Fn(i8, i8) -> i8) -> u32 {
    bytes(a, b, |a, b| f(a as i8, b as i8) as u8)
}

/// What `f` makes of the signed halves of two words.
#[inline(always)]
#[must_use]
pub fn signed_halves(a: u32, b: u32, f: impl Fn(i16, i16) -> i16) -> u32 {
    halves(a, b, |a, b| f(a as i16, b as i16) as u16)
}

/// `.add` of a video instruction: the sum of the bytes, plus `c`.
#[inline(always)]
#[must_use]
pub fn sum_bytes(word: u32, c: u32) -> u32 {
    word.to_le_bytes().iter().fold(c, |sum, &byte| sum.wrapping_add(u32::from(byte)))
}

/// `.add` of a video instruction: the sum of the halves, plus `c`.
#[inline(always)]
#[must_use]
pub fn sum_halves(word: u32, c: u32) -> u32 {
    c.wrapping_add(word & 0xffff).wrapping_add(word >> 16)
}

/// `cvt.pack.sat`: `a` and `b` clamped to an integer of this many bits, `b` in the low ones, and `c` above them.
#[inline(always)]
#[must_use]
pub fn pack(bits: u32, signed: bool, a: i32, b: i32, c: u32) -> u32 {
    let (low, high) = if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let part = |x: i32| (x.clamp(low, high) as u32) & ((1 << bits) - 1);
    let above = if bits == 16 { 0 } else { c << (2 * bits) };
    above | part(a) << bits | part(b)
}
