//! The instruction vectors.

use crate::report;
use testkit::vectors::{Row, check, missing, read};

/// Every row of every file.
fn rows() -> Vec<Row> {
    let folder = testkit::filetests("instructions");
    let mut rows = Vec::new();
    for path in testkit::files(&folder, "vec").unwrap() {
        let name = format!("filetests/instructions/{}", path.file_name().unwrap().to_string_lossy());
        let text = std::fs::read_to_string(&path).unwrap();
        rows.extend(read(&name, &text).unwrap_or_else(|error| panic!("{error}")));
    }
    rows
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
