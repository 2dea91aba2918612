//! How much do outcomes depend on what lies where a program was given nothing?

use super::compared::{Variant, compare};
use crate::kit::{Campaigns, StudyError, StudySubject};
use device::AddressProfile;
use inject::Machine;
use std::sync::Arc;
use study::Study;

pub(super) fn study(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let study = Study::new(
        "addresses",
        "Addresses that a program was not given",
        format!(
            "The same {runs} faults of each workload on machines that differ in their profile of addresses. h200: what \
             an H200 was seen to have mapped around allocations. mapped: nothing but the 2 MiB steps in which memory is \
             mapped for allocations. strict: every access outside of all allocations is an error, as under a sanitizer. \
             An outcome is changed if its class or its kind is another than with h200."
        ),
    );
    let variant = |name, profile: AddressProfile| {
        let profile = Arc::new(profile);
        let change = move |same| Machine { addresses: Arc::clone(&profile), ..same };
        Variant { name, change: Box::new(change) }
    };
    let variants = [
        variant("h200", AddressProfile::h200()),
        variant("mapped", AddressProfile::mapped()),
        variant("strict", AddressProfile::strict()),
    ];
    compare(study, &variants, subjects, runs, campaigns)
}
