//! Device code that the application registered, and what it calls by host addresses: kernels and variables.
//!
//! Registering only notes what is there; a module is read and loaded when one of its kernels or variables is first
//! used, as CUDA does since 12.2. An application that never touches a part of its code does not pay for it, nor fail
//! by it.

use std::collections::{BTreeMap, BTreeSet};

use capsule::{BinaryKind, ModuleId, PlacedSymbol};
use device::KernelInfo;
use device::{DeviceError, ModuleError};

use super::errors::code_of;
use super::gpu::Gpu;
use super::memory::{Block, Memory, MemoryKind};
use super::{sources, spec};
use crate::code::Code;
use crate::fatbin::{self, FatbinImage};
use crate::report::{fails, say};

/// What to say when code that was compiled in several parts does not work.
pub(crate) const LINK_HELP: &str =
    "; device code of several files that refer to each other (nvcc -rdc=true) is not linked yet";

/// Names a registered fat binary: what the application got for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Handle(pub(crate) u64);

/// A fat binary that the application registered.
#[derive(Debug)]
struct Registered {
    /// One part, or as many as were compiled separately.
    parts: Vec<&'static [u8]>,
    state: State,
}

#[derive(Debug)]
enum State {
    Unused,
    Loaded(Vec<Loaded>),
    Failed(Code),
}

#[derive(Debug)]
struct Loaded {
    id: ModuleId,
    arch: u32,
    symbols: Vec<PlacedSymbol>,
}

/// A kernel, as the application knows it.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(super) handle: Handle,
    /// Its name in the PTX.
    pub(crate) name: String,
    /// How much dynamic shared memory a launch may ask for, if the application has said so.
    pub(crate) dynamic_shared: Option<i32>,
    /// What the application prefers of memory that is both cache and shared.
    pub(crate) carveout: i32,
}

/// A kernel that is ready to be launched.
#[derive(Debug, Clone)]
pub(crate) struct Kernel {
    pub(crate) module: ModuleId,
    /// The architecture that its PTX is for.
    pub(crate) arch: u32,
    pub(crate) function: Function,
    pub(crate) info: KernelInfo,
}

/// A variable, as the application knows it.
#[derive(Debug, Clone)]
struct Variable {
    handle: Handle,
    name: String,
    /// Where the application keeps the address, if the variable is managed.
    managed: Option<u64>,
}

/// Everything that is registered.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    registered: BTreeMap<Handle, Registered>,
    functions: BTreeMap<u64, Function>,
    variables: BTreeMap<u64, Variable>,
    /// Kernels of which has been said that they are refused.
    refused: BTreeSet<u64>,
    handles: u64,
}

