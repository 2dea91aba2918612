//! Protection written into kernels.

use crate::{json, path, run, stderr};
use std::process::Command;
use tempfile::TempDir;

#[test]
fn a_hardened_capsule_does_the_same_and_notices_faults() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("hardened.capsule");
    let words = ["harden", "pathfinder", "--scheme", "drdv", "--runs", "600", "--json", "--out", path(&out)];
    let found = json(&words);
    assert_eq!((found["format"].as_str(), found["scheme"].as_str()), (Some("beamline.hardened/1"), Some("drdv")));
    let rate = |when: &str| found[when]["sdc"]["rate"].as_f64().unwrap();
    assert!(rate("after") < rate("before") / 3.0, "{found}");
    assert!(found["after"]["detected"].as_u64() > Some(300) && found["before"]["detected"].as_u64() == Some(0));
    // The faults of the population before have their own row.
    let originals = &found["after_in_originals"];
    let number = |at: &str| originals.pointer(at).unwrap().as_u64().unwrap();
    let classes = |key: &str| found["after"]["classes"][key].as_u64().unwrap();
    assert_eq!((number("/landed"), number("/instructions")), (600, classes("covered") + classes("uncovered")));
    assert!(originals["sdc"]["high"].as_f64() < found["before"]["sdc"]["low"].as_f64(), "{found}");
    // Comparisons before data leaves the registers let no error into memory.
    let detection = &originals["detection"];
    assert_eq!(detection["contained"]["rate"].as_f64(), Some(1.0), "{detection}");
    assert!(detection["latency"]["median"].as_f64() <= detection["latency"]["p95"].as_f64(), "{detection}");
    // A campaign on it counts what protection notices under DUE.
    let store = dir.path().join("c");
    let summary = json(&["campaign", path(&out), "--runs", "300", "--json", "--out", path(&store)]);
    assert!(summary["due"]["detected"].as_u64() > Some(100), "{}", summary["due"]);
    let other = dir.path().join("other");
    // Faults are selected by the origin of instructions, and only where protection was written.
    let members = |group: &str| {
        let group = format!("protection:{group}");
        let to = dir.path().join(&group);
        let words = ["campaign", path(&out), "--group", &group, "--runs", "20", "--json", "--out", path(&to)];
        let summary = json(&words);
        summary["outcomes"]["sdc"]["count"].as_u64().unwrap()
    };
    assert_eq!(["covered", "duplicate", "copy", "check"].map(members), [0; 4]);
    let words = ["campaign", "pathfinder", "--group", "int_add,protection:check", "--out", path(&other)];
    let refused = stderr(&run(&words));
    assert!(refused.contains("use group `protection:check` on pathfinder: its kernels are not protected"), "{refused}");
    // What is protected is not protected again.
    let twice = run(&["harden", path(&out), "--scheme", "drdv", "--out", path(&dir.path().join("twice.capsule"))]);
    assert!(
        twice.status.code() == Some(5) && stderr(&twice).contains("protected by drdv already"),
        "{}",
        stderr(&twice)
    );
}

#[test]
fn every_scheme_lowers_the_rate_and_a_wrong_word_lists_them() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("hardened.capsule");
    for scheme in ["fastsig-drdv", "sriv", "fastsig-sriv"] {
        let words = ["harden", "pathfinder", "--scheme", scheme, "--runs", "300", "--json", "--out", path(&out)];
        let found = json(&words);
        let rate = |when: &str| found[when]["sdc"]["rate"].as_f64().unwrap();
        assert_eq!(found["scheme"].as_str(), Some(scheme));
        assert!(rate("after") < rate("before") / 3.0 && found["after"]["detected"].as_u64() > Some(100), "{found}");
        let contained = found["after_in_originals"]["detection"]["contained"]["rate"].as_f64().unwrap();
        assert_eq!(contained == 1.0, scheme == "sriv", "{scheme}: {contained}");
    }
    let wrong = run(&["harden", "pathfinder", "--scheme", "tmr", "--out", path(&out)]);
    assert!(stderr(&wrong).contains("expected one of: drdv, fastsig-drdv, sriv, fastsig-sriv"), "{}", stderr(&wrong));
}

