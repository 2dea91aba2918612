//! Methods that judge all error sites, and methods that choose inputs.

use crate::{beamline, json, path, run, stderr, stdout};
use serde_json::Value;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a whole number"))
}

#[test]
fn every_error_site_of_a_workload_is_judged_from_few_runs() {
    let dir = TempDir::new().unwrap();
    let words = ["approxilyzer", "pathfinder", "--out", path(dir.path())];
    let found = json(&[&words[..], &["--json"]].concat());
    let [all, pruned, represented, run_, open] =
        ["all", "pruned", "represented", "run", "not_covered"].map(|key| number(&found["sites"][key]));
    assert_eq!(pruned + represented + run_ + open, all);
    assert!(run_ * 1000 < all && (all - open) as f64 >= 0.99 * all as f64, "{}", found["sites"]);
    let of = |class: &str| number(&found["outcomes"][class]["count"]);
    assert_eq!(of("masked") + of("sdc") + of("due") + of("undecided"), all - open);
    for class in ["masked", "sdc", "due", "undecided"] {
        let it = &found["outcomes"][class];
        let [low, rate, high] = ["low", "rate", "high"].map(|key| it[key].as_f64().unwrap());
        assert!(low <= rate && rate <= high, "{it}");
    }
    // The campaign is there already.
    let text = stdout(&run(&words));
    assert!(text.starts_with("pathfinder: error sites and their classes"), "{text}");
    // Its runs are pilots, by whose rates no gate passes.
    let mut entries = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept = entries.find(|path| path.extension().is_some_and(|it| it == "campaign")).unwrap();
    let gated = run(&["report", path(&kept), "--fail-if", "due>0.99"]);
    assert!(stdout(&gated).starts_with("Of these runs alone: the runs are pilots"), "{}", stdout(&gated));
    assert!(gated.status.code() == Some(6) && stderr(&gated).contains("judge the bounds"), "{}", stderr(&gated));
    let page = dir.path().join("page.html");
    assert!(run(&["report", path(&kept), "--html", path(&page)]).status.success());
    assert!(std::fs::read_to_string(&page).unwrap().contains("Rates are of these runs alone"));
    // The same campaign judged otherwise, as rows and as curves.
    let (rows, curves) = (dir.path().join("classes.csv"), dir.path().join("curves.svg"));
    let judged =
        run(&[&words[..], &["--quality", "*:tolerance=0.5", "--csv", path(&rows), "--plot", path(&curves)]].concat());
    assert!(judged.status.success(), "{}", stderr(&judged));
    let text = std::fs::read_to_string(&rows).unwrap();
    let pilots = text.lines().filter(|line| line.contains("\"isa=ptx,")).count() as u64;
    assert!(text.starts_with("class,kernel,pc,instruction,") && pilots == run_, "{pilots} of {run_}");
    assert!(std::fs::read_to_string(&curves).unwrap().starts_with("<svg"));
    let refused = run(&["approxilyzer", "pathfinder", "--truth", path(dir.path())]);
    assert!(
        refused.status.code() == Some(5) && stderr(&refused).contains("find a campaign in"),
        "{}",
        stderr(&refused)
    );
    for (words, part) in [
        (["--coverage", "2"], "expected a share above 0"),
        (["--decisions", "x"], "expected a whole number, or all"),
        (["--apart", "warps"], "expected none, or threads"),
        (["--kernel", "nosuch"], "find an error site"),
        (["--csv", "none/rows.csv"], "write none/rows.csv: No such file or directory"),
        (["--parquet", "/"], "write /: is a directory"),
    ] {
        let refused = run(&[&["approxilyzer", "pathfinder"][..], &words].concat());
        assert!(refused.status.code() == Some(1) && stderr(&refused).contains(part), "{}", stderr(&refused));
    }
    let twice = ["approxilyzer", "pathfinder", "--csv", path(&rows), "--plot", path(&rows)];
    let refused = run(&twice);
    assert!(
        refused.status.code() == Some(1) && stderr(&refused).contains("write two files to"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_small_input_stands_for_the_reference() {
    let dir = TempDir::new().unwrap();
    let found = json(&["minotaur", "blackscholes", "--out", path(dir.path()), "--json"]);
    let (reference, small) = (&found["reference"], &found["minimised"]);
    assert_eq!((&reference["input"], &small["coverage"]), (&Value::from("options=10000"), &Value::from(1.0)));
    assert!(number(&small["thread_instructions"]) < number(&reference["thread_instructions"]) / 2, "{small}");
    let quality = ["pc", "branch", "def-use"].map(|criterion| &small["quality"][criterion]);
    for covered in quality {
        assert!(0 < number(&covered["count"]) && number(&covered["count"]) <= number(&covered["of"]), "{covered}");
    }
    assert_eq!((&found["quality_of"], &quality[0]["rate"]), (&Value::from("pc"), &Value::from(1.0)));
    let share = &found["found"];
    assert!(share["low"].as_f64() <= share["rate"].as_f64() && share["rate"].as_f64() <= share["high"].as_f64());
    assert!(number(&share["count"]) > 0 && number(&share["of"]) == number(&reference["sdc_pcs"]), "{share}");
    // Every order finds all SDC-PCs, and none does better or worse than the oracles.
    let runs = |order: &Value, of: &str| ["of_sdc_pcs", "all"].map(|key| number(&order[of][key]));
    let orders = found["priority"]["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 42);
    for (of, input) in [("minimised", small), ("reference", reference)] {
        let [best, worst, whole] = [0, 40, 41].map(|at| runs(&orders[at], of));
        assert_eq!((best[0], whole[1]), (number(&input["sdc_pcs"]), number(&input["pilots_run"])));
        for order in &orders[1..40] {
            let runs = runs(order, of);
            assert!(best <= runs && runs <= worst && worst <= whole, "{order}");
        }
    }
    let time = |analysis: &str| {
        let times = found["priority"]["time"].as_array().unwrap();
        number(&times.iter().find(|time| time["analysis"] == analysis).unwrap()["runs"])
    };
    assert!(time("minimised_eip") <= time("input_priority") && time("input_priority") <= time("both_eip"));
    // The capsule of the small input is a capsule like any other.
    let capsule = found["capsule"].as_str().unwrap();
    let info = json(&["info", capsule, "--json"]);
    assert_eq!(info["outputs"].as_array().unwrap().len(), 2);
}

/// The analyses with early termination in a document.
fn ended_early(found: &Value) -> &[Value] {
    found["termination"]["analyses"].as_array().unwrap()
}

#[test]
fn early_termination_finds_the_instructions_that_all_pilots_find() {
    let dir = TempDir::new().unwrap();
    let words =
        ["minotaur", "pathfinder", "--pilots", "6000", "--terminate", "random", "--json", "--out", path(dir.path())];
    let with = |more: &[&str]| json(&[&words[..], more].concat());
    let found = with(&["--jobs", "1", "--approximate", "max-rel=0.05"]);
    let questions = [(&found, "pilots"), (&found["approximable"], "pilots")];
    for (number, key) in questions.iter().flat_map(|(of, key)| ended_early(of).iter().map(move |it| (it, key))) {
        let [run, replay, best] = ["run", "replay", "oracle_best"].map(|key| self::number(&number[key]));
        assert_eq!(number["same"], true, "{number}");
        assert!(best <= replay && replay <= run && run <= self::number(&number[*key]), "{number}");
    }
    let early = ended_early(&found);
    assert!(number(&early[1]["run"]) * 2 < number(&early[1]["pilots"]), "{}", early[1]);
    for (of, input) in [(&early[0], &found["minimised"]), (&early[1], &found["reference"])] {
        assert_eq!(of["found"], input["sdc_pcs"]);
    }
    let parts = &found["approximable"]["instructions"];
    assert!(number(&parts["common"]) > 0, "{parts}");
    // Without the replay nothing else changes, whatever the workers.
    let alone = with(&["--jobs", "2", "--replay", "false"]);
    for key in ["sdc_pcs", "found", "accuracy", "evaluations"] {
        assert_eq!(alone[key], found[key], "{key}");
    }
    for (one, two) in ended_early(&alone).iter().zip(early) {
        let counts = ["run", "rounds", "found"].map(|key| (&one[key], &two[key]));
        assert!(counts.iter().all(|(one, two)| one == two), "{one} {two}");
    }
    assert!(alone["priority"].is_null());
}

#[test]
fn the_hottest_instructions_are_studied_alone() {
    let dir = TempDir::new().unwrap();
    let words = ["minotaur", "blackscholes", "--pilots", "4000", "--json", "--out", path(dir.path())];
    let (all, hot) = (json(&words), json(&[&words[..], &["--hot", "0.25"]].concat()));
    let (of_all, of_hot) = (&all["hot"]["shares"][0], &hot["hot"]["shares"][0]);
    for key in ["share", "instructions", "of"] {
        assert_eq!(of_all[key], of_hot[key]);
    }
    let explored = number(&hot["reference"]["explored"]);
    assert!(explored <= number(&of_hot["instructions"]) && explored < number(&all["reference"]["explored"]));
    assert!(of_hot["of"].as_f64().unwrap() >= 0.25 && number(&of_hot["common"]) <= number(&hot["sdc_pcs"]["common"]));
}

#[test]
fn a_search_ends_with_its_input_beside_the_reference_and_random_search() {
    let dir = TempDir::new().unwrap();
    let words = ["search", "pathfinder", "--budget", "12", "--runs", "60", "--final-runs", "300", "--json", "--out"];
    // Each in a directory of its own: nothing is known of the other.
    let search = |jobs: &str| json(&[&words[..], &[path(&dir.path().join(jobs)), "--jobs", jobs]].concat());
    let found = search("1");
    assert!(found["speed"]["searchers"]["druto"]["milliseconds_for_an_input"].as_f64().unwrap() > 0.0, "{found}");
    assert_eq!((found["evaluations"].as_u64(), found["searcher"].as_str()), (Some(12), Some("druto")));
    for of in ["reference", "best", "random"] {
        let sdc = &found[of]["sdc"];
        assert!(sdc["low"].as_f64().unwrap() < sdc["rate"].as_f64().unwrap(), "{of}: {sdc}");
        assert!(sdc["rate"].as_f64().unwrap() < sdc["high"].as_f64().unwrap(), "{of}: {sdc}");
    }
    assert!(found["command"].as_str().unwrap().starts_with("beamline search pathfinder --searcher druto --budget 12"));
    assert_eq!(timeless(search("2")), timeless(found));
}

/// A document without the times, which are others in each run.
fn timeless(mut document: Value) -> Value {
    document.as_object_mut().unwrap().remove("speed");
    document
}

/// Kills a command at several moments, begins it again each time, and gives what it says in the end and how often it was killed.
fn killed(words: &[&str]) -> (Value, u64) {
    let mut kills = 0;
    for moment in [150, 300, 450, 700] {
        let mut child = beamline(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(moment));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
    }
    (json(words), kills)
}

#[test]
fn what_is_known_of_inputs_survives_a_kill() {
    let dir = TempDir::new().unwrap();
    let out = |name: &str| path(&dir.path().join(name)).to_owned();
    let words = [
        "search",
        "pathfinder",
        "--searcher",
        "all",
        "--objective",
        "sdc",
        "--budget",
        "20",
        "--faults",
        "20",
        "--json",
    ];
    let undisturbed = timeless(json(&[&words[..], &["--out", &out("whole")]].concat()));
    let place = out("killed");
    let again = [&words[..], &["--out", &place]].concat();
    let (found, kills) = killed(&again);
    assert!(kills > 1, "the search is over too soon to be killed");
    assert_eq!(timeless(found), undisturbed);
    // All is known now: no fault is run, and the same command is over at once.
    assert_eq!(timeless(json(&again)), undisturbed);
    let words = ["minotaur", "blackscholes", "--json"];
    let undisturbed = json(&[&words[..], &["--out", &out("one")]].concat());
    let (found, _) = killed(&[&words[..], &["--out", &out("two")]].concat());
    for key in ["found", "accuracy", "sites"] {
        assert_eq!(found[key], undisturbed[key], "{key}");
    }
    let plain = |json: &Value| ["input", "sdc_pcs", "pilots_run"].map(|key| json["minimised"][key].clone());
    assert_eq!(plain(&found), plain(&undisturbed));
}

#[test]
fn all_searchers_are_compared_at_one_budget_by_a_measured_objective() {
    let dir = TempDir::new().unwrap();
    let words = ["search", "pathfinder", "--searcher", "all", "--objective", "fit", "--repeat", "2", "--budget", "5"];
    let rest = ["--faults", "3", "--final-runs", "200", "--json", "--out"];
    let found = json(&[&words[..], &rest, &[path(dir.path())]].concat());
    let searches = found["searches"].as_array().unwrap();
    assert_eq!(searches.len(), 10);
    for search in searches {
        assert_eq!(search["evaluations"], 5, "{search}");
        assert_eq!(number(&search["runs"]) > 0, search["searcher"] != "trident", "{search}");
        assert!(search["answer"]["value"]["low"].is_number(), "{search}");
    }
    let comparison = found["comparison"].as_array().unwrap();
    let names: Vec<&str> = comparison.iter().map(|it| it["searcher"].as_str().unwrap()).collect();
    assert_eq!(names, ["random", "druto", "peppa-x", "trident", "tpe"]);
    // Two seeds prove nothing.
    assert!(comparison.iter().all(|it| it["differs"] == false), "{found}");
    assert!(found["command"].as_str().unwrap().contains("--objective fit --repeat 2 --faults 3 --seed 0 --kernel"));
    for (more, part) in [
        (["--rates", "K40"], "rates are for --objective fit"),
        (["--repeat", "0"], "take 0 for --repeat: expected 1 to"),
        (["--seconds", "0"], "take 0 for --seconds: expected more than 0"),
        (["--seconds", "NaN"], "take NaN for --seconds: expected more than 0"),
        (["--kernel", "advance_rows#1"], "search for launch 1 of advance_rows alone"),
        (["--space", "/dev/zero"], "it has more than 1048576 bytes"),
        (["--searcher", "annealing"], "[possible values: random, druto, peppa-x, trident, tpe, all]"),
    ] {
        let refused = run(&[&["search", "pathfinder"][..], &more].concat());
        assert!(!refused.status.success() && stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

#[test]
fn the_searchers_of_other_techniques_may_have_more_inputs() {
    let dir = TempDir::new().unwrap();
    let words = ["search", "conv2d", "--searcher", "druto", "--budget", "4", "--times", "3", "--runs", "20"];
    let found = json(&[&words[..], &["--final-runs", "50", "--json", "--out", path(dir.path())]].concat());
    let searches = found["searches"].as_array().unwrap();
    let inputs: Vec<(&str, u64)> =
        searches.iter().map(|it| (it["searcher"].as_str().unwrap(), number(&it["evaluations"]))).collect();
    assert_eq!((inputs, number(&found["times"])), (vec![("random", 12), ("druto", 4)], 3));
    assert!(found["command"].as_str().unwrap().contains("--times 3"), "{found}");
}

#[test]
fn a_search_may_have_a_budget_of_seconds() {
    let dir = TempDir::new().unwrap();
    let words = ["search", "pathfinder", "--budget", "100000", "--seconds", "0.05", "--final-runs", "50", "--json"];
    let found = json(&[&words[..], &["--out", path(dir.path())]].concat());
    // It says how far it is, a line for each tenth of a budget of inputs.
    let words = ["search", "pathfinder", "--budget", "20", "--final-runs", "50", "--out", path(dir.path())];
    let said = stderr(&run(&words));
    assert!(said.contains("pathfinder, druto, seed 0") && said.contains("20 of 20 inputs, best "), "{said}");
    for search in found["searches"].as_array().unwrap() {
        // The first batch at least, and no more than a few.
        assert!((20..2000).contains(&number(&search["evaluations"])), "{search}");
    }
    assert_eq!(found["budget"]["seconds"], 0.05);
    assert!(found["command"].as_str().unwrap().contains("--seconds 0.05"), "{found}");
}

#[test]
fn studies_of_inputs_show_ranges_ranks_and_what_protection_misses() {
    let dir = TempDir::new().unwrap();
    let words = ["inputs", "pathfinder", "--study", "all", "--inputs", "4", "--runs", "150", "--faults", "6"];
    let rest = ["--repeat", "2", "--budget", "6", "--json", "--plots", path(dir.path()), "--out", path(dir.path())];
    let found = json(&[&words[..], &rest].concat());
    let studies = &found["studies"];
    let range = &studies["range"];
    assert_eq!(range["inputs"].as_array().unwrap().len(), 4);
    assert!(range["lowest"]["rate"].as_f64() <= range["highest"]["rate"].as_f64(), "{range}");
    for between in studies["kernels"].as_array().unwrap() {
        let it = &between["coefficient"];
        assert!(
            it.is_null() || it["low"].as_f64() <= it["value"].as_f64() && it["value"].as_f64() <= it["high"].as_f64()
        );
    }
    for of in ["across_inputs", "ceiling"] {
        let it = &studies["instructions"][of];
        assert!(it["low"].as_f64() <= it["value"].as_f64() && it["value"].as_f64() <= it["high"].as_f64(), "{it}");
    }
    assert!(number(&studies["instructions"]["instructions"]) > 20);
    let covered: Vec<f64> = studies["protection"]["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|level| {
            let cost = level["for_reference"]["cost_reference"].as_f64().unwrap();
            assert!(cost <= level["budget"].as_f64().unwrap(), "{level}");
            level["for_reference"]["reference"]["rate"].as_f64().unwrap()
        })
        .collect();
    assert!(covered[0] < covered[4], "{covered:?}");
    for plot in ["range", "launches", "protection"] {
        let drawn = std::fs::read_to_string(dir.path().join(format!("{plot}.svg"))).unwrap();
        assert!(drawn.starts_with("<svg"), "{plot}");
    }
}

#[test]
fn what_is_wrong_with_inputs_is_named() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("space.toml");
    let refused = |words: &[&str], text: &str, part: &str| {
        std::fs::write(&file, text).unwrap();
        let output = run(words);
        let said = stderr(&output);
        assert!(!output.status.success() && said.contains(part), "{said}");
    };
    refused(&["minotaur", "aes"], "", "vary the input of `aes`: nothing says what may vary");
    refused(&["minotaur", "/nowhere/app"], "", "nothing says what may vary");
    for (words, part) in [
        (["--terminate", "by luck"], "read `by luck` for --terminate: expected random, BitPos"),
        (["--replay", "false"], "name an order with --terminate"),
        (["--approximate", "much"], "expected METRIC=MOST, such as max-rel=0.05"),
        (["--hot", "2"], "study the hottest 2: expected a share above 0"),
        (["--coverage", "0"], "reach the coverage 0: expected a share above 0"),
        (["--pilots", "0"], "run 0 pilots"),
    ] {
        refused(&[&["minotaur", "blackscholes"][..], &words].concat(), "", part);
    }
    let space = ["minotaur", "blackscholes", "--space", path(&file)];
    refused(&space, "arguments = [", "read ");
    refused(&space, "arguments = ['{n}']\nparameters = []", "there is no parameter `n`");
    // The application refuses its reference input: that ends the search, with what it said.
    let text = "arguments = ['{n}']\n[[parameters]]\nname = 'n'\nkind = 'int'\nrange = [-5, 9]\nreference = -3";
    refused(&space, text, "run blackscholes with the reference input n=-3: the application");
    // It refuses others: each of them is counted, and the search goes on.
    let text = "arguments = ['{n}']\n[[parameters]]\nname = 'n'\nkind = 'int'\nrange = [-50, 900]\nreference = 700";
    std::fs::write(&file, text).unwrap();
    let found = json(&[&space[..], &["--json", "--out", path(dir.path())]].concat());
    assert!(!found["refused"].as_array().unwrap().is_empty(), "{found}");
    // A constraint is looked at before a process starts: the reference has to fulfil it, other inputs that do not are counted.
    let constrained = |limit: u32| format!("constraints = ['n > {limit}']\n{}", text.replace("-50", "16"));
    refused(&space, &constrained(700), "take the input n=700: the constraint `n > 700` does not hold");
    std::fs::write(&file, constrained(300)).unwrap();
    let found = json(&[&space[..], &["--json", "--out", path(dir.path())]].concat());
    assert_eq!(found["refused"][0]["why"], "the constraint `n > 300` does not hold");
}
