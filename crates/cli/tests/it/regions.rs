//! `beamline regions`: regions of a program, fault maps, and what is said where there is nothing to hit.

use crate::{json, path, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn region<'d>(document: &'d Value, name: &str) -> &'d Value {
    let regions = document["regions"].as_array().unwrap();
    regions.iter().find(|it| it["name"] == name).unwrap_or_else(|| panic!("{name} in {document}"))
}

#[test]
fn a_faulty_sum_of_a_column_is_one_element_and_one_of_a_row_spreads() {
    let dir = TempDir::new().unwrap();
    let found = json(&["regions", "atax", "--runs", "300", "--json", "--out", path(dir.path())]);
    assert_eq!((found["format"].as_str(), found["capsule"].as_str()), (Some("beamline.regions/1"), Some("atax")));
    let [first, second] = ["K1", "K2"].map(|name| region(&found, name));
    assert_eq!((first["runs"].as_u64(), first["elements"].as_u64()), (Some(300), Some(120)));
    // y = Aᵀ tmp: an element of tmp is in all of y, a sum of the second kernel in one.
    assert_eq!(second["corrupted"][2], 1.0);
    assert!(first["corrupted"][2].as_f64().unwrap() > 60.0, "{first}");
    assert_eq!(first["differs_from"].as_array().map(Vec::len), Some(1));
    for key in ["mean_error_of_corrupted", "mean_error_of_all"] {
        assert!(second[key][2].as_f64().unwrap() > 0.0);
    }
    let ratio =
        second["mean_error_of_corrupted"][2].as_f64().unwrap() / second["mean_error_of_all"][2].as_f64().unwrap();
    assert!((ratio - 120.0).abs() < 1e-6, "{ratio}: one of 120 elements is corrupted");
}

#[test]
fn a_story_names_buffers_as_the_source_does() {
    let id = "launch=0,cta=2,thread=12,dyn=606,target=dst0,model=flip,bits=29";
    let said = stdout(&run(&["inject", "atax", id, "--explain"]));
    assert!(said.contains("4 bytes differ when it ends: 4 of 640 in tmp\n"), "{said}");
    assert!(said.contains("4 of 640 in tmp, 479 of 480 in y\n"), "{said}");
}

#[test]
fn a_fault_map_is_made_again_as_it_is_and_as_it_is_edited() {
    let dir = TempDir::new().unwrap();
    let map = dir.path().join("map.csv");
    let (map, out) = (path(&map), path(dir.path()));
    let only_map = run(&["regions", "mm3", "--runs", "40", "--map", map, "--until", "map", "--out", out]);
    assert!(only_map.status.success(), "{}", stderr(&only_map));
    let said = stdout(&only_map);
    assert!(said.starts_with("mm3: fault map\n") && said.contains("Nothing is injected yet"), "{said}");
    let text = fs::read_to_string(map).unwrap();
    assert_eq!(text.lines().count(), 121);
    assert!(text.starts_with("run,region,kernel,line,opcode,fault\n0,K1,mm3_kernel1,"), "{text}");
    let drawn = json(&["regions", "mm3", "--runs", "40", "--json", "--out", out]);
    let mapped = json(&["regions", "mm3", "--from-map", map, "--json", "--out", out]);
    assert_eq!(drawn["regions"], mapped["regions"]);
    // Without the columns for readers, with fewer rows, under another name.
    let rows = text.lines().skip(1).filter(|line| line.contains(",K3,"));
    let edited = rows.map(|line| format!("mine,{}", &line[line.find('"').unwrap()..])).collect::<Vec<_>>().join("\n");
    fs::write(map, format!("region,fault\n{edited}\n")).unwrap();
    let again = json(&["regions", "mm3", "--from-map", map, "--json", "--out", out]);
    assert_eq!(again["regions"].as_array().map(Vec::len), Some(1));
    assert_eq!(region(&again, "mine")["sdc"], region(&drawn, "K3")["sdc"]);
}

