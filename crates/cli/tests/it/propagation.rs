//! `beamline propagation`: variables, where errors go, and pictures of them.

use crate::{json, path, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn of<'d>(document: &'d Value, region: &str, variable: &str) -> &'d Value {
    let found =
        document["regions"].as_array().unwrap().iter().find(|it| it["region"] == region && it["variable"] == variable);
    found.unwrap_or_else(|| panic!("{region}, {variable} in {document}"))
}

/// The answer about many faults, whose runs are kept in a directory of their own.
fn followed(args: &[&str]) -> Value {
    let dir = TempDir::new().unwrap();
    json(&[&["propagation"], args, &["--json", "--out", path(dir.path())]].concat())
}

#[test]
fn an_element_of_a_factor_is_a_row_or_a_column_of_the_product() {
    let found = followed(&["mm3", "--runs", "400"]);
    assert_eq!(found["format"], "beamline.propagation/1");
    // E = A B, F = C D, G = E F.
    let (row, column) = (of(&found, "K1", "G"), of(&found, "K2", "G"));
    assert_eq!([&row["elements"][2], &row["rows"][2], &row["columns"][2]], [28.0, 1.0, 28.0].each_ref());
    assert_eq!([&column["elements"][2], &column["rows"][2], &column["columns"][2]], [40.0, 40.0, 1.0].each_ref());
    assert_eq!(
        (of(&found, "K1", "E")["elements"][2].as_f64(), of(&found, "K3", "G")["elements"][2].as_f64()),
        (Some(1.0), Some(1.0))
    );
    let edges = found["edges"].as_array().unwrap();
    let edge = |from: Value, kernel: &str, to: &str| {
        let edge = edges.iter().find(|it| it["from"] == from && it["kernel"] == kernel && it["to"] == to).unwrap();
        edge["count"].as_f64().unwrap() / edge["of"].as_f64().unwrap()
    };
    assert!(edge("E".into(), "mm3_kernel3", "G") > 0.9);
    assert!(edge(Value::Null, "mm3_kernel1", "E") > 0.8);
    assert_eq!(edge(Value::Null, "mm3_kernel1", "F"), 0.0);
}

#[test]
fn what_a_kernel_does_not_read_carries_no_error_through_it() {
    let edges = |name: &str| {
        let found = followed(&[name, "--runs", "120"]);
        let edges = found["edges"].as_array().unwrap().iter().filter(|it| it["count"] != 0);
        let words = |it: &Value| ["from", "kernel", "to"].map(|key| it[key].as_str().unwrap_or("–").to_owned());
        edges.map(words).collect::<Vec<_>>()
    };
    let has = |edges: &[[String; 3]], edge: [&str; 3]| edges.iter().any(|it| it == &edge);
    // Correlations are made of data alone, which the mean and the standard deviation have changed before.
    let corr = edges("corr");
    assert!(has(&corr, ["data", "corr_kernel", "symmat"]) && has(&corr, ["stddev", "reduce_kernel", "data"]));
    for from in ["stddev", "mean", "other memory"] {
        assert!(!has(&corr, [from, "corr_kernel", "symmat"]), "{from}");
    }
    // Each half of the electric field follows from the magnetic one, not from the other half.
    let fdtd = edges("fdtd2d");
    assert!(has(&fdtd, ["hz", "fdtd_step1_kernel", "ey"]) && has(&fdtd, ["hz", "fdtd_step2_kernel", "ex"]));
    assert!(!has(&fdtd, ["ex", "fdtd_step1_kernel", "ey"]) && !has(&fdtd, ["ey", "fdtd_step2_kernel", "ex"]));
}

