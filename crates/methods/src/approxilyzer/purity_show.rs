//! How classes hold against the truth, as tables and as a part of the document.

use inject::Golden;
use outcome::Class;
use serde_json::{Map, Value, json};
use study::{Cell, Table};

use super::accuracy::{Accuracy, ClassAccount, cell};
use super::claims::Claim;
use super::counts::CLASSES;
use super::purity::{Purity, PurityAccount};
use super::settings::Settings;
use crate::kit::MethodSettings;

/// Instructions of the table of those that are judged worst, at most.
const MOST_INSTRUCTIONS: usize = 10;

impl Purity {
    /// The purity of the chosen settings, and of others, as a document.
    #[must_use]
    pub fn document(&self, others: &[Self], golden: &Golden) -> Value {
        let other = |it: &Self| {
            let Settings { decisions, guards, apart, coverage, stores, addresses, .. } = it.settings;
            let mut document = json!({
                "decisions": decisions.map_or_else(|| json!("all"), |decisions| json!(decisions)),
                "guards": guards,
                "apart": apart.to_string(),
                "coverage": coverage,
                "stores": stores,
                "addresses": addresses,
            });
            if let (Value::Object(map), Value::Object(account)) = (&mut document, it.all.document()) {
                map.extend(account);
            }
            document
        };
        let named = |kernel: &PurityAccount| {
            let mut document = kernel.document();
            document["kernel"] = json!(kernel.name);
            document
        };
        json!({
            "settings": self.settings.choice().to_string(),
            "pruned_not_masked": self.examples(|claim| claim.class() == Class::Masked),
            "pruned_wrong": self.examples(|_| true),
            "all": self.all.document(),
            "by_kernel": self.kernels.iter().map(named).collect::<Vec<_>>(),
            "by_instruction": self.by_instruction(golden),
            "other_settings": others.iter().map(other).collect::<Vec<_>>(),
        })
    }

    /// The purity of the chosen settings, and of others, as tables.
    #[must_use]
    pub fn tables(&self, others: &[Self], golden: &Golden) -> Vec<Table> {
        let mut tables = Vec::new();
        if self.all.pruned_wrong > 0 {
            tables.push(self.pruned_wrong());
        }
        let heuristics = self.all.heuristics.table(self.all.sites);
        tables.extend([self.accuracy(), heuristics, self.rates(), self.worst(golden), settings(others)]);
        tables
    }

    /// The ids of the first sites that are not as such claims say.
    fn examples(&self, such: impl Fn(Claim) -> bool) -> Vec<&str> {
        self.examples.iter().filter(|(claim, _)| such(*claim)).map(|(_, id)| id.as_str()).collect()
    }

    /// The accounts: of each kernel, and of all if there are several.
    fn accounts(&self) -> impl Iterator<Item = &PurityAccount> {
        self.kernels.iter().chain((self.kernels.len() > 1).then_some(&self.all))
    }

    fn pruned_wrong(&self) -> Table {
        let title = format!("{} pruned error sites are not as claimed", self.all.pruned_wrong);
        let mut table = Table::new(title, &["claim", "the first of them"]);
        let row = |(claim, id): &(Claim, String)| vec![Cell::text(claim.words().1), Cell::text(id)];
        table.rows = self.examples.iter().map(row).collect();
        table.notes.push("Pruning is exact. This is a bug of Beamline.".to_owned());
        table
    }

    fn accuracy(&self) -> Table {
        let columns = [
            "kernel",
            "sites compared",
            "pruned",
            "claimed wrongly",
            "covered classes",
            "right: class",
            "right: outcome",
            "in pure classes",
            "all classes",
            "right: class (all)",
            "right: outcome (all)",
            "in pure classes (all)",
        ];
        let mut table = Table::new("Error sites that a random pilot judges rightly, against the truth", &columns);
        let row = |it: &PurityAccount| {
            let mut row =
                vec![Cell::text(&it.name), Cell::Count(it.sites), Cell::Count(it.pruned), Cell::Count(it.pruned_wrong)];
            for ClassAccount { classes, accuracy, .. } in [&it.covered, &it.classes] {
                row.push(Cell::Count(*classes));
                row.extend(accuracy.shares().map(cell));
            }
            row
        };
        table.rows = self.accounts().map(row).collect();
        table.notes.push(
            "Expected over all pilots that may be drawn, without sampling: of n sites of a class and bit of which a share p \
             comes to each outcome, n Σ p² are judged rightly. The pilot is one of them. Pruned sites are not counted."
                .to_owned(),
        );
        table.notes.push(
            "The class of an outcome is masked, SDC or DUE; the whole outcome also has the kind. A class is pure if all \
             its sites in a bit come to the same class of outcome."
                .to_owned(),
        );
        let failed = self.all.failed;
        if failed > 0 {
            table.notes.push(format!("{failed} sites failed in the truth and are not compared."));
        }
        table
    }

    fn rates(&self) -> Table {
        let mut columns = vec!["kernel".to_owned()];
        for class in ["masked", "SDC", "DUE"] {
            let more = ["expected", "± of one draw", "error"].map(str::to_owned);
            columns.push(format!("{class}: truth"));
            columns.extend(more);
        }
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut table = Table::new("Rates of the error sites in truth, and as pilots estimate them", &columns);
        let row = |it: &PurityAccount| {
            let mut row = vec![Cell::text(&it.name)];
            for of in 0..3 {
                row.extend(it.rate(of).map(cell));
            }
            row
        };
        table.rows = self.accounts().map(row).collect();
        table.notes.push(
            "The truth is of all sites. The expected estimate is of those that are pruned or covered; the standard deviation \
             is that of one draw of all pilots. The error is the square root of the mean square of what a draw is off by, that \
             of the coverage included."
                .to_owned(),
        );
        table
    }

