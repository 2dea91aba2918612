//! The statements of the chapter, each with its rule and its verdict.

use stats::{Confidence, Repeated};

use super::survey::Measured;
use super::tables::per_run;
use crate::documents::at;
use crate::statements::{Judged, Part, Statement, Verdict};
use crate::words::{listed, percent};

/// The order whose gain the chapter finds best.
const RANDOM: &str = "Random";

/// Means of the same gains differ by no more than this.
const ROUNDING: f64 = 1e-9;

/// How far apart the times of the same analysis were found from one day to another: a factor of 1.9 at most.
const SPREAD: f64 = 2.0;

/// All statements.
pub(super) fn statements(all: &[Measured]) -> Vec<Part> {
    vec![
        Part { name: "statements-inputs", statements: inputs(all) },
        Part { name: "statements-accuracy", statements: accuracy(all) },
        Part { name: "statements-injections", statements: injections(all) },
        Part { name: "statements-time", statements: time(all) },
        Part { name: "statements-extensions", statements: extensions(all) },
    ]
}

fn statement(claim: &str, paper: &str, ours: String, judged: Judged) -> Statement {
    Statement { claim: claim.to_owned(), paper: paper.to_owned(), ours, judged }
}

/// A number as a statement has it: a share in percent, or a factor.
#[derive(Clone, Copy)]
enum Number {
    Share,
    Factor,
}

impl Number {
    /// The largest that there is.
    fn most(self) -> f64 {
        match self {
            Self::Share => 1.0,
            Self::Factor => f64::INFINITY,
        }
    }

    fn text(self, value: f64) -> String {
        match self {
            Self::Share => percent(value),
            Self::Factor => format!("{value:.2}×"),
        }
    }
}

/// The direction in which a number may differ from the chapter's.
#[derive(Clone, Copy)]
enum Bound {
    Least,
    Most,
}

/// A mean over applications held against the chapter's: it holds if the interval of ours lies on the chapter's side of its number,
/// does not if it lies on the other side, and is undecided if the number is within.
fn mean(
    (claim, theirs, number, bound): (&str, f64, Number, Bound),
    all: &[Measured],
    of: impl Fn(&Measured) -> Option<f64>,
) -> Statement {
    let values: Vec<f64> = all.iter().filter_map(of).collect();
    let found = Repeated::of(&values).map(|it| (it, it.half_width(0.0, Confidence::PERCENT_95)));
    let (word, verdict) = match bound {
        Bound::Least => ("or more", found.map(|(it, half)| side(it.mean - theirs, half))),
        Bound::Most => ("or less", found.map(|(it, half)| side(theirs - it.mean, half))),
    };
    let ours = found.map_or_else(
        || "not measured".to_owned(),
        |(it, half)| {
            format!(
                "{} ({} to {}), {} applications",
                number.text(it.mean),
                number.text((it.mean - half).max(0.0)),
                number.text((it.mean + half).min(number.most())),
                it.count
            )
        },
    );
    let rule = format!("the 95 % interval of our mean over applications is all {} {word}", number.text(theirs));
    statement(claim, &number.text(theirs), ours, Judged::by(rule, verdict.unwrap_or(Verdict::Open)))
}

fn side(above: f64, half: f64) -> Verdict {
    if above - half >= 0.0 {
        Verdict::Holds
    } else if above + half < 0.0 {
        Verdict::Fails
    } else {
        Verdict::Open
    }
}

/// Whether each of some applications fulfils a rule; the ones that do not are named.
fn each(
    (claim, paper, rule): (&str, &str, &str),
    all: &[&Measured],
    holds: impl Fn(&Measured) -> Option<bool>,
) -> Statement {
    let found: Vec<(&str, bool)> = all.iter().filter_map(|it| Some((it.name, holds(it)?))).collect();
    let not: Vec<&str> = found.iter().filter(|(_, holds)| !holds).map(|(name, _)| *name).collect();
    let verdict = if found.is_empty() { Verdict::Open } else { Verdict::plain(not.is_empty()) };
    let but = if not.is_empty() { String::new() } else { format!("; not {}", listed(&not)) };
    let ours = format!("{} of {}{but}", found.len() - not.len(), found.len());
    statement(claim, paper, ours, Judged::by(rule, verdict))
}

