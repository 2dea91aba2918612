//! How much do outcomes depend on the order in which warps and blocks execute?

use super::compared::{Variant, compare};
use crate::kit::{Campaigns, StudyError, StudySubject};
use inject::{Machine, Order};
use study::Study;

pub(super) fn study(subjects: &[StudySubject], runs: u64, campaigns: &mut Campaigns<'_>) -> Result<Study, StudyError> {
    let study = Study::new(
        "order",
        "The order of warps and blocks",
        format!(
            "The same {runs} faults of each workload on machines that differ in their order. races: as ever, kernels \
             with data races have their warps interleaved, others run one warp after the other. turns: no kernel is \
             interleaved. reversed: the same with the last warp of each block first. warps: in every kernel the warps of \
             a block take turns after each instruction. blocks: those of all blocks do, where a GPU can hold all at once. \
             An outcome is changed if its class or its kind is another than with races; a program whose result \
             without a fault is another then has other sites and is left out."
        ),
    );
    let variant =
        |order: Order| Variant { name: order.word(), change: Box::new(move |same| Machine { order, ..same }) };
    let variants = Order::ALL.map(variant);
    compare(study, &variants, subjects, runs, campaigns)
}
