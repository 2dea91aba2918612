//! What is printed is what is parsed: the command that repeats a campaign makes the same one, by the parser of the
//! program itself.

#[path = "../../../report/tests/it/synthetic.rs"]
#[expect(dead_code, unreachable_pub, reason = "shared with the tests of reports, which use all of it")]
mod synthetic;

use super::{Command, ParsedCommand};
use campaign::config::{CommandLine, MAX_SECONDS};
use campaign::{
    Bound, Bytes, Choices, Config, Engine, IntervalMethod, Live, MarginBy, MethodChoice, SelectionWords, Shard,
    Stratify,
};
use outcome::{Criteria, Element, Metric, Quality};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use report::{Context, Report};
use serde_json::Value;
use std::collections::BTreeMap;
use synthetic::Synthetic;

/// The configuration that the program makes of a command line.
fn parsed(args: &[String]) -> Result<Config, String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    let choices = match asked(&[&["beamline".to_owned()], args].concat()).map_err(|error| said(&error))? {
        Command::Campaign(campaign) => campaign.choices(),
        Command::Live(live) => live.choices().map_err(|error| said(&error))?,
        other => return Err(format!("{other:?} makes no campaign")),
    };
    choices.settle().map_err(|error| said(&error))
}

/// What a command line asks for, of the program itself.
fn asked(words: &[String]) -> Result<Command, clap::Error> {
    match ParsedCommand::parse(words.iter().map(Into::into))? {
        ParsedCommand::Own(command) => Ok(command),
        other => panic!("{other:?} makes no campaign"),
    }
}

/// Text with all that a shell, a file or an option could take for its own.
fn text() -> impl Strategy<Value = String> {
    "[-a-z'\"\\\\ =:#$é_./@*]{1,8}"
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1e-9), Just(1e300), Just(0.1), 0.0..10.0]
}

fn quality() -> impl Strategy<Value = Quality> {
    let metric = of((select(Metric::ALL), of(select(Metric::ALL)), of(select(Metric::ALL))));
    let bounds = (number(), number(), any::<bool>(), any::<bool>());
    let range = of((-5.0..0.0, 0.0..5.0));
    (metric, bounds, range, of(select(Element::ALL))).prop_map(|(metric, (one, other, bad, binned), range, element)| {
        let (low, high) = (one.min(other), one.max(other));
        let middle = low + (high - low) / 2.0;
        let binned = bad && binned && low < middle && middle < high;
        let (metric, bad_metric, bins_metric) =
            metric.map_or((None, None, None), |(good, bad, bins)| (Some(good), bad, bins));
        Quality {
            metric,
            tolerance: Some(low),
            bad: bad.then_some(high),
            bad_metric: bad_metric.filter(|_| bad),
            bins: if binned { vec![middle] } else { Vec::new() },
            bins_metric: bins_metric.filter(|_| binned),
            range: range.map(|(low, high)| [low, high]),
            element,
        }
    })
}

fn criteria() -> impl Strategy<Value = Criteria> {
    (btree_map(text(), number(), 0..3), btree_map(text(), quality(), 0..3), btree_set(text(), 0..3))
        .prop_map(|(tolerance, quality, scratch)| Criteria { tolerance, quality, scratch })
}

fn method() -> impl Strategy<Value = MethodChoice> {
    let value = prop_oneof![
        text().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        number().prop_map(Value::from),
        vec(text(), 0..3).prop_map(Value::from),
    ];
    let word = |(name, settings)| format!("{name}:{}", serde_json::json!(settings));
    ("[-a-z]{1,6}", btree_map("[a-z]{1,3}", value, 0..3))
        .prop_map(move |parts: (String, BTreeMap<String, Value>)| word(parts).parse().unwrap())
}

