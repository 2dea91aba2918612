//! From choices to runs, and what is refused on the way.

use campaign::{CampaignEnd, Choices, Config, Engine, MethodChoice, Results, Row, SelectionWords};
use methods::kit::{Campaigns, CommandStarter, OutputComparison, StudySubject};
use methods::{Options, Request};
use outcome::{Criteria, Quality};
use serde_json::Value;
use session::{Changes, ErrorKind, Session, open, open_campaign, open_results};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn choices(capsule: &str, runs: u64) -> Choices {
    Choices { capsule: Some(capsule.to_owned()), runs: Some(runs), seed: Some(5), ..Choices::default() }
}

fn rows(results: &Results) -> Vec<Row> {
    let mut rows = Vec::new();
    results.visit(&mut |row| rows.push(row)).unwrap();
    rows
}

fn run(session: &Session, dir: &Path) -> Results {
    let mut store = session.create(dir).unwrap();
    let ended = session.run(&mut store, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    store.into_results()
}

#[test]
fn what_is_run_in_memory_is_what_is_run_on_disk() {
    let (session, dir) = (open(choices("pathfinder", 150)).unwrap(), tempfile::tempdir().unwrap());
    let on_disk = run(&session, &dir.path().join("c"));
    let (ended, in_memory) = session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap();
    assert!(matches!(ended, CampaignEnd::Finished(_)));
    assert_eq!(rows(&in_memory), rows(&on_disk));
    assert_eq!(session.estimates(&in_memory).unwrap().map(|it| it.json), None);
}

#[test]
fn a_session_can_be_kept_and_asked_again_and_from_other_threads() {
    let session = open(choices("pathfinder", 40)).unwrap();
    let found = std::thread::scope(|scope| {
        let asked = [(); 2].map(|()| scope.spawn(|| session.run_in_memory(&AtomicBool::new(false), &mut |_| {})));
        asked.map(|it| rows(&it.join().unwrap().unwrap().1))
    });
    assert_eq!(found[0], found[1]);
}

#[test]
fn every_method_plans_and_estimates_wherever_its_campaign_is() {
    for method in methods::registry::planners() {
        let selection =
            SelectionWords { method: Some(MethodChoice::named(method.name())), ..SelectionWords::default() };
        let session = open(Choices { selection, ..choices("pathfinder", 60) }).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let on_disk = run(&session, &dir.path().join("c"));
        let (_, in_memory) = session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap();
        let estimates = |results: &Results| session.estimates(results).unwrap().unwrap();
        assert_eq!(estimates(&in_memory).json, estimates(&on_disk).json);
        assert!(estimates(&on_disk).json["format"].as_str().unwrap().starts_with("beamline."));
        let again = open_results(&on_disk, None).unwrap();
        assert_eq!(again.estimates(&on_disk).unwrap().unwrap().json, estimates(&on_disk).json);
    }
}

#[test]
fn a_campaign_goes_on_with_what_was_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("c");
    let session = open(choices("gemm", 30)).unwrap();
    let before = rows(&run(&session, &place));
    let again = open_campaign(&place, Changes::default()).unwrap();
    assert_eq!(again.config(), session.config());
    let mut store = again.resume(&place).unwrap();
    again.run(&mut store, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(rows(&store.into_results()), before);
}

#[test]
fn one_fault_is_run_and_told() {
    let session = open(choices("pathfinder", 1)).unwrap();
    let (_, results) = session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap();
    let row = rows(&results).remove(0);
    let id = row.site.fault().unwrap();
    let (site, _) = session.inject(id).unwrap();
    assert_eq!(site.fault(), Some(id));
    assert_eq!(session.story_of(id).unwrap().site.id.as_deref(), Some(id));
    let error = session.story_of("launch=0").unwrap_err();
    assert_eq!(error.why, ErrorKind::Words);
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let refused = |choices: Choices| {
        let error = open(choices).err().unwrap();
        (error.why, error.to_string(), error.help.clone().unwrap_or_default())
    };
    let (why, text, _) = refused(Choices::default());
    assert_eq!(why, ErrorKind::Words, "{text}");
    let (why, text, help) = refused(choices("nope", 1));
    assert_eq!((why, text.as_str()), (ErrorKind::Refused, "find `nope`: it is neither a file nor a bundled workload"));
    assert!(help.starts_with("bundled are "), "{help}");
    // Before any work is done for the capsule, which is not there.
    let (why, text, help) = refused(Choices { engine: Some(Engine::named("cuda-gdb")), ..choices("nope", 1) });
    assert_eq!(why, ErrorKind::Words, "{text}");
    assert!(help.contains("beamline live"), "{help}");
    let of = |word: &str| SelectionWords { method: Some(word.parse().unwrap()), ..SelectionWords::default() };
    let targets = |selection: SelectionWords| SelectionWords { target: Some("nothing".to_owned()), ..selection };
    let first = methods::registry::METHODS[0].name();
    let selections =
        [of("weather"), of(&format!("{first}:x=1")), targets(of(first)), targets(SelectionWords::default())];
    for selection in selections {
        let (why, text, _) = refused(Choices { selection, ..choices("nope", 1) });
        assert_eq!(why, ErrorKind::Words, "{text}");
    }
    let (why, text, help) = refused(Choices { contract: Some("on".to_owned()), ..choices("nope", 1) });
    assert_eq!((why, help.as_str()), (ErrorKind::Words, "the words are ptxas and off"), "{text}");
    let application = Choices::from_toml("app = './nowhere'\nruns = 1\ncontract = 'off'", "f.toml").unwrap();
    let (why, text, help) = refused(application);
    assert_eq!(why, ErrorKind::Words, "{text}");
    assert!(help.contains("--record"), "{help}");
    let missing = open_campaign(Path::new("/nowhere"), Changes::default()).err().unwrap();
    assert_eq!(missing.why, ErrorKind::Refused);
}

#[test]
fn another_capsule_of_that_name_is_not_taken_for_the_one_that_was_irradiated() {
    let session = open(choices("pathfinder", 5)).unwrap();
    let (_, results) = session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap();
    let error = open_results(&results, Some("gemm")).err().unwrap();
    assert!(error.to_string().contains("is not what was irradiated"), "{error}");
    assert!(open_results(&results, None).is_ok());
}

#[test]
fn stores_of_a_study_say_all_that_their_rows_depend_on() {
    let stop = AtomicBool::new(false);
    for study in methods::registry::studies().filter(|study| ["addresses", "order"].contains(&study.name)) {
        let dir = tempfile::tempdir().unwrap();
        let capsule = open(choices("pathfinder", 1)).unwrap().opened_capsule().unwrap().unwrap();
        let mut told = |_: &str, _: &methods::kit::StudyEvent<'_>| {};
        let mut campaigns = Campaigns {
            dir: dir.path().to_owned(),
            seed: 5,
            kernels: Vec::new(),
            jobs: Some(2),
            history: None,
            stop: &stop,
            told: &mut told,
        };
        (study.make)(&[StudySubject { capsule, class: None }], 120, &mut campaigns).unwrap();
        let mut stores: Vec<(Config, Vec<Row>)> = Vec::new();
        for store in std::fs::read_dir(dir.path()).unwrap() {
            let place = store.unwrap().path();
            let results = Results::open(&place).unwrap();
            // The configuration makes the rows, on a machine that is set up from nothing else.
            let session = open_campaign(&place, Changes::default()).unwrap();
            let (_, again) = session.run_in_memory(&stop, &mut |_| {}).unwrap();
            assert_eq!(rows(&again), rows(&results), "{}", place.display());
            stores.push((results.config().unsharded(), rows(&results)));
        }
        assert!(stores.len() >= 3, "{}: {} stores", study.name, stores.len());
        for (at, (config, _)) in stores.iter().enumerate() {
            let like = stores[..at].iter().find(|(other, _)| other == config);
            assert!(like.is_none(), "{}: two stores have the configuration {config:?}", study.name);
        }
    }
}

/// What the method of a campaign makes of its rows, opened from what is on disk.
fn estimates_of(dir: &Path) -> Result<Value, String> {
    let results = Results::open(dir).unwrap();
    let session = open_results(&results, None).map_err(|error| error.to_string())?;
    Ok(session.estimates(&results).unwrap().unwrap().json)
}

fn by_method(word: &str, runs: u64) -> Choices {
    let selection = SelectionWords { method: Some(word.parse().unwrap()), ..SelectionWords::default() };
    Choices { selection, ..choices("pathfinder", runs) }
}

#[test]
fn a_campaign_holds_the_profile_of_its_addresses() {
    let dir = tempfile::tempdir().unwrap();
    let (file, place) = (dir.path().join("own.toml"), dir.path().join("c"));
    std::fs::write(&file, "name = 'own'\nstrict = false\nbehind = [{ from = 0, to = 4096 }]").unwrap();
    let addresses = Some(file.to_str().unwrap().to_owned());
    let results = run(&open(Choices { addresses, ..choices("pathfinder", 60) }).unwrap(), &place);
    for text in [Some("name = 'other'\nstrict = true"), None] {
        match text {
            Some(text) => std::fs::write(&file, text).unwrap(),
            None => std::fs::remove_file(&file).unwrap(),
        }
        let session = open_campaign(&place, Changes::default()).unwrap();
        let (_, again) = session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap();
        assert_eq!(rows(&again), rows(&results));
        assert!(open_results(&results, None).is_ok());
    }
}

#[test]
fn a_file_of_more_than_a_megabyte_is_kept_and_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    let (file, place) = (dir.path().join("own.toml"), dir.path().join("c"));
    let comment = "# a line of words that nobody reads\n".repeat(40_000);
    std::fs::write(&file, format!("{comment}name = 'own'\nstrict = false")).unwrap();
    let addresses = Some(file.to_str().unwrap().to_owned());
    let results = run(&open(Choices { addresses, ..choices("pathfinder", 20) }).unwrap(), &place);
    assert_eq!(rows(&results).len(), 20);
    let session = open_campaign(&place, Changes::default()).unwrap();
    assert!(session.resume(&place).is_ok());
}

