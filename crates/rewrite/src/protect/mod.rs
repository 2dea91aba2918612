//! Protection written into modules: instructions that are executed twice, and checks of what they come to.
//!
//! ```text
//! module + scheme ──▶ module whose functions end the launch where a value and its duplicate differ
//!                     + for each of its instructions, where it comes from
//! ```
//!
//! [`protect`] runs nothing. Functions are protected one by one; one that cannot be is left as it is, with the reason. An
//! assembler may join products with sums as it likes, and likes it less where somebody reads the product: so the first
//! step is to write as `fma.rn` what it joins, and to leave it no choice.

mod check;
mod checks;
mod deferred;
mod doubles;
mod eligible;
mod halves;
mod immediate;
mod joins;
mod kept;
mod lanes;
mod loads;
mod opaque;
mod origin;
mod paired;
mod pieces;
mod place;
mod pressure;
mod proxied;
mod proxy;
mod refused;
mod select;
mod shadow;
mod signature;
#[cfg(test)]
mod tests;
mod undefined;

pub use loads::{connect, is_shared_load, sharing};
pub use origin::{Origin, OriginCounts};
pub use pressure::live_words;
pub use refused::Unprotected;

use crate::protect::checks::Notification;
use crate::protect::eligible::Treatment;
use crate::protect::proxy::HardwareProxy;
use crate::protect::signature::Accumulation;
use crate::refusal::Refusal;
use facts::Pc;
use isa::{Function, FunctionId, Module};

/// How functions are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scheme {
    /// Duplicates in registers of their own, compared where data leaves the registers.
    Drdv,
    /// The same, but comparisons set a signature, which is tested where functions end.
    FastsigDrdv,
    /// A duplicate before each instruction, compared with it at once.
    Sriv,
    /// The same, but comparisons set a signature.
    FastsigSriv,
    /// [`Scheme::FastsigDrdv`] with a signature that gathers differences by exclusive or, for comparison: the same difference
    /// twice is none.
    XorsigDrdv,
    /// The same with SRIV.
    XorsigSriv,
    /// DRDV as it would cost with an instruction that compares and raises an exception: a proxy, which detects nothing.
    HwNotify,
    /// The same with SRIV.
    HwNotifySriv,
    /// DRDV as it would cost with a signature of each hardware lane: a proxy, which detects nothing.
    HwSig,
    /// The same with SRIV.
    HwSigSriv,
    /// Two neighbouring lanes of a warp compute the same, and compare what they write before they do.
    Tld,
    /// The same, but comparisons set a predicate, which is tested where the kernel ends.
    TldSig,
}

impl Scheme {
    /// Those that execute instructions twice and notice faults.
    pub const INSTRUCTIONS: [Self; 4] = [Self::Drdv, Self::FastsigDrdv, Self::Sriv, Self::FastsigSriv];
    /// Those with a signature to which the same difference twice is none.
    pub const XOR: [Self; 2] = [Self::XorsigDrdv, Self::XorsigSriv];
    /// Those that have the cost of hardware that is not there, and notice nothing.
    pub const PROXIES: [Self; 4] = [Self::HwNotify, Self::HwNotifySriv, Self::HwSig, Self::HwSigSriv];
    /// Those that need blocks of twice as many threads.
    pub const LANES: [Self; 2] = [Self::Tld, Self::TldSig];

    /// Every scheme.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::in_threads().chain(Self::LANES)
    }

    /// Those for which launches stay as they are.
    pub fn in_threads() -> impl Iterator<Item = Self> {
        Self::INSTRUCTIONS.into_iter().chain(Self::XOR).chain(Self::PROXIES)
    }

    /// Whether blocks have to have twice as many threads.
    #[must_use]
    pub fn doubles_blocks(self) -> bool {
        Self::LANES.contains(&self)
    }

    /// Whether it is a proxy for costs, which notices no fault.
    #[must_use]
    pub fn is_proxy(self) -> bool {
        Self::PROXIES.contains(&self)
    }

    /// The word that stands for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Drdv => "drdv",
            Self::FastsigDrdv => "fastsig-drdv",
            Self::Sriv => "sriv",
            Self::FastsigSriv => "fastsig-sriv",
            Self::XorsigDrdv => "xorsig-drdv",
            Self::XorsigSriv => "xorsig-sriv",
            Self::HwNotify => "hw-notify",
            Self::HwNotifySriv => "hw-notify-sriv",
            Self::HwSig => "hw-sig",
            Self::HwSigSriv => "hw-sig-sriv",
            Self::Tld => "tld",
            Self::TldSig => "tld-sig",
        }
    }

    /// The scheme that a word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::all().find(|scheme| scheme.word() == word)
    }
}

/// How a function is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Technique {
    /// The scheme.
    pub scheme: Scheme,
    /// Whether loads from memory that other threads write are executed twice, too. [`sharing`] says where they must not be.
    pub loads: bool,
}

impl From<Scheme> for Technique {
    fn from(scheme: Scheme) -> Self {
        Self { scheme, loads: false }
    }
}

