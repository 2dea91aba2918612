//! The tables of the page, each beside a table or figure of the paper.

use serde_json::Value;
use study::{Cell, Mark, Plot, Point, Series, Table, Vertical};

use super::searches::{launches as most_launches, pruned};
use super::survey::{Goal, Measured};
use crate::documents::{at, list, number, text};
use crate::words::{listed, percent, range};

/// A share with its bounds: `22.3 % (19.9–24.9)`.
fn bounded(it: &Value, [value, low, high]: [&str; 3]) -> Cell {
    let of = |key: &str| it[key].as_f64();
    let shown = of(value).zip(of(low)).zip(of(high));
    Cell::text(shown.map_or_else(
        || "–".to_owned(),
        |((value, low), high)| format!("{} ({})", percent(value), range((low, high)).trim_end_matches(" %")),
    ))
}

/// The keys of a rate.
const RATE: [&str; 3] = ["rate", "low", "high"];

/// A coefficient with its bounds: `0.77 (0.71 to 0.82)`.
pub(super) fn coefficient(it: &Value) -> String {
    let of = |key: &str| it[key].as_f64();
    let shown = of("value").zip(of("low")).zip(of("high"));
    shown.map_or_else(|| "–".to_owned(), |((value, low), high)| format!("{value:.2} ({low:.2} to {high:.2})"))
}

/// Figure 1: the rates of random inputs.
pub(super) fn ranges(all: &[Measured]) -> Table {
    let columns = ["workload", "kernel", "random inputs", "lowest SDC", "highest SDC", "reference", "all alike, p"];
    let mut table = Table::new("SDC rates of random inputs", &columns);
    table.rows.extend(all.iter().map(|it| {
        let range = at(&it.studies, "studies.range").unwrap_or(&Value::Null);
        vec![
            Cell::text(it.name),
            Cell::text(text(&it.studies, "kernel")),
            Cell::Count(list(range, "inputs").len() as u64),
            bounded(&range["lowest"], RATE),
            bounded(&range["highest"], RATE),
            bounded(it.reference().unwrap_or(&Value::Null), RATE),
            Cell::text(range["p_alike"].as_f64().map_or_else(|| "–".to_owned(), |p| Short(p).to_string())),
        ]
    }));
    table
}

/// A chance with one digit.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 < 1e-300 {
            return write!(f, "below 1e-300");
        }
        if self.0 >= 0.01 { write!(f, "{:.2}", self.0) } else { write!(f, "{:.0e}", self.0) }
    }
}

/// By its key, a coefficient of the study of kernels.
pub(super) fn of_kernels<'v>(it: &'v Measured, between: &str) -> &'v Value {
    let found = list(&it.studies, "studies.kernels").iter().find(|row| row["between"] == between);
    found.map_or(&Value::Null, |row| &row["coefficient"])
}

/// Tables II to IV: what ranks inputs, threads and instructions.
pub(super) fn ranks(all: &[Measured]) -> Table {
    let columns = [
        "workload",
        "dominant threads ~ kernel (III)",
        "their ceiling",
        "fitness ~ kernel",
        "the same, fitter half",
        "size ~ kernel",
        "counts ~ threads (IV)",
        "its ceiling",
        "instructions over inputs (II)",
        "its ceiling",
    ];
    let mut table = Table::new("Spearman's coefficients with bounds at 95 %", &columns);
    table.rows.extend(all.iter().map(|it| {
        let of = |path: &str| at(&it.studies, path).map_or_else(|| "–".to_owned(), coefficient);
        let mut row = vec![it.name.to_owned()];
        row.extend(
            ["dominant", "ceiling_dominant", "fitness", "fitter", "size"].map(|key| coefficient(of_kernels(it, key))),
        );
        row.extend(
            ["threads.counts", "threads.ceiling", "instructions.across_inputs", "instructions.ceiling"]
                .map(|key| of(&format!("studies.{key}"))),
        );
        row.into_iter().map(Cell::text).collect()
    }));
    table
}

/// How the proxy ranks the inputs that it prefers, and why a search by it goes wrong there.
pub(super) fn proxy(all: &[Measured]) -> String {
    let above = |key: &str| {
        let is_above = |it: &&Measured| of_kernels(it, key)["low"].as_f64().is_some_and(|low| low > 0.0);
        all.iter().filter(is_above).map(|it| it.name).collect::<Vec<_>>()
    };
    let studied = all.iter().filter(|it| of_kernels(it, "fitter").is_object()).count();
    let (whole, fitter) = (above("fitness"), above("fitter"));
    format!(
        "Over all inputs the fitness ranks as the rate does in {} of {studied} kernels, with the whole interval above 0. Among the fitter half of the \
         inputs, those that a search by it ends with, it does so in {}: {}. Elsewhere the coefficient over all inputs comes of small inputs, with few \
         instructions in the threads and low rates, and says little of the inputs that the search chooses between.",
        whole.len(),
        fitter.len(),
        listed(&fitter)
    )
}