#[test]
fn arrays_that_nobody_declared_are_what_kernels_load_and_store() {
    let types = |name: &str, extra: &[&str]| {
        let found = followed(&[&[name, "--runs", "5"], extra].concat());
        let it = found["variables"].as_array().unwrap().iter();
        it.map(|it| (it["name"].as_str().unwrap().to_owned(), it["type"].as_str().map(str::to_owned)))
            .collect::<Vec<_>>()
    };
    let gemm = types("gemm", &[]);
    assert!(gemm.len() > 2 && gemm.iter().all(|(_, element)| element.as_deref() == Some("f32")), "{gemm:?}");
    // A declared type stays, and where kernels disagree it is said.
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("variables.toml");
    let variable = "[[variables]]\nname = 'E'\nkernel = 'mm3_kernel1'\nparameter = 2\nshape = [2, 4]\n";
    let doubts = |element: &str| {
        fs::write(&file, format!("{variable}type = '{element}'")).unwrap();
        let found = followed(&["mm3", "--file", path(&file), "--runs", "5"]);
        assert_eq!(found["variables"][0]["type"], element);
        found["doubts"].as_array().unwrap().clone()
    };
    let said = "E is declared as s32, and followed so; kernels load and store f32 there.";
    let part = "E is declared as 32 of the 5760 bytes of its buffer; the rest is not followed.";
    assert_eq!((doubts("s32"), doubts("f32")), (vec![Value::from(said), Value::from(part)], vec![Value::from(part)]));
    // Beside those that are declared.
    assert!(types("bfs", &[]).iter().all(|(_, element)| element.is_some()));
}

#[test]
fn one_fault_is_followed_launch_by_launch_and_drawn() {
    let dir = TempDir::new().unwrap();
    let (rows, graph) = (dir.path().join("rows.csv"), dir.path().join("graph.dot"));
    let many = [
        "propagation",
        "fdtd2d",
        "--only",
        "K1.2",
        "--runs",
        "60",
        "--variables",
        "ey,hz",
        "--rows",
        path(&rows),
        "--graph",
        path(&graph),
        "--out",
        path(dir.path()),
    ];
    let many = run(&many);
    assert!(many.status.success(), "{}", stderr(&many));
    let text = fs::read_to_string(&rows).unwrap();
    assert!(text.starts_with("run,region,fault,class,variable,first_launch,"), "{text}");
    let graph = fs::read_to_string(&graph).unwrap();
    for arrow in ["\"ey\" -> \"through fdtd_step3_kernel\" [", "\"through fdtd_step3_kernel\" -> \"hz\" ["] {
        assert!(graph.contains(arrow), "{graph}");
    }
    assert!(!graph.contains("\"ey\" -> \"hz\""), "{graph}");
    let line = text.lines().find(|line| line.contains(",launch=0,") && line.contains("sdc,ey,0,")).unwrap();
    let fault = line.split('"').nth(1).unwrap();
    let pictures = dir.path().join("pictures/of one");
    let one = json(&["propagation", "fdtd2d", "--fault", fault, "--pictures", path(&pictures), "--json"]);
    let steps = one["steps"].as_array().unwrap();
    assert_eq!((steps[0]["launch"].as_u64(), steps[0]["variable"].as_str()), (Some(0), Some("ey")));
    // A wave: the magnetic field follows in the third launch, and more of it in every step.
    let of_hz: Vec<u64> = steps
        .iter()
        .filter(|it| it["variable"] == "hz" && it["kernel"] == "fdtd_step3_kernel")
        .map(|it| it["elements"].as_u64().unwrap())
        .collect();
    assert!(of_hz.len() == 6 && of_hz.is_sorted() && of_hz[5] > of_hz[0], "{of_hz:?}");
    for name in ["ex", "ey", "hz"] {
        let bytes = fs::read(pictures.join(format!("{name}.png"))).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.windows(4).any(|it| it == b"acTL"));
    }
    assert!(!pictures.join("fict.png").exists());
}

