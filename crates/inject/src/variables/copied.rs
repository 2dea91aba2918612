//! What the host copies out of device memory, by the buffers that it comes from.

use super::{Variable, pointers, variables};
use crate::golden::{Golden, GoldenCopy, references};
use campaign::TargetError;
use capsule::Event;
use std::collections::{BTreeMap, BTreeSet};

/// The copies of one buffer to the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopiedBuffer {
    /// The name of the buffer, as [`Variable::name`]; `copy3` for the fourth copy where no kernel is given its memory.
    pub name: String,
    /// How many copies there are.
    pub copies: u64,
    /// How many of them come before the last launch: the host may act on what it sees there.
    pub before_last_launch: u64,
    /// Bytes of all copies together.
    pub bytes: u64,
    /// Whether a copy of it is an output.
    pub is_output: bool,
    /// The lines of the application that copy it, as `file:line`, in the order of their first copies; empty where the recording
    /// does not know them.
    pub lines: Vec<String>,
}

/// What is copied to the host, by buffer, in the order of the first copies.
#[must_use]
pub fn copied_buffers(golden: &Golden) -> Vec<CopiedBuffer> {
    let last = golden.launches.last().map_or(0, |launch| launch.event);
    let lines = golden.capsule.provenance.copy_lines.iter();
    let lines: BTreeMap<u32, &str> =
        lines.flat_map(|known| known.copies.iter().map(|copy| (*copy, known.line.as_str()))).collect();
    let (mut buffers, mut places) = (Vec::<CopiedBuffer>::new(), BTreeMap::<String, usize>::new());
    for (number, (copy, name)) in (0..).zip(golden.copies.iter().zip(names(golden))) {
        let at = *places.entry(name.clone()).or_insert_with(|| {
            buffers.push(CopiedBuffer { name, ..CopiedBuffer::default() });
            buffers.len() - 1
        });
        let buffer = &mut buffers[at];
        buffer.copies += 1;
        buffer.before_last_launch += u64::from(copy.event < last);
        buffer.bytes += copy.bytes.len() as u64;
        buffer.is_output |= copy.output.is_some();
        if let Some(line) = lines.get(&number).filter(|line| !buffer.lines.iter().any(|known| known == *line)) {
            buffer.lines.push((*line).to_owned());
        }
    }
    buffers
}

/// The name of the buffer that each copy reads, in the order of the copies.
fn names(golden: &Golden) -> Vec<String> {
    let variables = variables(golden);
    let lifetimes = Lifetimes::of(golden);
    let of = |(number, copy): (usize, &GoldenCopy)| {
        let address = golden.capsule.events[copy.event].reads().map_or(0, |from| from.address);
        if let Some(lifetimes) = &lifetimes
            && let Some(name) = lifetimes.name_at(address, copy.event)
        {
            return name.to_owned();
        }
        let holding = |variable: &&Variable| (variable.address..variable.address + variable.bytes).contains(&address);
        variables.iter().find(holding).map_or_else(|| format!("copy{number}"), |variable| variable.name.clone())
    };
    golden.copies.iter().enumerate().map(of).collect()
}

/// Allocations of a program that gives memory back and gets it again: one address has several buffers, one after the other.
struct Lifetimes {
    /// By first byte, ascending by the event that made them.
    by_address: BTreeMap<u64, Vec<Lifetime>>,
    /// By name, the last that got it: its first byte, and its number there.
    owners: BTreeMap<String, (u64, usize)>,
}

struct Lifetime {
    /// The event that allocates it.
    begin: usize,
    /// The event that frees it, or the number of events.
    end: usize,
    bytes: u64,
    name: Option<String>,
}

impl Lifetimes {
    /// Those of a program, named by the parameters that point to them first; none where no address is allocated twice.
    fn of(golden: &Golden) -> Option<Self> {
        let events = &golden.capsule.events;
        let mut all = Self { by_address: BTreeMap::new(), owners: BTreeMap::new() };
        for (at, event) in events.iter().enumerate() {
            match event {
                Event::Alloc { address, bytes, .. } => {
                    let fresh = Lifetime { begin: at, end: events.len(), bytes: *bytes, name: None };
                    all.by_address.entry(*address).or_default().push(fresh);
                }
                Event::Free { address } => {
                    let last = all.by_address.get_mut(address).and_then(|all| all.last_mut());
                    last.into_iter().for_each(|lifetime| lifetime.end = at);
                }
                _ => {}
            }
        }
        if all.by_address.values().all(|lifetimes| lifetimes.len() < 2) {
            return None;
        }
        pointers(golden, &mut |launch, address, name, kernel| all.point(launch.event, address, name, kernel));
        Some(all)
    }

