//! Numbers that grow by the same step from one iteration of a loop to the next, and for how long something stays true of
//! them.

/// Marks a loop that is proven endless, in place of a number of iterations.
pub(super) const FOREVER: u64 = u64::MAX;

/// A number in every iteration: `first` and the `step` to the next, both of `bits` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progression {
    pub(super) first: u64,
    pub(super) step: u64,
    pub(super) bits: u32,
    pub(super) signed: bool,
}

/// The low bits of a number.
pub(super) fn low(number: u64, bits: u32) -> u64 {
    if bits >= 64 { number } else { number & ((1 << bits) - 1) }
}

/// The low bits of a number as one with a sign.
fn with_sign(number: u64, bits: u32) -> i128 {
    let above = 64 - bits.min(64);
    i128::from((number << above) as i64 >> above)
}

/// How often `change` goes into `distance`, rounded up; both are positive.
fn steps_to(distance: i128, change: i128) -> u64 {
    u64::try_from((distance + change - 1) / change).unwrap_or(FOREVER)
}

impl Progression {
    /// The number in the first iteration.
    pub(super) fn number(self) -> i128 {
        let first = low(self.first, self.bits);
        if self.signed { with_sign(first, self.bits) } else { i128::from(first) }
    }

    /// How much it grows, the short way round.
    pub(super) fn change(self) -> i128 {
        with_sign(self.step, self.bits)
    }

    /// The first iteration in which it has left the range of its type and come in at the other end.
    pub(super) fn wraps(self) -> u64 {
        let (most, least) = if self.signed {
            ((1i128 << (self.bits - 1)) - 1, -(1i128 << (self.bits - 1)))
        } else {
            ((1i128 << self.bits) - 1, 0)
        };
        match self.change() {
            0 => FOREVER,
            up @ 1.. => steps_to(most - self.number() + 1, up),
            down => steps_to(self.number() - least + 1, -down),
        }
    }

    /// The first iteration in which it compares otherwise with another number of its type than in the first.
    pub(super) fn crosses(self, other: Self) -> u64 {
        let distance = self.number() - other.number();
        let change = self.change() - other.change();
        let crossed = match (distance, change) {
            (_, 0) => FOREVER,
            (0, _) => 1,
            (1.., ..0) => steps_to(distance, -change),
            (..0, 1..) => steps_to(-distance, change),
            _ => FOREVER,
        };
        crossed.min(self.wraps()).min(other.wraps())
    }

    /// The first iteration in which it is equal to another number if it was not, or no longer is if it was.
    pub(super) fn meets(self, other: Self) -> u64 {
        let distance = low(self.first.wrapping_sub(other.first), self.bits);
        let change = low(self.step.wrapping_sub(other.step), self.bits);
        match (distance, change) {
            (_, 0) => FOREVER,
            (0, _) => 1,
            _ => first_zero(distance, change, self.bits),
        }
    }
}

/// The smallest `n` for which `distance + n * change` is zero in so many bits; neither is zero.
fn first_zero(distance: u64, change: u64, bits: u32) -> u64 {
    let even = change.trailing_zeros();
    if distance.trailing_zeros() < even {
        return FOREVER;
    }
    let (distance, odd) = (distance >> even, change >> even);
    // Newton's iteration doubles the bits that are right, from three on.
    let inverse = (0..5).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))));
    low(distance.wrapping_neg().wrapping_mul(inverse), bits - even)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eight(first: u64, step: u64, signed: bool) -> Progression {
        Progression { first, step, bits: 8, signed }
    }

    /// The first iteration of so many in which something is otherwise than in the first.
    fn first_change<T: PartialEq>(value: impl Fn(u64) -> T) -> u64 {
        (1..600).find(|&n| value(n) != value(0)).unwrap_or(FOREVER)
    }

    fn numbers() -> impl Iterator<Item = u64> {
        [0, 1, 2, 3, 4, 6, 16, 100, 127, 128, 129, 200, 252, 254, 255].into_iter()
    }

    #[test]
    fn numbers_meet_when_trying_says_so() {
        for (first, step) in numbers().flat_map(|first| numbers().map(move |step| (first, step))) {
            for (other, by) in numbers().flat_map(|other| [(other, 0), (other, 3), (other, step)]) {
                let at = |n: u64, (first, step): (u64, u64)| low(first.wrapping_add(n.wrapping_mul(step)), 8);
                let tried = first_change(|n| at(n, (first, step)) == at(n, (other, by)));
                assert_eq!(
                    eight(first, step, false).meets(eight(other, by, false)),
                    tried,
                    "{first} {step} {other} {by}"
                );
            }
        }
    }

    #[test]
    fn until_numbers_cross_they_compare_as_at_first() {
        for signed in [false, true] {
            for (first, step) in numbers().flat_map(|first| numbers().map(move |step| (first, step))) {
                for (other, by) in numbers().flat_map(|other| [(other, 0), (other, 255)]) {
                    let at = |n: u64, (first, step): (u64, u64)| {
                        eight(first.wrapping_add(n.wrapping_mul(step)), 0, signed).number()
                    };
                    let tried = first_change(|n| at(n, (first, step)).cmp(&at(n, (other, by))));
                    let found = eight(first, step, signed).crosses(eight(other, by, signed));
                    assert!(found <= tried, "{first} {step} {other} {by} {signed}: {found} {tried}");
                    assert!(found > 0);
                }
            }
        }
        // One that counts up to a bound comes there when it should.
        assert_eq!(eight(3, 2, true).crosses(eight(100, 0, true)), 49);
        assert_eq!(eight(100, 0xff, true).crosses(eight(0, 0, true)), 100);
    }

    #[test]
    fn a_number_wraps_where_its_type_ends() {
        assert_eq!(eight(120, 4, true).wraps(), 2);
        assert_eq!(eight(120, 4, false).wraps(), 34);
        assert_eq!(eight(3, 0xff, false).wraps(), 4);
        assert_eq!(eight(0, 0, false).wraps(), FOREVER);
        let wide = Progression { first: 1 << 63, step: 1, bits: 64, signed: false };
        assert_eq!(wide.wraps(), 1 << 63);
    }
}