#[test]
fn a_map_is_followed_and_its_rows_are_those_of_the_campaign() {
    let dir = TempDir::new().unwrap();
    let (map, rows) = (dir.path().join("map.csv"), dir.path().join("rows.csv"));
    let regions = ["regions", "gramschm", "--runs", "50", "--map", path(&map), "--json", "--out", path(dir.path())];
    let campaign = json(&regions);
    let out = path(dir.path());
    let followed = run(&["propagation", "gramschm", "--from-map", path(&map), "--rows", path(&rows), "--out", out]);
    assert!(followed.status.success(), "{}", stderr(&followed));
    let mut sdc: Vec<String> = fs::read_to_string(&rows)
        .unwrap()
        .lines()
        .filter(|it| it.contains(",sdc,"))
        .map(|it| it[..it.find(',').unwrap()].to_owned())
        .collect();
    sdc.dedup();
    let counted: u64 =
        campaign["regions"].as_array().unwrap().iter().map(|it| it["sdc"]["count"].as_u64().unwrap()).sum();
    assert_eq!(sdc.len() as u64, counted);
}

#[test]
fn what_is_no_variable_is_said_with_what_there_is() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("variables.toml");
    let declared = |text: &str| {
        fs::write(&file, format!("[[variables]]\nname = 'x'\ntype = 'f32'\n{text}")).unwrap();
        run(&["propagation", "mm3", "--file", path(&file), "--runs", "5", "--out", path(dir.path())])
    };
    let of_file = [
        (
            "kernel = 'k'\nparameter = 0\nshape = [1]",
            "no launch is of the kernel k; there are mm3_kernel1, mm3_kernel2, mm3_kernel3",
        ),
        (
            "kernel = 'mm3_kernel1'\nparameter = 9\nshape = [1]",
            "mm3_kernel1 has no parameter 9: it has 6, counted from 0",
        ),
        ("kernel = 'mm3_kernel1'\nparameter = 0\nshape = [4096, 4096]", "16777216 elements of f32 are 67108864 bytes"),
        ("kernel = 'mm3_kernel1'\nparameter = 0", "missing field `shape`"),
    ];
    for (text, part) in of_file {
        let found = declared(text);
        assert!(!found.status.success() && stderr(&found).contains(part), "{}", stderr(&found));
    }
    assert!(declared("kernel = 'mm3_kernel1'\nparameter = 0\nshape = [2, 4]").status.success());
    for (name, part) in [
        ("sum", "but no buffer is called so: it lives in registers, or the compiler has optimised it away"),
        ("nothing", "find the variable nothing: in memory there are A, B, E"),
    ] {
        let found = run(&["propagation", "mm3", "--variables", name]);
        assert!(!found.status.success() && stderr(&found).contains(part), "{}", stderr(&found));
    }
    fs::write(&file, "[[variables]]\nname = 'x'\ntype = 'f32'\nkernel = 'mm3_kernel1'\nparameter = 0\nshape = [8]")
        .unwrap();
    for (args, part) in [
        (&["--plot", "f.svg"][..], "takes no --plot: it draws none"),
        (&["--kernel", "mm3_kernel1"], "takes no --kernel: each region says its own"),
        (&["--file", path(&file), "--only", "nosuch"], "find the region `nosuch`: no regions are declared"),
        (&["--fault", "x", "--margin", "0.1"], "combine --margin with --fault"),
    ] {
        let answer = run(&[&["propagation", "mm3"], args].concat());
        assert!(answer.status.code() == Some(1) && stderr(&answer).contains(part), "{}", stderr(&answer));
    }
    let both = run(&["propagation", "mm3", "--fault", "x", "--rows", "y"]);
    assert!(stderr(&both).contains("combine --rows with --fault"), "{}", stderr(&both));
    let pictures = run(&["propagation", "mm3", "--pictures", "x"]);
    assert!(stderr(&pictures).contains("say which with --fault ID"), "{}", stderr(&pictures));
}