/// Case study 2: the model without injections, input by input.
pub(super) fn model(all: &[Measured]) -> Table {
    let columns = ["workload", "inputs", "predicted ~ measured", "mean absolute error", "predicted less measured"];
    let mut table = Table::new("The model without injections over random inputs", &columns);
    table.rows.extend(all.iter().map(|it| {
        let model = at(&it.studies, "studies.model").unwrap_or(&Value::Null);
        let points = |key: &str| {
            let shown = model[key].as_f64().map(|it| format!("{:.1} points", it * 100.0));
            Cell::text(shown.unwrap_or_else(|| "–".to_owned()))
        };
        vec![
            Cell::text(it.name),
            Cell::Count(list(model, "inputs").len() as u64),
            Cell::text(coefficient(&model["ranks"])),
            points("mean_absolute_error"),
            points("bias"),
        ]
    }));
    table
}

/// Figure 5 and Table VII: launches of the kernel, and searches by one of them and by all.
pub(super) fn launches(all: &[Measured]) -> Table {
    let columns =
        ["workload", "launches", "largest spread in an input", "rate, one launch", "rate, all launches", "alike, p"];
    let mut table = Table::new("Launches of the kernel and trace pruning", &columns);
    table.rows.extend(all.iter().map(|it| {
        let inputs = list(&it.studies, "studies.launches.inputs");
        let most = |key: &str| inputs.iter().filter_map(|input| input[key].as_f64()).fold(0.0, f64::max);
        let rates = pruned(it).unwrap_or_default();
        let [with, without] = rates.map(|rates| {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            Cell::text(if rates.is_empty() { "–".to_owned() } else { percent(mean) })
        });
        let p = number(&it.studies, "studies.pruning.p");
        vec![
            Cell::text(it.name),
            Cell::Count(most_launches(it)),
            Cell::text(percent(most("spread"))),
            with,
            without,
            Cell::text(p.map_or_else(|| "–".to_owned(), |p| Short(p).to_string())),
        ]
    }));
    table
}

/// Figures 6 to 8: the searchers compared.
pub(super) fn searches(all: &[Measured]) -> Table {
    let columns = [
        "workload",
        "guided by",
        "inputs, at most",
        "searcher",
        "median SDC",
        "pairs better than random",
        "p, corrected",
        "differs",
    ];
    let mut table = Table::new("What searchers find", &columns);
    for it in all {
        for goal in Goal::ALL {
            let Some(search) = it.search(goal) else { continue };
            table.rows.extend(list(search, "comparison").iter().map(|row| {
                let plain = |key: &str, digits: usize| {
                    row[key].as_f64().map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
                };
                let is_compared = row["p_corrected"].is_number();
                vec![
                    Cell::text(it.name),
                    Cell::text(goal.words()),
                    Cell::Count(evaluations(search, text(row, "searcher"))),
                    Cell::text(text(row, "searcher")),
                    bounded(row, ["median", "low", "high"]),
                    Cell::text(plain("better_than_random", 2)),
                    Cell::text(plain("p_corrected", 4)),
                    Cell::text(if !is_compared {
                        "–"
                    } else if row["differs"] == true {
                        "yes"
                    } else {
                        "no"
                    }),
                ]
            }));
        }
    }
    table
}

/// The different inputs that each search of a searcher evaluated, at most.
fn evaluations(search: &Value, searcher: &str) -> u64 {
    let of = list(search, "searches").iter().filter(|it| it["searcher"] == searcher);
    of.filter_map(|it| it["evaluations"].as_u64()).max().unwrap_or(0)
}

/// The commands of the recorded searches, one a line.
pub(super) fn commands(all: &[Measured]) -> String {
    let searches = all.iter().flat_map(|it| &it.searches);
    searches.map(|(_, search)| format!("    {}", text(search, "command"))).collect::<Vec<_>>().join("\n")
}

/// The seed of the studies of each workload.
pub(super) fn seeds(all: &[Measured]) -> String {
    listed(all.iter().map(|it| format!("{} ({})", it.seed, it.name)))
}

/// The kernels with each of the studies that not all have, in sentences.
pub(super) fn studied(all: &[Measured]) -> String {
    let of = |study: &str| {
        listed(all.iter().filter(|it| at(&it.studies, &format!("studies.{study}")).is_some()).map(|it| it.name))
    };
    format!(
        "Campaigns in each instruction were made for {}, searches with and without pruning for {}, and protection was studied for {}.",
        of("instructions"),
        of("pruning"),
        of("protection")
    )
}

