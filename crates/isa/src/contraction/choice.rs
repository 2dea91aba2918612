//! Which products of a region are joined with which sums.
//!
//! A product can be joined where everything that reads it is a sum of the same region which is joined with it, or with
//! nothing so far; a sum that reads it twice is none. The sums are looked at in their order, first for products that are
//! read once (pairs of halves do without this), then for any; of two terms the one that is read by fewer is joined, and
//! of equals the first. So a product may be joined with some of its sums and be a term of others.

use super::joins::{Contraction, Join, Product};
use super::part::{self, Part, of};
use super::regions::Region;
use crate::module::{Function, Instruction, Src};
use facts::{Pc, Reg};
use std::collections::{BTreeMap, BTreeSet};

/// A value that is a product, or its negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    product: Pc,
    negated: bool,
}

/// A product and who reads it.
#[derive(Debug)]
struct Candidate {
    numbers: part::Numbers,
    /// The sums that read it.
    sums: Vec<Pc>,
    /// Whether anything else does.
    otherwise: bool,
}

/// The products and sums of a region.
#[derive(Debug, Default)]
struct Readers {
    /// The registers that hold products, where one has come to.
    values: BTreeMap<Reg, Value>,
    products: BTreeMap<Pc, Candidate>,
    /// The sums in their order, with the terms that are products.
    sums: Vec<(Pc, Vec<(usize, Value)>)>,
}

/// Joins the products of a region. `alive` are the registers whose value matters behind it.
pub(super) fn choose(
    function: &Function,
    region: &Region,
    needed: &BTreeSet<Pc>,
    alive: &BTreeSet<Reg>,
    found: &mut Contraction,
) {
    let mut readers = Readers::default();
    for &pc in &region.instructions {
        let instruction = &function.body[pc.index()];
        if needed.contains(&pc) {
            readers.see(function, pc, instruction);
        } else if instruction.guard.is_none() {
            readers.forget(instruction);
        }
    }
    alive.iter().for_each(|&register| readers.read_otherwise(register));
    let joined = readers.join();
    let mut last: BTreeMap<Pc, Pc> = BTreeMap::new();
    for pc in &region.instructions {
        last.extend(joined.get(pc).map(|join| (join.product, *pc)));
    }
    let mut numbers = Numbers::default();
    for &pc in &region.instructions {
        if let Some(&sum) = last.get(&pc) {
            let number = numbers.take(sum);
            found.products.insert(pc, Product { number, needed_before: stretch(region, pc, sum) });
        }
        numbers.give_back(pc);
    }
    found.sums.extend(joined);
}

/// The instructions of a region behind one, up to another.
fn stretch(region: &Region, from: Pc, to: Pc) -> Vec<Pc> {
    let behind = region.instructions.iter().skip_while(|&&pc| pc != from).skip(1);
    let length = behind.clone().position(|&pc| pc == to).map_or(0, |at| at + 1);
    behind.take(length).copied().collect()
}

/// Numbers for what is needed at the same time: the fewest that there can be.
#[derive(Debug, Default)]
struct Numbers {
    /// By number, until which instruction it is taken.
    taken: Vec<Option<Pc>>,
}

impl Numbers {
    fn take(&mut self, until: Pc) -> usize {
        let free = self.taken.iter().position(Option::is_none).unwrap_or(self.taken.len());
        self.taken.resize(self.taken.len().max(free + 1), None);
        self.taken[free] = Some(until);
        free
    }

    fn give_back(&mut self, at: Pc) {
        self.taken.iter_mut().filter(|until| **until == Some(at)).for_each(|until| *until = None);
    }
}

impl Readers {
    /// Goes over an instruction.
    fn see(&mut self, function: &Function, pc: Pc, instruction: &Instruction) {
        match of(function, instruction) {
            Part::Sum(numbers) => self.sum(pc, instruction, numbers),
            Part::Copy(from) => self.copy(instruction, from, false),
            Part::Negation { from, flushed } if !flushed || self.is_flushed(from) => self.copy(instruction, from, true),
            part => {
                instruction.reads().for_each(|register| self.read_otherwise(register));
                self.write(instruction);
                if let (Part::Product(numbers), Some((_, register))) = (part, instruction.writes().next()) {
                    self.values.insert(register, Value { product: pc, negated: false });
                    self.products.insert(pc, Candidate { numbers, sums: Vec::new(), otherwise: false });
                }
            }
        }
    }

    fn sum(&mut self, pc: Pc, instruction: &Instruction, numbers: part::Numbers) {
        let value = |source: &Src| match source {
            Src::Reg(register) => self.values.get(register).copied(),
            _ => None,
        };
        let terms = instruction.src.iter().enumerate();
        let mut terms: Vec<(usize, Value)> = terms.filter_map(|(at, source)| Some((at, value(source)?))).collect();
        let twice = matches!(terms.as_slice(), [a, b] if a.1.product == b.1.product);
        terms.retain(|(_, value)| {
            self.products.get_mut(&value.product).is_some_and(|candidate| {
                let fits = candidate.numbers == numbers && !twice;
                candidate.otherwise |= !fits;
                candidate.sums.extend(fits.then_some(pc));
                fits
            })
        });
        self.write(instruction);
        self.sums.push((pc, terms));
    }

    fn copy(&mut self, instruction: &Instruction, from: Reg, negated: bool) {
        let value = self.values.get(&from).copied();
        self.write(instruction);
        if let (Some(value), Some((_, register))) = (value, instruction.writes().next()) {
            self.values.insert(register, Value { negated: value.negated != negated, ..value });
        }
    }

    /// Whether a register holds a product without subnormal numbers.
    fn is_flushed(&self, register: Reg) -> bool {
        self.values.get(&register).is_some_and(|value| self.products[&value.product].numbers.flushed)
    }

    /// A register is read by what cannot be joined.
    fn read_otherwise(&mut self, register: Reg) {
        let product = self.values.get(&register).map(|value| value.product);
        if let Some(candidate) = product.and_then(|product| self.products.get_mut(&product)) {
            candidate.otherwise = true;
        }
    }

    /// The destinations hold something else; where the guard is false, what they held.
    fn write(&mut self, instruction: &Instruction) {
        if instruction.guard.is_some() {
            instruction.writes().for_each(|(_, register)| self.read_otherwise(register));
        }
        self.forget(instruction);
    }

    fn forget(&mut self, instruction: &Instruction) {
        for (_, register) in instruction.writes() {
            self.values.remove(&register);
        }
    }

    /// The sums that are joined.
    fn join(&self) -> BTreeMap<Pc, Join> {
        let mut joined: BTreeMap<Pc, Join> = BTreeMap::new();
        for read_once in [true, false] {
            for (pc, terms) in &self.sums {
                let may = |value: &Value| {
                    let candidate = &self.products[&value.product];
                    let first = candidate.sums.len() == 1 && candidate.numbers.single_use_first();
                    let with_it = |sum: &Pc| joined.get(sum).is_none_or(|join| join.product == value.product);
                    !candidate.otherwise && (first || !read_once) && candidate.sums.iter().all(with_it)
                };
                let open = terms.iter().filter(|(_, value)| !joined.contains_key(pc) && may(value));
                let fewest = open.min_by_key(|(_, value)| self.products[&value.product].sums.len());
                if let Some(&(term, Value { product, negated })) = fewest {
                    joined.insert(*pc, Join { product, term, negated });
                }
            }
        }
        joined
    }
}
