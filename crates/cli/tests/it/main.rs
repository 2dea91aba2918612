//! The program as its users meet it: every command on the bundled workloads, no GPU, no compiler.

mod beam;
mod bounds;
mod campaigns;
mod commands;
mod error_sites;
mod fit;
mod harden;
mod inputs;
mod interruptions;
mod live;
mod methods;
mod mistakes;
mod networks;
mod predictions;
mod propagation;
mod propagation_lines;
mod recorded;
mod regions;
mod reports;
mod strangers;
mod written;

use campaign::{Results, Row};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The program with some arguments, not started yet.
fn beamline(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_beamline"));
    // What is kept of this user stays here.
    command.args(args).env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    command
}

fn run(args: &[&str]) -> Output {
    beamline(args).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a command that must succeed and print one JSON document.
fn json(args: &[&str]) -> Value {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("one JSON document on standard output")
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

/// The rows of a campaign.
fn rows(dir: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let results = Results::open(dir).expect("there are results");
    results.visit(&mut |row| rows.push(row)).expect("the rows can be read");
    rows
}