/// The kernels whose searches by the proxy are recorded, and the others, in a sentence.
pub(super) fn recorded(all: &[Measured]) -> String {
    let of = |has: bool| listed(all.iter().filter(|it| it.search(Goal::Proxy).is_some() == has).map(|it| it.name));
    format!(
        "Searches by the proxy at equal budgets are recorded for {}; those of {} are not made.",
        of(true),
        of(false)
    )
}

/// Figure 1 as a plot: the rates of random inputs by rank.
pub(super) fn plot_of_rates(all: &[Measured]) -> Plot {
    let series = |it: &Measured| {
        let inputs = list(&it.studies, "studies.range.inputs");
        let point = |(at, input): (u32, &Value)| {
            let rate = &input["sdc"];
            let bounds = rate["low"].as_f64().zip(rate["high"].as_f64());
            Some(Point { x: f64::from(at), y: rate["rate"].as_f64()?, bounds })
        };
        Series { name: it.name.to_owned(), mark: Mark::Dots, points: (1..).zip(inputs).filter_map(point).collect() }
    };
    Plot {
        name: "rates".to_owned(),
        title: "SDC rates of random inputs".to_owned(),
        x: "input, by its rate".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "SDC rate, %".to_owned(),
        vertical: Vertical::Shares,
        series: all.iter().map(series).collect(),
    }
}

/// Figure 8 as a plot, at all budgets: of each kernel the coverage that is expected and the actual one.
pub(super) fn plot_of_coverage(all: &[Measured]) -> Plot {
    let series = |it: &Measured, input: &str, words: &str| {
        let levels = list(&it.studies, "studies.protection.levels");
        let point = |level: &Value| {
            let y = level["for_reference"][input]["rate"].as_f64()?;
            Some(Point { x: level["budget"].as_f64()? * 100.0, y, bounds: None })
        };
        let points: Vec<Point> = levels.iter().filter_map(point).collect();
        Series { name: format!("{}, {words}", it.name), mark: Mark::Dots, points }
    };
    let both = |it: &Measured| [series(it, "reference", "expected"), series(it, "found", "actual")];
    Plot {
        name: "coverage".to_owned(),
        title: "Coverage of SDCs by instructions protected for the reference".to_owned(),
        x: "budget, % of dynamic instructions".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "SDCs in protected instructions, %".to_owned(),
        vertical: Vertical::Shares,
        series: all.iter().flat_map(both).filter(|series| !series.points.is_empty()).collect(),
    }
}

/// Of the recorded searches by the proxy, the fittest input of DRUTO so far, in the mean over its seeds, as a share of the last one.
pub(super) fn plot_of_courses(all: &[Measured]) -> Plot {
    let series = |it: &Measured| {
        let searches = list(it.search(Goal::Proxy)?, "searches").iter().filter(|search| search["searcher"] == "druto");
        let courses: Vec<Vec<f64>> = searches
            .map(|search| list(search, "course").iter().map(|value| value.as_f64().unwrap_or(0.0)).collect())
            .collect();
        let share = |course: &Vec<f64>, at: usize| Some(course.get(at)? / course.last().filter(|last| **last > 0.0)?);
        let point = |at: usize| {
            let shares: Option<Vec<f64>> = courses.iter().map(|course| share(course, at)).collect();
            let shares = shares.filter(|shares| !shares.is_empty())?;
            let mean = shares.iter().sum::<f64>() / shares.len() as f64;
            Some(Point { x: (at + 1) as f64, y: mean, bounds: None })
        };
        let points: Vec<Point> = (0..).map_while(point).collect();
        Some(Series { name: it.name.to_owned(), mark: Mark::Steps, points })
    };
    Plot {
        name: "courses".to_owned(),
        title: "The fittest input of DRUTO so far, of the last one".to_owned(),
        x: "inputs evaluated".to_owned(),
        logarithmic: false,
        names: Vec::new(),
        y: "fitness, % of the last".to_owned(),
        vertical: Vertical::Shares,
        series: all.iter().filter_map(series).collect(),
    }
}

/// The first case study: instructions protected for the reference, met by the input that was found, and the other way round.
pub(super) fn protection(all: &[Measured]) -> Table {
    let columns = [
        "workload",
        "budget",
        "for the reference, met by it",
        "met by the input found",
        "for the input found, met by it",
        "met by the reference",
    ];
    let mut table = Table::new("Coverage of selective duplication", &columns);
    for it in all {
        table.rows.extend(list(&it.studies, "studies.protection.levels").iter().map(|level| {
            let met = |path: &str| bounded(at(level, path).unwrap_or(&Value::Null), RATE);
            vec![
                Cell::text(it.name),
                Cell::text(percent(level["budget"].as_f64().unwrap_or_default())),
                met("for_reference.reference"),
                met("for_reference.found"),
                met("for_found.found"),
                met("for_found.reference"),
            ]
        }));
    }
    table
}
