//! Integer and bit instructions whose semantics do not fit on their line of the table.

/// `bfe.u32`: the field of `len` bits that starts at bit `pos`; both are taken modulo 256.
#[inline(always)]
#[must_use]
pub fn bfe_u32(a: u32, pos: u32, len: u32) -> u32 {
    bfe_u64(u64::from(a), pos & 0xff, len & 0xff) as u32
}

/// `bfe.u64`: as an H100 does it, `pos` and `len` count in full, where the ISA takes them modulo 256.
#[inline(always)]
#[must_use]
pub fn bfe_u64(a: u64, pos: u32, len: u32) -> u64 {
    shr_u64(a, pos) & low_mask(len)
}

/// `bfe.s32`: as the unsigned form, then the field's sign bit fills the rest. The sign bit of a field that
/// reaches past the top is the operand's own.
#[inline(always)]
#[must_use]
pub fn bfe_s32(a: i32, pos: u32, len: u32) -> i32 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    if len == 0 {
        return 0;
    }
    let sign_at = (u64::from(pos) + u64::from(len) - 1).min(31) as u32;
    let sign = (a >> sign_at) & 1;
    let field = bfe_u32(a as u32, pos, len);
    let kept = (32u32.saturating_sub(pos)).min(len);
    (field | if sign == 1 { !(low_mask(kept) as u32) } else { 0 }) as i32
}

/// `bfe.s64`; `pos` and `len` as in [`bfe_u64`].
#[inline(always)]
#[must_use]
pub fn bfe_s64(a: i64, pos: u32, len: u32) -> i64 {
    if len == 0 {
        return 0;
    }
    let sign_at = (u64::from(pos) + u64::from(len) - 1).min(63) as u32;
    let sign = (a >> sign_at) & 1;
    let field = bfe_u64(a as u64, pos, len);
    let kept = (64u32.saturating_sub(pos)).min(len);
    (field | if sign == 1 { !low_mask(kept) } else { 0 }) as i64
}

/// `bfi.b32`: `b` with its field of `len` bits from bit `pos` replaced by the low bits of `a`.
#[inline(always)]
#[must_use]
pub fn bfi_b32(a: u32, b: u32, pos: u32, len: u32) -> u32 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let mask = shl_b32(low_mask(len) as u32, pos);
    (b & !mask) | (shl_b32(a, pos) & mask)
}

/// `bfi.b64`; `pos` and `len` as in [`bfe_u64`].
#[inline(always)]
#[must_use]
pub fn bfi_b64(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    let mask = shl_b64(low_mask(len), pos);
    (b & !mask) | (shl_b64(a, pos) & mask)
}

/// The lowest `len` bits set.
#[inline(always)]
fn low_mask(len: u32) -> u64 {
    if len >= 64 { u64::MAX } else { (1u64 << len) - 1 }
}

/// `shl.b32`: amounts above 31 give zero.
#[inline(always)]
#[must_use]
pub fn shl_b32(a: u32, by: u32) -> u32 {
    if by > 31 { 0 } else { a << (by & 31) }
}

/// `shl.b64`: amounts above 63 give zero.
#[inline(always)]
#[must_use]
pub fn shl_b64(a: u64, by: u32) -> u64 {
    if by > 63 { 0 } else { a << (by & 63) }
}

/// `shr.u32`: amounts above 31 give zero.
#[inline(always)]
#[must_use]
pub fn shr_u32(a: u32, by: u32) -> u32 {
    if by > 31 { 0 } else { a >> (by & 31) }
}

/// `shr.u64`: amounts above 63 give zero.
#[inline(always)]
#[must_use]
pub fn shr_u64(a: u64, by: u32) -> u64 {
    if by > 63 { 0 } else { a >> (by & 63) }
}

/// `bfind.u32`: the position of the highest set bit, all ones where there is none.
#[inline(always)]
#[must_use]
pub fn bfind_u32(a: u32) -> u32 {
    31u32.wrapping_sub(a.leading_zeros()) | if a == 0 { u32::MAX } else { 0 }
}

/// `bfind.s32`: the highest bit that differs from the sign.
#[inline(always)]
#[must_use]
pub fn bfind_s32(a: i32) -> u32 {
    bfind_u32((a ^ (a >> 31)) as u32)
}

/// `bfind.u64`
#[inline(always)]
#[must_use]
pub fn bfind_u64(a: u64) -> u32 {
    if a == 0 { u32::MAX } else { 63 - a.leading_zeros() }
}

/// `bfind.s64`
#[inline(always)]
#[must_use]
pub fn bfind_s64(a: i64) -> u32 {
    bfind_u64((a ^ (a >> 63)) as u64)
}

