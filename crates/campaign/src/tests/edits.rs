//! Files of rows that somebody edited.

use std::fs;

use super::*;
use crate::StoreError;

/// What is said of a campaign of 20 runs after its rows were edited: by who reads all of each row, and by who looks at it.
fn edited(edit: &str) -> [String; 2] {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), config(20), &Fake::default());
    let path = dir.path().join("shard-1-of-1.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(&format!("PRAGMA ignore_check_constraints = ON; {edit}")).unwrap();
    drop(connection);
    let results = || Results::open(dir.path());
    let text = |read: Result<(), StoreError>| {
        let error = read.expect_err(edit);
        assert!(matches!(error, StoreError::Damaged { .. }), "{edit}: {error}");
        let text = format!("failed to {error}").replace(&path.display().to_string(), "ROWS");
        text.strip_suffix("; the file was damaged or edited").unwrap().to_owned()
    };
    let visited = results().and_then(|results| results.visit(&mut |_| {}));
    [text(visited), text(results().and_then(|results| results.summary()).map(drop))]
}

#[test]
fn an_edited_row_is_an_error_and_not_a_result() {
    let edits = [
        ("outcome = 'sdc', kind = 'zzz'", "`kind` is `zzz`, which can be unjudged, good, bad, detectable, or maybe_"),
        ("outcome = 'sdc', kind = 'hang'", "`kind` is `hang`, which can be unjudged, good, bad, detectable, or maybe_"),
        ("outcome = 'masked', kind = 'spared'", "`kind` is `spared`, which can be never_read, overwritten, logical"),
        ("outcome = 'fine'", "`outcome` is `fine`, which can be masked, sdc, due, undecided, not_landed, failed"),
        (
            "outcome = 'due', kind = 'assert', ended = 'completed', ended_by = NULL, ended_kernel = NULL, ended_address = NULL",
            "`outcome` is `due` with kind `assert`, which no run has that",
        ),
        ("outputs = '[[[['", "`outputs` is `[[[[`, which can be a list of comparisons as JSON (invalid type: sequence"),
        ("tier = 'warp'", "`tier` is `warp`, which can be full, delta, stopped, lanes, live"),
        ("weight = -1", "`weight` is `-1`, which can be a number that is not negative"),
        (
            "landed_before = NULL, landed_after = '0x1'",
            "of `landed_before`, `landed_after` and `landed_threads` some are missing",
        ),
        (
            "landed_before = 'x', landed_after = '0x1', landed_threads = 1",
            "`landed_before` is `x`, which can be a value such as 0x1f",
        ),
        (
            "first_use_after = NULL, first_use = 'read'",
            "`first_use_after` is `NULL`, which can be a number where `first_use` is `read`",
        ),
        ("ended = 'asleep'", "`ended` is `asleep`, which can be completed, trapped, hang,"),
        ("ended = 'hang', ended_kernel = NULL", "`ended` is `hang`, with which a row has `ended_kernel`"),
        (
            "ended = 'trapped', ended_by = 'assert', ended_kernel = 'k', ended_pc = 1, ended_after = 1, ended_address = 'here'",
            "`ended_address` is `here`, which can be an address such as 0x1f",
        ),
        ("fault = NULL", "of `fault` and `given_up` a row has one"),
        ("classifier = 99", "`classifier` is `99`, which can be 1 to "),
        ("landed_threads = 33", "`landed_threads` is `33`, which can be 1 to 32"),
        ("landed_threads = 0", "`landed_threads` is `0`, which can be 1 to 32"),
        ("host_visible = 2", "`host_visible` is `2`, which can be 0 or 1"),
        ("instructions = -1", "`instructions` is `-1`, which can be a number that is not negative"),
        ("strayed = -1", "`strayed` is `-1`, which can be a number that is not negative"),
        ("dynamic = -1", "`dynamic` is `-1`, which can be a number that is not negative"),
        ("pc = -1", "`pc` is `-1`, which can be a number that is not negative"),
    ];
    for (edit, expected) in edits {
        let said = edited(&format!(
            "UPDATE run SET {edit} WHERE run = (SELECT min(run) FROM run WHERE error IS NULL AND landed_before IS NOT NULL)"
        ));
        for said in said {
            assert!(said.starts_with("failed to read ROWS: run ") && said.contains(expected), "{edit}: {said}");
        }
    }
}

