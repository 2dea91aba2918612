//! `beamline fit`, and what its campaigns are made of.

use crate::{json, path, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A table of two types, in FIT of a device with four multiprocessors.
const TABLE: &str = "name = 'mine'\nsource = 'a beam of mine'\nunit = 'FIT'\nmultiprocessors = 4\n\
    manifestation = [{ name = 'crash' }, { name = 'bits', model = '0.4*flip|0.6*random@pair' }]\n\
    [[instruction]]\nname = 'FMA'\nmeasured = ['fp32_fma', 'fp32_mul']\ntotal = 3.0\nuniform = 'bits'\n\
    rates = { crash = 1.0, bits = { rate = 2.0, low = 1.0, high = 4.0 } }\n\
    [[instruction]]\nname = 'LDS'\nmeasured = ['load_shared']\ntotal = 0.5\nrates = { bits = 0.5 }";

/// A command with more options.
fn with<'a>(command: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [command, more].concat()
}

#[test]
fn equation_1_is_what_the_document_says_it_is_made_of() {
    let dir = TempDir::new().unwrap();
    let fit = json(&[
        "fit",
        "gemm",
        "--ipa",
        "K40",
        "--issue",
        "2.5",
        "--margin",
        "0.1",
        "--json",
        "--out",
        path(dir.path()),
    ]);
    assert_eq!((fit["format"].as_str(), fit["capsule"].as_str()), (Some("beamline.fit/1"), Some("gemm")));
    assert_eq!(fit["issue_rate"]["rate"], 2.5);
    let (mut sdc, mut ipa, mut apa, mut covered) = (0.0, 0.0, 0.0, 0.0);
    for kind in fit["instructions"].as_array().unwrap() {
        let share = number(&kind["share"]);
        covered += share;
        let cells = kind["manifestations"].as_array().unwrap();
        for cell in cells.iter().filter(|cell| cell["name"] != "crash") {
            assert_eq!(cell["runs"], 97, "±10 % at 95 %");
            sdc += share * number(&cell["rate"]["rate"]) * number(&cell["sdc"]["rate"]);
            ipa += share * number(&cell["rate"]["rate"]);
        }
        let uniform = if kind["name"] == "FFMA" { "2 bits" } else { "1 bit" };
        let uniform = cells.iter().find(|cell| cell["name"] == uniform);
        apa += uniform.map_or(0.0, |cell| share * number(&cell["sdc"]["rate"]));
    }
    for (key, expected) in [("sdc", sdc * 2.5), ("ipa_only", ipa * 2.5), ("apa_only", apa)] {
        let found = &fit[key];
        assert!((number(&found["rate"]) - expected).abs() < 1e-9, "{key}: {found} {expected}");
        assert!(number(&found["low"]) < expected && expected < number(&found["high"]));
    }
    assert!((number(&fit["covered"]) - covered).abs() < 1e-12);
    let left_out: f64 = fit["left_out"].as_array().unwrap().iter().map(|part| number(&part["share"])).sum();
    assert!((left_out + covered - 1.0).abs() < 1e-12);
    let kernels: f64 = fit["kernels"].as_array().unwrap().iter().map(|part| number(&part["sdc"]["rate"])).sum();
    assert!((kernels - sdc * 2.5).abs() < 1e-9);
}

