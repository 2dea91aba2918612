//! What the method says of a program, as a table and as a document.

use outcome::Class;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use study::{Cell, Study, Table};

use super::heuristics::{HeuristicCounts, Pruning};
use super::sites::KernelSites;
use super::tally::SiteTally;
use super::target::{Approxilyzer, SiteCounts};
use crate::kit::MethodSettings;
use crate::method::Estimates;

/// The classes of outcomes that sites have.
const CLASSES: [Class; 4] = [Class::Masked, Class::Sdc, Class::Due, Class::Undecided];

/// The sites of a kernel, or of all.
struct Account {
    name: String,
    counts: SiteCounts,
    heuristics: HeuristicCounts,
    classes: (u64, u64),
    groups: u64,
    threads: u64,
    tally: SiteTally,
}

/// All of it.
pub(super) fn estimates(method: &Approxilyzer, tallies: &BTreeMap<String, SiteTally>) -> Estimates {
    let of_kernel = |(number, kernel): (usize, &KernelSites)| {
        let tally = tallies.get(&kernel.name).cloned().unwrap_or_default();
        Account {
            name: fault::base_name(&kernel.name).to_owned(),
            counts: counts(kernel.counts.all, kernel.counts.pruned(), &tally),
            heuristics: kernel.counts,
            classes: method.classes_of(number),
            groups: kernel.groups,
            threads: kernel.threads,
            tally,
        }
    };
    let kernels: Vec<Account> = method.kernels().iter().enumerate().map(of_kernel).collect();
    let all = together(method, &kernels);
    let mut study = Study::new("approxilyzer", "", "");
    study.tables = vec![sites(method, &kernels, &all), savings(method, &all), ends(&kernels, &all)];
    if method.sites().stores_cut {
        study.tables[0].notes.push(
            "There were more stores than are kept: the other launches are under control equivalence alone.".to_owned(),
        );
    }
    if method.sites().addresses_cut {
        study.tables[0].notes.push(
            "There were more accesses than are kept: flips in the addresses of the others are run, not pruned."
                .to_owned(),
        );
    }
    let json = json!({
        "format": "beamline.approxilyzer/1",
        "capsule": method.name(),
        "settings": method.settings().choice().to_string(),
        "sites": all.sites_document(),
        "classes": json!({ "all": all.classes.0, "run": all.classes.1 }),
        "addresses_cut": method.sites().addresses_cut,
        "stores_cut": method.sites().stores_cut,
        "lost": all.tally.lost,
        "outcomes": all.outcomes(),
        "kinds": all.kinds(),
        "by_kernel": kernels.iter().map(Account::document).collect::<Vec<_>>(),
    });
    Estimates { json, study }
}

/// The account of sites: what a pilot that was lost stands for is not covered.
fn counts(all: u64, pruned: u64, tally: &SiteTally) -> SiteCounts {
    let SiteTally { run, studied, .. } = *tally;
    SiteCounts { all, pruned, represented: studied - run, run, not_covered: all - pruned - studied }
}

fn together(method: &Approxilyzer, kernels: &[Account]) -> Account {
    let mut tally = SiteTally::default();
    let mut heuristics = HeuristicCounts::default();
    for kernel in kernels {
        tally.add(&kernel.tally);
        heuristics += kernel.heuristics;
    }
    Account {
        name: "all".to_owned(),
        counts: counts(
            kernels.iter().map(|kernel| kernel.counts.all).sum(),
            kernels.iter().map(|kernel| kernel.counts.pruned).sum(),
            &tally,
        ),
        heuristics,
        classes: method.classes(),
        groups: kernels.iter().map(|kernel| kernel.groups).sum(),
        threads: kernels.iter().map(|kernel| kernel.threads).sum(),
        tally,
    }
}

impl SiteCounts {
    /// As the document has it.
    fn document(&self) -> Value {
        let Self { all, pruned, represented, run, not_covered } = *self;
        json!({ "all": all, "pruned": pruned, "represented": represented, "run": run, "not_covered": not_covered })
    }

    /// The sites of known outcome.
    fn known(&self) -> u64 {
        self.pruned + self.represented + self.run
    }
}

impl Account {
    /// The sites of known outcome that end in a class.
    fn sites(&self, class: Class) -> u64 {
        self.tally.of_class(class) + self.heuristics.of_class(class)
    }

    /// The share of a class among the sites of known outcome. Its bounds are over all sites: none and all of those that
    /// are not covered or undecided belong to it.
    fn rate(&self, class: Class) -> Option<(f64, f64, f64)> {
        let (known, all) = (self.counts.known() as f64, self.counts.all as f64);
        let (sites, open) = (self.sites(class), self.counts.not_covered);
        let undecided = if class == Class::Undecided { 0 } else { self.tally.of_class(Class::Undecided) };
        (known > 0.0).then(|| (sites as f64 / known, sites as f64 / all, (sites + open + undecided) as f64 / all))
    }

    fn cell(&self, class: Class) -> Cell {
        self.rate(class).map_or(Cell::None, |(rate, low, high)| Cell::Rate { rate, low, high })
    }

    fn outcomes(&self) -> Value {
        let of = |class: Class| {
            let mut value = json!({ "count": self.sites(class) });
            if let (Some((rate, low, high)), Value::Object(map)) = (self.rate(class), &mut value) {
                map.extend([("rate", rate), ("low", low), ("high", high)].map(|(key, it)| (key.to_owned(), json!(it))));
            }
            (class.word().to_owned(), value)
        };
        Value::Object(CLASSES.into_iter().map(of).collect())
    }

