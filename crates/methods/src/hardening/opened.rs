//! A hardened capsule, ready for campaigns as the one that it was made of.

use crate::hardening::choice::ProtectionChoice;
use crate::hardening::coverage::Coverage;
use crate::hardening::harden::{HardenedCapsule, harden, harden_with_loads};
use crate::hardening::loads::RacingKernels;
use crate::hardening::reading::HardenError;
use crate::kit::{OpenedCapsule, StudyError};
use inject::{CapsuleTarget, Golden, Machine, Setup};
use rewrite::Scheme;
use std::sync::Arc;

/// Hardens a capsule and executes its golden run on the default machine, which fails if it does something else than the original.
///
/// # Errors
/// If it cannot be hardened, or does something else.
pub fn harden_opened(
    original: &OpenedCapsule,
    scheme: Scheme,
    choice: Option<&ProtectionChoice>,
) -> Result<(OpenedCapsule, Coverage), StudyError> {
    opened(original, harden(original.golden_run().capsule(), scheme, choice))
}

/// The same with loads that are executed twice, where that is safe.
///
/// # Errors
/// As those of [`harden_opened`]; and if the scheme executes no loads twice.
pub fn harden_opened_with_loads(
    original: &OpenedCapsule,
    scheme: Scheme,
    choice: Option<&ProtectionChoice>,
) -> Result<(OpenedCapsule, Coverage), StudyError> {
    let golden = original.golden_run();
    opened(original, harden_with_loads(golden.capsule(), scheme, &RacingKernels::of(golden), choice))
}

fn opened(
    original: &OpenedCapsule,
    made: Result<HardenedCapsule, HardenError>,
) -> Result<(OpenedCapsule, Coverage), StudyError> {
    let refused = |error: &dyn std::error::Error| StudyError::Refused(error.to_string());
    let HardenedCapsule { capsule, coverage, .. } = made.map_err(|error| refused(&error))?;
    let golden = Golden::run_on(Arc::new(capsule), Machine::default()).map_err(|error| refused(&error))?;
    let setup = Setup { criteria: original.criteria(), ..Setup::default() };
    let target = CapsuleTarget::set_up(golden, &setup)?;
    Ok((original.variant(Arc::new(target))?, coverage))
}