/// `lop3.b32`: bit by bit, the entry of `table` that (a, b, c) select.
#[inline(always)]
#[must_use]
pub fn lop3(a: u32, b: u32, c: u32, table: u32) -> u32 {
    let row = |bit: u32| 0u32.wrapping_sub((table >> bit) & 1);
    (row(0) & !a & !b & !c)
        | (row(1) & !a & !b & c)
        | (row(2) & !a & b & !c)
        | (row(3) & !a & b & c)
        | (row(4) & a & !b & !c)
        | (row(5) & a & !b & c)
        | (row(6) & a & b & !c)
        | (row(7) & a & b & c)
}

/// `prmt.b32`: each nibble of `select` picks one of the eight bytes of `b:a`; its high bit asks for the byte's
/// sign instead.
#[inline(always)]
#[must_use]
pub fn prmt(a: u32, b: u32, select: u32) -> u32 {
    let bytes = (u64::from(b) << 32) | u64::from(a);
    let mut d = 0;
    for i in 0..4 {
        let nibble = (select >> (4 * i)) & 0xf;
        let byte = ((bytes >> (8 * (nibble & 7))) & 0xff) as u32;
        let sign = if byte & 0x80 == 0 { 0 } else { 0xff };
        d |= (if nibble & 8 == 0 { byte } else { sign }) << (8 * i);
    }
    d
}

/// `shf.l`: the high word of `b:a` shifted left; `by` already clamped or wrapped, 0 to 32.
#[inline(always)]
#[must_use]
pub fn funnel_left(a: u32, b: u32, by: u32) -> u32 {
    ((((u64::from(b) << 32) | u64::from(a)) << by) >> 32) as u32
}

/// `shf.r`: the low word of `b:a` shifted right; `by` already clamped or wrapped, 0 to 32.
#[inline(always)]
#[must_use]
pub fn funnel_right(a: u32, b: u32, by: u32) -> u32 {
    (((u64::from(b) << 32) | u64::from(a)) >> by) as u32
}

/// Unsigned division; by zero, all ones, as NVIDIA GPUs answer.
#[inline(always)]
#[must_use]
pub fn div_u32(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(u32::MAX)
}