/// A managed variable that was placed, and where the application wants to know its address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Managed {
    pub(crate) pointer: u64,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl Modules {
    /// Notes a fat binary. Handles look like pointers, and are never followed.
    pub(crate) fn register(&mut self, parts: Vec<&'static [u8]>) -> Handle {
        self.handles += 1;
        let handle = Handle(0xfa7b_0000 + 64 * self.handles);
        self.registered.insert(handle, Registered { parts, state: State::Unused });
        handle
    }

    /// Forgets a fat binary; whether it was the last.
    pub(crate) fn unregister(&mut self, handle: Handle) -> bool {
        self.functions.retain(|_, function| function.handle != handle);
        self.refused.retain(|host| self.functions.contains_key(host));
        self.variables.retain(|_, variable| variable.handle != handle);
        self.registered.remove(&handle).is_some() && self.registered.is_empty()
    }

    /// Notes a kernel by the address of its stub on the host.
    pub(crate) fn register_function(&mut self, handle: Handle, host: u64, name: String) {
        self.functions.insert(host, Function { handle, name, dynamic_shared: None, carveout: -1 });
    }

    /// Notes a variable by the address of its shadow on the host.
    pub(crate) fn register_variable(&mut self, handle: Handle, host: u64, name: String, managed: Option<u64>) {
        self.variables.insert(host, Variable { handle, name, managed });
    }

    /// Notes what the application wants of a kernel.
    pub(crate) fn function_mut(&mut self, host: u64) -> Result<&mut Function, Code> {
        self.functions.get_mut(&host).ok_or(unknown(host))
    }

    /// A kernel that is registered.
    pub(crate) fn function(&self, host: u64) -> Result<&Function, Code> {
        self.functions.get(&host).ok_or(unknown(host))
    }

    /// Whether a kernel's code was compiled in several parts, which may refer to each other.
    pub(crate) fn is_linked(&self, function: &Function) -> bool {
        self.registered.get(&function.handle).is_some_and(|registered| registered.parts.len() > 1)
    }

    /// A kernel that can be run, its module loaded. What cannot is told the first time.
    pub(crate) fn kernel(&mut self, host: u64, gpu: &mut Gpu, memory: &mut Memory) -> Result<Kernel, Code> {
        let kernel = self.declared(host, gpu, memory)?;
        let name = &kernel.function.name;
        let Some(error) = gpu.refusal(kernel.module, name) else { return Ok(kernel) };
        if self.refused.insert(host) {
            let reason = explain(&error);
            say(format_args!("failed to load the code of kernel `{name}`: {reason}"));
            gpu.spoil(format!("the code of `{name}` could not be loaded"));
            gpu.fail_live(&format_args!("load the code of kernel `{name}`: {reason}"));
        }
        Err(code_of(&error))
    }

    /// A kernel as it is declared, its module loaded.
    pub(crate) fn declared(&mut self, host: u64, gpu: &mut Gpu, memory: &mut Memory) -> Result<Kernel, Code> {
        let function = self.function(host)?.clone();
        let loaded = self.load(function.handle, gpu, memory)?;
        let found = loaded.iter().find_map(|module| Some((module, gpu.kernel(module.id, &function.name)?)));
        let (&Loaded { id: module, arch, .. }, info) = found.ok_or(Code::INVALID_DEVICE_FUNCTION)?;
        Ok(Kernel { module, arch, function, info })
    }

    /// The place of a variable, its module loaded.
    pub(crate) fn variable(&mut self, host: u64, gpu: &mut Gpu, memory: &mut Memory) -> Result<(u64, u64), Code> {
        let Some(variable) = self.variables.get(&host).cloned() else {
            // The host names a managed variable by its address on the device, which is its own too.
            let place = memory.starting(host).filter(|block| block.kind == MemoryKind::Variable);
            let known = || {
                fails(
                    Code::INVALID_SYMBOL,
                    format_args!(
                        "{host:#x} is no __device__ or __constant__ variable; {} are registered",
                        self.variables.len()
                    ),
                )
            };
            return place.map(|block| (block.address, block.bytes)).ok_or_else(known);
        };
        let loaded = self.load(variable.handle, gpu, memory)?;
        place_of(loaded, &variable.name).ok_or(Code::INVALID_SYMBOL)
    }

    /// The managed variables of a fat binary, which is loaded.
    pub(crate) fn managed(&mut self, handle: Handle, gpu: &mut Gpu, memory: &mut Memory) -> Result<Vec<Managed>, Code> {
        let of_handle = |variable: &&Variable| variable.handle == handle && variable.managed.is_some();
        let variables: Vec<Variable> = self.variables.values().filter(of_handle).cloned().collect();
        let loaded = self.load(handle, gpu, memory)?;
        let placed = variables.iter().filter_map(|variable| {
            let (address, bytes) = place_of(loaded, &variable.name)?;
            Some(Managed { pointer: variable.managed?, address, bytes })
        });
        Ok(placed.collect())
    }

    /// Whether a fat binary has managed variables.
    pub(crate) fn has_managed(&self, handle: Handle) -> bool {
        self.variables.values().any(|variable| variable.handle == handle && variable.managed.is_some())
    }

    /// The modules of a fat binary, which is loaded if it was not.
    pub(super) fn loaded(&mut self, handle: Handle, gpu: &mut Gpu, memory: &mut Memory) -> Result<Vec<ModuleId>, Code> {
        Ok(self.load(handle, gpu, memory)?.iter().map(|module| module.id).collect())
    }

    /// Forgets a library.
    pub(crate) fn unload(&mut self, handle: Handle) -> Result<(), Code> {
        self.registered.get(&handle).ok_or(Code::INVALID_RESOURCE_HANDLE)?;
        self.unregister(handle);
        Ok(())
    }

    /// What names a kernel of a library.
    pub(super) fn function_named(&mut self, handle: Handle, name: &str) -> u64 {
        let is_it = |function: &Function| function.handle == handle && function.name == name;
        if let Some((&host, _)) = self.functions.iter().find(|(_, function)| is_it(function)) {
            return host;
        }
        self.handles += 1;
        let host = 0x4e4e_0000 + 64 * self.handles;
        self.register_function(handle, host, name.to_owned());
        host
    }

    /// A variable by its name.
    pub(super) fn variable_named(
        &mut self,
        handle: Handle,
        name: &str,
        gpu: &mut Gpu,
        memory: &mut Memory,
    ) -> Result<Option<(u64, u64)>, Code> {
        Ok(place_of(self.load(handle, gpu, memory)?, name))
    }

    /// Loads a fat binary, unless that has been done.
    fn load(&mut self, handle: Handle, gpu: &mut Gpu, memory: &mut Memory) -> Result<&[Loaded], Code> {
        let registered = self.registered.get_mut(&handle).ok_or(Code::INVALID_RESOURCE_HANDLE)?;
        if let State::Unused = registered.state {
            registered.state = match load_parts(&registered.parts, gpu) {
                Ok(loaded) => State::Loaded(loaded),
                Err(code) => State::Failed(code),
            };
            if let State::Loaded(loaded) = &registered.state {
                for symbol in loaded.iter().flat_map(|module| &module.symbols) {
                    memory.insert(Block { address: symbol.address, bytes: symbol.bytes, kind: MemoryKind::Variable });
                }
            }
        }
        match &registered.state {
            State::Loaded(loaded) => Ok(loaded),
            State::Failed(code) => Err(*code),
            State::Unused => Err(Code::UNKNOWN),
        }
    }
}

