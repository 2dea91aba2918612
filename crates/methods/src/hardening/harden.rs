//! A capsule with protected kernels in place of its own.

use crate::hardening::automatic::{AutomaticChoice, Chooser};
use crate::hardening::choice::ProtectionChoice;
use crate::hardening::code::CodePlace;
use crate::hardening::coverage::{Coverage, RefusedKernel};
use crate::hardening::geometry;
use crate::hardening::loads::{LoadCoverage, RacingKernels, reasons};
use crate::hardening::reading::{HardenError, file_name, modules};
use crate::hardening::scheme::SchemeChoice;
use capsule::{Capsule, HardenedFunction, Hardening, InstructionOrigin, RecordedModule};
use facts::Pc;
use isa::{FunctionId, Module};
use ptx::Reading;
use rewrite::{Origin, OriginCounts, Protection, Scheme, Technique, protect_each};
use std::collections::{BTreeMap, BTreeSet};

/// A capsule with protected kernels.
#[derive(Clone, Debug)]
pub struct HardenedCapsule {
    /// The capsule.
    pub capsule: Capsule,
    /// What of it is protected.
    pub coverage: Coverage,
    /// The scheme of each kernel and how it was found, where it was chosen automatically.
    pub automatic: Option<AutomaticChoice>,
}

/// A capsule that does the same with protected kernels: all of their instructions, or the chosen ones. Kernels that cannot be
/// protected are left as they are.
///
/// # Errors
/// If it is hardened already, its PTX cannot be read, or none of its kernels can be protected or is chosen.
pub fn harden(
    original: &Capsule,
    scheme: impl Into<SchemeChoice>,
    choice: Option<&ProtectionChoice>,
) -> Result<HardenedCapsule, HardenError> {
    written(original, scheme.into(), None, choice)
}

/// As [`harden`], with the loads executed twice of functions whose threads do not share memory while they run, by what their code
/// says and by the races of the golden run.
///
/// # Errors
/// As those of [`harden`]; and if the scheme is not one of [`Scheme::INSTRUCTIONS`].
pub fn harden_with_loads(
    original: &Capsule,
    scheme: impl Into<SchemeChoice>,
    racing: &RacingKernels,
    choice: Option<&ProtectionChoice>,
) -> Result<HardenedCapsule, HardenError> {
    let scheme = scheme.into();
    if !scheme.has_loads() {
        return Err(HardenError::Loads(scheme.word()));
    }
    written(original, scheme, Some(racing), choice)
}

fn written(
    original: &Capsule,
    scheme: SchemeChoice,
    loads: Option<&RacingKernels>,
    choice: Option<&ProtectionChoice>,
) -> Result<HardenedCapsule, HardenError> {
    if let Some(hardening) = &original.provenance.hardening {
        let (name, scheme) = (original.name.clone(), hardening.scheme.clone());
        return Err(HardenError::Hardened { name, scheme });
    }
    let mut hardened = HardenedCapsule { capsule: original.clone(), coverage: Coverage::default(), automatic: None };
    hardened.coverage.loads = loads.map(|_| LoadCoverage::default());
    let mut chooser = match scheme {
        SchemeChoice::Automatic => Some(Chooser::new(&original.name)?),
        SchemeChoice::Fixed(_) => None,
    };
    for (index, reading) in modules(original) {
        let reading = reading?;
        let schemes = match (&mut chooser, scheme) {
            (Some(chooser), _) => chooser.schemes(original, index, &reading.module)?,
            (None, SchemeChoice::Fixed(scheme)) => vec![scheme; reading.module.functions.len()],
            (None, SchemeChoice::Automatic) => Vec::new(),
        };
        hardened.module(index, reading, (&schemes, loads), choice)?;
    }
    hardened.automatic = chooser.map(|chooser| chooser.made);
    if scheme.doubles_blocks() {
        let names = |(index, module): (usize, &RecordedModule)| {
            module.hardened.iter().map(move |function| (index, function.name.clone())).collect::<Vec<_>>()
        };
        let kernels: BTreeSet<(usize, String)> = hardened.capsule.modules.iter().enumerate().flat_map(names).collect();
        geometry::double(&mut hardened.capsule, &kernels);
    }
    let HardenedCapsule { capsule, coverage, .. } = &mut hardened;
    let is_written = capsule.modules.iter().any(|module| !module.hardened.is_empty());
    if !is_written && coverage.refused.is_empty() && !coverage.unchosen.is_empty() {
        return Err(HardenError::Unchosen(original.name.clone()));
    }
    if !is_written || coverage.protected.is_empty() && coverage.unchosen.is_empty() {
        let first = coverage.refused.first().map(|kernel| format!("{}: {}", kernel.name, kernel.reason));
        return Err(HardenError::Nothing { name: original.name.clone(), first });
    }
    let with = if loads.is_some() { "-loads" } else { "" };
    capsule.name = format!("{}-{}{with}", original.name, scheme.word());
    // The application would run its own kernels.
    capsule.provenance.application = None;
    capsule.provenance.hardening =
        Some(Hardening { scheme: scheme.word().to_owned(), loads: loads.is_some(), original: original.digest() });
    Ok(hardened)
}