fn selection() -> impl Strategy<Value = SelectionWords> {
    let list = || vec(text(), 0..3);
    let words = (of(text()), of(text()), of(text()), of(method()), of(select(Stratify::ALL)));
    let places = (list(), list(), list());
    (words, list(), list(), list(), places).prop_map(|(words, group, kernel, lines, (threads, blocks, iterations))| {
        let (model, target, scope, method, stratify) = words;
        // The two exclude each other.
        let stratify = stratify.filter(|_| method.is_none());
        SelectionWords {
            model,
            target,
            group,
            scope,
            kernel,
            lines,
            threads,
            blocks,
            iterations,
            stratify,
            method,
            ..SelectionWords::default()
        }
    })
}

fn application() -> impl Strategy<Value = Live> {
    let app = (text(), vec(prop_oneof![text(), Just(String::new()), Just("--runs".to_owned())], 0..3));
    (app, of(text()), vec("[-a-z',]{1,6}", 0..3), of(text()), of(0.1..1e6), any::<bool>()).prop_map(
        |((program, args), directory, file, judge, timeout, in_place)| Live {
            app: CommandLine::new([vec![program], args].concat()).unwrap_or_default(),
            directory,
            file,
            judge,
            timeout,
            in_place,
        },
    )
}

fn bounds() -> impl Strategy<Value = Vec<Bound>> {
    let texts = ["sdc>0.05", "due.hang>=1%", "-k/sdc + due > 0.1", "line:a,b.cu:12/masked<50%"];
    let parsed: Vec<Bound> = texts.into_iter().filter_map(|text| text.parse().ok()).collect();
    vec(select(parsed), 0..3)
}

/// Choices, not all of which make sense together.
fn choices() -> impl Strategy<Value = Choices> {
    let what = (of(text()), of(application()), selection(), criteria());
    let size =
        (of(1_u64..1_000_000), of((0.01..0.4, of(select(MarginBy::ALL)))), any::<bool>(), of(0.001..MAX_SECONDS));
    let how = (of(0.5..0.999), of(select(IntervalMethod::ALL)), of(0..i64::MAX as u64), bounds(), any::<bool>());
    let engine = of(select(["auto", "full", "delta", "lanes", "cuda-gdb"].as_slice()));
    let addresses = of(select(["h200", "strict"].as_slice()));
    let order = of(select(["races", "blocks"].as_slice()));
    let machine = (addresses, of(select(["ptxas", "off"].as_slice())), order);
    let resources = (of(any::<u32>()), machine, engine, of(1_u32..9), of(any::<u64>()), of((1_u32..3, 2_u32..4)));
    (what, size, how, resources).prop_map(|(what, size, how, resources)| {
        let (capsule, application, selection, criteria) = what;
        let (runs, margin, exhaustive, seconds) = size;
        let (confidence, interval, seed, fail_if, fail_if_undecided) = how;
        let (fuel, (addresses, contract, order), engine, jobs, memory, shard) = resources;
        let (live, capsule) = match application {
            Some(live) => (live, capsule),
            None => (Live::default(), Some(capsule.unwrap_or_else(|| "gemm".to_owned()))),
        };
        Choices {
            live,
            no_app: false,
            capsule,
            runs,
            margin: margin.map(|(margin, _)| margin),
            margin_by: margin.and_then(|(_, by)| by),
            exhaustive: exhaustive && runs.is_none() && margin.is_none(),
            seconds,
            confidence,
            interval,
            seed,
            selection,
            fail_if,
            fail_if_undecided,
            fuel,
            addresses: addresses.map(str::to_owned),
            contract: contract.map(str::to_owned),
            order: order.map(str::to_owned),
            engine: engine.map(Engine::named),
            jobs,
            memory: memory.map(Bytes),
            shard: shard.and_then(|(number, count)| Shard::new(number, count)),
            criteria,
        }
    })
}

