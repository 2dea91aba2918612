//! What is composed, as tables and as a document.

use serde_json::{Value, json};
use stats::Bounded;
use study::{Cell, Mark, Plot, Point, Series, Study, Table, Vertical};

use super::beam_test::BeamTest;
use super::bounded_view::{document, probability, quantity};
use super::compose::{CellPart, Composition, TypePart};
use super::fleet::Fleet;
use super::issue::KnownIssueRate;
use super::protection::Protection;
use super::settings::Grouping;
use super::target::{Counted, TwoLevel};
use super::units::{IssueRate, RatePerInstruction};
use crate::method::Estimates;

/// The parts that a study is made of.
pub(super) struct StudyParts<'a> {
    pub(super) method: &'a TwoLevel,
    pub(super) composition: &'a Composition,
    pub(super) counted: &'a Counted,
    /// A rate that the application's is compared with.
    pub(super) target: Option<f64>,
    /// GPUs whose mean time to SDC is told.
    pub(super) fleet: Option<Fleet>,
    /// A beam test of the application.
    pub(super) beam: Option<BeamTest>,
    /// Kernels that might be protected.
    pub(super) protection: Option<&'a Protection>,
}

impl StudyParts<'_> {
    /// The SDC rate of the application as it is.
    fn sdc(&self) -> Bounded {
        self.scaled(self.composition.sdc())
    }

    /// The SDC rate that is left by the protection that is asked about.
    fn protected_sdc(&self) -> Option<Bounded> {
        self.protection.map(|protection| self.scaled(protection.sdc(self.composition)))
    }

    /// A rate as the application has it; for one issued instruction in each cycle where the issue rate is unknown.
    fn scaled(&self, rate: RatePerInstruction) -> Bounded {
        let issue = self.method.issue().map_or(IssueRate(1.0), KnownIssueRate::get);
        rate.at(issue).0.times(f64::from(self.method.table().multiprocessors()))
    }

    fn unit(&self) -> String {
        let unit = self.method.table().unit().words();
        if self.method.issue().is_some() { unit } else { format!("{unit}, for one instruction issued in each cycle") }
    }

    /// Whether the SDC rate exceeds the target, if its bounds tell.
    fn exceeds(&self, target: f64) -> &'static str {
        if self.method.issue().is_none() {
            return "unknown, as the issue rate is";
        }
        match exceeds_target(self.sdc(), target) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        }
    }
}

/// Whether a rate exceeds a target; none if its bounds do not tell.
#[must_use]
pub fn exceeds_target(rate: Bounded, target: f64) -> Option<bool> {
    match () {
        () if rate.low > target => Some(true),
        () if rate.high < target => Some(false),
        () => None,
    }
}

/// All of it.
pub(super) fn estimates(it: &StudyParts<'_>) -> Estimates {
    Estimates { json: json(it), study: study(it) }
}

fn json(it: &StudyParts<'_>) -> Value {
    let (method, found) = (it.method, it.composition);
    let table = method.table();
    let settings = method.settings();
    let mut all = json!({
        "format": "beamline.fit/1",
        "capsule": method.name(),
        "ipa": { "name": table.name, "source": table.source.trim(), "unit": table.unit() },
        "grouping": if settings.grouping == Grouping::Alike { "alike" } else { "measured" },
        "counts": settings.sdc.to_string(),
        "unit": it.unit(),
        "issue_rate": method.issue(),
        "sdc": document(it.scaled(found.sdc())),
        "due": document(it.scaled(found.due())),
        "ipa_only": document(it.scaled(found.ipa_only())),
        "apa_only": found.apa_only().map(|chance| document(chance.0)),
        "covered": found.covered.0,
        "left_out": found.left_out.iter().map(|(group, share)| json!({ "group": group, "share": share.0 })).collect::<Vec<_>>(),
        "missing": found.missing.iter().map(|lost| json!({
            "instruction": lost.name, "manifestation": lost.manifestation, "share": lost.fraction.0, "why": lost.why.words(),
        })).collect::<Vec<_>>(),
        "host_visible": it.counted.host_visible,
        "undecided": it.counted.undecided,
        "lost": it.counted.lost,
        "instructions": found.types.iter().map(|kind| type_document(it, kind)).collect::<Vec<_>>(),
        "kernels": found.kernels.iter().map(|(name, share)| json!({
            "name": name, "share": share.0, "sdc": document(it.scaled(found.sdc_of(name))),
        })).collect::<Vec<_>>(),
    });
    if let Some(note) = method.issue().and_then(|known| unlike_devices(&table.name, known)) {
        all["devices_differ"] = json!(note);
    }
    if let Some(target) = it.target {
        all["target"] = json!({ "rate": target, "exceeded": it.exceeds(target) });
    }
    if let Some(fleet) = it.fleet {
        all["fleet"] = fleet.json(it.sdc());
    }
    if let Some(beam) = it.beam {
        all["beam"] = beam.json(it.sdc());
    }
    if let Some((protection, after)) = it.protection.zip(it.protected_sdc()) {
        all["protection"] = protection.json(it.sdc(), after);
        if let Some(fleet) = it.fleet {
            all["protection"]["fleet"] = fleet.json(after);
        }
    }
    all
}