#[test]
fn a_planner_with_a_fixed_number_of_runs_says_it() {
    let dir = tempfile::tempdir().unwrap();
    let (map, regions) = (dir.path().join("map.csv"), dir.path().join("r.toml"));
    std::fs::write(&regions, "[[regions]]\nname = 'a'").unwrap();
    let drawn = open(by_method(&format!("regional:file={}", regions.display()), 17)).unwrap();
    let results = run(&drawn, &dir.path().join("drawn"));
    let faults: Vec<String> = rows(&results).iter().map(|row| format!("a,\"{}\"", row.site.fault().unwrap())).collect();
    std::fs::write(&map, format!("region,fault\n{}", faults.join("\n"))).unwrap();
    let mapped = |runs| open(Choices { runs, ..by_method(&format!("regional:map={}", map.display()), 0) });
    assert_eq!(mapped(None).unwrap().config().planned(), 17);
    assert_eq!(mapped(Some(5)).unwrap().config().planned(), 5);
    let sampled = open(Choices { runs: None, ..choices("pathfinder", 0) }).unwrap();
    assert_eq!(sampled.config().planned(), campaign::config::DEFAULT_RUNS);
}

#[test]
fn a_campaign_holds_the_regions_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let (file, place) = (dir.path().join("r.toml"), dir.path().join("c"));
    std::fs::write(&file, "[[regions]]\nname = 'a'\n[[regions]]\nname = 'b'\ntarget = 'mem'").unwrap();
    let session = open(by_method(&format!("regional:file={}", file.display()), 60)).unwrap();
    run(&session, &place);
    let before = estimates_of(&place).unwrap();
    std::fs::write(&file, "[[regions]]\nname = 'other'").unwrap();
    assert_eq!(estimates_of(&place).unwrap(), before);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(estimates_of(&place).unwrap(), before);
    assert_eq!(rows(&run(&open_campaign(&place, Changes::default()).unwrap(), &dir.path().join("d"))).len(), 60);
}