    fn worst(&self, golden: &Golden) -> Table {
        let columns = ["kernel", "pc", "instruction", "line", "sites", "right: class", "judged wrongly"];
        let mut table = Table::new("Instructions whose sites random pilots judge worst", &columns);
        let all: f64 = self.instructions.values().map(Accuracy::wrong).sum();
        for Instruction { kernel, pc, opcode, line, accuracy } in self.worst_first(golden).take(MOST_INSTRUCTIONS) {
            let share = if all > 0.0 { accuracy.wrong() / all } else { 0.0 };
            table.rows.push(vec![
                Cell::text(fault::base_name(&kernel)),
                Cell::text(format!("{pc}")),
                Cell::text(opcode),
                line.map_or(Cell::None, Cell::text),
                Cell::Count(accuracy.sites),
                cell(accuracy.share(accuracy.right_class)),
                Cell::Share(share),
            ]);
        }
        table.notes.push("The last column is the share of all sites whose class is judged wrongly.".to_owned());
        table
    }

    fn by_instruction(&self, golden: &Golden) -> Vec<Value> {
        let document = |it: Instruction| {
            let mut document = it.accuracy.document();
            document["kernel"] = json!(fault::base_name(&it.kernel));
            document["pc"] = json!(it.pc);
            document["opcode"] = json!(it.opcode);
            document["line"] = json!(it.line);
            document
        };
        self.worst_first(golden).map(document).collect()
    }

    fn worst_first(&self, golden: &Golden) -> impl Iterator<Item = Instruction> {
        let mut order: Vec<(&(u32, u32), &Accuracy)> = self.instructions.iter().collect();
        order.sort_by(|(_, one), (_, other)| other.wrong().total_cmp(&one.wrong()));
        order.into_iter().filter_map(|(&(kernel, instruction), accuracy)| {
            let name = &self.kernels.get(kernel as usize)?.full_name;
            let program = &golden.launches().iter().find(|launch| launch.program.name == *name)?.program;
            let at = program.instructions.get(instruction as usize)?;
            let facts = at.facts.as_ref()?;
            let source = facts.source.as_ref();
            Some(Instruction {
                kernel: name.clone(),
                pc: at.pc.0,
                opcode: facts.mnemonic.to_string(),
                line: source.map(|source| format!("{}:{}", source.file().unwrap_or_default(), source.line())),
                accuracy: *accuracy,
            })
        })
    }
}

/// An instruction, and how its classes are judged.
struct Instruction {
    kernel: String,
    pc: u32,
    opcode: String,
    line: Option<String>,
    accuracy: Accuracy,
}

fn settings(all: &[Purity]) -> Table {
    let columns = [
        "decisions",
        "apart",
        "stores",
        "classes",
        "pilots for all",
        "covered classes",
        "pilots",
        "sites per pilot",
        "right: class",
        "right: outcome",
        "in pure classes",
    ];
    let mut table = Table::new("Depths of control equivalence, and kinds of instances apart", &columns);
    let row = |it: &Purity| {
        let PurityAccount { sites, classes, covered, .. } = &it.all;
        let decisions = it.settings.decisions.map_or_else(|| "all".to_owned(), |decisions| decisions.to_string());
        let mut row = vec![
            Cell::text(decisions),
            Cell::text(it.settings.apart.to_string()),
            Cell::text(if it.settings.stores { "yes" } else { "no" }),
            Cell::Count(classes.classes),
            Cell::Count(classes.pilots),
            Cell::Count(covered.classes),
            Cell::Count(covered.pilots),
            Cell::Number((*sites as f64 / covered.pilots.max(1) as f64).round()),
        ];
        row.extend(covered.accuracy.shares().map(cell));
        row
    };
    table.rows = all.iter().map(row).collect();
    table.notes.push("Shares are of the sites of covered classes. 0 decisions join all instances.".to_owned());
    table
}

impl PurityAccount {
    fn document(&self) -> Value {
        let rates = |class: (usize, Class)| {
            let [truth, expected, deviation, error] = self.rate(class.0);
            let count = self.truth[class.0];
            let value = json!({
                "truth": truth, "expected": expected, "deviation": deviation, "error": error, "count": count
            });
            (class.1.word().to_owned(), value)
        };
        json!({
            "sites": self.sites,
            "failed": self.failed,
            "pruned": self.pruned,
            "pruned_wrong": self.pruned_wrong,
            "pruned_not_masked": self.heuristics.not_masked(),
            "heuristics": self.heuristics.document(),
            "covered": self.covered.document(),
            "classes": self.classes.document(),
            "rates": CLASSES.into_iter().enumerate().map(rates).collect::<Map<String, Value>>(),
        })
    }

    /// The share of a class of outcome in truth, the expected estimate, its standard deviation, and the root of its mean
    /// square error.
    fn rate(&self, of: usize) -> [Option<f64>; 4] {
        let share = |part: f64, all: u64| (all > 0).then(|| part / all as f64);
        let truth = share(self.truth[of] as f64, self.sites);
        let expected = share(self.expected[of] as f64, self.known());
        let deviation = share(self.variance[of].max(0.0).sqrt(), self.known());
        let error = || Some((expected? - truth?).hypot(deviation?));
        [truth, expected, deviation, error()]
    }
}
