//! `beamline search`: the input that makes a kernel most vulnerable.

use inject::CapsuleTarget;

use super::bench::{Bench, Ready};
use super::contest::{Entry, Rules, crown, enter, measure};
use super::fitness::{Fitness, FitnessKind, ProfiledLaunch, main_kernel};
use super::objective::Objective;
use super::search::Budget;
use super::searchers::{SEARCHERS, SearcherOffer};
use super::show::{Outcome, answer, refused};
use crate::kit::{Campaigns, StudyError};
use crate::method::{Answer, CommandOption, InputCommand, InputRequest, Options};
use crate::two_level::IpaTable;

/// The searchers as words, with all of them.
const WORDS: [(&str, &str); SEARCHERS.len() + 1] = {
    let mut words = [("all", "all of them, compared with random search"); SEARCHERS.len() + 1];
    let mut at = 0;
    while at < SEARCHERS.len() {
        words[at] = (SEARCHERS[at].name, SEARCHERS[at].about);
        at += 1;
    }
    words
};

pub(super) const OBJECTIVE: CommandOption = CommandOption::of_words(
    "objective",
    "OBJECTIVE",
    Objective::WORDS,
    Some("proxy"),
    "The value that druto and tpe look for; with another one than proxy random search looks for it, too",
);
pub(super) const FITNESS: CommandOption =
    CommandOption::of_words("fitness", "FITNESS", FitnessKind::WORDS, Some("sum"), "The fitness of the proxy");
pub(super) const LAUNCH: CommandOption = CommandOption::of_words(
    "launch",
    "LAUNCH",
    ProfiledLaunch::WORDS,
    Some("middle"),
    "The launch of the kernel whose threads make the fitness",
);
pub(super) const RATES: CommandOption =
    CommandOption::any("rates", "NAME|F.toml", Some("K40"), "Rates of strikes for --objective fit, an IPA table");
pub(super) const BUDGET: CommandOption =
    CommandOption::any("budget", "N", Some("100"), "Evaluate N different inputs in each search");

/// The command.
pub(super) const COMMAND: InputCommand = InputCommand {
    name: "search",
    about: "Search the inputs of an application for the one whose faults corrupt its output most often",
    options: &[
        CommandOption::of_words(
            "searcher",
            "SEARCHER",
            &WORDS,
            Some("druto"),
            "How inputs are chosen; random search stands beside it in any case",
        ),
        OBJECTIVE,
        FITNESS,
        LAUNCH,
        RATES,
        BUDGET,
        CommandOption::any(
            "seconds",
            "S",
            None,
            "End each search also with the batch of inputs in which S seconds of processes, golden runs and campaigns are over",
        ),
        CommandOption::any("times", "N", Some("1"), "Give random, peppa-x and trident N times this budget"),
        CommandOption::any(
            "repeat",
            "K",
            Some("1"),
            "Search with K seeds, from --seed on; 10 or more for a comparison",
        ),
        CommandOption::any("runs", "N", Some("200"), "Measure inputs by N runs each where random search measures SDCs"),
        CommandOption::any(
            "faults",
            "N",
            Some("100"),
            "Give static instructions their probabilities by N faults in each",
        ),
        CommandOption::any("final-runs", "N", Some("1067"), "Measure the reference and what is found by N runs"),
    ],
    criteria: None,
    run,
};

/// Inputs and runs, at most: more is a slip of the keyboard.
const MOST: u64 = 1_000_000;

/// The number that an option says.
pub(super) fn number(options: &Options, key: &str) -> Result<u64, StudyError> {
    let number = options.get(key)?.unwrap_or(1);
    let within = (1..=MOST).contains(&number);
    within
        .then_some(number)
        .ok_or_else(|| StudyError::Words(format!("take {number} for --{key}: expected 1 to {MOST}")))
}

/// The seconds that a search may take, if options say them.
fn seconds(options: &Options) -> Result<Option<f64>, StudyError> {
    let seconds: Option<f64> = options.get("seconds")?;
    let is_time = |seconds: f64| seconds > 0.0 && seconds <= MOST as f64;
    match seconds {
        Some(seconds) if !is_time(seconds) => {
            Err(StudyError::Words(format!("take {seconds} for --seconds: expected more than 0 and {MOST} at most")))
        }
        seconds => Ok(seconds),
    }
}

/// The fitness that options say.
pub(super) fn fitness(options: &Options) -> Result<Fitness, StudyError> {
    let (kind, launch) = (options.get("fitness")?, options.get("launch")?);
    Ok(Fitness { kind: kind.unwrap_or(FitnessKind::Sum), launch: launch.unwrap_or(ProfiledLaunch::Middle) })
}