impl HardenedCapsule {
    /// Protects a module, where it has PTX. What is not PTX would do something else, and is left out.
    fn module(
        &mut self,
        index: usize,
        reading: Reading,
        (schemes, loads): (&[Scheme], Option<&RacingKernels>),
        choice: Option<&ProtectionChoice>,
    ) -> Result<(), HardenError> {
        if let Some(errors) = reading.refused.values().next() {
            // A function whose body is not read would be gone from the text.
            let reason = format!("a function of its module cannot be read: {}", first_line(&errors.to_string()));
            let kernels = kernels(&reading.module);
            self.coverage.refused.extend(kernels.map(|name| RefusedKernel { name, reason: reason.clone() }));
            return Ok(());
        }
        let unpaired = if schemes.iter().any(|it| it.doubles_blocks()) {
            geometry::unpaired(&self.capsule, index)
        } else {
            BTreeMap::new()
        };
        let of = |id: FunctionId| reading.module.functions.get(id.0 as usize).map(|function| function.name.as_str());
        let is_unpaired = |id: FunctionId| of(id).is_some_and(|name| unpaired.contains_key(name));
        let chosen = |function: FunctionId, pc: Pc| {
            !is_unpaired(function)
                && choice.is_none_or(|choice| choice.0.contains(&CodePlace { module: index, function, pc }))
        };
        let single = loads.map(|racing| reasons(&reading.module, racing));
        let technique = |id: FunctionId| Technique {
            scheme: schemes.get(id.0 as usize).copied().unwrap_or(Scheme::FastsigDrdv),
            loads: single.as_ref().is_some_and(|single| single.get(id.0 as usize) == Some(&None)),
        };
        let protected = protect_each(&reading.module, &technique, &chosen)?;
        let written = ptx::print(&protected.module);
        if ptx::parse(&file_name(index), &written).ok().as_ref() != Some(&protected.module) {
            return Err(HardenError::Text(index as u32));
        }
        for (name, reason) in &unpaired {
            self.coverage.refused.push(RefusedKernel { name: name.clone(), reason: reason.clone() });
        }
        if let (Some(counted), Some(single)) = (&mut self.coverage.loads, &single) {
            for ((protection, reason), id) in protected.functions.iter().zip(single).zip((0..).map(FunctionId)) {
                if matches!(protection, Protection::Written(_)) {
                    counted.add(&reading.module, id, reason.as_ref(), &|pc| chosen(id, pc));
                }
            }
        }
        let functions = self.count(&reading.module, &protected.functions, &unpaired);
        if functions.is_empty() {
            return Ok(());
        }
        let blob = self.capsule.blobs.add(written);
        let recorded: &mut RecordedModule = &mut self.capsule.modules[index];
        recorded.ptx = Some(blob);
        recorded.binaries.clear();
        recorded.hardened = functions;
        Ok(())
    }

    /// Counts what became of the functions of a module; returns the protected ones as a capsule keeps them.
    fn count(
        &mut self,
        module: &Module,
        functions: &[Protection],
        unpaired: &BTreeMap<String, String>,
    ) -> Vec<HardenedFunction> {
        let mut hardened = Vec::new();
        for ((function, protection), number) in module.functions.iter().zip(functions).zip(0..) {
            let name = function.name.clone();
            match protection {
                Protection::Declared => {}
                Protection::Unchosen if function.kernel && !unpaired.contains_key(&name) => {
                    self.coverage.unchosen.push(name);
                }
                Protection::Unchosen => {}
                Protection::Written(origins) => {
                    self.coverage.add(function.body.len() as u64, OriginCounts::of(origins));
                    if function.kernel {
                        self.coverage.protected.push(name.clone());
                    }
                    let origins = origins.iter().copied().map(recorded).collect();
                    hardened.push(HardenedFunction { function: FunctionId(number).0, name, origins });
                }
                Protection::Refused(why) => {
                    let refused = RefusedKernel { name, reason: why.to_string() };
                    let coverage = &mut self.coverage;
                    let list = if function.kernel { &mut coverage.refused } else { &mut coverage.refused_functions };
                    list.push(refused);
                }
            }
        }
        hardened
    }
}

fn kernels(module: &Module) -> impl Iterator<Item = String> {
    module.functions.iter().filter(|function| function.kernel).map(|function| function.name.clone())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// An origin as a capsule keeps it.
fn recorded(origin: Origin) -> InstructionOrigin {
    match origin {
        Origin::Original(pc) => InstructionOrigin::Original(pc.0),
        Origin::Duplicate(pc) => InstructionOrigin::Duplicate(pc.0),
        Origin::Copy(pc) => InstructionOrigin::Copy(pc.0),
        Origin::Check(pc) => InstructionOrigin::Check(pc.0),
        Origin::Notify => InstructionOrigin::Notify,
        Origin::Entry => InstructionOrigin::Entry,
    }
}
