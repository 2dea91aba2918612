//! `beamline events`: what microbenchmarks logged, as events and rates.

use serde_json::json;
use std::collections::BTreeMap;
use study::{Cell, Study, Table};

use super::super::issue::{MOST, is_rate};
use super::boards::{BoardComparison, Fluence, LogCounts};
use super::category::{Bits, Category, category};
use super::cross_sections::CrossSections;
use super::log::{Heartbeat, Log, read};
use super::rates::{Beam, Counts};
use super::words::{numbers, positive, wrong};
use crate::kit::StudyError;
use crate::method::{Answer, CommandOption, FilesRequest, Reader};

/// Neutrons for each cm² and hour in New York City (JESD89A).
pub(in super::super) const FLUX: &str = "13";

/// The command.
pub(in super::super) const EVENTS: Reader = Reader {
    name: "events",
    about: "Categorise what microbenchmarks logged under a beam, and make an IPA table of it",
    files: "LOG",
    options: &[
        CommandOption::any(
            "fluence",
            "[LOG:]PROGRAM=N,…|@FILE",
            None,
            "Neutrons for each cm² that went through the GPU, by program, for cross-sections; of each log, where boards are to be compared; \
             @FILE has them by line",
        ),
        CommandOption::any(
            "issue",
            "PROGRAM=RATE,…",
            None,
            "Tested instructions that a multiprocessor issued in a cycle, by program",
        ),
        CommandOption::any("multiprocessors", "N", None, "Multiprocessors of the GPU"),
        CommandOption::any(
            "flux",
            "N",
            Some(FLUX),
            "Neutrons for each cm² and hour where the rates are to hold: 13 in New York City (JESD89A)",
        ),
        CommandOption::any(
            "table",
            "F.toml",
            None,
            "Write the IPA table of the events; needs the fluence, the issue rates and the multiprocessors",
        ),
    ],
    run: events,
};

fn events(request: &FilesRequest) -> Result<Answer, StudyError> {
    let (mut counted, mut logs) = (BTreeMap::<String, Counts>::new(), Vec::new());
    let (mut torn, mut refused, mut reasons) = (0, 0, Vec::new());
    for (number, (name, text)) in request.files.iter().enumerate() {
        if let Some((other, _)) = request.files[..number].iter().find(|(_, other)| other == text) {
            let why = format!("read {name}: it is the same text as {other}, and would count twice; leave one out");
            return Err(StudyError::Words(why));
        }
        let log: Log = read(text);
        torn += log.torn;
        refused += log.refused;
        reasons.extend(log.reasons.iter().map(|reason| format!("{name}, {reason}")));
        let of_log = count(&log);
        for (program, counts) in &of_log {
            counted.entry(program.clone()).or_default().add(counts);
        }
        logs.push(LogCounts { name: name.clone(), counted: of_log });
    }
    if counted.is_empty() {
        let torn = if torn > 0 { format!(", and {torn} lines that are torn or not text") } else { String::new() };
        return Err(StudyError::Refused(format!("categorise events: the logs have no run of a microbenchmark{torn}")));
    }
    let words: String = request.options.get("fluence")?.unwrap_or_default();
    let words = words.strip_prefix('@').map_or_else(|| Ok(words.clone()), fluence_file)?;
    let fluence = Fluence::read(&words, &logs)?;
    let boards = BoardComparison::of(&logs, &fluence);
    let issue = by_program(request, "issue", &counted)?;
    if let Some((name, rate)) = issue.iter().find(|(_, rate)| !is_rate(**rate)) {
        return Err(StudyError::Words(format!(
            "take the issue rate {rate} of {name}: a multiprocessor issues more than 0 and at most {MOST} instructions in a cycle"
        )));
    }
    let beam = Beam {
        flux: positive("flux", request.options.get("flux")?.unwrap_or_default())?,
        fluence: fluence.total,
        issue,
        multiprocessors: request.options.get("multiprocessors")?.unwrap_or(0),
    };
    let rated = beam.multiprocessors > 0;
    let table = if rated { beam.table(&counted).map_err(StudyError::Words)? } else { None };
    // These are for the table of rates alone; a fluence makes cross-sections, and with the flux rates of a GPU.
    let for_rates: &[&str] = if beam.fluence.is_empty() {
        &["table", "flux", "issue", "multiprocessors"]
    } else {
        &["table", "issue", "multiprocessors"]
    };
    if table.is_none()
        && let Some(key) = request.options.first_explicit(for_rates)
    {
        let names: Vec<&str> = counted.keys().map(String::as_str).collect();
        return Err(StudyError::Words(format!(
            "make a table of rates, for --{key}: --multiprocessors, and --fluence and --issue of each of {}, are needed",
            names.join(", ")
        )));
    }
    let path = request.options.get::<std::path::PathBuf>("table")?;
    let kept = path.is_some();
    let files: Vec<_> = path.into_iter().filter_map(|path| Some((path, table.clone()?))).collect();
    let programs: Vec<_> = counted.iter().map(|(name, counts)| document(name, counts)).collect();
    let mut json = json!({ "format": "beamline.events/1", "programs": programs, "torn_lines": torn, "refused_events": refused, "table": &table });
    let cross_sections = CrossSections::of(&counted, &beam);
    json["cross_sections"] = cross_sections.json();
    if let Some(boards) = &boards {
        json["boards"] = boards.json();
    }
    let mut study = Study::new("events", "", "");
    study.tables = vec![categories(&counted), attributed(&counted)];
    study.tables.extend(hangs_table(&counted));
    study.tables.extend(cross_sections.table());
    study.tables.extend(boards.iter().flat_map(BoardComparison::tables));
    study.tables[0].notes.extend((torn > 0).then(|| {
        format!(
            "{torn} {} torn: not written to the end, not at the beginning of a line, or without text; whole events in {} count.",
            if torn == 1 { "line is" } else { "lines are" },
            if torn == 1 { "it" } else { "them" },
        )
    }));
    if refused > 0 {
        study.tables[0]
            .notes
            .push(format!("{refused} events are left out, since they mean nothing: {}.", reasons.join("; ")));
    }
    let unshown = "The rates stand in the document of --json; --table F.toml writes them.";
    study.tables[0].notes.extend((table.is_some() && !kept).then(|| unshown.to_owned()));
    Ok(Answer { json, study, files, pictures: Vec::new(), sheets: Vec::new() })
}