#[test]
fn a_word_and_a_table_make_the_same_plan() {
    let faults = |method: &str| {
        let text = format!("capsule = 'pathfinder'\nruns = 30\nseed = 5\nmethod = {method}");
        let session = open(Choices::from_toml(&text, "it").unwrap()).unwrap();
        let rows = rows(&session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap().1);
        rows.into_iter().map(|row| row.site).collect::<Vec<_>>()
    };
    for (word, table) in [
        ("'gpu-qin:iterations=8,window=none'", "{ name = 'gpu-qin', iterations = 8, window = 'none' }"),
        ("'two-level:issue=2.5,made=all'", "{ name = 'two-level', issue = 2.5, made = 'all' }"),
        ("'approxilyzer:coverage=0.5,guards=false'", "{ name = 'approxilyzer', coverage = 0.5, guards = false }"),
        (
            "'regional:[{\"name\":\"a\",\"target\":\"mem\"}]'",
            "{ name = 'regional', regions = [{ name = 'a', target = 'mem' }] }",
        ),
    ] {
        assert_eq!(faults(table), faults(word), "{word}");
    }
}

#[test]
fn a_campaign_keeps_the_text_of_each_file_that_its_method_reads() {
    let dir = tempfile::tempdir().unwrap();
    let maps = open(by_method("regional", 3)).unwrap();
    let faults = rows(&maps.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap().1);
    let line = |row: &Row| format!("{},a,\"{}\"\n", row.run.0, row.site.fault().unwrap());
    let map = format!("run,region,fault\n{}", faults.iter().map(line).collect::<String>());
    let table = include_str!("../../../profiles/ipa/k40.toml").to_owned();
    let issue = include_str!("../../../profiles/issue/k40.toml").to_owned();
    for (name, text, method, runs) in [
        ("map.csv", map, "regional:map=", 3),
        ("ipa.toml", table, "two-level:ipa=", 40),
        ("issue.toml", issue, "two-level:issue=", 40),
    ] {
        let (file, place) = (dir.path().join(name), dir.path().join(format!("{name}.campaign")));
        std::fs::write(&file, &text).unwrap();
        let made = run(&open(by_method(&format!("{method}{}", file.display()), runs)).unwrap(), &place);
        let (rows_before, before) = (rows(&made), estimates_of(&place).unwrap());
        std::fs::write(&file, "edited").unwrap();
        assert_eq!(estimates_of(&place).unwrap(), before);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(estimates_of(&place).unwrap(), before);
        let again = run(&open_campaign(&place, Changes::default()).unwrap(), &dir.path().join(format!("{name}.again")));
        assert_eq!(rows(&again), rows_before);
    }
}

