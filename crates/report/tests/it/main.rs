//! The report of whole campaigns, made up but written by `campaign` itself.

#![allow(missing_docs, unreachable_pub, clippy::allow_attributes, reason = "a test has no readers but its own")]

mod campaigns;
mod capped;
mod exports;
mod hostile;
mod judged;
mod page;
mod same_numbers;
mod synthetic;

use campaign::Description;
use campaign::{Choices, Results};
use report::{Context, ListedInstruction, Report, SourceText};
use serde_json::Value;
use synthetic::Synthetic;
use tempfile::TempDir;

/// What a caller would know of the synthetic target.
fn context() -> Context {
    let line = |n: usize| format!("    statement_{n};");
    let listed = |pc: u32| ListedInstruction {
        function: "_Z4loopPf".into(),
        pc,
        opcode: "op.f32".into(),
        line: (pc % 9 != 8).then_some(10 + pc / 2),
        text: format!("op.f32 %f{pc}, %f1;"),
    };
    Context {
        version: "0.1".into(),
        dir: "out.campaign".into(),
        sources: vec![SourceText {
            path: "/src/synthetic.cu".into(),
            text: (1..=200).map(line).collect::<Vec<_>>().join("\n"),
        }],
        listing: (0..40).map(listed).collect(),
        description: Description {
            faults: "In a destination register, one bit flips. Each run draws one dynamic instruction.".into(),
            not_hit: "Only the operands named above are hit.".into(),
            machine: vec!["Instructions are those of PTX.".into()],
        },
        short_name: |name| if name == "_Z4loopPf" { "loop" } else { name },
        ..Context::default()
    }
}

/// A campaign and its report.
fn made(choices: Choices, target: &Synthetic) -> (TempDir, Results, Report) {
    let dir = TempDir::new().unwrap();
    let results = synthetic::campaign(&dir.path().join("c"), choices, target);
    let report = Report::new(&results, context()).unwrap();
    (dir, results, report)
}

/// The report of so many runs.
fn sampled(runs: u64) -> Report {
    made(synthetic::runs(runs), &Synthetic::default()).2
}

fn json(report: &Report) -> Value {
    serde_json::from_str(&report.to_json().unwrap()).unwrap()
}
