//! What the elements of an output are, where the capsule does not say: what the program stored there.
//!
//! The launches that wrote an output are executed again, the last one first, and each of its bytes remembers the type
//! of the last store to it. A type that more than half of these bytes have is the output's. What a store's own type
//! leaves open (`st.global.b32` may be a float or an integer) follows from how the value was made: [`evidence`].
//!
//! Only what kernels store is seen: an output that arrives by a copy on the device, or through a surface or the tiles of
//! `wmma`, stays bytes. Of launches whose blocks wait for each other, a few blocks are looked at.

mod accessed;
mod evidence;
mod uses;

pub use accessed::buffer_elements;

use crate::golden::{Golden, GoldenLaunch};
use capsule::{ElementType, Region};
use evidence::{Definitions, Stored};
use facts::{Access, Effect, Space};
use simt::memory::{ByteRun, GlobalMemory};
use simt::registers::{Slot, lanes};
use simt::{Executor, Hook, InstructionContext, Interest};
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that wait for each other are all executed again for each that is looked at.
const BLOCKS_TOGETHER: u64 = 4;

/// How the type of an output is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The capsule says it.
    Declared(ElementType),
    /// The program stores it.
    Inferred(ElementType),
    /// It is compared as bytes: nothing says what it is, or several things do.
    Bytes(Unclear),
}

/// Why the type of an output is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// No store of a kernel was seen.
    NoStore,
    /// No access of a kernel was seen.
    NoAccess,
    /// Values of several types were stored, none of them in more than half of the bytes.
    Mixed,
    /// Values were stored of which neither the store nor their making says what they are.
    Untyped,
    /// The output is no whole number of the elements stored.
    Cut(ElementType),
}

impl std::fmt::Display for Unclear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoStore => f.write_str("no kernel was seen to store to it"),
            Self::NoAccess => f.write_str("no kernel was seen to load from it or to store to it"),
            Self::Mixed => f.write_str("values of several types are stored there"),
            Self::Untyped => f.write_str("nothing shows the type of what is stored there"),
            Self::Cut(element) => write!(f, "it is no whole number of {element}"),
        }
    }
}

impl Typed {
    /// The type, if it is known.
    #[must_use]
    pub fn element(self) -> Option<ElementType> {
        match self {
            Self::Declared(element) | Self::Inferred(element) => Some(element),
            Self::Bytes(_) => None,
        }
    }
}

/// How the type of each output of a golden run is known, in their order. Runs launches again if some are not declared.
#[must_use]
pub fn elements(golden: &Golden) -> Vec<Typed> {
    let mut watched: Vec<Watched> =
        golden.outputs().iter().map(|output| Watched::new(golden, output.copy, output.element.is_none())).collect();
    watch(golden, &mut watched);
    let typed = |(output, watched): (&capsule::Output, &Watched)| match output.element {
        Some(element) => Typed::Declared(element),
        None => watched.verdict(golden, output.copy),
    };
    golden.outputs().iter().zip(&watched).map(typed).collect()
}

/// An output, and what is known of each of its bytes.
struct Watched {
    /// Where the copy reads them: address, bytes, and offset in the packed bytes.
    rows: Vec<(u64, u64, usize)>,
    /// The event of the copy: what happens later does not matter.
    event: usize,
    stored: Vec<Option<Stored>>,
    /// Bytes that a launch after the one that runs has stored to.
    closed: Vec<bool>,
}

impl Watched {
    fn new(golden: &Golden, copy: u32, wanted: bool) -> Self {
        let copy = golden.copies().get(copy as usize).filter(|_| wanted);
        let from = copy.and_then(|copy| Some((copy, golden.capsule().events[copy.event].reads()?)));
        let (rows, bytes, event) =
            from.map_or((Vec::new(), 0, 0), |(copy, from)| (rows(from), copy.bytes.len(), copy.event));
        Self { rows, event, stored: vec![None; bytes], closed: vec![false; bytes] }
    }

    /// Notes a store to some bytes, if they are of this output.
    fn note(&mut self, address: u64, bytes: u64, stored: Stored) {
        let after = self.rows.partition_point(|(start, _, _)| *start < address.saturating_add(bytes));
        for &(start, length, offset) in self.rows[..after].iter().rev() {
            let (from, to) = (address.max(start), address.saturating_add(bytes).min(start + length));
            if from >= to {
                return;
            }
            let range = offset + (from - start) as usize..offset + (to - start) as usize;
            for (known, closed) in self.stored[range.clone()].iter_mut().zip(&self.closed[range]) {
                if !closed {
                    *known = Some(stored);
                }
            }
        }
    }

    /// Ends a launch; whether it stored to a byte that none after it did.
    fn close(&mut self) -> bool {
        let mut news = false;
        for (closed, stored) in self.closed.iter_mut().zip(&self.stored) {
            news |= stored.is_some() && !*closed;
            *closed = stored.is_some();
        }
        news
    }

