//! The same seed gives the same rows, however they are made.

use super::*;

#[test]
fn rows_do_not_depend_on_the_number_of_workers() {
    let target = Fake::default();
    let expected = undisturbed(config(300), &target);
    assert_eq!(expected.len(), 300);
    for jobs in [2, 3, 8, 64, 1000] {
        let dir = tempfile::tempdir().unwrap();
        let config = Choices { jobs: Some(jobs), ..choices(300) }.settle().unwrap();
        run_all(dir.path(), config, &target);
        assert_eq!(rows(dir.path()), expected, "{jobs} jobs");
    }
}

#[test]
fn a_campaign_of_one_run_works_with_any_number_of_workers() {
    let target = Fake::default();
    for jobs in [1, 16] {
        let dir = tempfile::tempdir().unwrap();
        let config = Choices { jobs: Some(jobs), ..choices(1) }.settle().unwrap();
        assert_eq!(run_all(dir.path(), config, &target).runs.planned, 1);
        assert_eq!(rows(dir.path()).len(), 1);
    }
}

#[test]
fn another_seed_or_another_model_gives_other_sites() {
    let target = Fake::default();
    let expected = undisturbed(config(10), &target);
    let seed = Choices { seed: Some(8), ..choices(10) }.settle().unwrap();
    let zero = SelectionWords { model: Some("zero".into()), ..SelectionWords::default() };
    let model = Choices { selection: zero, ..choices(10) }.settle().unwrap();
    for config in [seed, model] {
        let other = undisturbed(config, &target);
        assert!(expected.iter().zip(&other).all(|(one, other)| one.site.intent != other.site.intent));
    }
}

#[test]
fn a_longer_campaign_begins_with_the_rows_of_a_shorter_one() {
    let target = Fake::default();
    assert_eq!(undisturbed(config(200), &target)[..70], undisturbed(config(70), &target));
}

#[test]
fn every_kind_of_row_is_read_back_as_it_was_written() {
    // The fake makes every kind, with quotes, tabs and newlines in its labels, infinities and 128-bit values.
    let target = Fake::default();
    let rows = undisturbed(config(400), &target);
    let again = undisturbed(config(400), &target);
    assert_eq!(rows, again);
    let classes: std::collections::BTreeSet<_> = rows.iter().map(|row| row.finding.class()).collect();
    // Of no fake a host sees anything on the way.
    let others = outcome::Class::ALL.iter().filter(|class| **class != outcome::Class::Undecided);
    assert!(classes.iter().eq(others));
}

#[test]
fn a_panic_becomes_a_failed_row_with_its_message() {
    let rows = undisturbed(config(400), &Fake::default());
    let text = |row: &Row| match &row.finding {
        crate::Finding::Failed(failure) => Some(failure.message().to_owned()),
        crate::Finding::Seen { .. } | crate::Finding::GivenUp => None,
    };
    let panic = rows.iter().filter_map(text).find(|text| text.contains("panic")).unwrap();
    assert!(panic.starts_with("run the fault: panic: the fake fell over at "), "{panic}");
}
