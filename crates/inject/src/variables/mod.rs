//! Names for what lies in device memory: variables of modules, outputs, and the buffers that kernels are given, by the names
//! of their parameters in the source that the capsule holds.

mod copied;
mod signature;

pub use copied::{CopiedBuffer, copied_buffers};

use crate::golden::{Golden, GoldenLaunch};
use fault::base_name;
use simt::memory::{Allocations, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An allocation with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// What it is called: as the output, the module's variable or the parameter that it is; `KERNEL[2]` for the third
    /// parameter of a kernel whose source is not there. What another one is called already has its kernel before it.
    pub name: String,
    /// Where it begins.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// The allocations that have a name, in the order in which launches are given them, outputs and variables of modules first.
#[must_use]
pub fn variables(golden: &Golden) -> Vec<Variable> {
    let mut found = Found { reserved: golden.modules.placed().1, ..Found::default() };
    for (launch, copy) in golden.copies.iter().filter_map(|copy| Some((golden.launch_before(copy.event)?, copy))) {
        // Outputs that nobody declared have the names of their buffers.
        let Some(output) = copy.output.filter(|_| !golden.capsule.outputs.is_empty()) else { continue };
        let from = golden.capsule.events[copy.event].reads().and_then(|from| from.rows().next());
        if let Some((address, _)) = from {
            found.add(golden, launch, address, &golden.outputs[output].name, "");
        }
    }
    // Modules may be loaded at any time; their variables stay.
    let symbols = golden.capsule.modules.iter().flat_map(|module| &module.globals);
    for symbol in symbols {
        for launch in golden.launches.first().into_iter().chain(golden.launches.last()) {
            found.add(golden, launch, symbol.address, &symbol.name, "");
        }
    }
    pointers(golden, &mut |launch, address, name, kernel| found.add(golden, launch, address, name, kernel));
    found.variables
}

/// Calls `visit` with each word of the parameters of each launch that may be an address: the launch, the word, the name of the
/// parameter, the kernel.
fn pointers<'g>(golden: &'g Golden, visit: &mut dyn FnMut(&'g GoldenLaunch, u64, &str, &str)) {
    let sources: Vec<String> = golden
        .capsule
        .sources
        .iter()
        .filter_map(|source| Some(String::from_utf8_lossy(&golden.capsule.blobs.get(source.blob).ok()?).into_owned()))
        .collect();
    let mut known: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for launch in &golden.launches {
        let recorded = golden.recorded(launch);
        let kernel = launch.program.name.as_str();
        let Some(info) = golden.modules.module(recorded.module).ok().and_then(|module| module.kernel(kernel)) else {
            continue;
        };
        let names = known.entry(kernel).or_insert_with(|| named(&sources, base_name(kernel), info.params.len()));
        for (param, name) in info.params.iter().zip(&*names) {
            // A structure may hold several addresses.
            for word in (0..param.bytes / 8).map(|word| 8 * word) {
                let at = (param.offset + word) as usize;
                let Some(bytes) = recorded.params.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()) else {
                    continue;
                };
                let name = if word == 0 { name.clone() } else { format!("{name}+{word}") };
                visit(launch, u64::from_le_bytes(bytes), &name, base_name(kernel));
            }
        }
    }
}

/// Where a parameter of a kernel points when it is launched first, up to the end of the allocation there; nameless.
///
/// # Errors
/// If no launch is of the kernel, it has no such parameter, or that is no address of an allocation.
pub fn pointed_at(golden: &Golden, kernel: &str, parameter: usize) -> Result<Variable, String> {
    let launch = golden
        .launches
        .iter()
        .find(|launch| base_name(&launch.program.name) == kernel || launch.program.name == kernel);
    let launch = launch.ok_or_else(|| {
        let names: BTreeSet<&str> = golden.launches.iter().map(|launch| base_name(&launch.program.name)).collect();
        format!("no launch is of the kernel {kernel}; there are {}", names.into_iter().collect::<Vec<_>>().join(", "))
    })?;
    let recorded = golden.recorded(launch);
    let module = golden.modules.module(recorded.module).map_err(|error| error.to_string())?;
    let params = module.kernel(&launch.program.name).map(|kernel| kernel.params.clone()).unwrap_or_default();
    let param = params
        .get(parameter)
        .ok_or_else(|| format!("{kernel} has no parameter {parameter}: it has {}, counted from 0", params.len()))?;
    let at = param.offset as usize;
    let word = recorded.params.get(at..at + 8).filter(|_| param.bytes == 8).and_then(|bytes| bytes.try_into().ok());
    let address = word.map(u64::from_le_bytes);
    let holding = |address: u64| golden.history.allocations(Version::before(launch.event as u32)).holding(address);
    let found = address.and_then(|address| Some((address, holding(address)?)));
    let (address, (start, bytes)) =
        found.ok_or_else(|| format!("parameter {parameter} of {kernel} points to no allocation"))?;
    Ok(Variable { name: String::new(), address, bytes: start + bytes - address })
}

/// The names of a kernel's parameters, of which there are so many.
fn named(sources: &[String], kernel: &str, count: usize) -> Vec<String> {
    let written =
        sources.iter().find_map(|text| signature::parameters(text, kernel)).filter(|names| names.len() == count);
    let written = written.unwrap_or_else(|| vec![None; count]);
    written.into_iter().enumerate().map(|(at, name)| name.unwrap_or_else(|| format!("{kernel}[{at}]"))).collect()
}

#[derive(Default)]
struct Found {
    variables: Vec<Variable>,
    /// What the machine keeps for itself, by where it begins.
    reserved: BTreeSet<u64>,
    /// Addresses that were looked up since allocations changed.
    looked_up: BTreeSet<u64>,
    allocations: Arc<Allocations>,
    places: BTreeSet<(u64, u64)>,
    names: BTreeSet<String>,
}

impl Found {
    /// Names the allocation that holds an address when a launch begins, if there is one without a name.
    fn add(&mut self, golden: &Golden, launch: &GoldenLaunch, address: u64, name: &str, kernel: &str) {
        let allocations = golden.history.allocations(Version::before(launch.event as u32));
        if !Arc::ptr_eq(&allocations, &self.allocations) {
            self.looked_up.clear();
            self.allocations = allocations;
        }
        if !self.looked_up.insert(address) {
            return;
        }
        let Some((start, bytes)) = self.allocations.holding(address) else { return };
        if self.reserved.contains(&start) || !self.places.insert((start, bytes)) {
            return;
        }
        let mut name = name.to_owned();
        if self.names.contains(&name) {
            name = format!("{kernel}.{name}");
        }
        // The same parameter of the same kernel, another time another buffer.
        let free = (2..).map(|number| format!("{name}#{number}"));
        let name = std::iter::once(name.clone()).chain(free).find(|name| !self.names.contains(name)).unwrap_or(name);
        self.names.insert(name.clone());
        self.variables.push(Variable { name, address: start, bytes });
    }
}