    /// Whether some launch before `event` could still tell something.
    fn is_open(&self, launch: &GoldenLaunch, pages: &BTreeSet<u32>) -> bool {
        let on_page =
            |&(start, bytes, _): &(u64, u64, usize)| ByteRun::of(start, bytes).any(|run| pages.contains(&run.page));
        launch.event < self.event && self.closed.contains(&false) && self.rows.iter().any(on_page)
    }

    fn verdict(&self, golden: &Golden, copy: u32) -> Typed {
        let mut votes: BTreeMap<Stored, usize> = BTreeMap::new();
        self.stored.iter().flatten().for_each(|&stored| *votes.entry(stored).or_default() += 1);
        let all: usize = votes.values().sum();
        let Some((&winner, &count)) = votes.iter().max_by_key(|(_, count)| **count) else {
            return Typed::Bytes(Unclear::NoStore);
        };
        if 2 * count <= all {
            return Typed::Bytes(Unclear::Mixed);
        }
        let bytes = golden.copies().get(copy as usize).map_or(&[][..], |copy| &copy.bytes);
        match winner.element(bytes) {
            None => Typed::Bytes(Unclear::Untyped),
            Some(element) if !bytes.len().is_multiple_of(element.bytes() as usize) => {
                Typed::Bytes(Unclear::Cut(element))
            }
            Some(element) => Typed::Inferred(element),
        }
    }
}

/// The rows of a region by ascending address, with their offsets in its packed bytes.
fn rows(region: &Region) -> Vec<(u64, u64, usize)> {
    let mut offset = 0;
    let row = |(address, bytes)| {
        let at = offset;
        offset += bytes as usize;
        (address, bytes, at)
    };
    let mut rows: Vec<_> = region.rows().map(row).collect();
    rows.sort_unstable();
    rows
}

/// Executes launches again, the last one first, until nothing new is learnt of any output.
fn watch(golden: &Golden, watched: &mut [Watched]) {
    let (mut memory, mut executor) = (GlobalMemory::new(), Executor::new(golden.level));
    for launch in golden.launches().iter().rev() {
        let pages: BTreeSet<u32> = launch.written.iter().copied().collect();
        let open: Vec<&mut Watched> = watched.iter_mut().filter(|watched| watched.is_open(launch, &pages)).collect();
        if open.is_empty() {
            continue;
        }
        let together = launch.waits || golden.runnable(launch).is_together();
        let mut storing = Storing { instructions: stores(launch), open };
        golden.rerun(launch, &mut memory, &mut executor, &mut storing, |_, block, _| {
            !together || block < BLOCKS_TOGETHER
        });
        for watched in storing.open {
            let known = watched.closed.contains(&true);
            if !watched.close() && known {
                // It has what it will get: launches before it store to the same bytes.
                watched.rows.clear();
            }
        }
    }
}

/// What an instruction stores.
#[derive(Clone, Copy)]
struct Store {
    base: Option<Slot>,
    offset: i64,
    bytes: u64,
    stored: Stored,
}

/// Notes every store to the outputs.
struct Storing<'w> {
    instructions: Vec<Option<Store>>,
    open: Vec<&'w mut Watched>,
}

impl Hook for Storing<'_> {
    fn wants(&self, _: u32) -> bool {
        true
    }

    fn before(&mut self, context: InstructionContext<'_>) -> Interest {
        let Some(store) = self.instructions[context.instruction as usize] else { return Interest::Stay };
        for lane in lanes(context.executing) {
            let base = store.base.map_or(0, |slot| context.registers.get(slot, lane) as u64);
            let address = base.wrapping_add_signed(store.offset);
            self.open.iter_mut().for_each(|watched| watched.note(address, store.bytes, store.stored));
        }
        Interest::Stay
    }
}

/// What each instruction of a launch's program stores to global memory.
fn stores(launch: &GoldenLaunch) -> Vec<Option<Store>> {
    let program = &launch.program;
    let mut functions = BTreeMap::new();
    let store = |(number, instruction): (u32, &simt::program::StaticInstruction)| {
        let facts = instruction.facts.as_ref()?;
        let access = facts.access.filter(is_global_store)?;
        let code = program.function(instruction.function)?;
        let definitions = functions.entry(code.id).or_insert_with(|| Definitions::of(program, code));
        let stored = definitions.stored(access.element, facts);
        let (register, offset) = access.at?;
        let base = match register {
            Some(register) => Some(program.slot(number, register)?),
            None => None,
        };
        Some(Store { base, offset, bytes: access.bytes().into(), stored })
    };
    (0..).zip(&program.instructions).map(store).collect()
}

fn is_global_store(access: &Access) -> bool {
    access.effect != Effect::Read && matches!(access.space, Space::Global | Space::Generic)
}