#[test]
fn where_there_is_nothing_to_hit_the_reason_is_said() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("regions.toml");
    let regions = |text: &str| {
        fs::write(&file, text).unwrap();
        run(&["regions", "atax", "--file", path(&file), "--runs", "20", "--out", path(dir.path())])
    };
    for (text, part) in [
        ("file = 'atax.cu'\nlines = [1, 3]", "no instruction comes from atax.cu:1-3; the nearest that have some: 27"),
        ("file = 'a.cu'\nlines = [1, 3]", "no instruction comes from a.cu; there are lines of"),
        ("kernel = 'atax'", "find the kernel `atax`: there are atax_kernel1, atax_kernel2"),
        ("file = 'atax.cu'\nlines = [31, 31]\niterations = '1000'", "by no thread as often as iterations 1000 say"),
        (
            "file = 'atax.cu'\nlines = [31, 31]\ngroup = 'store'",
            "no operand of the target dst; they have addr, store, src",
        ),
    ] {
        let alone = regions(&format!("[[regions]]\nname = 'R'\n{text}"));
        assert_eq!(alone.status.code(), Some(1));
        assert!(stderr(&alone).contains(part), "{}", stderr(&alone));
        // Beside another region it is a line of the answer.
        let beside = regions(&format!("[[regions]]\nname = 'R'\n{text}\n[[regions]]\nname = 'all'"));
        let said = stdout(&beside);
        assert!(said.lines().any(|line| line.starts_with("R: ") && line.contains(part)), "{said}");
    }
    let partly = regions("[[regions]]\nname = 'R'\nkernel = 'atax_kernel1, atax'");
    assert!(stdout(&partly).contains("R: find the kernel `atax`: there are"), "{}", stdout(&partly));
    let answer = |args: &[&str]| {
        let args = [&["regions", "atax", "--out", path(dir.path())], args].concat();
        let answer = run(&args);
        (answer.status.code(), stderr(&answer))
    };
    let map = dir.path().join("map.csv");
    fs::write(&map, "region,fault\nK1,\"launch=9,cta=0,thread=0,dyn=1,target=dst0,model=flip,bits=1\"\n").unwrap();
    for (args, code, part) in [
        (&["--only", "K9"][..], 1, "find the region `K9`: there are K1, K2"),
        (&["--file", "nowhere.toml"], 5, "read the regions `nowhere.toml`"),
        (&["--target", "reg:0"], 1, "aim at the region K1: use target `reg:0`: expected reg:N"),
        (&["--runs", "0"], 1, "make 0 faults in each region: expected 1 to"),
        (&["--until", "map"], 1, "say where it is written with --map"),
        (&["--from-map", path(&map)], 1, "fault 1 of it: find launch 9 of the fault: the capsule has 2"),
        (&["--from-map", path(&map), "--only", "K1"], 1, "edit the fault map, or leave --only out"),
        (&["--kernel", "atax_kernel1"], 1, "takes no --kernel: each region says its own"),
        (&["--from-map", path(&map), "--margin", "0.1"], 1, "edit the fault map, or leave --margin out"),
        (&["--from-map", path(&map), "--seed", "3"], 1, "edit the fault map, or leave --seed out"),
        (&["--runs", "9", "--margin", "0.1"], 1, "as --runs and as --margin say: leave one of them out"),
    ] {
        let (found, text) = answer(args);
        assert!(found == Some(code) && text.contains(part), "{args:?}: {found:?} {text}");
    }
    for (edited, part) in [
        (
            "dst7,model=flip,bits=1",
            "fault 2 of it: find dst7 of the fault: `ld.param.u64` has no such operand; it has dst0",
        ),
        (
            "dst0,model=flip,bits=99",
            "fault 2 of it: make the fault flip with bits=99: the width of dst0 of `ld.param.u64` is 64",
        ),
    ] {
        let row = |target: &str| format!("K1,\"launch=0,cta=0,thread=0,dyn=0,target={target}\"\n");
        fs::write(&map, format!("region,fault\n{}{}", row("dst0,model=flip,bits=1"), row(edited))).unwrap();
        for command in ["regions", "propagation"] {
            let answer = run(&[command, "atax", "--from-map", path(&map)]);
            assert_eq!(answer.status.code(), Some(1));
            assert!(stderr(&answer).contains(part), "{}", stderr(&answer));
        }
    }
}