    fn kinds(&self) -> Value {
        let mut all = Map::new();
        for ((class, kind), sites) in self.tally.kinds.iter().filter(|((_, kind), _)| !kind.is_empty()) {
            let of = all.entry(class.word()).or_insert_with(|| json!({}));
            of[kind.as_str()] = json!(sites);
        }
        for why in Pruning::ALL {
            let sites = self.heuristics.known(why);
            if sites > 0 {
                let kind = why.kind().unwrap_or_else(|| why.word().to_owned());
                let of = all.entry(why.class().word()).or_insert_with(|| json!({}));
                of[kind.as_str()] = json!(of[kind.as_str()].as_u64().unwrap_or_default() + sites);
            }
        }
        Value::Object(all)
    }

    fn sites_document(&self) -> Value {
        let mut document = self.counts.document();
        document["heuristics"] = self.heuristics.document();
        document
    }

    fn document(&self) -> Value {
        json!({
            "kernel": self.name,
            "sites": self.sites_document(),
            "classes": json!({ "all": self.classes.0, "run": self.classes.1 }),
            "threads": self.threads,
            "path_groups": self.groups,
            "outcomes": self.outcomes(),
        })
    }
}

fn sites(method: &Approxilyzer, kernels: &[Account], all: &Account) -> Table {
    let columns = [
        "kernel",
        "error sites",
        "pruned",
        "threads",
        "paths",
        "classes",
        "studied",
        "pilots",
        "covered",
        "sites per run",
    ];
    let mut table = Table::new(format!("{}: error sites and their classes", method.name()), &columns);
    let row = |it: &Account| {
        let counts = it.counts;
        let pilots = it.tally.run.max(1) as f64;
        vec![
            Cell::text(&it.name),
            Cell::Count(counts.all),
            Cell::Share(counts.pruned as f64 / counts.all.max(1) as f64),
            Cell::Count(it.threads),
            Cell::Count(it.groups),
            Cell::Count(it.classes.0),
            Cell::Count(it.classes.1),
            Cell::Count(it.tally.run),
            Cell::Share(counts.known() as f64 / counts.all.max(1) as f64),
            Cell::Number((counts.all as f64 / pilots).round()),
        ]
    };
    table.rows = kernels.iter().chain((kernels.len() > 1).then_some(all)).map(row).collect();
    table.notes.push(
        "An error site is one bit of one register that a dynamic instruction writes or reads. Pruned sites are \
         masked, since no instruction reads the bit, or DUE, since the first one that reads it accesses an address that traps. A pilot in a value stands for the first instruction that reads it, too."
            .to_owned(),
    );
    table.notes.push(format!(
        "{} of the error sites are in predicates, the others in general registers.",
        study::spaced(all.heuristics.predicates)
    ));
    if all.tally.lost > 0 {
        table.notes.push(format!("{} pilots failed or hit nothing; their classes are not covered.", all.tally.lost));
    }
    table
}

/// How many sites each heuristic takes away.
fn savings(method: &Approxilyzer, all: &Account) -> Table {
    let (settings, counts) = (method.settings(), all.heuristics);
    let mut table = Table::new("Error sites that each heuristic saves", &["heuristic", "error sites", "share"]);
    let mut row = |heuristic: &str, is_on: bool, sites: u64| {
        let share = Cell::Share(sites as f64 / counts.all.max(1) as f64);
        let [sites, share] = if is_on { [Cell::Count(sites), share] } else { [Cell::None, Cell::text("off")] };
        table.rows.push(vec![Cell::text(heuristic), sites, share]);
    };
    let classes = counts.all - counts.pruned();
    row("bits that no instruction reads", settings.unread, counts.unread);
    row("addresses that are not mapped", settings.addresses, counts.unmapped);
    row("addresses that are not aligned", settings.addresses, counts.misaligned);
    row("first uses, with their definitions", settings.def_use && settings.sources, counts.def_use);
    row("joined by the loads of what is stored", settings.stores, counts.stores.sites);
    row("joined by decisions", settings.control, classes.saturating_sub(counts.stores.sites));
    table.notes.push("Sites that are joined hold those that go with their definitions, too.".to_owned());
    if settings.stores && counts.stores.sites > 0 {
        table.notes.push(format!(
            "The sites that are joined by loads need {} pilots if all are studied; by their decisions, {}.",
            study::spaced(counts.stores.pilots),
            study::spaced(counts.stores.pilots_by_control),
        ));
    }
    table
}

fn ends(kernels: &[Account], all: &Account) -> Table {
    let mut table = Table::new("Outcomes of the covered error sites", &["kernel", "masked", "SDC", "DUE", "undecided"]);
    let row = |it: &Account| {
        std::iter::once(Cell::text(&it.name)).chain(CLASSES.into_iter().map(|class| it.cell(class))).collect()
    };
    table.rows = kernels.iter().chain((kernels.len() > 1).then_some(all)).map(row).collect();
    table.notes.push(
        "Bounds: none and all of the sites that are not covered or undecided. They do not hold how unlike the members of a \
         class are: a pilot speaks for all of them."
            .to_owned(),
    );
    table.notes.push(
        "Every bit weighs alike here; a campaign weighs every dynamic instruction alike, so that its rates differ."
            .to_owned(),
    );
    table
}