/// Whether an application of the chapter has the largest number of all of the chapter.
fn largest(claim: &str, name: &str, paper: &str, all: &[Measured], of: impl Fn(&Measured) -> Option<f64>) -> Statement {
    let of_chapter = all.iter().filter(|it| it.is_of_chapter);
    let mut found: Vec<(&str, f64)> = of_chapter.filter_map(|it| Some((it.name, of(it)?))).collect();
    found.sort_by(|one, two| two.1.total_cmp(&one.1));
    let is_there = found.iter().any(|(it, _)| *it == name) && found.len() > 1;
    let own = found.iter().find(|(it, _)| *it == name).map_or(0.0, |it| it.1);
    let others = found.iter().filter(|(it, _)| *it != name).map(|it| it.1).fold(0.0, f64::max);
    let verdict = match () {
        () if is_there && own >= SPREAD * others => Verdict::Holds,
        () if is_there && others >= SPREAD * own => Verdict::Fails,
        () => Verdict::Open,
    };
    let ours: Vec<String> = found.iter().map(|(name, factor)| format!("{name} {factor:.2}×")).collect();
    let rule = format!(
        "{name} has the largest factor of the chapter's applications; undecided within a factor of two, by which times of the same analysis \
         differ"
    );
    statement(claim, paper, listed(ours), Judged::by(rule, verdict))
}

/// A statement whose words have no number of the chapter behind them.
fn vague(claim: &str, paper: &str, ours: String) -> Statement {
    statement(claim, paper, ours, Judged::by("the chapter names no threshold", Verdict::Open))
}

/// A statement about numbers that are not measured here.
fn unmeasured(claim: &str, paper: &str) -> Statement {
    statement(claim, paper, "not measured".to_owned(), Judged::by("these campaigns do not measure it", Verdict::Open))
}

fn named<'m>(all: &'m [Measured], names: &[&str]) -> Vec<&'m Measured> {
    all.iter().filter(|it| names.contains(&it.name)).collect()
}

fn inputs(all: &[Measured]) -> Vec<Statement> {
    let every: Vec<&Measured> = all.iter().collect();
    let quality = |criterion: &str| {
        let path = format!("minimised.quality.{criterion}.rate");
        move |it: &Measured| it.number(&path)
    };
    vec![
        each(
            (
                "every small input keeps at least 99.23 % of the PCs of its reference (Table 3.1)",
                "99.23 to 100 %",
                "PC coverage is at least 99.23 % in each of our applications",
            ),
            &every,
            |it| Some(it.number("minimised.quality.pc.rate")? >= 0.9923),
        ),
        mean(
            (
                "small inputs chosen by PC coverage keep 99.76 % of the branch edges (Section 3.5.1)",
                0.9976,
                Number::Share,
                Bound::Least,
            ),
            all,
            quality("branch"),
        ),
        mean(
            ("they keep 98.78 % of the def-use pairs (Section 3.5.1)", 0.9878, Number::Share, Bound::Least),
            all,
            quality("def-use"),
        ),
        each(
            (
                "a small input executes fewer dynamic instructions (Section 3.5.1)",
                "all applications",
                "the minimised input executes fewer thread instructions in each of our applications",
            ),
            &every,
            |it| Some(it.count("minimised.thread_instructions") < it.count("reference.thread_instructions")),
        ),
    ]
}

fn accuracy(all: &[Measured]) -> Vec<Statement> {
    let part = |keys: &'static [&'static str]| {
        move |it: &Measured| {
            let all = it.number("accuracy.minimised.of").filter(|all| *all > 0.0)?;
            Some(keys.iter().filter_map(|key| it.number(&format!("sdc_pcs.{key}"))).sum::<f64>() / all)
        }
    };
    let most = all.iter().filter(|it| it.count("sdc_pcs.ref_sdc_plus") == 0).count();
    vec![
        mean(
            (
                "Min finds at least 95 % of the SDC-PCs of Ref (the chapter's use of it)",
                0.95,
                Number::Share,
                Bound::Least,
            ),
            all,
            |it| it.number("found.rate"),
        ),
        mean(
            ("Min finds 96 % of the SDC-PCs that either finds (Section 3.5.1)", 0.96, Number::Share, Bound::Least),
            all,
            |it| it.number("accuracy.minimised.rate"),
        ),
        mean(("Ref finds 64 % of them (Section 3.5.1)", 0.64, Number::Share, Bound::Most), all, |it| {
            it.number("accuracy.reference.rate")
        }),
        mean(
            ("Min explores 85 % of the PCs that either explores (Figure 3.7)", 0.85, Number::Share, Bound::Least),
            all,
            |it| it.explored().map(|it| it[0]),
        ),
        mean(("Ref at 99 % explores 55 % of them (Figure 3.7)", 0.55, Number::Share, Bound::Most), all, |it| {
            it.explored().map(|it| it[1])
        }),
        mean(
            ("60 % of the SDC-PCs are Common (Figure 3.6)", 0.60, Number::Share, Bound::Least),
            all,
            part(&["common"]),
        ),
        mean(
            ("35 % are MinSDC or MinSDC+ (Figure 3.6)", 0.35, Number::Share, Bound::Least),
            all,
            part(&["min_sdc", "min_sdc_plus"]),
        ),
        mean(("4 % are RefSDC (Figure 3.6)", 0.04, Number::Share, Bound::Most), all, part(&["ref_sdc"])),
        statement(
            "for many workloads there are no RefSDC+ (Section 3.5.1)",
            "–",
            format!("none in {most} of {}", all.len()),
            Judged::by("the chapter does not say how many are many", Verdict::Open),
        ),
        each(
            (
                "no RefSDC lies in a branch pair that Min does not cover (Section 3.5.1)",
                "0",
                "Min covers all branch pairs of Ref, so that none of its RefSDC lies in another",
            ),
            &all.iter().collect::<Vec<_>>(),
            |it| Some(it.number("minimised.quality.branch.rate")? >= 1.0),
        ),
    ]
}