/// A session may be made on one thread and used on another, as bindings for other languages do.
#[test]
fn a_session_goes_from_thread_to_thread() {
    fn goes<T: Send + Sync>(_: &T) {}
    let session = open(choices("pathfinder", 3)).unwrap();
    goes(&session);
    let end = std::thread::spawn(move || session.run_in_memory(&AtomicBool::new(false), &mut |_| {}).unwrap().1);
    assert_eq!(rows(&end.join().unwrap()).len(), 3);
}

/// The document of `beamline approxilyzer blackscholes` with these options.
fn approxilyzer(dir: &Path, said: &[(&'static str, &str)], commands: Option<Arc<dyn CommandStarter>>) -> Value {
    let command = methods::registry::commands().find(|command| command.name == "approxilyzer").unwrap();
    let declared = session::bundled::find("blackscholes").map(|it| it.toml().to_owned());
    let defaults = command.options.iter().filter_map(|it| Some((it.key, it.default?)));
    let values = defaults.chain([("coverage", "0.6"), ("parquet", "classes.parquet")]).chain(said.iter().copied());
    let options =
        Options { values: values.map(|(key, value)| (key, value.to_owned())).collect(), ..Options::default() };
    let criteria = command.criteria.unwrap()(&options, declared.as_deref()).unwrap();
    let (session, stop) = (open(Choices { criteria, ..choices("blackscholes", 1) }).unwrap(), AtomicBool::new(false));
    let mut campaigns = Campaigns {
        dir: dir.to_owned(),
        seed: 0,
        kernels: Vec::new(),
        jobs: None,
        history: None,
        stop: &stop,
        told: &mut |_, _| {},
    };
    let request = Request { capsule: session.opened_capsule().unwrap().unwrap(), declared, options, commands };
    let answer = (command.run)(&request, &mut campaigns).unwrap();
    let [(_, sheet)] = &answer.sheets[..] else { panic!("{} sheets", answer.sheets.len()) };
    let sum = |at: usize| {
        let mut sum = 0;
        sheet.visit(&mut |row| {
            sum += row[at].number().unwrap_or_default();
            true
        });
        sum
    };
    let counts = ["all", "not_covered"].map(|key| answer.json["sites"][key].as_u64().unwrap());
    assert_eq!([sum(10), sum(10) - sum(11)], counts);
    let judged = |note: &String| note.starts_with("calls, puts: judged by metric=") || note.contains("`CMD` prints");
    assert!(answer.study.tables.iter().flat_map(|table| &table.notes).any(judged));
    answer.json
}

#[test]
fn approxilyzer_judges_as_the_workload_declares_as_the_capsule_says_or_as_it_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let star = ("quality", "*:metric=max-rel,tolerance=1e-6,bad=1,bins=0.01/0.1");
    let [thesis, own, asked] =
        [&[][..], &[("criteria", "capsule")], &[star]].map(|said| approxilyzer(dir.path(), said, None));
    let by = |json: &Value| ["from", "quality"].map(|key| json["criteria"][0][key].as_str().unwrap().to_owned());
    let [from, quality] = by(&thesis);
    assert_eq!(from, "workload");
    assert!(quality.starts_with("metric=max-abs,tolerance=0.0001,bad=1.0,bad-metric=max-rel,bins=0.01/0.02/"));
    assert!(quality.ends_with("/0.99,range=0.0..500.0"), "{quality}");
    assert_eq!(by(&own), ["capsule", "metric=max-rel,tolerance=0.0001,bad=0.0001"]);
    // The range that the workload declares is not what `*` speaks of.
    assert_eq!(by(&asked)[0], "--quality");
    assert!(by(&asked)[1].ends_with(",bins=0.01/0.1,range=0.0..500.0"));
    let of = |json: &Value, word: &str| json["quality"]["outcomes"][word].as_u64().unwrap();
    let bins = |json: &Value| json["quality"]["outcomes"]["maybe_by_bin"].as_object().unwrap().len();
    assert!(bins(&thesis) > 20 && bins(&own) == 0 && (1..=3).contains(&bins(&asked)));
    assert!(of(&thesis, "detectable") > of(&own, "detectable"));
    assert_eq!(of(&thesis, "detectable"), of(&asked, "detectable"));
    assert!(of(&thesis, "good") > 0 && of(&thesis, "bad") > 0 && of(&own, "maybe") == 0);
    // Criteria move nothing from one class to another, and pilots run again only where other values are detectable.
    assert_eq!((&thesis["outcomes"], &thesis["outcomes"]), (&own["outcomes"], &asked["outcomes"]));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_star_that_the_capsule_goes_before_is_noted() {
    let notes = |quality: &str| {
        let criteria = Criteria { quality: [Quality::parse(quality).unwrap()].into(), ..Criteria::default() };
        open(Choices { criteria, ..choices("blackscholes", 1) }).unwrap().notes()
    };
    let expected = "`*` does not judge calls, puts, of which the capsule says by name how they are judged: \
                    `--quality 'calls:metric=max-abs,tolerance=0.0,bad=1.0'` would";
    assert!(notes("*:metric=max-abs,bad=1,range=0..9").iter().any(|note| note == expected));
    assert!(!notes("*:tolerance=1e-4").iter().any(|note| note.contains("does not judge")));
    assert!(!notes("*:range=0..500").iter().any(|note| note.contains("does not judge")));
}

/// Stands for a command that prints the largest absolute error of 32-bit floating-point outputs, or complains of one above a bound.
struct MaxAbs(f64);

struct MaxAbsOf(Vec<Vec<u8>>, f64);

impl CommandStarter for MaxAbs {
    fn comparison(&self, _: &str, _: f64, golden: &[(String, Vec<u8>)]) -> Result<Box<dyn OutputComparison>, String> {
        Ok(Box::new(MaxAbsOf(golden.iter().map(|(_, bytes)| bytes.clone()).collect(), self.0)))
    }
}

impl OutputComparison for MaxAbsOf {
    fn printed(&self, outputs: &[Vec<u8>]) -> Result<String, String> {
        let bytes =
            |of: &[Vec<u8>]| of.concat().chunks(4).map(|it| f32::from_le_bytes(it.try_into().unwrap())).collect();
        let (right, found): (Vec<f32>, Vec<f32>) = (bytes(&self.0), bytes(outputs));
        let error = right.iter().zip(&found).map(|(a, b)| (f64::from(*a) - f64::from(*b)).abs()).fold(0.0, f64::max);
        if error > self.1 { Err("it hung".to_owned()) } else { Ok(format!("{error}\n")) }
    }
}

#[test]
fn a_users_metric_judges_as_ours_does_and_loses_no_site_where_it_fails() {
    let of = |quality: &str, bound: Option<f64>| {
        let dir = tempfile::tempdir().unwrap();
        let command = bound.map(|bound| Arc::new(MaxAbs(bound)) as Arc<dyn CommandStarter>);
        let said = [("quality", quality), ("metric-command", "CMD")];
        let json = approxilyzer(dir.path(), &said[..1 + usize::from(bound.is_some())], command);
        (json["quality"]["outcomes"].clone(), json)
    };
    let (ours, _) = of("*:metric=max-abs,tolerance=1e-4,bad=1,bins=0.001/0.1", None);
    let (theirs, json) = of("*:tolerance=1e-4,bad=1,bins=0.001/0.1", Some(f64::INFINITY));
    assert!(theirs == ours && json["metric"]["unjudged"]["pilots"] == 0, "{theirs} {ours}");
    let (some, json) = of("*:tolerance=1e-4,bad=1,bins=0.001/0.1", Some(0.1));
    let [sites, pilots] = ["sites", "pilots"].map(|key| json["metric"]["unjudged"][key].as_u64().unwrap());
    let number = |of: &Value, word: &str| of[word].as_u64().unwrap();
    let bins: u64 = some["maybe_by_bin"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert!(pilots > 0 && number(&some, "bad") == 0 && number(&some, "maybe") - bins == sites);
    assert_eq!(number(&some, "maybe"), number(&ours, "maybe") + number(&ours, "bad"));
    assert_eq!(json["metric"]["unjudged"]["reasons"][0], "it hung");
}