#[test]
fn a_condition_on_an_element_chooses_launches_by_what_is_there_before_them() {
    let dir = TempDir::new().unwrap();
    let (file, map) = (dir.path().join("regions.toml"), dir.path().join("map.csv"));
    let when = |conditions: &[&str]| {
        let regions: Vec<String> = (0..)
            .zip(conditions)
            .map(|(number, when)| format!("[[regions]]\nname = 'R{number}'\nwhen = '{when}'\ntarget = 'reg'\n"))
            .collect();
        fs::write(&file, regions.concat()).unwrap();
        let args = ["regions", "atax", "--file", path(&file), "--runs", "30", "--until", "map", "--map", path(&map)];
        run(&args)
    };
    // The first kernel makes tmp, the second reads it.
    let drawn = when(&["tmp[3] == 0", "tmp[3] != 0", "tmp[3] > 1e30"]);
    let said = stdout(&drawn);
    assert!(
        said.contains("R2: its condition `tmp[3] > 1e30` holds at the beginning of none of its launches."),
        "{said}"
    );
    let text = fs::read_to_string(&map).unwrap();
    for (region, kernel) in [("R0", "atax_kernel1"), ("R1", "atax_kernel2")] {
        let rows = || text.lines().filter(|line| line.contains(&format!(",{region},")));
        assert!(rows().count() == 30 && rows().all(|line| line.contains(kernel)), "{text}");
    }
    for (condition, part) in [
        ("nothing[0] > 1", "nothing is called nothing; in memory there are"),
        ("tmp[4096] > 1", "tmp has 160 elements, counted from 0"),
        ("tmp > 1", "expected NAME[ELEMENT]"),
    ] {
        let refused = when(&[condition]);
        assert!(refused.status.code() != Some(0) && stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

#[test]
fn one_register_is_chosen_by_its_number() {
    let dir = TempDir::new().unwrap();
    let map = dir.path().join("map.csv");
    let of = |target: &str| {
        let args = ["regions", "atax", "--only", "K2", "--runs", "20", "--until", "map"];
        run(&[&args[..], &["--map", path(&map), "--target", target]].concat())
    };
    assert!(of("reg9").status.success());
    let text = fs::read_to_string(&map).unwrap();
    assert!(
        text.lines().skip(1).count() == 20 && text.lines().skip(1).all(|line| line.contains("target=reg9,")),
        "{text}"
    );
    let none = of("reg9999");
    assert!(stderr(&none).contains("its instructions have no operand of the target reg9999"), "{}", stderr(&none));
    assert!(of("reg").status.success());
}

#[test]
fn a_template_is_a_file_of_regions() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("regions.toml");
    let written = run(&["regions", "atax", "--template", path(&file)]);
    assert!(written.status.success() && stdout(&written).starts_with("atax: hot lines\n"), "{}", stderr(&written));
    let found = json(&["regions", "atax", "--file", path(&file), "--runs", "20", "--json", "--out", path(dir.path())]);
    let names: Vec<&str> = found["regions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(
        names.contains(&"atax_kernel1:31") && names.iter().any(|name| name.starts_with("atax_kernel2:")),
        "{names:?}"
    );
    assert_eq!(found["empty"], serde_json::json!([]));
    let both = run(&["regions", "atax", "--template", path(&file), "--runs", "5"]);
    assert!(stderr(&both).contains("combine --runs with --template"), "{}", stderr(&both));
}

/// A profile of regions of the first kernel of atax, whose inner line the compiler has unrolled four times; then the answer to more.
fn profiled(regions: &[&str], more: &[&str]) -> (String, std::process::Output) {
    let dir = TempDir::new().unwrap();
    let (file, profile) = (dir.path().join("regions.toml"), dir.path().join("profile.csv"));
    let region = |(number, region): (u32, &&str)| {
        format!("[[regions]]\nname = 'R{number}'\nfile = 'atax.cu'\nlines = [31, 31]\n{region}\n")
    };
    fs::write(&file, (0..).zip(regions).map(region).collect::<String>()).unwrap();
    let all = ["regions", "atax", "--file", path(&file), "--profile", path(&profile), "--runs", "30", "--out"];
    let answer = run(&[&all[..], &[path(dir.path())], more].concat());
    (fs::read_to_string(&profile).unwrap_or_default(), answer)
}

/// The instructions of a region in a profile, with how often they are executed.
fn instructions(profile: &str, region: &str) -> Vec<(u32, u64)> {
    let rows = profile.lines().filter(|line| line.starts_with(&format!("{region},")));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[3].parse().unwrap(), cells[6].parse().unwrap())
    };
    rows.map(row).collect()
}