#[test]
fn a_table_of_ones_own_is_taken_as_it_is() {
    let dir = TempDir::new().unwrap();
    let (table, out) = (dir.path().join("mine.toml"), dir.path().join("out"));
    fs::write(&table, TABLE).unwrap();
    let args = ["fit", "gemm", "--ipa", path(&table), "--issue", "none", "--grouping", "measured", "--margin", "0.1"];
    let args = [&args[..], &["--target", "0.1", "--out", path(&out)]].concat();
    let fit = json(&[&args[..], &["--json"]].concat());
    assert_eq!((&fit["ipa"]["unit"], &fit["issue_rate"]), (&Value::from("fit"), &Value::Null));
    assert_eq!(fit["unit"], "FIT, for one instruction issued in each cycle");
    let fma = &fit["instructions"][0];
    let share = number(&fma["share"]);
    let sdc = number(&fma["manifestations"][1]["sdc"]["rate"]);
    assert!((number(&fma["sdc"]["rate"]) - 4.0 * share * 2.0 * sdc).abs() < 1e-9, "four multiprocessors: {fma}");
    assert_eq!(fit["target"]["exceeded"], "unknown, as the issue rate is");
    let text = stdout(&run(&args));
    assert!(text.contains("a beam of mine"), "{text}");
    // Another issue rate is composed of the same rows.
    let mut known = args.clone();
    known[5] = "1.5";
    let campaigns = || fs::read_dir(&out).unwrap().count();
    let before = campaigns();
    assert!(stdout(&run(&known)).contains("Exceeds the target of 0.1: yes."), "{text}");
    assert_eq!(campaigns(), before);
    assert!(text.contains("The issue rate is not known"), "{text}");
    // Other rates are composed anew; other faults are other campaigns, and the old rows are not theirs.
    fs::write(&table, TABLE.replace("0.6*random", "0.6*zero")).unwrap();
    assert!(run(&args).status.success());
    assert_eq!(campaigns(), before + 1);
}

