//! The commands of published methods.

use crate::{json, path, rows, run, stderr, stdout};
use methods::gpu_qin::Discard;
use serde_json::Value;
use tempfile::TempDir;

#[test]
fn threads_are_shown_in_groups() {
    let groups = json(&["groups", "montecarlo", "--json"]);
    assert_eq!(groups["format"], "beamline.groups/1");
    let kernel = &groups["kernels"][0];
    assert_eq!((kernel["category"].as_str(), kernel["threads"].as_u64()), (Some("II"), Some(8192)));
    let popular: Vec<f64> =
        kernel["groups"].as_array().unwrap().iter().map(|group| group["popularity"].as_f64().unwrap()).collect();
    assert_eq!(popular.len(), 5);
    assert!((popular.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let text = stdout(&run(&["groups", "montecarlo", "--coverage", "0.5"]));
    assert!(text.starts_with("simulate: category II, 5 groups of 8 192 threads over 1 launches; 1 profiled"), "{text}");
    assert!(stderr(&run(&["groups", "montecarlo", "--coverage", "5"])).contains("a share is from 0 to 1"));
    assert!(
        stderr(&run(&["groups", "montecarlo", "--runs", "50"])).contains("only --by resilience has a pilot campaign")
    );
    assert!(stderr(&run(&["groups", "montecarlo", "--kernel", "x"])).contains("find a kernel: none matches x"));
}

#[test]
fn groups_that_a_pilot_campaign_cannot_tell_apart_are_joined() {
    let dir = TempDir::new().unwrap();
    let out = path(dir.path());
    let plot = dir.path().join("groups.svg");
    let args = ["groups", "montecarlo", "--by", "resilience", "--runs", "4000", "--json", "--out", out, "--plot"];
    let groups = json(&[&args[..], &[path(&plot)]].concat());
    let classes = groups["resilience"][0]["classes"].as_array().unwrap();
    assert!(!classes.is_empty() && classes.len() < 5, "{classes:?}");
    let known: f64 = classes.iter().map(|class| class["popularity"].as_f64().unwrap()).sum();
    assert!((known + groups["resilience"][0]["unknown"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    assert!(std::fs::read_to_string(plot).unwrap().starts_with("<svg"));
}

#[test]
fn a_thread_is_traced() {
    let trace = json(&["profile", "matmul", "--trace", "launch=0,cta=1,thread=40", "--json"]);
    assert_eq!(trace["format"], "beamline.trace/1");
    let steps = trace["steps"].as_array().unwrap();
    assert_eq!(steps.len() as u64, trace["instructions"].as_u64().unwrap());
    let executed = steps.iter().filter(|step| step["executed"] == true).count();
    assert_eq!(executed as u64, trace["executed"].as_u64().unwrap());
    // The loop over tiles.
    assert_eq!(steps.iter().filter_map(|step| step["iteration"].as_u64()).max(), Some(128));
    let text = stdout(&run(&["profile", "matmul", "--trace", "thread=40"]));
    assert!(text.contains("matmul.cu:"), "{text}");
    let wrong = stderr(&run(&["profile", "matmul", "--trace", "launch=7"]));
    assert!(wrong.contains("find launch 7: there are 1, numbered from 0"), "{wrong}");
    assert!(stderr(&run(&["profile", "matmul", "--trace", "block=7"])).contains("`block` names no part of a thread"));
}

#[test]
fn a_campaign_chooses_as_gpu_qin_does_and_goes_on_after_its_plan_was_lost() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("c");
    let method = "gpu-qin:iterations=16";
    let args = ["campaign", "bfs", "--method", method, "--runs", "300", "--seed", "4", "--json", "--out", path(&out)];
    let summary = json(&args);
    let runs = &summary["runs"];
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!(number(&runs["planned"]), 300);
    assert_eq!(number(&runs["landed"]) + number(&runs["not_landed"]) + number(&runs["failed"]), 300);
    let kernels = summary["method"]["kernels"].as_array().unwrap();
    let sum = |key: &str| kernels.iter().map(|kernel| number(&kernel[key])).sum::<u64>();
    assert_eq!(sum("injected"), number(&runs["landed"]));
    assert!(sum("activated") <= sum("injected"));
    let discarded = kernels.iter().flat_map(|kernel| kernel["discarded"].as_object().unwrap().values());
    assert_eq!(discarded.map(number).sum::<u64>(), number(&runs["not_landed"]));
    let given_up: u64 = summary["given_up"].as_object().unwrap().values().map(number).sum();
    let rows = rows(&out);
    let reasons: Vec<&str> = rows.iter().filter_map(|row| row.site.given_up()).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| Discard::of_word(reason).is_some()), "{reasons:?}");
    assert_eq!(reasons.len() as u64, given_up);
    // The report needs the capsule to tell groups apart, and finds it.
    let report = json(&["report", path(&out), "--json"]);
    assert_eq!(report["method"], summary["method"]);
    std::fs::remove_file(out.join("plan")).unwrap();
    let resumed = json(&["resume", path(&out), "--json"]);
    assert_eq!(resumed["method"], summary["method"]);
}

#[test]
fn shards_of_a_method_are_parts_of_one_campaign() {
    let dir = TempDir::new().unwrap();
    let of = |name: &str| dir.path().join(name);
    let campaign = |name: &str, more: &[&str]| {
        let out = of(name);
        let args = ["campaign", "montecarlo", "--method", "gpu-qin", "--runs", "200", "--json", "--out", path(&out)];
        json(&[&args[..], more].concat())
    };
    let whole = campaign("whole", &[]);
    campaign("a", &["--shard", "1/2"]);
    campaign("b", &["--shard", "2/2"]);
    json(&["merge", path(&of("a")), path(&of("b")), "--out", path(&of("merged")), "--json"]);
    assert_eq!(json(&["report", path(&of("merged")), "--json"])["method"], whole["method"]);
}

#[test]
fn what_contradicts_a_method_is_refused() {
    let refused = |more: &[&str]| {
        let output = run(&[&["campaign", "bfs", "--method", "gpu-qin", "--runs", "10"], more].concat());
        assert_eq!(output.status.code(), Some(1), "{more:?}");
        stderr(&output)
    };
    assert!(refused(&["--target", "dst"]).contains("leave `target` out"));
    assert!(refused(&["--group", "int_add"]).contains("leave `group` out"));
    assert!(stderr(&run(&["campaign", "bfs", "--method", "gpu-qin:cap=3"])).contains("set `cap` of gpu-qin"));
    let exhaustive = run(&["campaign", "bfs", "--method", "gpu-qin", "--exhaustive"]);
    assert!(stderr(&exhaustive).contains("this target only samples"), "{}", stderr(&exhaustive));
}

#[test]
fn every_study_answers_with_numbers() {
    let dir = TempDir::new().unwrap();
    let (out, plots) = (dir.path().join("kept"), dir.path().join("plots"));
    for name in methods::registry::studies().map(|study| study.name) {
        let args = ["study", name, "scan", "montecarlo", "--runs", "400", "--json"];
        let study = json(&[&args[..], &["--out", path(&out), "--plots", path(&plots)]].concat());
        assert_eq!(study["name"], name);
        let tables = study["tables"].as_array().unwrap();
        assert!(!tables.is_empty());
        for table in tables {
            let columns = table["columns"].as_array().unwrap().len();
            let rows = table["rows"].as_array().unwrap();
            assert!(!rows.is_empty(), "{name}: {table}");
            assert!(rows.iter().all(|row| row.as_array().unwrap().len() == columns), "{name}");
        }
    }
    assert!(std::fs::read_dir(plots).unwrap().count() >= 6);
    let wrong = stderr(&run(&["study", "weather", "scan"]));
    assert!(wrong.contains("make the study `weather`: there are iterations, window"), "{wrong}");
}