#[test]
fn copies_of_an_unrolled_line_are_told_apart() {
    let copies: Vec<String> = (0..4).map(|copy| format!("copies = '{copy}'")).collect();
    let regions = ["", &copies[0], &copies[1], &copies[2], &copies[3], "copies = '99'", "iterations = '0'"];
    let (profile, answer) = profiled(&regions, &[]);
    let all = instructions(&profile, "R0");
    let apart: Vec<Vec<(u32, u64)>> = (1..5).map(|copy| instructions(&profile, &format!("R{copy}"))).collect();
    assert!(apart.concat().iter().all(|it| all.contains(it)) && apart.concat().len() == all.len());
    // The first copy has the load of the sum, too, which the others keep in a register.
    assert_eq!(apart.iter().map(Vec::len).collect::<Vec<_>>(), [4, 3, 3, 3]);
    let said = stdout(&answer);
    let none = said.lines().find(|line| line.starts_with("R5: ")).unwrap();
    assert!(none.contains("copies, counted from 0, and nothing to hit in copies 99"), "{none}");
    let unrolled = said.lines().find(|line| line.starts_with("R6: ")).unwrap();
    assert!(
        unrolled.contains("one of its lines has 4 copies") && unrolled.contains("one in 4 of the source's"),
        "{unrolled}"
    );
}

#[test]
fn a_condition_on_a_register_chooses_threads_by_what_they_have_before_the_instruction() {
    // The first register is the thread's row.
    let (profile, answer) = profiled(&["", "when = '%r1.s32 > 3'", "when = '%r1.s32 > 159'"], &[]);
    let [all, some] = ["R0", "R1"].map(|region| instructions(&profile, region));
    let rows = 160;
    assert!(all.len() == some.len() && !all.is_empty());
    for ((at, all), (other, some)) in all.into_iter().zip(some) {
        assert_eq!((at, all / rows * (rows - 4)), (other, some));
    }
    // Before its first write, in any block, the register has no value: not even what a block before left there.
    let dir = TempDir::new().unwrap();
    let (file, rows) = (dir.path().join("regions.toml"), dir.path().join("profile.csv"));
    fs::write(&file, "[[regions]]\nname = 'R0'\nkernel = 'atax_kernel1'\nwhen = '%r1.s32 >= 0'\ntarget = 'reg:64'\n")
        .unwrap();
    let whole = run(&["regions", "atax", "--file", path(&file), "--until", "profile", "--profile", path(&rows)]);
    assert!(whole.status.success(), "{}", stderr(&whole));
    let found = instructions(&fs::read_to_string(&rows).unwrap(), "R0");
    // The eleventh instruction writes it.
    assert_eq!(found[0], (11, 192));
    let said = stdout(&answer);
    assert!(said.contains("R2: `when` = `%r1.s32 > 159` holds right before none of its instructions."), "{said}");
    for (condition, part) in [
        ("%r1 > 3", "decide `%r1 > 3`: it is declared as b32, which does not say a number: write one, such as %r1.s32"),
        ("%r1.f64 > 3", "it has 32 bits, and f64 has more"),
        ("%nothing > 3", "no kernel or function has this register; they have "),
        ("%r1 >", "such as %r7 > 3"),
    ] {
        let refused = profiled(&[&format!("when = '{condition}'")], &[]).1;
        assert!(refused.status.code() != Some(0) && stderr(&refused).contains(part), "{}", stderr(&refused));
    }
}

