//! `beamline propagation --at`: variables within the launches of many faults.

use crate::{json, path, run, stderr, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use tempfile::TempDir;

/// A variable at a line, by the faults of a region: faults, those that come to the line, those in which it differs first, at last, ever.
#[derive(Debug, Default, PartialEq)]
struct AtLine {
    counts: [u64; 5],
    elements: Vec<u64>,
    max_abs: Option<f64>,
}

/// A number, which is text if it is infinite.
fn float(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

impl AtLine {
    /// Adds a fault by its own answer.
    fn add(&mut self, at: &Value, variable: &str) {
        let times: Vec<&Value> =
            at["times"].as_array().unwrap().iter().filter(|time| !time["differs"].is_null()).collect();
        let of =
            |time: &&Value| time["differs"].as_array().unwrap().iter().find(|it| it["variable"] == variable).cloned();
        let (first, last) = (times.first().and_then(of), times.last().and_then(of));
        let any: Vec<Value> = times.iter().filter_map(of).collect();
        let holds = [true, !times.is_empty(), first.is_some(), last.is_some(), !any.is_empty()];
        self.counts = std::array::from_fn(|at| self.counts[at] + u64::from(holds[at]));
        self.elements.extend(last.map(|it| it["elements"].as_u64().unwrap()));
        let errors = any.iter().filter_map(|it| float(&it["max_abs"]));
        self.max_abs = self.max_abs.into_iter().chain(errors).reduce(f64::max);
    }
}

#[test]
fn many_faults_at_a_line_are_the_sum_of_single_ones() {
    let dir = TempDir::new().unwrap();
    let (map, out) = (dir.path().join("map.csv"), dir.path().join("out"));
    let mut differing = 0;
    for (name, at, runs, seed) in
        [("mm3", "34", "10", "1"), ("mm3", "mm3.cu:56", "8", "2"), ("atax", "31", "10", "3"), ("gemm", "46", "12", "4")]
    {
        let planned = ["regions", name, "--runs", runs, "--seed", seed, "--until", "map", "--map", path(&map)];
        let planned = run(&planned);
        assert!(planned.status.success(), "{}", stderr(&planned));
        let many = ["propagation", name, "--from-map", path(&map), "--at", at, "--json", "--out", path(&out)];
        let many = json(&many)["at"].clone();
        let variables = |rows: &Value| -> Vec<String> {
            rows.as_array().unwrap().iter().map(|it| it["variable"].as_str().unwrap().to_owned()).collect()
        };
        let variables = variables(&many["regions"]);
        let mut expected: BTreeMap<(String, String), AtLine> = BTreeMap::new();
        let mut others = [0, 0];
        for line in fs::read_to_string(&map).unwrap().lines().skip(1) {
            let (region, fault) = (line.split(',').nth(1).unwrap(), line.split('"').nth(1).unwrap());
            let answer = run(&["propagation", name, "--fault", fault, "--at", at, "--json"]);
            if !answer.status.success() {
                assert!(stderr(&answer).contains("no instruction comes from"), "{}", stderr(&answer));
                others[0] += 1;
                continue;
            }
            let answer: Value = serde_json::from_str(&stdout(&answer)).unwrap();
            if answer["class"] == "not_landed" {
                others[1] += 1;
                continue;
            }
            let mut seen = variables.clone();
            seen.sort();
            seen.dedup();
            for variable in seen {
                expected.entry((region.to_owned(), variable.clone())).or_default().add(&answer["at"], &variable);
            }
        }
        assert_eq!([&many["elsewhere"], &many["not_landed"]], others.map(Value::from).each_ref(), "{name}: {many}");
        let rows = many["regions"].as_array().unwrap();
        assert_eq!(rows.len(), expected.len(), "{name}: {many}");
        for row in rows {
            let key = ["region", "variable"].map(|key| row[key].as_str().unwrap().to_owned()).into();
            let it = &mut expected.get_mut(&key).unwrap();
            it.elements.sort_unstable();
            differing += it.counts[4];
            let names = ["faults", "reached", "differs_at_first", "differs_at_last", "differs_at_any"];
            let counts = names.map(|name| row[name].as_u64().unwrap());
            assert_eq!((counts, float(&row["max_abs"])), (it.counts, it.max_abs), "{name}, {row}");
            let of = |at: usize| row["elements_at_last"][at].as_f64();
            let middle = |half: usize| it.elements[half] as f64;
            let (length, most) = (it.elements.len(), it.elements.last().map(|&most| most as f64));
            let median = (length > 0).then(|| f64::midpoint(middle((length - 1) / 2), middle(length / 2)));
            assert_eq!((of(2), of(4)), (median, most), "{name}, {row}");
        }
    }
    assert!(differing > 20, "{differing}");
}

#[test]
fn the_answer_on_many_faults_at_a_line_has_one_more_table_and_drops_nothing_silently() {
    let dir = TempDir::new().unwrap();
    let args = ["propagation", "mm3", "--runs", "20", "--out", path(dir.path())];
    let plain = run(&args);
    let lines = run(&[&args[..], &["--at", "34"]].concat());
    assert!(plain.status.success() && lines.status.success(), "{}", stderr(&lines));
    let text = stdout(&lines);
    assert!(text.starts_with(&stdout(&plain)), "{text}");
    for part in [
        "Variables when the thread with the fault comes to mm3.cu:34",
        "40 faults: in kernels without this line, and not looked at.",
        "as written by the blocks before its own",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let found = json(&[&args[..], &["--at", "34", "--json"]].concat());
    let at = &found["at"];
    assert_eq!((at["faults"].as_u64(), at["elsewhere"].as_u64()), (Some(20), Some(40)), "{at}");
    assert_eq!(at["regions"].as_array().unwrap().len(), 7, "{at}");
}

#[test]
fn a_variable_of_other_launches_is_not_compared_at_a_line() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("variables.toml");
    let variable = |name: &str, rest: &str| {
        format!(
            "[[variables]]\nname = '{name}'\nkernel = 'mm3_kernel1'\nparameter = 2\ntype = 'f32'\nshape = [40, 36]\n{rest}\n"
        )
    };
    fs::write(&file, [variable("E", ""), variable("late", "after = 'mm3_kernel3'")].concat()).unwrap();
    let fault = "isa=ptx,launch=0,cta=12,thread=115,dyn=39,target=dst0,model=flip,bits=31";
    let one = ["propagation", "mm3", "--file", path(&file), "--fault", fault, "--at", "34"];
    let found = json(&[&one[..], &["--json"]].concat());
    assert_eq!(found["at"]["not_compared"], Value::from(vec!["late"]));
    let differs = found["at"]["times"][1]["differs"].as_array().unwrap();
    assert!(differs.len() == 1 && differs[0]["variable"] == "E", "{found}");
    let text = stdout(&run(&one));
    assert!(text.contains("Not compared, as looked at after other launches only: late."), "{text}");
    let many = ["propagation", "mm3", "--file", path(&file), "--at", "34", "--runs", "60", "--out", path(dir.path())];
    let found = json(&[&many[..], &["--json"]].concat());
    let at = &found["at"];
    assert_eq!(at["not_compared"][0]["variable"], "late");
    assert_eq!(at["not_compared"][0]["faults"], at["faults"], "{at}");
    let rows = at["regions"].as_array().unwrap();
    assert!(rows.len() == 1 && rows[0]["variable"] == "E" && rows[0]["faults"] == at["faults"], "{at}");
    let text = stdout(&run(&many));
    assert!(text.contains("in launches after which late is not looked at"), "{text}");
}
