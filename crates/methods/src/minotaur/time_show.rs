//! Injection and input priority, and the time of analyses, as tables and as a document.

use serde_json::{Value, json};
use study::{Cell, Table};

use super::analysis::Analysis;
use super::priority::{Order, Runs, best, whole, worst};

/// The analyses of both inputs, with all that follows from their outcomes.
pub(super) struct Replay<'a> {
    small: &'a Analysis,
    reference: &'a Analysis,
    seed: u64,
    /// By order and oracle, the runs of the small input and of the reference.
    orders: Vec<(String, [Runs; 2])>,
}

/// One way of analysing, as Equation 3.1 and the clock measure it.
struct Way {
    name: &'static str,
    key: &'static str,
    runs: u64,
    seconds: f64,
    measured: Option<f64>,
}

impl<'a> Replay<'a> {
    /// Replays all orders on the outcomes of both analyses.
    pub(super) fn of(small: &'a Analysis, reference: &'a Analysis, seed: u64) -> Self {
        let both = |runs: &dyn Fn(&Analysis) -> Runs| [runs(small), runs(reference)];
        let oracle = |name: &str, runs: [Runs; 2]| (name.to_owned(), runs);
        let mut orders = vec![oracle("Oracle best", both(&|it| best(&it.pilots)))];
        let mut schemes = Order::all();
        schemes.push(Order::random());
        let replayed =
            schemes.iter().map(|it| (it.to_string(), both(&|analysis| it.runs(&analysis.pilots, seed, |_| false))));
        let mut replayed: Vec<_> = replayed.collect();
        // The fewest runs of the small input first; equal ones as they were made.
        replayed.sort_by_key(|(_, runs)| runs[0].all());
        orders.extend(replayed);
        orders.push(oracle("Oracle worst", both(&|it| worst(&it.pilots))));
        orders.push(oracle("without early termination", both(&|it| whole(&it.pilots))));
        Self { small, reference, seed, orders }
    }

    /// The runs of each order.
    pub(super) fn orders(&self) -> Table {
        let columns = [
            "order",
            "small input: runs of SDC-PCs",
            "all runs",
            "share of the pilots",
            "reference: runs of SDC-PCs",
            "all runs",
            "share of the pilots",
        ];
        let mut table = Table::new("Injection priority with early termination", &columns);
        let all = [self.small, self.reference].map(|it| whole(&it.pilots).all());
        table.rows = self
            .orders
            .iter()
            .map(|(name, runs)| {
                let cells = runs.iter().zip(all).flat_map(|(runs, all)| {
                    let share = runs.all() as f64 / all.max(1) as f64;
                    [Cell::Count(runs.of_sdc_pcs()), Cell::Count(runs.all()), Cell::Share(share)]
                });
                std::iter::once(Cell::text(name)).chain(cells).collect()
            })
            .collect();
        table.notes.push(
            "The pilots of an instruction run in the order until one makes it an SDC-PC; any other instruction takes all \
             of its pilots. All orders are replayed on one set of outcomes."
                .to_owned(),
        );
        table.notes.push(
            "The thesis combines its schemes into 38 orders and does not list them: these are the schemes in both directions, \
             RT and OP before BitPos, DI and ECS, and BitPos before ECS. Equal pilots run at random. Where the pilots of an \
             instruction are all in one operand, RT and OP change nothing."
                .to_owned(),
        );
        table
    }

    /// The ways of analysing: with and without priorities.
    fn ways(&self) -> Vec<Way> {
        let (small, reference) = (self.small, self.reference);
        let random = |it: &Analysis| Order::random().runs(&it.pilots, self.seed, |_| false);
        let found = small.corrupting();
        let left = Order::random().runs(&reference.pilots, self.seed, |pc| found.contains(pc));
        let seconds = |it: &Analysis, runs: Runs| it.times.total(runs.ends());
        let one = |name, key, it: &Analysis, runs: Runs, measured| Way {
            name,
            key,
            runs: runs.all(),
            seconds: seconds(it, runs),
            measured,
        };
        let two = |name, key, second: Runs| {
            let first = random(small);
            let seconds = seconds(small, first) + seconds(reference, second);
            Way { name, key, runs: (first + second).all(), seconds, measured: None }
        };
        vec![
            one("reference", "reference", reference, whole(&reference.pilots), Some(reference.seconds)),
            one("small input (Min)", "minimised", small, whole(&small.pilots), Some(small.seconds)),
            one("reference, random order (RefEIP)", "reference_eip", reference, random(reference), None),
            one("small input, random order (MinEIP)", "minimised_eip", small, random(small), None),
            two("MinEIP, then all of RefEIP", "both_eip", random(reference)),
            two("MinEIP, then RefEIP for the instructions left (input priority)", "input_priority", left),
        ]
    }

    /// The time of each way, beside that of the reference.
    pub(super) fn times(&self) -> Table {
        let columns =
            ["analysis", "runs", "seconds by Equation 3.1", "speedup", "seconds measured", "speedup measured"];
        let mut table = Table::new("Time of the analysis", &columns);
        let number = |value: f64| Cell::Number((value * 1000.0).round() / 1000.0);
        let ways = self.ways();
        let base = (ways[0].seconds, self.reference.seconds);
        let row = |way: &Way| {
            vec![
                Cell::text(way.name),
                Cell::Count(way.runs),
                number(way.seconds),
                number(base.0 / way.seconds.max(1e-9)),
                way.measured.map_or(Cell::None, number),
                way.measured.map_or(Cell::None, |seconds| number(base.1 / seconds.max(1e-9))),
            ]
        };
        table.rows = ways.iter().map(row).collect();
        table.notes.push(
            "Equation 3.1 adds the time to find classes and, for each category of outcomes, the runs times their mean time, which \
             is measured of up to 1000 runs one by one, without the fastest and slowest 2.5 %. What is measured are all runs by \
             all workers, without the classes."
                .to_owned(),
        );
        table
    }

    /// The same as a document.
    pub(super) fn document(&self) -> Value {
        let runs = |runs: Runs| json!({ "of_sdc_pcs": runs.of_sdc_pcs(), "all": runs.all() });
        let orders = self.orders.iter().map(|(name, [small, reference])| {
            json!({ "order": name, "minimised": runs(*small), "reference": runs(*reference) })
        });
        let ways = self.ways();
        let base = ways[0].seconds;
        let time = ways.iter().map(|way| {
            let speedup = base / way.seconds.max(1e-9);
            json!({
                "analysis": way.key, "runs": way.runs, "seconds": way.seconds, "speedup": speedup,
                "seconds_measured": way.measured,
            })
        });
        json!({ "orders": orders.collect::<Vec<_>>(), "time": time.collect::<Vec<_>>() })
    }
}