#[test]
fn a_file_without_regions_is_the_whole_program_whatever_its_comments_say() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("variables.toml");
    let variable = "[[variables]]\nname = 'g'\nkernel = 'mm3_kernel3'\nparameter = 2\ntype = 'f32'\nshape = [28, 40]\n";
    fs::write(&file, format!("# no [[regions]] here\n{variable}")).unwrap();
    let found = followed(&["mm3", "--file", path(&file), "--runs", "5"]);
    assert_eq!(found["regions"][0]["region"], "all", "{found}");
}

#[test]
fn fields_of_structures_and_chosen_launches_are_variables() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("variables.toml");
    let variable = |name: &str, rest: &str| {
        format!("[[variables]]\nname = '{name}'\nkernel = 'mm3_kernel1'\nparameter = 2\ntype = 'f32'\n{rest}\n")
    };
    let regions = "[[regions]]\nname = 'K1'\nkernel = 'mm3_kernel1'\n";
    let half = "shape = [720]\nstride = 8";
    let text = [
        variable("E", "shape = [40, 36]"),
        variable("even", half),
        variable("odd", &format!("{half}\noffset = 4")),
        variable("later", "shape = [40, 36]\nafter = 'mm3_kernel3, mm3_kernel2#0'"),
        variable("late", "shape = [40, 36]\nafter = 'mm3_kernel3'"),
        regions.to_owned(),
    ];
    fs::write(&file, text.concat()).unwrap();
    let found = followed(&["mm3", "--file", path(&file), "--runs", "300"]);
    let count = |name: &str, what: &str| of(&found, "K1", name)[what].as_u64().unwrap();
    for what in ["corrupted", "left"] {
        assert!(count("even", what) > 50 && count("odd", what) > 50, "{found}");
        // A fault corrupts one element of E, which is in one of both.
        assert_eq!(count("even", what) + count("odd", what), count("E", what));
        assert_eq!((count("later", what), count("late", what)), (count("E", "left"), count("E", "left")), "{found}");
    }
    let until = |name: &str| of(&found, "K1", name)["launches_until"][0].as_f64();
    assert_eq!([until("E"), until("later"), until("late")], [Some(0.0), Some(1.0), Some(2.0)]);
    let edges = found["edges"].as_array().unwrap();
    assert!(edges.iter().all(|it| it["to"] != "late" && it["from"] != "later"), "{edges:?}");
    fs::write(&file, variable("E", "shape = [720]\nstride = 8\noffset = 8")).unwrap();
    let large = run(&["propagation", "mm3", "--file", path(&file), "--runs", "5"]);
    assert!(stderr(&large).contains("720 elements of f32 are 5756 bytes, and there are 5752"), "{}", stderr(&large));
    fs::write(&file, variable("E", "shape = [720]\nafter = 'nothing'")).unwrap();
    let none = run(&["propagation", "mm3", "--file", path(&file), "--runs", "5"]);
    assert!(stderr(&none).contains("find the variable E: no launch is `after` = `nothing`"), "{}", stderr(&none));
}