    /// A parameter points into a lifetime: it is its name, unless another buffer of that time has it.
    fn point(&mut self, event: usize, address: u64, name: &str, kernel: &str) {
        let Some((place, None)) = self.holding(address, event).map(|(place, found)| (place, found.name.as_ref()))
        else {
            return;
        };
        let is_free = |name: &String| self.owners.get(name).is_none_or(|owner| !self.get(*owner).is_alive(event));
        let numbered = (2..).map(|number| format!("{kernel}.{name}#{number}"));
        let mut names = [name.to_owned(), format!("{kernel}.{name}")].into_iter().chain(numbered);
        let name = names.find(is_free).unwrap_or_default();
        self.owners.insert(name.clone(), place);
        if let Some(lifetime) = self.by_address.get_mut(&place.0).and_then(|all| all.get_mut(place.1)) {
            lifetime.name = Some(name);
        }
    }

    fn get(&self, (start, number): (u64, usize)) -> &Lifetime {
        &self.by_address[&start][number]
    }

    fn holding(&self, address: u64, event: usize) -> Option<((u64, usize), &Lifetime)> {
        self.by_address.range(..=address).rev().find_map(|(&start, lifetimes)| {
            // They follow each other: the last that has begun.
            let number = lifetimes.partition_point(|it| it.begin <= event).checked_sub(1)?;
            let found = &lifetimes[number];
            (found.is_alive(event) && address - start < found.bytes).then_some(((start, number), found))
        })
    }

    fn name_at(&self, address: u64, event: usize) -> Option<&str> {
        self.holding(address, event)?.1.name.as_deref()
    }
}

impl Lifetime {
    fn is_alive(&self, event: usize) -> bool {
        (self.begin..self.end).contains(&event)
    }
}

impl Golden {
    /// Names the outputs that nobody declared after the buffers that they are copied from; the second copy of a buffer `c` is
    /// `c.2`.
    pub(crate) fn name_outputs(&mut self) {
        if !self.capsule.outputs.is_empty() || self.outputs.is_empty() {
            return;
        }
        let names = names(self);
        let mut copied: BTreeMap<&str, u32> = BTreeMap::new();
        for (copy, name) in self.copies.iter().zip(&names) {
            let Some(output) = copy.output else { continue };
            let number = copied.entry(name).or_default();
            *number += 1;
            self.outputs[output].name = if *number == 1 { name.clone() } else { format!("{name}.{number}") };
        }
        self.references = references(&self.outputs, &self.copies);
    }

    /// Leaves out what is copied from some buffers: it is no output, and a difference in it counts for nothing.
    ///
    /// # Errors
    /// If nothing is copied from a buffer of such a name, or nothing else is an output.
    pub(crate) fn leave_out(&mut self, scratch: &BTreeSet<String>) -> Result<(), TargetError> {
        if scratch.is_empty() {
            return Ok(());
        }
        let names = names(self);
        if let Some(name) = scratch.iter().find(|name| !names.contains(name)) {
            let known: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            let message =
                format!("leave out copies of `{name}`: nothing is copied to the host from it, but from {known}");
            return Err(TargetError::new(message));
        }
        for (copy, name) in self.copies.iter_mut().zip(&names) {
            copy.scratch = scratch.contains(name);
            copy.output = copy.output.filter(|_| !copy.scratch);
        }
        let kept: Vec<usize> = self.copies.iter().filter_map(|copy| copy.output).collect();
        let outputs = self.outputs.iter().enumerate().filter(|(at, _)| kept.contains(at));
        let outputs: Vec<(usize, _)> = outputs.map(|(at, output)| (at, output.clone())).collect();
        for copy in &mut self.copies {
            copy.output = copy.output.and_then(|output| outputs.iter().position(|(at, _)| *at == output));
        }
        self.outputs = outputs.into_iter().map(|(_, output)| output).collect();
        self.references = references(&self.outputs, &self.copies);
        Ok(())
    }
}