/// Signed division, the most negative number over −1 wrapping to itself; by zero, all ones.
#[inline(always)]
#[must_use]
pub fn div_s32(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// Unsigned division; by zero, all ones.
#[inline(always)]
#[must_use]
pub fn div_u64(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// Signed division; by zero, all ones.
#[inline(always)]
#[must_use]
pub fn div_s64(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// Unsigned 16-bit division; by zero, all ones.
#[inline(always)]
#[must_use]
pub fn div_u16(a: u16, b: u16) -> u16 {
    a.checked_div(b).unwrap_or(u16::MAX)
}

/// Signed 16-bit division; by zero, all ones.
#[inline(always)]
#[must_use]
pub fn div_s16(a: i16, b: i16) -> i16 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// Unsigned remainder; by zero, all ones, as on an H100.
#[inline(always)]
#[must_use]
pub fn rem_u32(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(u32::MAX)
}

/// Signed remainder with the dividend's sign; by zero, all ones, as on an H100.
#[inline(always)]
#[must_use]
pub fn rem_s32(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_rem(b) }
}

/// Unsigned remainder; by zero, all ones, as on an H100.
#[inline(always)]
#[must_use]
pub fn rem_u64(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(u64::MAX)
}

/// Signed remainder; by zero, all ones, as on an H100.
#[inline(always)]
#[must_use]
pub fn rem_s64(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_rem(b) }
}

/// Unsigned 16-bit remainder; by zero, all ones, as on an H100.
#[inline(always)]
#[must_use]
pub fn rem_u16(a: u16, b: u16) -> u16 {
    a.checked_rem(b).unwrap_or(u16::MAX)
}

/// Signed 16-bit remainder; by zero, all ones, as on an H100.
#[inline(always)]
#[must_use]
pub fn rem_s16(a: i16, b: i16) -> i16 {
    if b == 0 { -1 } else { a.wrapping_rem(b) }
}

/// `dp4a`: the dot product of four bytes with four bytes, plus `c`. `signed` says how each side's bytes are read.
#[inline(always)]
#[must_use]
pub fn dp4a(a: u32, b: u32, c: u32, a_signed: bool, b_signed: bool) -> u32 {
    let byte = |x: u32, i: u32, signed: bool| {
        let byte = (x >> (8 * i)) as u8;
        if signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..4).fold(c, |sum, i| sum.wrapping_add((byte(a, i, a_signed) * byte(b, i, b_signed)) as u32))
}

/// `dp2a`: the dot product of two halves with two bytes from byte `from`, plus `c`.
#[inline(always)]
#[must_use]
pub fn dp2a(a: u32, b: u32, c: u32, from: u32, a_signed: bool, b_signed: bool) -> u32 {
    let half = |i: u32| if a_signed { i32::from((a >> (16 * i)) as i16) } else { i32::from((a >> (16 * i)) as u16) };
    let byte = |i: u32| {
        let byte = (b >> (8 * (from + i))) as u8;
        if b_signed { i32::from(byte as i8) } else { i32::from(byte) }
    };
    (0..2).fold(c, |sum, i| sum.wrapping_add((half(i) * byte(i)) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_by_the_width_or_more_give_zero() {
        assert_eq!(shl_b32(1, 31), 0x8000_0000);
        assert_eq!(shl_b32(u32::MAX, 32), 0);
        assert_eq!(shl_b32(u32::MAX, 0xffff_ffff), 0);
        assert_eq!(shr_u64(u64::MAX, 64), 0);
    }

    #[test]
    fn bit_fields_follow_the_reference_algorithm() {
        for a in [0u32, 1, 0x8000_0000, 0xdead_beef, u32::MAX] {
            for pos in [0, 1, 7, 31, 32, 200, 256] {
                for len in [0, 1, 8, 31, 32, 33, 255] {
                    assert_eq!(bfe_s32(a as i32, pos, len), reference_bfe_s32(a, pos, len), "{a:x} {pos} {len}");
                    assert_eq!(
                        bfe_u32(a, pos, len),
                        (0..32).fold(0, |d, i| d | (bit(a, i + (pos & 255), i, len) << i))
                    );
                }
            }
        }
        fn bit(a: u32, from: u32, i: u32, len: u32) -> u32 {
            u32::from(i < (len & 255) && from < 32 && (a >> from) & 1 == 1)
        }
    }

    /// The pseudo-code of the PTX ISA, bit by bit.
    fn reference_bfe_s32(a: u32, pos: u32, len: u32) -> i32 {
        let (pos, len) = (pos & 255, len & 255);
        let sign = if len == 0 { 0 } else { (a >> (pos + len - 1).min(31)) & 1 };
        let mut d = 0u32;
        for i in 0..32 {
            d |= (if i < len && pos + i <= 31 { (a >> (pos + i)) & 1 } else { sign }) << i;
        }
        d as i32
    }

    #[test]
    fn an_inserted_field_can_be_extracted_again() {
        assert_eq!(bfi_b32(0xab, 0xffff_ffff, 8, 8), 0xffff_abff);
        assert_eq!(bfi_b32(0xab, 0x1234_5678, 32, 8), 0x1234_5678);
        assert_eq!(bfi_b64(0x5, 0, 60, 8), 0x5000_0000_0000_0000);
    }

    #[test]
    fn lop3_tables_are_the_functions_they_encode() {
        let (a, b, c) = (0xf0f0_1234, 0xcccc_5678, 0xaaaa_9abc);
        assert_eq!(lop3(a, b, c, 0x96), a ^ b ^ c);
        assert_eq!(lop3(a, b, c, 0xe8), (a & b) | (a & c) | (b & c));
        assert_eq!(lop3(a, b, c, 0x80), a & b & c);
        assert_eq!(lop3(a, b, c, 0x3a), (a & !b) | (!a & c) | (!b & c & a) & a & !b);
    }

    #[test]
    fn prmt_selects_bytes_and_signs() {
        assert_eq!(prmt(0x3322_1100, 0x7766_5544, 0x7531), 0x7755_3311);
        assert_eq!(prmt(0x0000_0080, 0, 0x8888), 0xffff_ffff);
    }

    #[test]
    fn division_by_zero_and_overflow_are_defined() {
        assert_eq!(div_u32(7, 0), u32::MAX);
        assert_eq!(div_s32(i32::MIN, -1), i32::MIN);
        assert_eq!(rem_s32(i32::MIN, -1), 0);
        assert_eq!(rem_s64(-7, 0), -1);
        assert_eq!(div_s16(-7, 2), -3);
        assert_eq!(rem_s16(-7, 2), -1);
    }

    #[test]
    fn bfind_of_nothing_is_all_ones() {
        assert_eq!(bfind_u32(0), u32::MAX);
        assert_eq!(bfind_s32(-1), u32::MAX);
        assert_eq!(bfind_u32(1), 0);
        assert_eq!(bfind_s64(i64::MIN), 62);
    }

    #[test]
    fn dp4a_reads_each_side_with_its_own_sign() {
        assert_eq!(dp4a(0xff, 0xff, 0, true, true), 1);
        assert_eq!(dp4a(0xff, 0xff, 0, false, false), 255 * 255);
        assert_eq!(dp4a(0xff, 0xff, 0, false, true), (-255i32) as u32);
    }
}
