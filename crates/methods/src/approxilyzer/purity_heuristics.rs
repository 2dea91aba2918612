//! The error sites of each heuristic against the truth: what is claimed of them, and how alike the sites of classes are.

use outcome::Class;
use serde_json::{Map, Value, json};
use study::{Cell, Table};

use super::accuracy::{ClassAccount, cell};
use super::agreement::WIDEST;
use super::claims::{CLAIMS, Claim};
use super::counts::CLASSES;

/// The sites of each heuristic.
#[derive(Clone, Debug, Default)]
pub(super) struct HeuristicAccounts {
    /// By claim, its sites, and those of them that end otherwise.
    claimed: [(u64, u64); CLAIMS.len()],
    control: JoinAccount,
    stores: JoinAccount,
    /// The sites under store equivalence, in the classes of control equivalence that they would be in.
    pub(super) by_control: JoinAccount,
}

/// The classes of a heuristic that joins sites.
#[derive(Clone, Debug, Default)]
pub(super) struct JoinAccount {
    classes: ClassAccount,
    /// Sites by class of outcome in truth.
    truth: [u64; 4],
    /// The variance of what random pilots of all classes find, in squares of sites.
    variance: [f64; 4],
}

impl JoinAccount {
    /// Adds a class.
    pub(super) fn add_class(&mut self, found: &ClassAccount, truth: [u64; 4], variance: [f64; 4]) {
        self.classes.add(found);
        self.truth.iter_mut().zip(truth).for_each(|(sum, sites)| *sum += sites);
        self.variance.iter_mut().zip(variance).for_each(|(sum, of)| *sum += of);
    }

    /// The share of a class of outcome in truth, and the standard deviation of one draw of pilots.
    fn rate(&self, of: usize) -> [Option<f64>; 2] {
        let accuracy = &self.classes.accuracy;
        [self.truth[of] as f64, self.variance[of].max(0.0).sqrt()].map(|sites| accuracy.share(sites))
    }

    fn document(&self) -> Value {
        let rate = |(of, class): (usize, Class)| {
            let [truth, deviation] = self.rate(of);
            (class.word().to_owned(), json!({ "truth": truth, "deviation": deviation }))
        };
        let mut document = self.classes.document();
        document["rates"] = CLASSES.into_iter().enumerate().map(rate).collect::<Map<String, Value>>().into();
        document
    }
}

impl HeuristicAccounts {
    /// Adds sites of a claim, of which some end otherwise.
    pub(super) fn add_claimed(&mut self, claim: Claim, sites: u64, wrong: u64) {
        let (all, all_wrong) = &mut self.claimed[claim as usize];
        *all += sites;
        *all_wrong += wrong;
    }

    /// The sites that are claimed to be masked and are not.
    pub(super) fn not_masked(&self) -> u64 {
        let wrong = |(claim, (_, wrong)): (Claim, (u64, u64))| if claim.class() == Class::Masked { wrong } else { 0 };
        CLAIMS.into_iter().zip(self.claimed).map(wrong).sum()
    }

    /// The classes that stores join, or decisions.
    pub(super) fn of_class(&mut self, by_stores: bool) -> &mut JoinAccount {
        if by_stores { &mut self.stores } else { &mut self.control }
    }

    /// Adds those of another kernel.
    pub(super) fn add(&mut self, other: &Self) {
        for (claim, (sites, wrong)) in CLAIMS.into_iter().zip(other.claimed) {
            self.add_claimed(claim, sites, wrong);
        }
        let joins = [
            (&mut self.control, &other.control),
            (&mut self.stores, &other.stores),
            (&mut self.by_control, &other.by_control),
        ];
        joins.into_iter().for_each(|(sum, of)| sum.add_class(&of.classes, of.truth, of.variance));
    }

    /// As the document has it.
    pub(super) fn document(&self) -> Value {
        let claim = |(claim, (sites, wrong)): (Claim, (u64, u64))| {
            (claim.words().0.to_owned(), json!({ "sites": sites, "wrong": wrong }))
        };
        let mut all: Map<String, Value> = CLAIMS.into_iter().zip(self.claimed).map(claim).collect();
        let joins = [("control", &self.control), ("stores", &self.stores), ("stores_by_control", &self.by_control)];
        all.extend(joins.map(|(key, join)| (key.to_owned(), join.document())));
        Value::Object(all)
    }

    /// The heuristics as rows of a table, as shares of this number of sites.
    pub(super) fn table(&self, sites: u64) -> Table {
        let columns = [
            "heuristic",
            "sites",
            "share of all",
            "claimed wrongly",
            "classes",
            "pilots",
            "right: class",
            "right: outcome",
            "in pure classes",
            "resilience, δ = 2",
            "approximation, δ = 2",
            "± masked",
            "± SDC",
            "± DUE",
        ];
        let mut table = Table::new("Error sites by heuristic, all classes, against the truth", &columns);
        let share = |of: u64| if sites == 0 { Cell::None } else { Cell::Share(of as f64 / sites as f64) };
        for (claim, (claimed, wrong)) in CLAIMS.into_iter().zip(self.claimed) {
            let known = [Cell::text(claim.words().1), Cell::Count(claimed), share(claimed), Cell::Count(wrong)];
            table.rows.push(known.into_iter().chain(std::iter::repeat_with(|| Cell::None).take(10)).collect());
        }
        let joins = [
            ("control equivalence", &self.control),
            ("store equivalence", &self.stores),
            ("the same sites by control equivalence", &self.by_control),
        ];
        for (name, join) in joins.into_iter().filter(|(_, join)| join.classes.classes > 0) {
            let (classes, accuracy) = (&join.classes, &join.classes.accuracy);
            let mut row = vec![Cell::text(name), Cell::Count(accuracy.sites), share(accuracy.sites), Cell::None];
            row.extend([Cell::Count(classes.classes), Cell::Count(classes.pilots)]);
            row.extend(accuracy.shares().map(cell));
            row.extend(WIDEST.map(|of| cell(accuracy.share(accuracy.agreed[of]))));
            row.extend([0, 1, 2].map(|of| cell(join.rate(of)[1])));
            table.rows.push(row);
        }
        table.notes.push(
            "Every class has its pilots here, whatever the coverage. ±: the standard deviation of the rate that one draw of pilots \
             gives for the sites of the row. Resilience does not tell masked, SDC-Good, DDC and detected apart, approximation \
             neither masked and SDC-Good, nor SDC-Bad, DDC and detected; quality bins may differ by δ."
                .to_owned(),
        );
        table
    }
}
