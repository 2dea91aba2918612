//! The instruction vectors.

use crate::report;
use testkit::vectors::random::{self, VectorSource};
use testkit::vectors::{TestVector, check, missing, read_all};

fn rows() -> Vec<TestVector> {
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

#[test]
fn random_rows_give_what_a_gpu_gave() {
    let random::KeptAnswers { trials, without } =
        random::unpack(VectorSource::all(&rows())).unwrap_or_else(|error| panic!("{error}"));
    assert!(trials.len() * random::ROWS > 1_000_000, "{} forms", trials.len());
    // What no GPU of that kind executes, with the reason in records/vectors.md.
    assert_eq!(
        without.iter().filter(|name| !(name.contains("satfinite") && name.contains("tf32"))).count(),
        0,
        "{without:?}"
    );
    let failures = testkit::in_parallel(&trials, |(trial, answers)| {
        let failures = trial.check(answers);
        Some(format!("{} results differ, first {}", failures.len(), failures.first()?))
    });
    report("forms differ", &failures.into_iter().flatten().collect::<Vec<_>>());
}