/// Runs a property on so many configurations: choices that contradict each other make none.
fn of_every_configuration(property: impl Fn(&Config)) {
    let config = proptest::test_runner::Config { max_global_rejects: 1 << 20, ..Default::default() };
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let checked = runner.run(&choices(), |choices| {
        let settled = choices.settle();
        prop_assume!(settled.is_ok());
        settled.iter().for_each(&property);
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn the_command_line_that_is_printed_makes_the_same_configuration() {
    of_every_configuration(|config| {
        let args = Choices::from(config).to_args();
        assert_eq!(parsed(&args).as_ref(), Ok(config), "{args:?}");
    });
}

#[test]
fn the_file_that_is_written_makes_the_same_configuration() {
    of_every_configuration(|config| {
        let text = config.to_toml().unwrap();
        assert_eq!(&Config::from_toml(&text, "it").unwrap(), config, "{text}");
    });
}

#[test]
fn the_command_of_one_run_is_one_that_the_program_takes() {
    of_every_configuration(|config| {
        let args = Choices::from(config).run_args("launch=0,dyn=5");
        let fault = match asked(&[&["beamline".to_owned()], &args[..]].concat()) {
            Ok(Command::Inject(inject)) => Some(inject.fault),
            Ok(Command::Live(live)) => live.fault,
            other => panic!("{args:?}: {other:?}"),
        };
        assert_eq!(fault.as_deref(), Some("launch=0,dyn=5"), "{args:?}");
    });
}

/// The commands that stand in a text: in Markdown as they are, in JSON as the value of a field.
fn commands(report: &Report) -> Vec<String> {
    let markdown = report.to_markdown();
    let of_markdown = markdown.lines().map(str::trim_start).filter(|line| line.starts_with("beamline "));
    let json: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let (mut of_json, mut left) = (Vec::new(), vec![&json]);
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) if text.starts_with("beamline ") => of_json.push(text.clone()),
            Value::Array(values) => left.extend(values),
            Value::Object(values) => left.extend(values.values()),
            _ => {}
        }
    }
    of_markdown.map(str::to_owned).chain(of_json).collect()
}

#[test]
fn every_command_in_a_report_is_one_that_the_program_takes() {
    let campaigns = [
        "capsule = 'a b.capsule'\nruns = 200\nfail-if = ['sdc>0.99', 'due>0.99']\nfuel = 5\ntolerance.out = 1e-3",
        "capsule = 'gemm'\nexhaustive = true\nmodel = 'flip'",
        "capsule = 'gemm'\nruns = 200\nmethod = 'some-method:window=1600'",
        "capsule = 'gemm'\nruns = 200\napp = './gemm 5'\nfile = ['out.bin', 'log.txt']",
        "runs = 200\napp = \"./solve --runs 'a b'\"\nfile = ['out.bin', 'log.txt']\nfail-if = ['sdc>0.99', 'due>0.99']",
        "runs = 200\napp = './solve'\nengine = 'cuda-gdb'\nin-place = true\ntimeout = 2.0",
    ];
    for text in campaigns {
        let choices = Choices::from_toml(text, "it").unwrap();
        let config = choices.clone().settle().unwrap();
        assert!(config.jobs.is_none_or(|jobs| jobs.get() == 1), "neither workers nor memory are repeated");
        let dir = tempfile::tempdir().unwrap();
        let results = synthetic::campaign(&dir.path().join("c"), choices, &Synthetic::default());
        let context = Context { dir: "an odd.campaign".into(), ..Context::default() };
        let found = commands(&Report::new(&results, context).unwrap());
        let mut campaigns = 0;
        for command in &found {
            let words: Vec<String> = command.parse::<CommandLine>().unwrap().words().to_vec();
            match asked(&words).unwrap_or_else(|error| panic!("{command}: {error}")) {
                Command::Campaign(_) => {}
                Command::Live(live) if live.fault.is_none() => {}
                Command::Live(_) | Command::Inject(_) => continue,
                other => panic!("{command}: {other:?}"),
            }
            campaigns += 1;
            assert_eq!(parsed(&words[1..]).as_ref(), Ok(&config), "{command}");
        }
        assert_eq!(campaigns, 2, "{text}: {found:#?}");
        assert!(found.len() > 6 || text.contains("exhaustive"), "{text}: {found:#?}");
    }
}
