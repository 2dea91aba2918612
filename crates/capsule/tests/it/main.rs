//! Tests of the crate from outside, in one binary so that they are linked once.

mod damage;
mod error_texts;
mod forward;
mod hostile;
mod queries;
mod round_trip;
mod samples;
mod validity;
mod writing;