#[test]
fn chosen_instructions_alone_are_protected_and_the_forecast_stands_beside_what_is_measured() {
    let dir = TempDir::new().unwrap();
    let (out, from) = (dir.path().join("hardened.capsule"), dir.path().join("before.json"));
    let whole = json(&["harden", "pathfinder", "--scheme", "drdv", "--runs", "800", "--json", "--out", path(&out)]);
    std::fs::write(&from, whole.to_string()).unwrap();
    let words = |more: &[&'static str]| {
        let mut words =
            vec!["harden", "pathfinder", "--scheme", "drdv", "--runs", "800", "--json", "--out", path(&out)];
        words.extend(more);
        words.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let found = |more: &[&'static str], from: Option<&str>| {
        let mut words = words(more);
        words.extend(from.into_iter().flat_map(|from| ["--from".to_owned(), from.to_owned()]));
        json(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let all = |document: &serde_json::Value| document["coverage"]["instructions"]["all"].as_u64().unwrap();
    let by_group = found(&["--protect", "group=int_add", "--protect", "kernel=advance_rows"], None);
    assert!(all(&by_group) < all(&whole) && by_group["choice"]["forecast"]["instructions"].as_u64() > Some(0));
    let some = found(&["--coverage", "0.5"], Some(path(&from)));
    let choice = &some["choice"];
    let number = |path: &str| choice.pointer(path).and_then(serde_json::Value::as_f64).unwrap();
    assert!(number("/forecast/coverage") >= 0.5 && number("/forecast/overhead") < 1.0, "{choice}");
    assert!(number("/measured/low") < number("/measured/coverage"), "{choice}");
    assert!(number("/measured/overhead") > number("/forecast/overhead"), "{choice}");
    assert!(all(&some) < all(&whole) && some["after"]["sdc"]["rate"].as_f64() > whole["after"]["sdc"]["rate"].as_f64());
}

#[test]
fn a_choice_that_means_nothing_is_refused_before_anything_is_written() {
    let dir = TempDir::new().unwrap();
    let (out, from) = (dir.path().join("hardened.capsule"), dir.path().join("other.json"));
    std::fs::write(&from, "{\"format\":\"beamline.info/1\"}").unwrap();
    let said = |more: &[&str]| {
        let mut words = vec!["harden", "pathfinder", "--scheme", "sriv", "--runs", "0", "--out", path(&out)];
        words.extend(more);
        let ended = run(&words);
        assert!(!ended.status.success() && !out.exists());
        stderr(&ended)
    };
    let wrong = said(&["--protect", "threads=3"]);
    assert!(wrong.contains("expected kernel=NAME, lines=FILE:a-b, group=GROUP or pc=a-b"), "{wrong}");
    let nothing = said(&["--protect", "kernel=other"]);
    assert!(nothing.contains("protect kernel=other: it selects no instruction"), "{nothing}");
    let other = said(&["--from", path(&from), "--coverage", "0.9"]);
    assert!(other.contains("it has the format beamline.info/1"), "{other}");
    assert!(said(&["--from", path(&from)]).contains("--overhead"), "{}", said(&["--from", path(&from)]));
}

#[test]
fn a_proxy_says_that_it_detects_nothing_and_no_campaign_runs_on_it() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("proxy.capsule");
    for scheme in ["hw-notify", "hw-sig-sriv"] {
        let found = json(&["harden", "pathfinder", "--scheme", scheme, "--json", "--out", path(&out)]);
        assert_eq!((found["detects"].as_bool(), found.get("after")), (Some(false), None), "{found}");
        assert!(found["note"].as_str().unwrap().contains("performance proxy"), "{found}");
        let refused = run(&["campaign", path(&out), "--runs", "10"]);
        assert!(stderr(&refused).contains("performance proxy, which detects nothing"), "{}", stderr(&refused));
    }
    let words = ["harden", "pathfinder", "--scheme", "hw-sig", "--protect", "pc=0-9", "--out", path(&out)];
    assert!(stderr(&run(&words)).contains("leave --protect and --from out"));
}

#[test]
fn loads_are_executed_twice_where_no_thread_shares_memory_and_the_others_are_counted() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("loads.capsule");
    let of = |name: &str, runs: &str, more: &[&str]| {
        let mut words = vec!["harden", name, "--scheme", "drdv", "--runs", runs, "--json", "--out", path(&out)];
        words.extend(more);
        json(&words)
    };
    let (plain, loads) = (of("matmul", "300", &[]), of("matmul", "300", &["--loads"]));
    let number = |document: &serde_json::Value, at: &str| document.pointer(at).unwrap().as_f64().unwrap();
    assert_eq!((plain.get("loads"), loads["loads"].as_bool()), (None, Some(true)));
    assert_eq!((number(&loads, "/coverage/loads/twice"), number(&loads, "/coverage/loads/once")), (34.0, 0.0));
    let uncovered = |document| number(document, "/after/classes/uncovered");
    assert!(uncovered(&loads) < uncovered(&plain) / 4.0, "{loads}");
    assert!(number(&plain, "/after/sdc/rate") > 0.05 && number(&loads, "/after/sdc/rate") < 0.01, "{plain} {loads}");
    // Of a knapsack or a choice, loads are a part as well.
    let chosen = of("matmul", "0", &["--loads", "--protect", "group=load_shared"]);
    assert!(number(&chosen, "/choice/forecast/instructions") > 0.0, "{chosen}");
    let words = ["harden", "reduce", "--scheme", "sriv", "--loads", "--runs", "0", "--out", path(&out)];
    let atomics = String::from_utf8(run(&words).stdout).unwrap();
    assert!(
        atomics.contains("loads: 5 executed twice, 4 once") && atomics.contains("by atom.shared.add.u32"),
        "{atomics}"
    );
    for scheme in ["tld", "hw-sig", "auto"] {
        let refused = run(&["harden", "matmul", "--scheme", scheme, "--loads", "--out", path(&out)]);
        assert!(stderr(&refused).contains("drdv, fastsig-drdv, sriv and fastsig-sriv alone"), "{}", stderr(&refused));
    }
}

#[test]
fn an_executable_runs_with_protected_kernels_as_it_did() {
    let dir = TempDir::new().unwrap();
    let at = |name: &str| path(&dir.path().join(name)).to_owned();
    let program = path(&crate::live::app().program).to_owned();
    let (recorded, hardened, changed) = (at("recorded.capsule"), at("hardened.capsule"), at("changed"));
    let ran = |words: &[&str]| {
        let output = run(words);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let original = ran(&["run", "--record", &recorded, "--", &program, ""]);
    let words = ["harden", &recorded, "--scheme", "drdv", "--runs", "0", "--json", "--out", &hardened];
    let found = json(&[&words[..], &["--executable", &program, "--executable-out", &changed]].concat());
    assert_eq!((found["executable"]["changed"].as_u64(), found["executable"]["left"].as_u64()), (Some(1), Some(0)));
    let again = at("again.capsule");
    assert_eq!(ran(&["run", "--record", &again, "--", &changed, ""]), original);
    let instructions =
        |capsule: &str| json(&["info", capsule, "--json"])["kernels"][0]["instructions"].as_u64().unwrap();
    assert_eq!(instructions(&again), instructions(&hardened));
    assert!(instructions(&again) > instructions(&recorded));
    // What cannot be is refused before anything is written.
    let (not, copy) = (at("not"), at("copy"));
    let refused = |capsule: &str, scheme: &str, executable: &str, to: &str| {
        let words = ["harden", capsule, "--scheme", scheme, "--runs", "0", "--out", &not];
        let output = run(&[&words[..], &["--executable", executable, "--executable-out", to]].concat());
        assert!(!output.status.success() && !dir.path().join("not").exists());
        stderr(&output)
    };
    // An executable in place of its capsule: both steps are named, whatever options there are.
    for rest in [&["--scheme", "drdv"][..], &["--scheme", "drdv", "--out", &not]] {
        let output = run(&[&["harden", &program][..], rest].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let second = format!("--out hard.capsule --executable {program} --executable-out F`");
        for part in [&format!("`beamline run --record app.capsule -- {program}`"), &second] {
            assert!(said.contains(part.as_str()), "{part}: {said}");
        }
    }
    // What is read is not written over, and the file of a bundled workload's name is the file.
    let kept = std::fs::read(&program).unwrap();
    let words = ["harden", &recorded, "--scheme", "drdv", "--runs", "0", "--out", &program];
    let output = run(&[&words[..], &["--executable", &program, "--executable-out", &copy]].concat());
    assert!(stderr(&output).contains("it is the executable; name another file with --out"), "{}", stderr(&output));
    assert!(std::fs::read(&program).unwrap() == kept);
    let words = ["harden", "pathfinder", "--scheme", "drdv", "--runs", "20", "--out", "matmul"];
    let output = Command::new(env!("CARGO_BIN_EXE_beamline")).args(words).current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for (capsule, scheme, executable, to, part) in [
        (recorded.as_str(), "tld", program.as_str(), copy.as_str(), "blocks have twice as many threads"),
        (&recorded, "hw-sig", &program, &copy, "it is a performance proxy"),
        ("pathfinder", "drdv", &program, &copy, "none of its PTX is that of pathfinder"),
        (&recorded, "drdv", &program, &not, "it is --out; name another file for the copy"),
        (&recorded, "drdv", &program, &recorded, "it is the capsule; name another file for the copy"),
        (&recorded, "drdv", &program, &program, "name another file for the copy"),
        (&recorded, "drdv", &recorded, &copy, "it is not an executable or library of 64 bits"),
        (&recorded, "drdv", "/bin/sh", &copy, "nvcc has put no device code into it"),
        (&recorded, "drdv", "/nonexistent", &copy, "read /nonexistent"),
    ] {
        let said = refused(capsule, scheme, executable, to);
        assert!(said.contains(part), "{part}: {said}");
    }
}
