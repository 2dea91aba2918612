//! What a capsule must hold to, beyond what its types say. After this, users of a capsule need not check it again.
//!
//! Not checked, because only running it can tell: that kernels use memory that is allocated (of copies,
//! [`Capsule::check_memory`] says it), that a kernel exists in its module, and that arguments fit it.
//!
//! Reference: CUDA C++ Programming Guide, "Compute Capabilities", table of technical specifications (limits of grids and
//! blocks, the same from compute capability 5.0 to 12.x; arguments up to 32,764 bytes since CUDA 12.1).

use crate::error::shown;
use crate::{BlobId, Capsule, Error, Event, Launch, ModuleId, Output, Problem, RecordedModule, Region};

/// The most blocks of a grid in x, y and z.
const GRID: [u32; 3] = [0x7fff_ffff, 0xffff, 0xffff];
/// The most threads of a block in x, y and z.
const BLOCK: [u32; 3] = [1024, 1024, 64];
/// The most threads of a block in all.
const BLOCK_THREADS: u64 = 1024;
/// The most bytes of arguments.
const PARAM_BYTES: usize = 32_764;
/// More dynamic shared memory than any GPU has (227 KiB at most so far), with room for years.
const SHARED_BYTES: u32 = 1 << 20;

impl Capsule {
    /// Checks that the capsule makes sense, as reading and writing do.
    ///
    /// Module ids are their places; blobs and modules that are named exist; a module is loaded before its kernels are launched;
    /// regions lie in the address space, their rows do not overlap, and they have as many bytes as their blobs or counterparts;
    /// bytes copied out that were kept match their digest; fills are whole numbers of values of 1, 2 or 4 bytes; grids and
    /// blocks are within the limits of CUDA; outputs name copies that exist, whose bytes their elements account for.
    ///
    /// # Errors
    ///
    /// It does not; the error names the place.
    pub fn validate(&self) -> Result<(), Error> {
        capsule(self).map_err(|problem| Error::new(crate::Action::Check, &crate::Origin::Memory, problem))
    }
}

/// What was expected, and what was found.
type Fault = (String, String);

/// [`Capsule::validate`] without the words around it.
pub(crate) fn capsule(capsule: &Capsule) -> Result<(), Problem> {
    for (place, module) in capsule.modules.iter().enumerate() {
        self::module(capsule, place, module).map_err(at(|| format!("module {place}")))?;
    }
    let mut loaded = vec![false; capsule.modules.len()];
    for (place, event) in capsule.events.iter().enumerate() {
        self::event(capsule, &mut loaded, event).map_err(at(|| format!("event {place} ({})", describe(event))))?;
    }
    let copies: Vec<u64> = capsule.copies_out().map(|(_, copy)| copy.from.bytes().unwrap_or(0)).collect();
    for (place, output) in capsule.outputs.iter().enumerate() {
        self::output(&copies, output).map_err(at(|| format!("output {place} (`{}`)", shown(&output.name))))?;
    }
    for (place, source) in capsule.sources.iter().enumerate() {
        blob(capsule, "text", source.blob).map_err(at(|| format!("source {place} (`{}`)", shown(&source.path))))?;
    }
    Ok(())
}

pub(crate) fn at(place: impl FnOnce() -> String) -> impl FnOnce(Fault) -> Problem {
    move |(expected, found)| Problem::Invalid { place: place(), expected, found }
}

fn fault<T>(expected: impl ToString, found: impl ToString) -> Result<T, Fault> {
    Err((expected.to_string(), found.to_string()))
}

pub(crate) fn describe(event: &Event) -> String {
    let name = event.kind().name();
    match event {
        Event::Load { module } => format!("{name}, {module}"),
        Event::Launch(launch) => format!("{name} of `{}`", shown(&launch.kernel)),
        Event::Alloc { .. }
        | Event::Free { .. }
        | Event::CopyIn { .. }
        | Event::CopyOut { .. }
        | Event::CopyWithin { .. }
        | Event::Fill { .. }
        | Event::Synchronize => name.to_owned(),
    }
}

fn module(capsule: &Capsule, place: usize, module: &RecordedModule) -> Result<(), Fault> {
    if module.id.0 as usize != place {
        return fault(format!("id {place}, its place"), module.id.0);
    }
    module.ptx.map_or(Ok(0), |id| blob(capsule, "PTX", id))?;
    for binary in &module.binaries {
        blob(capsule, "binary", binary.blob)?;
    }
    module.globals.iter().try_for_each(|symbol| inside(symbol.address, symbol.bytes))
}