#[test]
fn the_mean_time_of_a_fleet_needs_rates_in_fit_and_an_issue_rate() {
    let dir = TempDir::new().unwrap();
    let (table, out) = (dir.path().join("mine.toml"), dir.path().join("out"));
    fs::write(&table, TABLE).unwrap();
    let fixed = ["fit", "gemm", "--margin", "0.1", "--out", path(&out)];
    let args = with(&fixed, &["--ipa", path(&table), "--issue", "1.5", "--gpus", "10000"]);
    let fit = json(&[&args[..], &["--json"]].concat());
    let (rate, hours) = (&fit["sdc"], &fit["fleet"]["hours"]);
    for (time, of) in [("mean", "rate"), ("low", "high"), ("high", "low")] {
        assert!((number(&hours[time]) * number(&rate[of]) / 1e5 - 1.0).abs() < 1e-9, "{hours} {rate}");
    }
    assert!((number(&fit["fleet"]["days"]["mean"]) * 24.0 / number(&hours["mean"]) - 1.0).abs() < 1e-9);
    assert!(stdout(&run(&args)).contains("Mean time to SDC of 10000 GPUs"));
    for (more, part) in [
        (&["--gpus", "8"][..], "the rates of the IPA table `K40` are relative to"),
        (&["--ipa", path(&table), "--issue", "none", "--gpus", "8"], "say it with --issue"),
        (&["--ipa", path(&table), "--issue", "1", "--gpus", "0"], "--gpus takes a number from 1"),
        (&["--ipa", path(&table), "--issue", "1", "--gpus", "many"], "read `many` for --gpus"),
    ] {
        let output = run(&with(&fixed, more));
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn protected_kernels_leave_the_rest_of_the_rate() {
    let dir = TempDir::new().unwrap();
    let (table, out) = (dir.path().join("mine.toml"), dir.path().join("out"));
    fs::write(&table, TABLE).unwrap();
    let fixed = ["fit", "gemm", "--margin", "0.1", "--ipa", path(&table), "--issue", "2", "--out", path(&out)];
    let fit = json(&with(&fixed, &["--json", "--protect", "gemm=0.75", "--gpus", "10"]));
    let (before, after) = (number(&fit["sdc"]["rate"]), &fit["protection"]["sdc"]);
    // The workload has this kernel alone.
    assert!((number(&after["rate"]) / before - 0.25).abs() < 1e-9, "{after}");
    assert!(number(&after["low"]) < number(&after["rate"]) && number(&after["rate"]) < number(&after["high"]));
    assert!((number(&fit["protection"]["removed"]) - 0.75).abs() < 1e-9);
    let hours = |fleet: &Value| number(&fleet["hours"]["mean"]);
    assert!((hours(&fit["protection"]["fleet"]) / hours(&fit["fleet"]) - 4.0).abs() < 1e-9);
    assert!(stdout(&run(&with(&fixed, &["--protect", "gemm"]))).contains("If kernels were protected"));
    for (words, part) in [
        ("fft", "there is not a kernel of this name; the kernels are gemm"),
        ("gemm=1.5", "the coverage must be a number from 0 to 1"),
    ] {
        let output = run(&with(&fixed, &["--protect", words]));
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

#[test]
fn rows_serve_every_issue_rate_wherever_it_is_from() {
    let dir = TempDir::new().unwrap();
    let [rates, out, part] = ["rates.toml", "out", "part"].map(|name| dir.path().join(name));
    let write = |rate: &str, name: &str| {
        let text = format!("name = 'mine'\nsource = 'a test'\n[[workload]]\nname = '{name}'\nrate = {rate}\n");
        fs::write(&rates, text).unwrap();
    };
    let fixed = ["fit", "gemm", "--margin", "0.1", "--out", path(&out)];
    let rate = |issue: &str| number(&json(&with(&fixed, &["--issue", issue, "--json"]))["issue_rate"]["rate"]);
    write("1.5", "gemm");
    assert_eq!((rate(path(&rates)), rate("2")), (1.5, 2.0));
    write("0.5", "gemm");
    assert_eq!(rate(path(&rates)), 0.5);
    // The words of a file without a row name it.
    write("0.5", "another");
    let text = stdout(&run(&with(&fixed, &["--issue", path(&rates)])));
    assert!(text.contains("rates.toml") && text.contains("has none for gemm"), "{text}");
    let text =
        stdout(&run(&["fit", "gemm", "--margin", "0.1", "--out", path(&part), "--issue", "H200", "--kernel", "gemm"]));
    assert!(text.contains("--kernel selects a part"), "{text}");
}

#[test]
fn what_cannot_be_composed_is_refused() {
    let dir = TempDir::new().unwrap();
    let table = dir.path().join("wrong.toml");
    fs::write(&table, TABLE.replace("total = 3.0", "total = 4.0")).unwrap();
    let of = |more: &[&str]| {
        let output = run(&[&["fit", "gemm", "--out", path(dir.path())], more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        stderr(&output)
    };
    for (more, part) in [
        (&["--ipa", path(&table)][..], "its rates add up to 3, and its total is 4"),
        (&["--ipa", "K99"], "bundled is K40"),
        (&["--issue", "H900"], "H200, K40"),
        (&["--issue", "0"], "it must be a number above 0"),
        (&["--issue", "1e9"], "and at most 8"),
        (&["--issue", "-1"], "the issue rate -1"),
        (&["--margin", "0"], "margin"),
        (&["--target", "x"], "for --target"),
        (&["--grouping", "all"], "alike"),
        (&["--kernel", "nothing"], "find a kernel: none matches nothing"),
        (&["--margin", "1e-9"], "take the margin 0.000000001"),
    ] {
        let error = of(more);
        assert!(error.contains(part), "{more:?}: {error}");
    }
}

#[test]
fn a_campaign_by_strikes_can_be_interrupted_reported_and_sharded() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("c");
    let args = ["campaign", "gemm", "--method", "two-level:issue=1.5", "--runs", "300", "--json", "--out", path(&out)];
    let summary = json(&args);
    assert_eq!(summary["method"]["format"], "beamline.fit/1");
    let report = json(&["report", path(&out), "--json"]);
    assert_eq!(report["method"], summary["method"]);
    let wrong = stderr(&run(&["campaign", "gemm", "--method", "two-level", "--model", "zero", "--runs", "3"]));
    assert!(wrong.contains("leave `model` out"), "{wrong}");
}

#[test]
fn models_by_weight_are_drawn_from_a_table_that_the_campaign_keeps() {
    let dir = TempDir::new().unwrap();
    let table = dir.path().join("patterns.toml");
    fs::write(
        &table,
        "source = 'gates'\npattern = [{ weight = 0.25, model = 'flip:3' }, { weight = 0.75, model = 'zero', scope = 'lanes:4' }]",
    )
    .unwrap();
    let out = dir.path().join("c");
    let model = format!("table:{}", path(&table));
    let summary = json(&["campaign", "gemm", "--model", &model, "--runs", "400", "--json", "--out", path(&out)]);
    assert_eq!(summary["config"]["model"], "0.25*flip:3|0.75*zero@lanes:4");
    fs::remove_file(&table).unwrap();
    let faults: Vec<String> = crate::rows(&out).iter().filter_map(|row| Some(row.site.fault()?.to_owned())).collect();
    let flips = faults.iter().filter(|fault| fault.contains("model=flip")).count();
    assert!((60..140).contains(&flips), "{flips} of 400, of one in four");
    assert!(faults.iter().all(|fault| fault.contains("model=flip") != fault.contains("scope=lanes+0x")), "{faults:?}");
    // The plan is made again without the table.
    fs::remove_file(out.join("plan")).unwrap();
    assert_eq!(json(&["resume", path(&out), "--json"])["outcomes"], summary["outcomes"]);
}

#[test]
fn logs_of_microbenchmarks_become_events_and_a_table_that_fit_takes() {
    let dir = TempDir::new().unwrap();
    let (log, table) = (dir.path().join("log"), dir.path().join("measured.toml"));
    let start = "{\"event\":\"start\",\"program\":\"ffma\",\"rounds\":64,\"blocks\":4,\"threads\":64,\"chain\":60}\n{\"event\":\"before_kernel\"}\n";
    let struck =
        "{\"event\":\"mismatch\",\"block\":0,\"thread\":5,\"round\":7,\"values\":[\"0x1d\"],\"computed\":[\"0x0d\"]}\n";
    let end = "{\"event\":\"end\",\"mismatches\":1}\n";
    let (quiet, torn) = ("{\"event\":\"end\",\"mismatches\":0}\n", "{\"event\":\"sta");
    let crash = "{\"event\":\"cuda_error\",\"code\":715,\"name\":\"cudaErrorIllegalInstruction\"}\n";
    fs::write(&log, [start, struck, end, start, crash, start, quiet, torn].concat()).unwrap();
    let beam = ["--fluence", "ffma=1e11", "--issue", "ffma=2", "--multiprocessors", "15"];
    let args = [&["events", path(&log), "--json", "--table", path(&table)][..], &beam].concat();
    let events = json(&args);
    assert_eq!((&events["torn_lines"], &events["refused_events"]), (&Value::from(1), &Value::from(0)));
    let program = &events["programs"][0];
    assert_eq!((&program["program"], &program["runs"]), (&Value::from("ffma"), &Value::from(3)));
    let found: Vec<(&str, &str)> = program["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["category"].as_str().unwrap(), it["bits"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("1: 1 bit in one instruction", "F"), ("crash: illegal instruction", "IS")]);
    let fit =
        ["fit", "gemm", "--ipa", path(&table), "--issue", "1", "--margin", "0.2", "--json", "--out", path(dir.path())];
    assert!(number(&json(&fit)["sdc"]["rate"]) > 0.0);
    let wrong = run(&["events", path(&log), "--table", path(&table)]);
    assert!(
        !wrong.status.success()
            && stderr(&wrong).contains("--multiprocessors, and --fluence and --issue of each of ffma")
    );
    for (option, part) in [
        (["--fluence", "fma=1e11"], "read `fma=1e11` for --fluence: the logs are of ffma"),
        (["--issue", "ffma=1,ffma=2"], "read `ffma=2` for --issue: the program is there twice"),
    ] {
        let wrong = run(&[&["events", path(&log)][..], &option].concat());
        assert!(stderr(&wrong).contains(part), "{}", stderr(&wrong));
    }
    let wrong = run(&["events", path(&dir.path().join("nothing"))]);
    assert_eq!(wrong.status.code(), Some(5), "{}", stderr(&wrong));
}

/// A log of runs of `ffma`, some of which a flipped bit was seen in.
fn log(struck: usize, quiet: usize) -> String {
    let start = "{\"event\":\"start\",\"program\":\"ffma\",\"rounds\":64,\"blocks\":4,\"threads\":64,\"chain\":60}\n{\"event\":\"before_kernel\"}\n";
    let wrong =
        "{\"event\":\"mismatch\",\"block\":0,\"thread\":5,\"round\":7,\"values\":[\"0x1d\"],\"computed\":[\"0x0d\"]}\n";
    let one = format!("{start}{wrong}{{\"event\":\"end\",\"mismatches\":1}}\n");
    one.repeat(struck) + &format!("{start}{{\"event\":\"end\",\"mismatches\":0}}\n").repeat(quiet)
}

#[test]
fn boards_with_a_fluence_each_are_put_together_and_compared() {
    let dir = TempDir::new().unwrap();
    let [one, two, table] = ["one.log", "two.log", "measured.toml"].map(|name| dir.path().join(name));
    fs::write(&one, log(9, 100)).unwrap();
    fs::write(&two, log(1, 100)).unwrap();
    let logs = ["events", path(&one), path(&two)];
    let by_log = ["--fluence", "one.log:ffma=1e11,two.log:ffma=1e11"];
    let events = json(&with(&with(&logs, &by_log), &["--json"]));
    let found = &events["boards"][0]["homogeneity"];
    assert!((number(&found["p"]) - 22.0 / 1024.0).abs() < 1e-12 && found["differ"] == true, "{events}");
    assert_eq!(events["boards"][0]["boards"][1]["events"], 1);
    let text = stdout(&run(&with(&logs, &by_log)));
    assert!(text.contains("The boards differ in ffma: if they had one rate"), "{text}");
    // The table has the rates of both boards together.
    let gpu = ["--issue", "ffma=2", "--multiprocessors", "15", "--json"];
    let known = json(&with(&with(&logs, &by_log), &with(&gpu, &["--table", path(&table)])));
    let together = json(&with(&with(&logs, &["--fluence", "ffma=2e11"]), &gpu));
    assert_eq!((&known["table"], &together["boards"]), (&together["table"], &Value::Null));
    let alike = stdout(&run(&with(&logs, &["--fluence", "one.log:ffma=9e11,two.log:ffma=1e11"])));
    assert!(alike.contains("At 5 % no test tells the boards apart."), "{alike}");
    for (words, part) in [
        ("one.log:ffma=1e11", "the fluence of "),
        ("three.log:ffma=1e11", "read `three.log:ffma=1e11` for --fluence: the logs are "),
        ("one.log:iadd=1e11", "the runs of this log are of ffma"),
    ] {
        let wrong = run(&with(&logs, &["--fluence", words]));
        assert_eq!(wrong.status.code(), Some(1), "{words}");
        assert!(stderr(&wrong).contains(part), "{}", stderr(&wrong));
    }
    let unused = run(&with(&with(&logs, &by_log), &["--multiprocessors", "14"]));
    assert!(stderr(&unused).contains("make a table of rates, for --multiprocessors"), "{}", stderr(&unused));
    let unused = run(&with(&logs, &["--flux", "14"]));
    assert!(stderr(&unused).contains("make a table of rates, for --flux"), "{}", stderr(&unused));
    // 10 events of 2·10¹¹ neutrons are 5·10⁻¹¹ cm², and at 14 neutrons for each cm² and hour 0.7 FIT.
    let found = json(&with(&with(&logs, &["--fluence", "ffma=2e11", "--flux", "14"]), &["--json"]));
    let all = found["cross_sections"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&all["category"], &all["count"]), (&Value::Null, &Value::from(10)));
    let value = |key: &str| number(&all[key]["rate"]);
    assert!((value("cross_section") - 5e-11).abs() < 1e-16 && (value("fit") - 0.7).abs() < 1e-9, "{all}");
}