fn type_document(it: &StudyParts<'_>, kind: &TypePart) -> Value {
    let cell = |cell: &CellPart| {
        let all = cell.all();
        json!({
            "name": it.method.table().manifestations[cell.manifestation].name,
            "rate": document(cell.rate.0),
            "runs": all.runs(),
            "counts": { "masked": all.masked, "sdc": all.sdc, "due": all.due, "undecided": all.undecided },
            "sdc": document(cell.sdc().0),
            "due": document(cell.due().0),
        })
    };
    json!({
        "name": kind.name,
        "share": kind.fraction.0,
        "measured": kind.measured.0,
        "error": document(kind.error),
        "sdc": document(it.scaled(kind.sdc())),
        "manifestations": kind.cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

fn study(it: &StudyParts<'_>) -> Study {
    let mut study = Study::new("fit", "", "");
    study.tables = vec![rates(it), types(it), kernels(it), left_out(it)];
    let (before, after) = (it.sdc(), it.protected_sdc());
    study.tables.extend(it.protection.zip(after).map(|(protection, after)| protection.table(before, after)));
    let rates: Vec<_> = [("as it is", before)].into_iter().chain(after.map(|after| ("protected", after))).collect();
    study.tables.extend(it.fleet.map(|fleet| fleet.table(&rates)));
    study.tables.extend(it.beam.map(|beam| beam.table(before)));
    study.plots.push(plot(it));
    study
}

/// The rates of the application.
fn rates(it: &StudyParts<'_>) -> Table {
    let found = it.composition;
    let mut table =
        Table::new(format!("{} by the two-level model ({})", it.method.name(), it.unit()), &["rate", "estimate"]);
    let mut row = |name: &str, cell: Cell| table.rows.push(vec![Cell::text(name), cell]);
    row("SDC", quantity(it.scaled(found.sdc())));
    row("DUE, of the bits that scale with instructions", quantity(it.scaled(found.due())));
    row("SDC, IPA only", quantity(it.scaled(found.ipa_only())));
    row("SDC, APA only (a probability)", found.apa_only().map_or(Cell::None, |chance| probability(chance.0)));
    table.notes = notes(it);
    table
}

fn notes(it: &StudyParts<'_>) -> Vec<String> {
    let table = it.method.table();
    let mut notes =
        vec![format!("Strikes: {}, {}", table.name, table.source.split_whitespace().collect::<Vec<_>>().join(" "))];
    notes.push(match it.method.issue() {
        Some(known) => format!("Issue rate: {} instructions of a multiprocessor in a cycle, {}.", known.rate, known.source),
        None => format!(
            "The issue rate is not known{}: these are rates while one instruction is issued in each cycle. Say it with --issue.",
            match it.method.settings().issue.as_str() {
                "none" => String::new(),
                _ if it.method.is_part() => " (a profile knows an application as a whole, and --kernel selects a part)".to_owned(),
                words => format!(" (`{words}` has none for {} as it is run here)", it.method.name()),
            }
        ),
    });
    notes.extend(it.method.issue().and_then(|known| unlike_devices(&table.name, known)));
    if let Some(target) = it.target {
        notes.push(format!("Exceeds the target of {target}: {}.", it.exceeds(target)));
    }
    let silent = it.composition.types.iter().filter(|kind| kind.apa_only().is_none()).map(|kind| kind.name.as_str());
    let silent: Vec<&str> = silent.collect();
    if !silent.is_empty() {
        notes.push(format!(
            "APA only needs a manifestation that stands for all, and faults of it: there is none for {}.",
            silent.join(", ")
        ));
    }
    let (undecided, lost) = (it.counted.undecided, it.counted.lost);
    if undecided > 0 {
        notes.push(format!(
            "{undecided} runs are undecided: the host was given other bytes before the end, so that it might have gone on otherwise, and was \
             not asked. Bounds are those of none and of all of them."
        ));
    }
    if lost > 0 {
        notes.push(format!("{lost} runs ended in no class and count for nothing."));
    }
    notes
}

/// Says that strikes and issue rate are of two devices, where that is so.
fn unlike_devices(strikes: &str, issue: &KnownIssueRate) -> Option<String> {
    let profile = issue.profile.as_deref().filter(|profile| *profile != strikes)?;
    Some(format!(
        "Strikes are those of {strikes}, the issue rate is that of {profile}: the rate is of a device that strikes as the one and issues as the \
         other. Compare such rates with each other alone."
    ))
}

/// What strikes do to each type.
fn types(it: &StudyParts<'_>) -> Table {
    let columns = ["type", "instructions", "measured", "manifestation", "rate", "runs", "SDC", "DUE", "SDC rate"];
    let mut table = Table::new("By instruction type", &columns);
    for kind in &it.composition.types {
        for cell in &kind.cells {
            let made = cell.ends.is_some();
            let rate = cell.rate.ending(cell.sdc()).off_by(kind.error).of(kind.fraction);
            table.rows.push(vec![
                Cell::text(&kind.name),
                Cell::Share(kind.fraction.0),
                Cell::Share(kind.measured.0),
                Cell::text(&it.method.table().manifestations[cell.manifestation].name),
                Cell::Number(cell.rate.0.value),
                if made { Cell::Count(cell.all().runs()) } else { Cell::None },
                if made { probability(cell.sdc().0) } else { Cell::None },
                if made { probability(cell.due().0) } else { Cell::None },
                quantity(it.scaled(rate)),
            ]);
        }
    }
    table
}

/// What each kernel has of the rate.
fn kernels(it: &StudyParts<'_>) -> Table {
    let mut table =
        Table::new("By kernel: what protecting it would save", &["kernel", "instructions", "SDC rate", "of all"]);
    let all = it.composition.sdc().0.value;
    let mut kernels: Vec<_> =
        it.composition.kernels.iter().map(|(name, share)| (name, share, it.composition.sdc_of(name))).collect();
    kernels.sort_by(|a, b| b.2.0.value.total_cmp(&a.2.0.value));
    for (name, share, rate) in kernels {
        let of_all = if all > 0.0 { Cell::Share(rate.0.value / all) } else { Cell::None };
        table.rows.push(vec![
            Cell::text(fault::base_name(name)),
            Cell::Share(share.0),
            quantity(it.scaled(rate)),
            of_all,
        ]);
    }
    table
}

/// What has no rate.
fn left_out(it: &StudyParts<'_>) -> Table {
    let found = it.composition;
    let title = format!("Without a rate: {:.1} % of the instructions", 100.0 * (1.0 - found.covered.0));
    let mut table = Table::new(title, &["instructions", "share"]);
    table.rows = found.left_out.iter().map(|&(group, share)| vec![Cell::text(group), Cell::Share(share.0)]).collect();
    for lost in &found.missing {
        let text = format!("{}: {} ({})", lost.name, lost.manifestation, lost.why.words());
        table.rows.push(vec![Cell::Text(text), Cell::Share(lost.fraction.0)]);
    }
    table
}

/// The parts of the SDC rate, by type.
fn plot(it: &StudyParts<'_>) -> Plot {
    let all = it.composition.sdc().0.value;
    let point = |(at, kind): (usize, &TypePart)| {
        let rate = kind.sdc().0.times(if all > 0.0 { 1.0 / all } else { 0.0 });
        Point { x: at as f64, y: rate.value, bounds: Some((rate.low, rate.high)) }
    };
    Plot {
        name: "types".to_owned(),
        title: format!("{}: where the SDC rate comes from", it.method.name()),
        x: "instruction type".to_owned(),
        logarithmic: false,
        names: it.composition.types.iter().map(|kind| kind.name.clone()).collect(),
        y: "share of the SDC rate, %".to_owned(),
        vertical: Vertical::Shares,
        series: vec![Series {
            name: "SDC".to_owned(),
            mark: Mark::Dots,
            points: it.composition.types.iter().enumerate().map(point).collect(),
        }],
    }
}