/// The objective that options say.
pub(super) fn objective(options: &Options) -> Result<Objective, StudyError> {
    let word: String = options.get("objective")?.unwrap_or_default();
    if word != "fit" && options.first_explicit(&["rates"]).is_some() {
        return Err(StudyError::Words(format!("take --rates with --objective {word}: rates are for --objective fit")));
    }
    Ok(match word.as_str() {
        "sdc" => Objective::Sdc,
        "sdc-time" => Objective::SdcTime,
        "due" => Objective::Due,
        "fit" => {
            let name: String = options.get("rates")?.unwrap_or_default();
            Objective::Fit(IpaTable::named(&name).map_err(StudyError::Refused)?)
        }
        _ => Objective::Proxy,
    })
}

fn run(request: &mut InputRequest<'_>, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let options = request.options.clone();
    let number = |key| number(&options, key);
    let rules = Rules {
        budget: Budget { inputs: number("budget")?, seconds: seconds(&options)? },
        times: number("times")?,
        runs: number("runs")?,
        last: number("final-runs")?,
        faults: number("faults")?,
        objective: objective(&options)?,
    };
    let repeat = number("repeat")?;
    let searcher: String = options.get("searcher")?.unwrap_or_default();
    let searchers: Vec<&'static SearcherOffer> = SEARCHERS
        .iter()
        .filter(|it| searcher == "all" || it.name == searcher || it.name == SEARCHERS[0].name)
        .collect();
    let (name, seed) = (request.inputs.name().to_owned(), campaigns.seed);
    let mut bench = Bench::new(&mut *request.inputs, campaigns, fitness(&options)?);
    let point = bench.inputs.space().reference();
    let capsule = open(&mut bench)?;
    let gone = || StudyError::Refused(format!("measure the reference input {point} of {name}: it does not run again"));
    let reference = measure(&mut bench, &point, &rules, seed, false)?.ok_or_else(gone)?;
    let mut entries: Vec<Entry> = Vec::new();
    for repetition in 0..repeat {
        for offer in &searchers {
            entries.push(enter(&mut bench, offer, &rules, &capsule, seed.wrapping_add(repetition))?);
        }
    }
    let asked: Vec<&Entry> = entries.iter().filter(|it| searcher == "all" || it.searcher == searcher).collect();
    let best = crown(&mut bench, &asked, &rules, seed)?.ok_or_else(|| {
        let reasons = refused(&entries).into_iter().map(|(why, count)| format!("{count}: {why}")).collect::<Vec<_>>();
        StudyError::Nothing(
            "inputs",
            format!("none of those of {name} that were asked for could be run: {}", reasons.join("; ")),
        )
    })?;
    if let Ok(capsule) = bench.run(&best.point)? {
        let dir = bench.campaigns.dir.clone();
        bench.inputs.keep(&best.point, &capsule, &dir)?;
    }
    let repeats = bench.repeats(&best.point)?;
    let kernel = fault::base_name(&bench.kernel).to_owned();
    let (words, fuel) = (bench.inputs.words(), capsule.golden_run().explicit_fuel());
    let outcome =
        Outcome { name, words, fuel, kernel, searcher, reference, best, repeats, entries, rules, repeat, seed };
    Ok(answer(&outcome, &options, &*request.inputs))
}

/// Runs the reference, and finds the kernel of the bench in it.
pub(super) fn open(bench: &mut Bench<'_, '_>) -> Result<Ready, StudyError> {
    if bench.campaigns.kernels.len() > 1 {
        return Err(StudyError::Words("search for one kernel at a time: name one with --kernel".to_owned()));
    }
    let (name, point) = (bench.inputs.name().to_owned(), bench.inputs.space().reference());
    let refused = |why| StudyError::Refused(format!("run {name} with the reference input {point}: {why}"));
    let capsule = bench.run(&point)?.map_err(refused)?;
    bench.kernel = kernel(&capsule, bench.campaigns)?;
    Ok(capsule)
}

/// The kernel that is searched for: the one that is named, or the one that executes most.
fn kernel(reference: &CapsuleTarget, campaigns: &Campaigns<'_>) -> Result<String, StudyError> {
    let golden = reference.golden_run();
    let Some(wanted) = campaigns.kernels.first() else {
        let none = || StudyError::Refused("find a kernel: the reference input launches none".to_owned());
        return main_kernel(golden).ok_or_else(none);
    };
    if let Some((name, launch)) = wanted.rsplit_once('#') {
        return Err(StudyError::Words(format!(
            "search for launch {launch} of {name} alone: rates are of all launches of a kernel, and --launch says which one makes the \
             fitness; take --kernel {name}"
        )));
    }
    let names = golden.launches().iter().map(|launch| launch.program.name.as_str());
    let named = |name: &&str| *name == wanted || fault::base_name(name) == wanted;
    let unknown = || StudyError::Words(format!("find the kernel `{wanted}`: the reference input does not launch it"));
    names.clone().find(named).map(str::to_owned).ok_or_else(unknown)
}