#[test]
fn runs_are_kept_for_the_next_question_about_them() {
    let dir = TempDir::new().unwrap();
    let (out, rows, again) = (dir.path().join("kept"), dir.path().join("rows.csv"), dir.path().join("again.csv"));
    let ask = |rows: &std::path::Path, runs: &str| {
        let args = ["propagation", "mm3", "--only", "K1", "--runs", runs, "--rows", path(rows), "--json"];
        json(&[&args[..], &["--out", path(&out)]].concat())
    };
    let kept = || {
        let files: Vec<_> = fs::read_dir(&out).unwrap().map(|it| it.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        fs::read(&files[0]).unwrap()
    };
    let first = ask(&rows, "600");
    let file = kept();
    assert_eq!(ask(&again, "600"), first);
    assert_eq!(fs::read(&rows).unwrap(), fs::read(&again).unwrap());
    assert!(kept() == file, "nothing was run again");
    // More runs begin with the same ones.
    let more = ask(&again, "1000");
    assert_eq!(more["regions"][0]["runs"], 1000);
    assert!(fs::read_to_string(&again).unwrap().starts_with(&fs::read_to_string(&rows).unwrap()));
}

/// The times at a line of mm3 of a fault in the thread of E[39][3], the element 1407: its block 12 is the first of the last row, its thread
/// 115 the fourth of the last row there. The loop begins with the 38th instruction that it executes, from 0, and has line 34 four times.
fn at_line(fault: &str, at: &str) -> Value {
    let fault = format!("isa=ptx,launch=0,cta=12,thread=115,{fault},model=flip");
    json(&["propagation", "mm3", "--fault", &fault, "--at", at, "--json"])["at"].clone()
}

/// By time, the first element of E that differs and how many do.
fn of_e(at: &Value) -> Vec<Option<(u64, u64)>> {
    let of = |time: &Value| {
        let differs = time["differs"].as_array().unwrap();
        assert!(differs.len() <= 1 && differs.iter().all(|it| it["variable"] == "E"), "{time}");
        differs.first().map(|it| (it["first"].as_u64().unwrap(), it["elements"].as_u64().unwrap()))
    };
    at["times"].as_array().unwrap().iter().map(of).collect()
}

fn instructions(at: &Value, key: &str) -> Vec<Option<u64>> {
    at["times"].as_array().unwrap().iter().map(|time| time[key].as_u64()).collect()
}

#[test]
fn within_a_launch_nothing_differs_before_the_store_and_one_element_after_it() {
    // The sign of what is loaded in the first of 32 terms.
    let at = at_line("dyn=39,target=dst0,bits=31", "34");
    assert_eq!((at["line"].as_str(), at["golden_times"].as_u64()), (Some("mm3.cu:34"), Some(32)));
    let (before, after) = (of_e(&at)[0], of_e(&at)[1..].to_vec());
    assert_eq!((before, after), (None, vec![Some((1407, 1)); 31]), "{at}");
    let first: Vec<_> = [39, 43, 48, 53, 64, 69].map(Some).to_vec();
    for key in ["instruction", "golden_instruction"] {
        assert_eq!(instructions(&at, key)[..6], first, "{at}");
    }
    // A term of the wrong sign: twice of it is missing from then on.
    let errors: Vec<f64> =
        at["times"].as_array().unwrap()[1..].iter().map(|it| it["differs"][0]["max_abs"].as_f64().unwrap()).collect();
    assert!(errors[0] > 0.0 && errors.iter().all(|it| (it - errors[0]).abs() < 1e-4), "{errors:?}");
    assert_eq!(at, at_line("dyn=39,target=dst0,bits=31", "mm3.cu:34"));
    // The sum begins with 2 where it should with 0: at the head of the loop first before all stores, then after each four.
    let two = at_line("dyn=30,target=dst0,bits=30", "33");
    let errors = two["times"].as_array().unwrap().iter().map(|it| it["differs"][0]["max_abs"].as_f64());
    let errors: Vec<Option<f64>> = errors.collect();
    assert!(errors.len() == 9 && errors[0].is_none(), "{two}");
    assert!(errors[1..].iter().all(|it| it.is_some_and(|it| (it - 2.0).abs() < 1e-5)), "{two}");
}

#[test]
fn a_thread_that_goes_another_way_is_compared_as_far_as_both_come_to_the_line() {
    // The counter of the loop, which goes down by four: 28 is left after the first round, and is 12 with this bit flipped.
    let sooner = at_line("dyn=61,target=dst0,bits=4", "34");
    let count = |at: &Value| at["times"].as_array().unwrap().len() as u64;
    assert_eq!(sooner["golden_times"], 28);
    assert!(count(&sooner) < 28, "{sooner}");
    assert!(of_e(&sooner).iter().all(Option::is_none), "until then the sum is right: {sooner}");
    let later = at_line("dyn=61,target=dst0,bits=5", "34");
    assert!(count(&later) > 28 && later["times"][28]["differs"].is_null(), "{later}");
    assert_eq!(
        instructions(&later, "golden_instruction")[27..29].iter().map(Option::is_some).collect::<Vec<_>>(),
        [true, false]
    );
    let long = at_line("dyn=61,target=dst0,bits=20", "34");
    assert_eq!((count(&long), &long["cut"]), (100, &Value::Bool(true)), "{long}");
    let said = |fault: &str, at: &str| {
        let fault = format!("isa=ptx,launch=0,cta=12,thread=115,{fault},model=flip,bits=4");
        let found = run(&["propagation", "mm3", "--fault", &fault, "--at", at]);
        assert!(found.status.success(), "{}", stderr(&found));
        stdout(&found)
    };
    let text = said("dyn=61,target=dst0", "34");
    assert!(text.contains("Without the fault the thread comes there 28 times, with it"), "{text}");
    // The line is behind the thread, and the instruction of the fault behind its end.
    assert!(
        said("dyn=61,target=dst0", "30").contains("does not come to mm3.cu:30 from the fault on, with or without it")
    );
    let never = said("dyn=100000,target=dst0", "34");
    assert!(never.contains("does not come to mm3.cu:34") && never.contains("not_landed"), "{never}");
}

#[test]
fn a_line_within_a_launch_is_one_of_the_kernel_with_the_fault() {
    let fault = "isa=ptx,launch=0,cta=0,thread=0,dyn=39,target=dst0,model=flip,bits=3";
    for (at, part) in [
        (
            "45",
            "stop at 45 in mm3_kernel1, the kernel of the fault: no instruction comes from mm3.cu:45; the nearest that have some: 37",
        ),
        ("other.cu:34", "no instruction comes from other.cu; there are lines of"),
        ("x", "stop at `x`: expected FILE:LINE or LINE"),
        (":34", "stop at `:34`: expected"),
        ("mm3.cu:0", "stop at `mm3.cu:0`: expected"),
    ] {
        let answer = run(&["propagation", "mm3", "--fault", fault, "--at", at]);
        assert!(answer.status.code() == Some(1) && stderr(&answer).contains(part), "{}", stderr(&answer));
    }
    let many = run(&["propagation", "mm3", "--at", "46", "--runs", "5"]);
    let part = "stop at 46 in mm3_kernel1, mm3_kernel2, mm3_kernel3, the kernels of the faults: no instruction comes from mm3.cu:46";
    assert!(many.status.code() == Some(1) && stderr(&many).contains(part), "{}", stderr(&many));
    let drawn = run(&["propagation", "mm3", "--at", "34", "--pictures", "nowhere"]);
    assert!(stderr(&drawn).contains("say which with --fault ID"), "{}", stderr(&drawn));
    let nowhere = run(&["propagation", "mm3", "--fault", &fault.replace("launch=0", "launch=9"), "--at", "34"]);
    assert!(stderr(&nowhere).contains("find launch 9 of the fault: the capsule has 3"), "{}", stderr(&nowhere));
}

#[test]
fn pictures_at_a_line_have_a_frame_for_each_time() {
    let dir = TempDir::new().unwrap();
    let fault = "isa=ptx,launch=0,cta=12,thread=115,dyn=39,target=dst0,model=flip,bits=31";
    let args = ["propagation", "mm3", "--fault", fault, "--at", "34", "--pictures", path(dir.path())];
    let found = run(&args);
    assert!(found.status.success(), "{}", stderr(&found));
    let bytes = fs::read(dir.path().join("E.png")).unwrap();
    let control = bytes.windows(4).position(|it| it == b"acTL").unwrap() + 4;
    assert_eq!(bytes[control..control + 4], 32u32.to_be_bytes());
    // G differs after launches only.
    assert!(!dir.path().join("G.png").exists());
}