fn injections(all: &[Measured]) -> Vec<Statement> {
    let of_all = |it: &Measured, path: &str| at(&it.of_all_sites, path).and_then(serde_json::Value::as_u64);
    let best = |input: &str| {
        let mut means: Vec<(&str, f64)> = Vec::new();
        let names = all.first().map(|it| it.gains(input)).unwrap_or_default();
        for (name, _) in names.iter().filter(|(name, _)| !name.starts_with("Oracle") && !name.starts_with("without")) {
            let gains: Vec<f64> = all.iter().filter_map(|it| it.gain(input, name)).collect();
            means.push((name, gains.iter().sum::<f64>() / gains.len().max(1) as f64));
        }
        means.sort_by(|one, two| two.1.total_cmp(&one.1));
        means
    };
    let random = |input: &'static str, theirs: f64, name: &str| {
        let claim =
            format!("random order with early termination speeds {name} up by {theirs}× in the mean (Section 3.5.2)");
        mean((&claim, theirs, Number::Factor, Bound::Least), all, |it| it.gain(input, RANDOM))
    };
    let first = |input: &str, name: &str| {
        let means = best(input);
        let random = means.iter().find(|(name, _)| *name == RANDOM).copied();
        let mut shown: Vec<(&str, f64)> = random.into_iter().collect();
        shown.extend(means.iter().filter(|(name, _)| *name != RANDOM).take(3));
        let shown: Vec<String> = shown.iter().map(|(name, gain)| format!("{name} {gain:.2}×")).collect();
        let both = random.zip(means.first().copied());
        let verdict =
            both.map_or(Verdict::Open, |((_, random), (_, first))| Verdict::plain(random >= first - ROUNDING));
        let claim = format!("random order has the largest mean gain of all orders for {name} (Section 3.5.2)");
        statement(&claim, "the first of 38", listed(shown), Judged::by("no order has a larger mean gain", verdict))
    };
    let near = |input: &str| {
        let ratio = |it: &Measured| Some(it.gain(input, RANDOM)? / it.gain(input, "Oracle best")?);
        let ratios: Vec<f64> = all.iter().filter_map(ratio).collect();
        percent(ratios.iter().sum::<f64>() / ratios.len().max(1) as f64)
    };
    vec![
        vague(
            "all sites of Min take about as many injections as 99 % of Ref's in Blackscholes, Swaptions, LU and FFT (Figure 3.3)",
            "comparable",
            listed(named(all, &["Blackscholes", "Swaptions", "LU", "FFT"]).into_iter().filter_map(|it| {
                let small = of_all(it, "minimised.pilots")?;
                Some(format!("{} {:.2}×", it.name, small as f64 / it.count("reference.pilots").max(1) as f64))
            })),
        ),
        each(
            (
                "Water, Streamcluster and Sobel reduce the injections from Ref100 to Min100, too (Section 3.5.1)",
                "fewer",
                "Min at 100 % takes fewer pilots than Ref at 100 % in each of these",
            ),
            &named(all, &["Water", "Streamcluster", "Sobel"]),
            |it| Some(of_all(it, "minimised.pilots")? < of_all(it, "reference.pilots")?),
        ),
        random("minimised", 2.4, "Min"),
        random("reference", 3.8, "Ref"),
        first("minimised", "Min"),
        first("reference", "Ref"),
        vague(
            "random order is very close to the best oracle (Section 3.5.2)",
            "–",
            format!("in the mean {} of the oracle's gain for Min, {} for Ref", near("minimised"), near("reference")),
        ),
    ]
}

