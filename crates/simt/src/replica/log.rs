//! What the lanes of a replica have written to global memory.

use ::lanes::registers::{LANES, has, lanes};

/// Up to eight bytes written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where.
    pub address: u64,
    /// How many bytes.
    pub bytes: u8,
    /// Their values, the lowest first.
    pub value: u64,
}

/// Writes of several lanes by one instruction.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) mask: u32,
    pub(super) bytes: u8,
    pub(super) address: [u64; LANES],
    pub(super) value: [u64; LANES],
}

impl Row {
    fn of_lane(&self, lane: usize) -> Write {
        Write { address: self.address[lane], bytes: self.bytes, value: self.value[lane] }
    }
}

/// Writes in order: first those that all lanes did alike, then those of each.
#[derive(Debug, Default)]
pub(super) struct Log {
    common: Vec<Write>,
    rows: Vec<Row>,
    /// Where the lowest and highest lie, of all and of those in each row.
    bounds: Bounds,
    row_bounds: Vec<Bounds>,
}

/// From one address up to another.
#[derive(Clone, Copy, Debug)]
struct Bounds(u64, u64);

impl Default for Bounds {
    fn default() -> Self {
        Self(u64::MAX, 0)
    }
}

impl Bounds {
    fn add(self, address: u64, bytes: u8) -> Self {
        Self(self.0.min(address), self.1.max(address + u64::from(bytes)))
    }

    fn meet(self, address: u64, bytes: u64) -> bool {
        address < self.1 && address.saturating_add(bytes) > self.0
    }
}

impl Log {
    pub(super) fn clear(&mut self) {
        self.common.clear();
        self.rows.clear();
        self.row_bounds.clear();
        self.bounds = Bounds::default();
    }

    pub(super) fn copy_from(&mut self, other: &Self) {
        self.common.clone_from(&other.common);
        self.rows.clone_from(&other.rows);
        self.row_bounds.clone_from(&other.row_bounds);
        self.bounds = other.bounds;
    }

    pub(super) fn push(&mut self, row: Row) {
        let bounds = lanes(row.mask).fold(Bounds::default(), |bounds, lane| bounds.add(row.address[lane], row.bytes));
        self.bounds = Bounds(self.bounds.0.min(bounds.0), self.bounds.1.max(bounds.1));
        self.row_bounds.push(bounds);
        self.rows.push(row);
    }

    /// All lanes did alike until now.
    pub(super) fn fold(&mut self) {
        self.row_bounds.clear();
        self.common.extend(self.rows.drain(..).map(|row| row.of_lane(row.mask.trailing_zeros() as usize % LANES)));
    }

    pub(super) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// What a lane wrote, in order.
    pub(super) fn of_lane(&self, lane: usize) -> impl Iterator<Item = Write> + '_ {
        let own = self.rows.iter().filter(move |row| has(row.mask, lane)).map(move |row| row.of_lane(lane));
        self.common.iter().copied().chain(own)
    }

    /// Whether some lane may have written these bytes.
    #[inline(always)]
    pub(super) fn may_hold(&self, address: u64, bytes: u64) -> bool {
        self.bounds.meet(address, bytes)
            && (self.common.iter().any(|write| Bounds::default().add(write.address, write.bytes).meet(address, bytes))
                || self.row_bounds.iter().any(|bounds| bounds.meet(address, bytes)))
    }

    /// Lays what a lane wrote over the bytes at an address.
    pub(super) fn patch(&self, lane: usize, address: u64, bytes: &mut [u8]) {
        let end = address + bytes.len() as u64;
        for write in self.of_lane(lane) {
            if write.address >= end || write.address + u64::from(write.bytes) <= address {
                continue;
            }
            let value = write.value.to_le_bytes();
            for (at, byte) in (write.address..).zip(&value[..usize::from(write.bytes)]) {
                if let Some(own) = bytes.get_mut(at.wrapping_sub(address) as usize) {
                    *own = *byte;
                }
            }
        }
    }

    /// Compares what each lane wrote with what it should have.
    pub(super) fn compare(&self, golden: &[Write]) -> WriteMatch {
        let Some((common, rest)) = golden.split_at_checked(self.common.len()) else { return WriteMatch::default() };
        if self.common != common || self.rows.len() < rest.len() {
            return WriteMatch::default();
        }
        let mut next = [0usize; LANES];
        let (mut same, mut alike) = (u32::MAX, u32::MAX);
        for row in &self.rows {
            for lane in lanes(row.mask & alike) {
                let (found, expected) = (row.of_lane(lane), rest.get(next[lane]));
                next[lane] += 1;
                if expected.is_none_or(|write| (write.address, write.bytes) != (found.address, found.bytes)) {
                    alike &= !(1 << lane);
                } else if expected != Some(&found) {
                    same &= !(1 << lane);
                }
            }
        }
        let all = (0..LANES).fold(0, |mask, lane| mask | (u32::from(next[lane] == rest.len()) << lane));
        WriteMatch { same: same & alike & all, alike: alike & all }
    }
}

/// The lanes that wrote what they should have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteMatch {
    /// Exactly that.
    pub same: u32,
    /// Other values, perhaps, but where they should have, and in that order.
    pub alike: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mask: u32, address: u64, value: impl Fn(usize) -> u64) -> Row {
        Row { mask, bytes: 4, address: [address; LANES], value: std::array::from_fn(value) }
    }

    #[test]
    fn later_writes_lie_over_earlier_ones() {
        let mut log = Log::default();
        log.clear();
        log.push(row(u32::MAX, 100, |_| 0x0403_0201));
        log.fold();
        log.push(row(0b10, 102, |_| 0x0d0c_0b0a));
        let read = |lane| {
            let mut bytes = [0; 8];
            log.patch(lane, 99, &mut bytes);
            bytes
        };
        assert_eq!(read(0), [0, 1, 2, 3, 4, 0, 0, 0]);
        assert_eq!(read(1), [0, 1, 2, 10, 11, 12, 13, 0]);
        assert!(log.may_hold(105, 1) && !log.may_hold(106, 8) && !log.may_hold(92, 8));
    }

    #[test]
    fn lanes_are_compared_with_what_should_be_written() {
        let mut log = Log::default();
        log.clear();
        log.push(row(u32::MAX, 100, |_| 7));
        log.fold();
        log.push(row(0b0111, 200, |lane| lane as u64 / 2));
        log.push(row(0b1000, 300, |_| 0));
        let write = |address, value| Write { address, bytes: 4, value };
        let compare = |golden: &[Write]| {
            let WriteMatch { same, alike } = log.compare(golden);
            (same, alike)
        };
        assert_eq!(compare(&[write(100, 7), write(200, 0)]), (0b0011, 0b0111));
        assert_eq!(compare(&[write(100, 7), write(200, 1)]), (0b0100, 0b0111));
        assert_eq!(compare(&[write(100, 7)]), (!0b1111, !0b1111));
        assert_eq!(compare(&[write(100, 8), write(200, 0)]), (0, 0));
    }
}