/// What CUDA says of an address that is no kernel's: it takes it for the handle of one.
fn unknown(host: u64) -> Code {
    if host == 0 { Code::INVALID_DEVICE_FUNCTION } else { Code::INVALID_RESOURCE_HANDLE }
}

fn place_of(loaded: &[Loaded], name: &str) -> Option<(u64, u64)> {
    let mut symbols = loaded.iter().flat_map(|module| &module.symbols);
    let symbol = symbols.find(|symbol| symbol.name == name)?;
    Some((symbol.address, symbol.bytes))
}

/// Loads every part of a fat binary. Ones that were compiled separately become modules of their own, which works as
/// long as none refers to another.
fn load_parts(parts: &[&'static [u8]], gpu: &mut Gpu) -> Result<Vec<Loaded>, Code> {
    let separately = parts.len() > 1;
    let mut loaded = Vec::new();
    for part in parts {
        match load_part(part, gpu) {
            Ok(Some(module)) => loaded.push(module),
            Ok(None) if separately => {}
            Ok(None) => return Err(Code::NO_KERNEL_IMAGE_FOR_DEVICE),
            Err((code, reason)) => {
                let help = if separately { LINK_HELP } else { "" };
                say(format_args!("failed to load the application's device code: {reason}{help}"));
                gpu.spoil("its device code could not be loaded".to_owned());
                gpu.fail_live(&format_args!("load device code: {reason}"));
                return Err(code);
            }
        }
    }
    if loaded.is_empty() { Err(Code::NO_KERNEL_IMAGE_FOR_DEVICE) } else { Ok(loaded) }
}

/// Loads one part; nothing if it holds no images at all.
fn load_part(part: &'static [u8], gpu: &mut Gpu) -> Result<Option<Loaded>, (Code, String)> {
    let invalid = |reason: &dyn std::fmt::Display| (Code::INVALID_KERNEL_IMAGE, reason.to_string());
    if !part.starts_with(&fatbin::MAGIC.to_le_bytes()) {
        return load_text(part, gpu).map(Some);
    }
    let images = fatbin::parse(part).map_err(|error| invalid(&error))?;
    if images.is_empty() {
        return Ok(None);
    }
    let chosen =
        fatbin::choose(&images, spec::ARCH).map_err(|error| (Code::NO_KERNEL_IMAGE_FOR_DEVICE, error.to_string()))?;
    let text = chosen.image.unpack().map_err(|error| invalid(&error))?;
    let text = String::from_utf8_lossy(&text);
    let mut code = sources::DeviceCode {
        name: format!("the PTX for {}", chosen.image.compute()),
        ptx: text.trim_end_matches('\0').to_owned(),
        binaries: Vec::new(),
    };
    if gpu.recorder().is_some() {
        code.binaries = binaries(&images, chosen.place);
    }
    let (id, symbols) = gpu.load(code).map_err(|error| (code_of(&error), explain(&error)))?;
    Ok(Some(Loaded { id, arch: chosen.image.arch, symbols }))
}

/// Loads PTX that comes without a container.
fn load_text(part: &'static [u8], gpu: &mut Gpu) -> Result<Loaded, (Code, String)> {
    let text = String::from_utf8_lossy(part).trim_end_matches('\0').to_owned();
    let code = sources::DeviceCode { name: "the library's PTX".to_owned(), ptx: text, binaries: Vec::new() };
    let (id, symbols) = gpu.load(code).map_err(|error| (code_of(&error), explain(&error)))?;
    Ok(Loaded { id, arch: spec::ARCH, symbols })
}

/// An error in one line: of several mistakes in the PTX, the first.
fn explain(error: &DeviceError) -> String {
    match error {
        DeviceError::Module(ModuleError::Guest(error)) => error.first_in_a_line(),
        other => other.to_string(),
    }
}

/// All images but the one that runs, unpacked where that is possible.
fn binaries<'a>(images: &[FatbinImage<'a>], but: usize) -> Vec<(u32, BinaryKind, std::borrow::Cow<'a, [u8]>)> {
    let others = images.iter().enumerate().filter(|(place, _)| *place != but);
    let unpacked = others.filter_map(|(_, image)| {
        let kind = match image.kind {
            fatbin::ImageKind::Ptx => BinaryKind::Ptx,
            fatbin::ImageKind::Cubin => BinaryKind::Cubin,
            fatbin::ImageKind::LtoIr => BinaryKind::LtoIr,
            fatbin::ImageKind::Other(_) => BinaryKind::Other,
        };
        Some((image.arch, kind, image.unpack().ok()?))
    });
    unpacked.collect()
}