/// The words of a file of fluences, a line or more for each, with comments from `#` on.
fn fluence_file(path: &str) -> Result<String, StudyError> {
    let read = std::fs::read_to_string(path);
    let text = read.map_err(|error| StudyError::Refused(format!("read {path} for --fluence: {error}")))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // A name may have the character, too, but not after a space.
    let lines = text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim());
    let words: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    if words.is_empty() {
        return Err(StudyError::Refused(format!("read {path} for --fluence: it has no line [LOG:]PROGRAM=N")));
    }
    Ok(words.join(","))
}

/// Counts the runs and events of a log, by program.
fn count(log: &Log) -> BTreeMap<String, Counts> {
    let mut counted: BTreeMap<String, Counts> = BTreeMap::new();
    for run in &log.runs {
        let counts = counted.entry(run.program.clone()).or_default();
        counts.runs += 1;
        let category = category(run);
        counts.hangs.extend((category == Some(Category::Hang)).then_some(run.heartbeat));
        if let Some(category) = category {
            *counts.events.entry(category).or_default() += 1;
        }
    }
    counted
}

fn document(name: &str, counts: &Counts) -> serde_json::Value {
    let event = |(category, count): (&Category, &u64)| {
        json!({
            "category": category.to_string(), "number": category.number(), "bits": category.bits().to_string(), "count": count,
        })
    };
    let hang =
        |it: &Heartbeat| json!({ "heartbeats": it.beats, "finished_blocks": it.finished_blocks, "silent": it.silent });
    json!({
        "program": name, "runs": counts.runs, "events": counts.events.iter().map(event).collect::<Vec<_>>(),
        "hangs": counts.hangs.iter().map(hang).collect::<Vec<_>>(),
    })
}