fn event(capsule: &Capsule, loaded: &mut [bool], event: &Event) -> Result<(), Fault> {
    match event {
        Event::Load { module } => *known(loaded, *module)? = true,
        Event::Alloc { address, bytes, .. } => inside(*address, *bytes)?,
        Event::Free { .. } | Event::Synchronize => {}
        Event::CopyIn { to, data } => {
            same_bytes("blob", blob(capsule, "data", *data)?, region(to)?)?;
        }
        Event::CopyOut { from, digest, data } => {
            let bytes = region(from)?;
            if let Some(data) = data {
                same_bytes("blob", blob(capsule, "data", *data)?, bytes)?;
                let found = capsule.blobs.digest(*data);
                if found != Some(*digest) {
                    return fault(format!("bytes whose digest is {digest:.16}…"), format!("{data}, which has another"));
                }
            }
        }
        Event::CopyWithin { to, from } => same_bytes("source", region(from)?, region(to)?)?,
        Event::Fill { to, value, width } => fill(to, *value, *width)?,
        Event::Launch(launch) => self::launch(loaded, launch)?,
    }
    Ok(())
}

fn fill(to: &Region, value: u32, width: u8) -> Result<(), Fault> {
    if !matches!(width, 1 | 2 | 4) {
        return fault("values of 1, 2 or 4 bytes", width);
    }
    if width < 4 && value >> (8 * u32::from(width)) != 0 {
        return fault(format!("a value of {width} bytes"), format!("{value:#x}"));
    }
    if !to.width.is_multiple_of(u64::from(width)) {
        return fault(format!("rows of whole values of {width} bytes"), format!("rows of {} bytes", to.width));
    }
    region(to).map(drop)
}

fn launch(loaded: &mut [bool], launch: &Launch) -> Result<(), Fault> {
    if !*known(loaded, launch.module)? {
        return fault(format!("{} loaded by an earlier event", launch.module), "a launch before that");
    }
    if launch.kernel.is_empty() {
        return fault("the name of a kernel", "no name");
    }
    extents("blocks in the grid", launch.grid, GRID)?;
    extents("threads in a block", launch.block, BLOCK)?;
    if launch.threads_per_block() > BLOCK_THREADS {
        return fault(format!("at most {BLOCK_THREADS} threads in a block"), launch.threads_per_block());
    }
    if launch.params.len() > PARAM_BYTES {
        return fault(format!("at most {PARAM_BYTES} bytes of arguments"), launch.params.len());
    }
    if launch.shared_bytes > SHARED_BYTES {
        return fault(format!("at most {SHARED_BYTES} bytes of dynamic shared memory"), launch.shared_bytes);
    }
    Ok(())
}

fn extents(what: &str, found: [u32; 3], bounds: [u32; 3]) -> Result<(), Fault> {
    for ((axis, extent), bound) in ["x", "y", "z"].into_iter().zip(found).zip(bounds) {
        if extent == 0 || extent > bound {
            return fault(format!("1 to {bound} {what} along {axis}"), extent);
        }
    }
    Ok(())
}

fn output(copies: &[u64], output: &Output) -> Result<(), Fault> {
    let Some(&copied) = copies.get(output.copy as usize) else {
        return fault(format!("one of {} copies to the host", copies.len()), format!("copy {}", output.copy));
    };
    if let Some(tolerance) = output.tolerance
        && !(tolerance.is_finite() && tolerance >= 0.0)
    {
        return fault("a finite tolerance that is not negative", tolerance);
    }
    let elements = output.shape.iter().try_fold(1_u64, |product, &extent| product.checked_mul(extent));
    match output.element {
        Some(element) if !output.shape.is_empty() => {
            let shaped = elements.and_then(|elements| elements.checked_mul(element.bytes()));
            let found = shaped.map_or("more than 2^64".to_owned(), |bytes| bytes.to_string());
            if shaped == Some(copied) { Ok(()) } else { fault(format!("a shape of {copied} bytes"), found) }
        }
        Some(element) if !copied.is_multiple_of(element.bytes()) => {
            fault(format!("whole elements of type {element}"), format!("{copied} bytes"))
        }
        _ => Ok(()),
    }
}

/// The bytes of a region that is sound.
fn region(region: &Region) -> Result<u64, Fault> {
    region.fault().map_or_else(|| Ok(region.bytes().unwrap_or(0)), Err)
}

fn inside(address: u64, bytes: u64) -> Result<(), Fault> {
    match address.checked_add(bytes) {
        Some(_) => Ok(()),
        None => fault("memory inside the 64-bit address space", format!("{bytes} bytes from {address:#x}")),
    }
}

fn same_bytes(what: &str, found: u64, expected: u64) -> Result<(), Fault> {
    if found == expected {
        Ok(())
    } else {
        fault(format!("{expected} bytes, as its region has"), format!("a {what} of {found}"))
    }
}

/// The bytes of a blob that exists, which is to be the `what` of something.
fn blob(capsule: &Capsule, what: &str, id: BlobId) -> Result<u64, Fault> {
    let expected = || format!("one of {} blobs as its {what}", capsule.blobs.len());
    capsule.blobs.bytes(id).ok_or_else(|| (expected(), id.to_string()))
}

/// Whether a module that exists is loaded.
fn known(loaded: &mut [bool], id: ModuleId) -> Result<&mut bool, Fault> {
    let modules = loaded.len();
    loaded.get_mut(id.0 as usize).ok_or_else(|| (format!("one of {modules} modules"), id.to_string()))
}
