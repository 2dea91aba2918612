//! What sentences are made from.

use crate::gpu_qin::questions::Questions;
use crate::gpu_qin::survey::MeasuredKernel;
use crate::statements::Part;

/// What sentences are made from.
pub(in crate::gpu_qin) struct Measurements<'m> {
    pub(in crate::gpu_qin) kernels: &'m [MeasuredKernel],
    pub(in crate::gpu_qin) questions: &'m Questions,
    pub(in crate::gpu_qin) parts: &'m [Part],
}
