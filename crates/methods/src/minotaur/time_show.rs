//! Injection and input priority, and the time of analyses, as tables and as a document.

use serde_json::{Value, json};
use std::collections::BTreeSet;
use study::{Cell, Table};

use super::analysis::Analysis;
use super::pilots::{Pc, Question, decided};
use super::priority::{Order, Runs, best, whole, without, worst};
use super::terminated::EarlyEnds;

/// The analyses of both inputs, with all that follows from the outcomes of their pilots.
pub(super) struct Replay<'a> {
    /// The small input and the reference.
    both: [&'a Analysis; 2],
    question: Question,
    order: &'a Order,
    seed: u64,
    /// By order and oracle, the runs of the small input and of the reference.
    orders: Vec<(String, [Runs; 2])>,
}

/// One way of analysing, as Equation 3.1 and the clock measure it.
struct Way {
    name: String,
    key: &'static str,
    runs: u64,
    seconds: f64,
    measured: Option<f64>,
}

impl<'a> Replay<'a> {
    /// Replays all orders on the outcomes of both analyses; `order` is the one that the times are of.
    pub(super) fn of(both: [&'a Analysis; 2], question: Question, order: &'a Order, seed: u64) -> Self {
        let runs = |runs: &dyn Fn(&Analysis) -> Runs| both.map(runs);
        let named = |name: &str, runs: [Runs; 2]| (name.to_owned(), runs);
        let schemes = Order::all().into_iter().chain([Order::random()]);
        let of_order = |it: Order| (it.to_string(), runs(&|analysis| it.runs(&analysis.pilots, question, seed)));
        let mut replayed: Vec<_> = schemes.map(of_order).collect();
        // The fewest runs of the small input first; equal ones as they were made.
        replayed.sort_by_key(|(_, runs)| runs[0].all());
        let mut orders = vec![named("Oracle best", runs(&|it| best(&it.pilots, question)))];
        orders.extend(replayed);
        orders.push(named("Oracle worst", runs(&|it| worst(&it.pilots, question))));
        orders.push(named("without early termination", runs(&|it| whole(&it.pilots, question))));
        Self { both, question, order, seed, orders }
    }

    /// The runs of the order that the times are of, but those of skipped instructions.
    fn early(&self, analysis: &Analysis, skipped: &BTreeSet<Pc>) -> Runs {
        self.order.runs(without(&analysis.pilots, skipped), self.question, self.seed)
    }

    /// The seconds by Equation 3.1 of all pilots of the reference and of the small input with early termination, each of these
    /// instructions alone, with the runs.
    pub(super) fn of_some(&self, some: &BTreeSet<Pc>) -> [(u64, f64); 2] {
        let [small, reference] = self.both;
        let others = |it: &Analysis| it.pilots.keys().filter(|pc| !some.contains(*pc)).cloned().collect();
        let all = whole(without(&reference.pilots, &others(reference)), self.question);
        let early = self.early(small, &others(small));
        [(reference, all), (small, early)].map(|(it, runs)| (runs.all(), it.times.total(runs.ends())))
    }

    /// The instructions that each input decides among some, and those that both decide.
    pub(super) fn decided_of(&self, some: &BTreeSet<Pc>) -> [u64; 3] {
        let found = self.both.map(|it| decided(&it.pilots, self.question));
        let count = |of: &dyn Fn(&Pc) -> bool| some.iter().filter(|pc| of(pc)).count() as u64;
        [
            count(&|pc| found[0].contains(pc)),
            count(&|pc| found[1].contains(pc)),
            count(&|pc| found[0].contains(pc) && found[1].contains(pc)),
        ]
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
        let all = self.both.map(|it| whole(&it.pilots, self.question).all());
        table.rows = self
            .orders
            .iter()
            .map(|(name, runs)| {
                let cells = runs.iter().zip(all).flat_map(|(runs, all)| {
                    let share = runs.all() as f64 / all.max(1) as f64;
                    [Cell::Count(runs.of_decided()), Cell::Count(runs.all()), Cell::Share(share)]
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

    /// The ways of analysing: with and without priorities. The last three have a time on the clock where they were run.
    fn ways(&self, early: Option<&EarlyEnds>) -> Vec<Way> {
        let [small, reference] = self.both;
        let (found, none) = (decided(&small.pilots, self.question), BTreeSet::new());
        let seconds = |it: &Analysis, runs: Runs| it.times.total(runs.ends());
        let order = self.order;
        let measured = |number: usize| early.map(|early| early.seconds(number));
        let one = |name: String, key, it: &Analysis, runs: Runs, measured| Way {
            name,
            key,
            runs: runs.all(),
            seconds: seconds(it, runs),
            measured,
        };
        let first = self.early(small, &none);
        let two = |name: &str, key, second: Runs, number| {
            let seconds = seconds(small, first) + seconds(reference, second);
            let measured = measured(0).zip(measured(number)).map(|(one, two)| one + two);
            Way { name: name.to_owned(), key, runs: (first + second).all(), seconds, measured }
        };
        let [all_small, all_reference] = self.both.map(|it| whole(&it.pilots, self.question));
        let second = self.early(reference, &none);
        vec![
            one("reference (Ref)".to_owned(), "reference", reference, all_reference, Some(reference.seconds)),
            one("small input (Min)".to_owned(), "minimised", small, all_small, Some(small.seconds)),
            one(format!("reference, {order} order (RefEIP)"), "reference_eip", reference, second, measured(1)),
            one(format!("small input, {order} order (MinEIP)"), "minimised_eip", small, first, measured(0)),
            two("MinEIP, then all of RefEIP", "both_eip", second, 1),
            two(
                "MinEIP, then RefEIP for the instructions left (input priority)",
                "input_priority",
                self.early(reference, &found),
                2,
            ),
        ]
    }

    /// The time of each way, beside that of the reference.
    pub(super) fn times(&self, early: Option<&EarlyEnds>) -> Table {
        let columns =
            ["analysis", "runs", "seconds by Equation 3.1", "speedup", "seconds measured", "speedup measured"];
        let mut table = Table::new("Time of the analysis", &columns);
        let number = |value: f64| Cell::Number((value * 1000.0).round() / 1000.0);
        let ways = self.ways(early);
        let base = (ways[0].seconds, self.both[1].seconds);
        let row = |way: &Way| {
            vec![
                Cell::text(&way.name),
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
             is measured of up to 1000 runs one by one, without the fastest and slowest 2.5 %. Seconds measured are of campaigns \
             by all workers, without the classes; of early termination they need --terminate."
                .to_owned(),
        );
        table
    }

    /// The same as a document.
    pub(super) fn document(&self, early: Option<&EarlyEnds>) -> Value {
        let runs = |runs: Runs| json!({ "of_sdc_pcs": runs.of_decided(), "all": runs.all() });
        let orders = self.orders.iter().map(|(name, [small, reference])| {
            json!({ "order": name, "minimised": runs(*small), "reference": runs(*reference) })
        });
        let ways = self.ways(early);
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
