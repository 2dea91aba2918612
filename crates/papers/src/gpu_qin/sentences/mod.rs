//! What the page says in words, each sentence a function of what was measured.
//!
//! The template of the page has neither numbers nor words for them (most, few, rare): a test sees to that. Whoever wants to say such a
//! thing writes a function here.

mod lost;
mod measurements;
mod method;
mod rates;

use methods::gpu_qin::studies::LEVEL;

use super::questions::Questions;
use super::statements::INTERVALS;
use crate::statements::tally;
use crate::words::percent;

pub(super) use measurements::Measurements;

/// The sentences, by the names under which the template asks for them.
pub(super) fn sentences(it: &Measurements<'_>) -> Vec<(&'static str, String)> {
    vec![
        ("say-tally", tally(it.parts, "kernels")),
        ("say-levels", levels(it.questions)),
        ("say-method", method::whole(it)),
        ("say-spread", method::spread(it)),
        ("say-coverage", method::coverages(it.kernels)),
        ("say-zeros", method::zeros(it.kernels)),
        ("say-heuristics", method::heuristics(it)),
        ("say-caps", method::caps(it)),
        ("say-bounds", method::bounds()),
        ("say-cost", method::cost(it.kernels)),
        ("say-given-up", lost::given_up(it.kernels)),
        ("say-activation", lost::activation(it.kernels)),
        ("say-unread", lost::unread(it.kernels)),
        ("say-hangs", rates::hangs(it.kernels)),
        ("say-compiler", rates::compiler(it.kernels)),
        ("say-highest", rates::highest(it.kernels)),
        ("say-groups", rates::groups(it)),
        ("say-monte", rates::monte(it.kernels)),
        ("say-classes", rates::classes(it.kernels)),
        ("say-exceptions", rates::exceptions(it.kernels)),
        ("say-latencies", rates::latencies(it)),
        ("say-mix", rates::mix(it)),
        ("say-state", rates::state(it.kernels)),
    ]
}

fn levels(questions: &Questions) -> String {
    format!(
        "Tests: the page makes {}; their p-values are corrected together by Holm's procedure, so that the chance of even one false alarm \
         is {} at most. Intervals that verdicts rest on hold for all {INTERVALS} rates at once at 95 % (Bonferroni); those in tables and \
         plots are for each rate by itself.",
        questions.count(),
        percent(LEVEL)
    )
}
