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
mod eligible;
mod immediate;
mod joins;
mod kept;
mod opaque;
mod origin;
mod pieces;
mod place;
mod proxied;
mod proxy;
mod refused;
mod select;
mod shadow;
mod signature;
#[cfg(test)]
mod tests;
mod undefined;

pub use origin::{Origin, OriginCounts};
pub use refused::Unprotected;

use crate::protect::checks::Notification;
use crate::protect::eligible::Treatment;
use crate::protect::proxy::HardwareProxy;
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
    /// DRDV as it would cost with an instruction that compares and raises an exception: a proxy, which detects nothing.
    HwNotify,
    /// The same with SRIV.
    HwNotifySriv,
    /// DRDV as it would cost with a signature of each hardware lane: a proxy, which detects nothing.
    HwSig,
    /// The same with SRIV.
    HwSigSriv,
}

impl Scheme {
    /// Those that execute instructions twice and notice faults.
    pub const INSTRUCTIONS: [Self; 4] = [Self::Drdv, Self::FastsigDrdv, Self::Sriv, Self::FastsigSriv];
    /// Those that have the cost of hardware that is not there, and notice nothing.
    pub const PROXIES: [Self; 4] = [Self::HwNotify, Self::HwNotifySriv, Self::HwSig, Self::HwSigSriv];

    /// Every scheme.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::INSTRUCTIONS.into_iter().chain(Self::PROXIES)
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
            Self::HwNotify => "hw-notify",
            Self::HwNotifySriv => "hw-notify-sriv",
            Self::HwSig => "hw-sig",
            Self::HwSigSriv => "hw-sig-sriv",
        }
    }

    /// The scheme that a word stands for.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::all().find(|scheme| scheme.word() == word)
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
/// instruction in it.
///
/// # Errors
/// If the module that comes of it has a defect, which is a mistake of ours.
pub fn protect(
    module: &Module,
    scheme: Scheme,
    chosen: &dyn Fn(FunctionId, Pc) -> bool,
) -> Result<ProtectedModule, Refusal> {
    let mut module = module.clone();
    let numbered = module.functions.iter_mut().zip((0..).map(FunctionId));
    let functions =
        numbered.map(|(function, id)| protect_function(function, scheme, &|pc: Pc| chosen(id, pc))).collect();
    match isa::verify::verify(&module).first() {
        None => Ok(ProtectedModule { module, functions }),
        Some(defect) => Err(Refusal::Malformed(defect.to_string())),
    }
}

/// By instruction of a function, whether protection can execute it twice; none where the function cannot be protected.
#[must_use]
pub fn executed_twice(function: &Function) -> Vec<bool> {
    let mut twice = vec![false; function.body.len()];
    let mut settled = function.clone();
    let Ok(before) = joins::settle(&mut settled) else { return twice };
    let all = vec![true; settled.body.len()];
    for piece in pieces::pieces(&settled, &all).unwrap_or_default() {
        if matches!(piece.treatment, Treatment::Duplicate | Treatment::Constant) {
            let old = before[piece.range].iter();
            old.for_each(|pc| twice.get_mut(pc.index()).into_iter().for_each(|twice| *twice = true));
        }
    }
    twice
}

fn protect_function(function: &mut Function, scheme: Scheme, chosen: &dyn Fn(Pc) -> bool) -> Protection {
    if function.body.is_empty() {
        return Protection::Declared;
    }
    if !(0..function.body.len() as u32).map(Pc).any(chosen) {
        return Protection::Unchosen;
    }
    let mut protected = function.clone();
    match write(&mut protected, scheme, chosen) {
        Ok(origins) => {
            *function = protected;
            Protection::Written(origins)
        }
        Err(refused) => Protection::Refused(refused),
    }
}

fn write(function: &mut Function, scheme: Scheme, chosen: &dyn Fn(Pc) -> bool) -> Result<Vec<Origin>, Unprotected> {
    let before = joins::settle(function)?;
    let chosen: Vec<bool> = before.iter().map(|pc| chosen(*pc)).collect();
    let notification = match scheme {
        Scheme::Drdv | Scheme::Sriv => Notification::Immediate,
        Scheme::FastsigDrdv | Scheme::FastsigSriv => Notification::Deferred,
        Scheme::HwNotify | Scheme::HwNotifySriv => Notification::Proxy(HardwareProxy::Notify),
        Scheme::HwSig | Scheme::HwSigSriv => Notification::Proxy(HardwareProxy::Signature),
    };
    let origins = match scheme {
        Scheme::Drdv | Scheme::FastsigDrdv | Scheme::HwNotify | Scheme::HwSig => {
            shadow::double(function, notification, &chosen)?
        }
        Scheme::Sriv | Scheme::FastsigSriv | Scheme::HwNotifySriv | Scheme::HwSigSriv => {
            immediate::twin(function, notification, &chosen)?
        }
    };
    place::drop_unnamed(function);
    let of = |pc: Pc| before.get(pc.index()).copied().unwrap_or(pc);
    Ok(origins.into_iter().map(|origin| origin.of(of)).collect())
}