/// What became of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// It has no body.
    Declared,
    /// None of its instructions is chosen: it is left as it is.
    Unchosen,
    /// It is protected; these are the origins of its instructions.
    Written(Vec<Origin>),
    /// It is left as it is.
    Refused(Unprotected),
}

/// A module in which functions are protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedModule {
    /// The module.
    pub module: Module,
    /// What became of each of its functions, in their order.
    pub functions: Vec<Protection>,
}

/// Protects what can be protected of those instructions of a module that `chosen` holds, by the number of the function and the
/// instruction in it. Of a kernel whose blocks have to have twice as many threads, one chosen instruction chooses all.
///
/// # Errors
/// If the module that comes of it has a defect, which is a mistake of ours.
pub fn protect(
    module: &Module,
    scheme: Scheme,
    chosen: &dyn Fn(FunctionId, Pc) -> bool,
) -> Result<ProtectedModule, Refusal> {
    protect_each(module, &|_| scheme.into(), chosen)
}

/// The same with a technique for each function. Loads are executed twice by the schemes of [`Scheme::INSTRUCTIONS`] alone.
///
/// # Errors
/// As those of [`protect`].
pub fn protect_each(
    module: &Module,
    technique: &dyn Fn(FunctionId) -> Technique,
    chosen: &dyn Fn(FunctionId, Pc) -> bool,
) -> Result<ProtectedModule, Refusal> {
    let mut module = module.clone();
    let numbered = module.functions.iter_mut().zip((0..).map(FunctionId));
    let functions =
        numbered.map(|(function, id)| protect_function(function, technique(id), &|pc: Pc| chosen(id, pc))).collect();
    match isa::verify::verify(&module).first() {
        None => Ok(ProtectedModule { module, functions }),
        Some(defect) => Err(Refusal::Malformed(defect.to_string())),
    }
}

/// By instruction of a function, whether protection can execute it twice, `loads` saying whether those from memory that other
/// threads write are; none where the function cannot be protected.
#[must_use]
pub fn executed_twice(function: &Function, loads: bool) -> Vec<bool> {
    let mut twice = vec![false; function.body.len()];
    let mut settled = function.clone();
    let Ok(before) = joins::settle(&mut settled) else { return twice };
    let all = vec![true; settled.body.len()];
    for piece in pieces::pieces(&settled, &all, loads).unwrap_or_default() {
        if matches!(piece.treatment, Treatment::Duplicate | Treatment::Constant) {
            let old = before[piece.range].iter();
            old.for_each(|pc| twice.get_mut(pc.index()).into_iter().for_each(|twice| *twice = true));
        }
    }
    twice
}

fn protect_function(function: &mut Function, technique: Technique, chosen: &dyn Fn(Pc) -> bool) -> Protection {
    if function.body.is_empty() {
        return Protection::Declared;
    }
    let outside = technique.scheme.doubles_blocks() && !function.kernel;
    if outside || !(0..function.body.len() as u32).map(Pc).any(chosen) {
        return Protection::Unchosen;
    }
    let mut protected = function.clone();
    match write(&mut protected, technique, chosen) {
        Ok(origins) => {
            *function = protected;
            Protection::Written(origins)
        }
        Err(refused) => Protection::Refused(refused),
    }
}

fn write(
    function: &mut Function,
    Technique { scheme, loads }: Technique,
    chosen: &dyn Fn(Pc) -> bool,
) -> Result<Vec<Origin>, Unprotected> {
    if let Some(byte) = function.registers.iter().find(|register| register.ty.bits() == 8) {
        return Err(Unprotected::Byte { register: byte.name.clone() });
    }
    let before = joins::settle(function)?;
    let chosen: Vec<bool> = before.iter().map(|pc| chosen(*pc)).collect();
    let once = (chosen.as_slice(), false);
    let which = (chosen.as_slice(), loads);
    use Notification::{Deferred, Immediate, Proxy};
    let (or, xor) = (Deferred(Accumulation::Or), Deferred(Accumulation::Xor));
    let (notify, signature) = (Proxy(HardwareProxy::Notify), Proxy(HardwareProxy::Signature));
    let origins = match scheme {
        Scheme::Drdv => shadow::double(function, Immediate, which)?,
        Scheme::FastsigDrdv => shadow::double(function, or, which)?,
        Scheme::XorsigDrdv => shadow::double(function, xor, once)?,
        Scheme::HwNotify => shadow::double(function, notify, once)?,
        Scheme::HwSig => shadow::double(function, signature, once)?,
        Scheme::Sriv => immediate::twin(function, Immediate, which)?,
        Scheme::FastsigSriv => immediate::twin(function, or, which)?,
        Scheme::XorsigSriv => immediate::twin(function, xor, once)?,
        Scheme::HwNotifySriv => immediate::twin(function, notify, once)?,
        Scheme::HwSigSriv => immediate::twin(function, signature, once)?,
        Scheme::Tld | Scheme::TldSig => lanes::pair(function, scheme == Scheme::TldSig)?,
    };
    place::drop_unnamed(function);
    let of = |pc: Pc| before.get(pc.index()).copied().unwrap_or(pc);
    Ok(origins.into_iter().map(|origin| origin.of(of)).collect())
}