/// Reads `iadd=1.5,fadd=2`.
fn by_program(
    request: &FilesRequest,
    key: &str,
    counted: &BTreeMap<String, Counts>,
) -> Result<BTreeMap<String, f64>, StudyError> {
    let text: String = request.options.get(key)?.unwrap_or_default();
    let mut found = BTreeMap::new();
    for part in numbers(key, &text, "PROGRAM=NUMBER")? {
        if !counted.contains_key(part.name) {
            let names: Vec<&str> = counted.keys().map(String::as_str).collect();
            return Err(wrong(key, part.words, &format!("the logs are of {}", names.join(", "))));
        }
        if found.insert(part.name.to_owned(), part.number).is_some() {
            return Err(wrong(key, part.words, "the program is there twice"));
        }
    }
    Ok(found)
}

fn categories(counted: &BTreeMap<String, Counts>) -> Table {
    let mut table = Table::new("Events", &["program", "runs", "event", "bits", "count"]);
    for (name, counts) in counted {
        let quiet = counts.runs - counts.events.values().sum::<u64>();
        let mut row = |event: String, bits: String, count: u64| {
            table.rows.push(vec![
                Cell::text(name),
                Cell::Count(counts.runs),
                Cell::Text(event),
                Cell::Text(bits),
                Cell::Count(count),
            ]);
        };
        for (category, &count) in &counts.events {
            row(category.to_string(), category.bits().to_string(), count);
        }
        row("none".to_owned(), String::new(), quiet);
    }
    table.notes.push("Numbers are those of the paper's Section 3.3.".to_owned());
    let left_out: Vec<String> = counted
        .iter()
        .flat_map(|(name, counts)| {
            counts.left_out().map(move |(category, count)| format!("{count} × {category} ({name})"))
        })
        .collect();
    if !left_out.is_empty() {
        table.notes.push(format!(
            "Of bits that may scale with instructions, but no manifestation of a table: {}.",
            left_out.join(", ")
        ));
    }
    table
}

/// The signs of life of runs whose kernels hung, if there are such runs.
fn hangs_table(counted: &BTreeMap<String, Counts>) -> Option<Table> {
    let columns =
        ["program", "hung runs", "with heartbeats", "finished blocks at the last", "silent before the end, s"];
    let mut table = Table::new("Hangs", &columns);
    let hung = counted.iter().filter(|(_, counts)| !counts.hangs.is_empty());
    table.rows.extend(hung.map(|(name, counts)| {
        let all = &counts.hangs;
        let blocks = all.iter().filter_map(|it| it.finished_blocks.map(|blocks| blocks as f64));
        let silent = all.iter().filter_map(|it| it.silent);
        vec![
            Cell::text(name),
            Cell::Count(all.len() as u64),
            Cell::Count(all.iter().filter(|it| it.beats > 0).count() as u64),
            Cell::Text(span(blocks, 0)),
            Cell::Text(span(silent, 1)),
        ]
    }));
    table.notes.push(
        "A microbenchmark says each second that its host is alive: a hung run that was silent for less time has a kernel that did not end, one \
         that was silent for longer a host or a driver that stopped, too."
            .to_owned(),
    );
    (!table.rows.is_empty()).then_some(table)
}

/// The least and the greatest of some numbers, each with this number of decimals.
fn span(numbers: impl Iterator<Item = f64>, decimals: usize) -> String {
    let ends = numbers.fold(None, |ends: Option<(f64, f64)>, it| {
        Some(ends.map_or((it, it), |(least, most)| (least.min(it), most.max(it))))
    });
    match ends {
        None => "–".to_owned(),
        Some((least, most)) if least == most => format!("{least:.decimals$}"),
        Some((least, most)) => format!("{least:.decimals$} to {most:.decimals$}"),
    }
}

fn attributed(counted: &BTreeMap<String, Counts>) -> Table {
    let all = [Bits::F, Bits::V, Bits::IS, Bits::IM, Bits::Unknown, Bits::LeftOut];
    let mut columns = vec!["program".to_owned()];
    columns.extend(all.iter().map(|bits| if *bits <= Bits::IM { format!("{bits} bits") } else { bits.to_string() }));
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("By the bits that were struck", &columns);
    for (name, counts) in counted {
        let of = |bits: Bits| {
            counts.events.iter().filter(|(category, _)| category.bits() == bits).map(|(_, count)| count).sum()
        };
        table.rows.push([Cell::text(name)].into_iter().chain(all.map(|bits| Cell::Count(of(bits)))).collect());
    }
    table
}
