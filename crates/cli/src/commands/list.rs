//! `beamline list`

use crate::args::List;
use crate::failure::{Code, Failure};
use crate::out;
use serde::Serialize;
use session::bundled;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    class: String,
    stands_for: String,
    summary: String,
    bytes: usize,
}

/// Lists the bundled workloads.
pub(crate) fn list(args: &List) -> Result<Code, Failure> {
    let rows: Vec<Row> = bundled::all()
        .map(|workload| {
            let bundled::Description { summary, stands_for, class } = workload.description();
            Row { name: workload.name, class, stands_for, summary, bytes: workload.capsule.len() }
        })
        .collect();
    if args.json {
        out::json(&rows)?;
    } else {
        let cells = rows.into_iter().map(|row| vec![row.name.to_owned(), row.class, row.stands_for, row.summary]);
        out::text(&out::table(
            &["workload", "class", "stands for", "what it computes"],
            "<",
            &cells.collect::<Vec<_>>(),
        ))?;
    }
    Ok(Code::Done)
}