#[test]
fn where_a_run_ended_is_not_said_without_a_kernel() {
    for (column, value) in [("ended_pc", 7), ("ended_line", -2), ("ended_after", 0)] {
        let said = edited(&format!(
            "UPDATE run SET {column} = {value} WHERE run = (SELECT min(run) FROM run WHERE ended = 'completed')"
        ));
        let expected = format!("`{column}` is `{value}`, which can be NULL where `ended_kernel` is NULL");
        assert!(said.iter().all(|said| said.ends_with(&expected)), "{said:?}");
    }
}

#[test]
fn a_row_is_what_the_plan_says() {
    let dir = tempfile::tempdir().unwrap();
    run_all(dir.path(), config(20), &Fake::default());
    let connection = rusqlite::Connection::open(dir.path().join("shard-1-of-1.sqlite")).unwrap();
    let said = || match Results::open(dir.path()).unwrap().summary() {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    };
    assert_eq!(said(), "nothing");
    for (edit, column) in [
        ("fault = 'nonsense'", "fault"),
        ("fault = (SELECT fault FROM run WHERE run = 4)", "fault"),
        ("weight = 9223372036854775807", "weight"),
        ("kernel = 'other'", "kernel"),
        ("pc = 99999999", "pc"),
        ("target = 'addr'", "target"),
        ("instruction_group = 'none'", "instruction_group"),
        ("opcode = 'none'", "opcode"),
        ("file = 'none.cu'", "file"),
        ("line = 4294967295", "line"),
        ("dynamic = 999999", "dynamic"),
    ] {
        connection.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM run WHERE run = 3").unwrap();
        connection.execute_batch(&format!("UPDATE run SET {edit} WHERE run = 3")).unwrap();
        let text = said();
        assert!(
            text.contains(&format!("run 3: `{column}` is `")) && text.contains(", as the plan has it"),
            "{edit}: {text}"
        );
        connection
            .execute_batch("DELETE FROM run WHERE run = 3; INSERT INTO run SELECT * FROM kept; DROP TABLE kept")
            .unwrap();
    }
    connection.execute_batch("UPDATE session SET seconds = -5").unwrap();
    assert!(said().contains("`seconds` is `-5`, which can be a number that is not negative"), "{}", said());
    connection.execute_batch("UPDATE session SET seconds = 5; UPDATE target SET digest = '00'").unwrap();
    assert!(said().contains("`digest` is `00`, which can be `fa4e`, as the plan has it"), "{}", said());
    // Rows that were handed on alone are read as they are.
    fs::remove_file(dir.path().join("plan")).unwrap();
    assert_eq!(said(), "nothing");
}

#[test]
fn a_run_that_is_not_planned_is_an_error_and_not_a_result() {
    let said = edited("UPDATE run SET run = 999999 WHERE run = 19");
    let expected = "failed to read ROWS: run 999999: `run` is `999999`, which can be 0 to 19: the campaign has 20 runs";
    assert_eq!(said, [expected; 2]);
}

#[test]
fn rows_are_read_from_the_tables_that_were_made_and_from_nothing_else() {
    let view = "ALTER TABLE run RENAME TO kept; CREATE VIEW run AS SELECT * FROM kept";
    assert_eq!(edited(view)[1], "failed to read ROWS: `run` is a view, where a table is expected");
    let lax = "CREATE TABLE lax AS SELECT * FROM run; DROP TABLE run; ALTER TABLE lax RENAME TO run";
    assert!(edited(lax)[1].starts_with("failed to read ROWS: its table `run` is `CREATE TABLE "), "{:?}", edited(lax));
    assert_eq!(edited("DROP TABLE race")[0], "failed to read ROWS: it has no table `race`");
}