fn time(all: &[Measured]) -> Vec<Statement> {
    let over_ref = |analysis: &'static str| move |it: &Measured| it.times("", "reference", analysis);
    let factor = |claim: &'static str, theirs: f64, bound: Bound| (claim, theirs, Number::Factor, bound);
    vec![
        mean(factor("a run of Min is 2.1× faster than one of Ref (Figure 3.4)", 2.1, Bound::Least), all, per_run),
        unmeasured("the application itself is 2.3× faster, the rest of a run 1.8× (Figure 3.4)", "2.3× and 1.8×"),
        mean(factor("Min speeds the analysis up by 4.1× (Figure 3.5)", 4.1, Bound::Least), all, over_ref("minimised")),
        largest("FFT gains most by Min (Figure 3.5)", "FFT", "15.5×", all, over_ref("minimised")),
        mean(factor("MinEIP speeds it up by 10.3× (Figure 3.5)", 10.3, Bound::Least), all, over_ref("minimised_eip")),
        largest("FFT gains most by MinEIP (Figure 3.5)", "FFT", "38.9×", all, over_ref("minimised_eip")),
        mean(factor("RefEIP speeds it up by 3.8× (Figure 3.5)", 3.8, Bound::Least), all, over_ref("reference_eip")),
        largest("LU gains most by RefEIP (Figure 3.5)", "LU", "8.14×", all, over_ref("reference_eip")),
        each(
            (
                "MinEIP is faster than RefEIP (Section 3.5.3)",
                "10.3× against 3.8×",
                "MinEIP takes less time than RefEIP in each of our applications",
            ),
            &all.iter().collect::<Vec<_>>(),
            |it| Some(it.times("", "reference_eip", "minimised_eip")? > 1.0),
        ),
        mean(
            factor("MinEIP and all of RefEIP take 3.7× the time of MinEIP (Figure 3.10)", 3.7, Bound::Most),
            all,
            |it| it.times("", "both_eip", "minimised_eip"),
        ),
        mean(factor("with input priority they take 1.6× (Figure 3.10)", 1.6, Bound::Most), all, |it| {
            it.times("", "input_priority", "minimised_eip")
        }),
        mean(factor("input priority is 2.3× faster (Section 3.5.4)", 2.3, Bound::Least), all, |it| {
            it.times("", "both_eip", "input_priority")
        }),
    ]
}

fn extensions(all: &[Measured]) -> Vec<Statement> {
    const OF: &str = "approximable";
    let hot = |it: &Measured, path: &str| {
        let shares = at(&it.document, "hot.shares")?.as_array()?;
        at(shares.iter().find(|line| line["share"] == 0.25)?, path)?.as_f64()
    };
    let options = all.iter().find(|it| it.name == "Blackscholes");
    let speedup = options.and_then(|it| hot(it, "speedup"));
    let found = options.and_then(|it| Some((hot(it, "common")?, hot(it, "reference.sdc_pcs")?)));
    let factor = |claim: &'static str, theirs: f64| (claim, theirs, Number::Factor, Bound::Least);
    let times = |long: &'static str, short: &'static str| move |it: &Measured| it.times(OF, long, short);
    vec![
        mean(
            factor("for approximation, injection priority speeds Min up by 4.4× (Section 3.6.1)", 4.4),
            all,
            times("minimised", "minimised_eip"),
        ),
        mean(factor("it speeds Ref up by 5.53× (Section 3.6.1)", 5.53), all, times("reference", "reference_eip")),
        mean(factor("MinEIP is 18× faster than Ref (Section 3.6.1)", 18.0), all, times("reference", "minimised_eip")),
        mean(
            (
                "Min finds 96 % of the approximable PCs that either finds (Section 3.6.1)",
                0.96,
                Number::Share,
                Bound::Least,
            ),
            all,
            |it| it.number("approximable.accuracy.minimised.rate"),
        ),
        mean(("Ref finds 81 % of them (Section 3.6.1)", 0.81, Number::Share, Bound::Most), all, |it| {
            it.number("approximable.accuracy.reference.rate")
        }),
        statement(
            "for the hottest 25 % of Blackscholes, MinEIP is 6.8× faster than Ref (Section 3.6.2)",
            "6.8×",
            speedup.map_or_else(|| "not measured".to_owned(), |speedup| format!("{speedup:.2}×")),
            Judged::by(
                "it is at least 6.8× faster in our Blackscholes",
                speedup.map_or(Verdict::Open, |speedup| Verdict::plain(speedup >= 6.8)),
            ),
        ),
        statement(
            "it finds all of their SDC-PCs (Section 3.6.2)",
            "100 %",
            found.map_or_else(|| "not measured".to_owned(), |(both, all)| format!("{both} of {all}")),
            Judged::by(
                "Min finds each SDC-PC of Ref among them",
                found.map_or(Verdict::Open, |(both, all)| Verdict::plain(both >= all)),
            ),
        ),
    ]
}
