//! The record of how long the whole check takes: it has a row for every step of `.ci/run`.

use crate::repo::root;
use anyhow::{Context, Result};
use std::fs;

/// Checks the record against the script.
pub(super) fn check(wrong: &mut Vec<String>) -> Result<()> {
    let read = |path: &str| fs::read_to_string(root().join(path)).with_context(|| format!("read {path}"));
    let (script, record) = (read(".ci/run")?, read("records/gate.md")?);
    let missing = missing(&script, &record);
    wrong.extend(missing.iter().map(|step| format!("records/gate.md has no row for the step `{step}` of .ci/run")));
    Ok(())
}

/// The steps of a script without a row in a record.
fn missing<'s>(script: &'s str, record: &str) -> Vec<&'s str> {
    let steps = script.lines().filter_map(|line| line.strip_prefix("step ")).map(|step| step.trim_matches('"'));
    steps.filter(|step| !record.lines().any(|row| row.starts_with(&format!("| {step} |")))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_without_a_row_is_found() {
        let script = "step() {\n}\nstep lints\ncargo clippy\n\nstep \"all workloads\"\ncargo xtask workloads\n";
        assert_eq!(missing(script, "| lints | 1 |"), ["all workloads"]);
        assert_eq!(missing(script, "| lints | 1 |\n| all workloads | 2 |"), [""; 0]);
    }
}
