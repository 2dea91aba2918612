//! The instruction vectors.

use crate::report;
use testkit::vectors::{Row, check, missing, read_all};

fn rows() -> Vec<Row> {
    read_all().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_vector_gives_its_result_at_every_level_masked_and_unmasked() {
    let rows = rows();
    assert!(rows.len() > 10_000);
    report("results differ", &check(&rows));
}

#[test]
fn every_line_of_the_instruction_table_has_vectors() {
    report("lines or spellings have too few vectors", &missing(&rows()));
}