#[test]
fn phases_start_from_the_file_of_the_one_before() {
    let dir = TempDir::new().unwrap();
    let [profile, map] = ["profile.csv", "map.csv"].map(|name| dir.path().join(name));
    let (profile, map, out) = (path(&profile), path(&map), path(dir.path()));
    let at_once = json(&["regions", "mm3", "--runs", "40", "--json", "--out", out]);
    let first = run(&["regions", "mm3", "--until", "profile", "--profile", profile]);
    let said = stdout(&first);
    assert!(said.starts_with("mm3: profile\n") && said.contains("Nothing is injected yet"), "{}{said}", stderr(&first));
    let rest = ["--runs", "40", "--until", "map", "--map", map, "--out", out];
    let second = run(&[&["regions", "mm3", "--from-profile", profile], &rest[..]].concat());
    assert!(second.status.success(), "{}", stderr(&second));
    let third = json(&["regions", "mm3", "--from-map", map, "--json", "--out", out]);
    assert_eq!(at_once["regions"], third["regions"]);
    // Only the rows of one region's products are left.
    let text = fs::read_to_string(profile).unwrap();
    let kept = |(number, line): &(usize, &str)| *number == 0 || line.starts_with("K2,") && line.contains("fma");
    let edited: Vec<&str> = text.lines().enumerate().filter(kept).map(|(_, line)| line).collect();
    fs::write(profile, edited.join("\n")).unwrap();
    assert!(run(&[&["regions", "mm3", "--from-profile", profile], &rest[..]].concat()).status.success());
    let drawn = fs::read_to_string(map).unwrap();
    assert!(
        drawn.lines().count() == 41 && drawn.lines().skip(1).all(|line| line.contains(",K2,") && line.contains("fma")),
        "{drawn}"
    );
    let method = format!("regional:profile={profile}");
    let campaign = json(&["campaign", "mm3", "--runs", "10", "--method", &method, "--out", out, "--json"]);
    assert_eq!(campaign["runs"]["landed"], 10);
    for (from, to, part) in [
        ("fma", "fmb", "row 1 of it: the instruction is `fma"),
        (",0,", ",9,", "the program has no launch"),
        ("_Z", "_Y", "of the kernel _Y"),
    ] {
        fs::write(profile, edited.join("\n").replace(from, to)).unwrap();
        let refused = run(&["regions", "mm3", "--from-profile", profile]);
        assert!(refused.status.code() == Some(1) && stderr(&refused).contains(part), "{part}: {}", stderr(&refused));
    }
    fs::write(profile, edited.join("\n")).unwrap();
    for (more, part) in [
        (["--only", "K2"], "edit the profile, or leave --only out"),
        (["--from-map", map], "take sites from --from-profile and from --from-map"),
        (["--until", "profile"], "end with the profile: say where it is written with --profile F.csv"),
        (["--profile", map], "leave --profile out"),
    ] {
        let refused = run(&[&["regions", "mm3", "--from-profile", profile], &more[..]].concat());
        assert!(refused.status.code() != Some(0) && stderr(&refused).contains(part), "{part}: {}", stderr(&refused));
    }
}
