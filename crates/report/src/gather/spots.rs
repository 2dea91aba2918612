//! Counts of every bit of everything that was hit.

use campaign::Spot;
use outcome::Class;

use crate::measure::{ClassMasses, FaultClass, Mass};

/// Registers have at most this many bits; a larger number is no position.
const WIDEST: u32 = 128;

/// The faults of a bit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BitCell {
    pub(crate) cell: ClassMasses,
    /// The first run that came to a silent corruption, as an example.
    pub(crate) example: Option<u64>,
    /// The first that came to one that no criterion accepts.
    pub(crate) bad_example: Option<u64>,
}

/// An operand of a static instruction, with what its bits came to.
#[derive(Clone, Debug)]
pub(crate) struct OperandCounts {
    pub(crate) spot: Spot,
    /// By bit.
    pub(crate) bits: Vec<BitCell>,
    /// Faults that name no bit.
    pub(crate) unplaced: BitCell,
}

impl OperandCounts {
    /// All its faults.
    pub(crate) fn cell(&self) -> ClassMasses {
        let mut all = self.unplaced.cell;
        self.bits.iter().for_each(|bit| all.merge(&bit.cell));
        all
    }
}

/// Operands while they are counted, by number.
#[derive(Debug, Default)]
pub(crate) struct Operands(Vec<(Vec<BitCell>, BitCell)>);

impl Operands {
    pub(crate) fn add(&mut self, spot: usize, bit: Option<u32>, class: FaultClass, mass: Mass, run: Option<u64>) {
        if self.0.len() <= spot {
            self.0.resize(spot + 1, Default::default());
        }
        let (bits, unplaced) = &mut self.0[spot];
        let cell = match bit.filter(|&bit| bit < WIDEST) {
            Some(bit) => {
                let bit = bit as usize;
                if bits.len() <= bit {
                    bits.resize(bit + 1, BitCell::default());
                }
                &mut bits[bit]
            }
            None => unplaced,
        };
        cell.cell.add(class, mass);
        if class.class == Class::Sdc && cell.example.is_none() {
            cell.example = run;
        }
        if class.bad && cell.bad_example.is_none() {
            cell.bad_example = run;
        }
    }

    /// The operands with their names, sorted by them. What was never hit is not there.
    pub(crate) fn finish(self, spots: &[Spot]) -> Vec<OperandCounts> {
        let named = self.0.into_iter().zip(spots).map(|((bits, unplaced), spot)| OperandCounts {
            spot: spot.clone(),
            bits,
            unplaced,
        });
        let mut operands: Vec<OperandCounts> = named.filter(|operand| operand.cell().runs() > 0).collect();
        operands.sort_by(|a, b| key(&a.spot).cmp(&key(&b.spot)));
        operands
    }
}

fn key(spot: &Spot) -> (&str, u32, &str, Option<&str>, Option<u32>, &str, &str) {
    let Spot { kernel, pc, target, group, opcode, file, line } = spot;
    (kernel, *pc, opcode, file.as_deref(), *line, group, target)
}
