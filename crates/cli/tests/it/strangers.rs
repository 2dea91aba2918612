//! Files that strangers made: what they say of themselves is read, and nothing of it is obeyed.

use crate::{beamline, path, run, stderr, stdout};
use capsule::Capsule;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The capsule of a bundled workload, changed.
fn changed(dir: &Path, change: impl FnOnce(&mut Capsule)) -> PathBuf {
    let mut capsule = Capsule::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/gemm/gemm.capsule")).unwrap();
    change(&mut capsule);
    let file = dir.join("changed.capsule");
    capsule.write(&file).unwrap();
    file
}

/// What is in a directory, by name.
fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_name_of_a_capsule_does_not_say_where_results_go() {
    for (name, expected) in [
        ("../../x", "x.campaign"),
        ("/abs/x", "abs-x.campaign"),
        ("..", "unnamed.campaign"),
        ("", "unnamed.campaign"),
        ("a\nb\u{1b}[31m", "a-b--31m.campaign"),
    ] {
        let dir = TempDir::new().unwrap();
        let here = dir.path().join("one/two/three");
        fs::create_dir_all(&here).unwrap();
        let file = changed(dir.path(), |capsule| name.clone_into(&mut capsule.name));
        let output = beamline(&["campaign", path(&file), "--runs", "5"]).current_dir(&here).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(entries(&here), [expected], "{name:?}");
        assert_eq!(entries(dir.path()), ["changed.capsule", "one"], "{name:?}");
    }
    let dir = TempDir::new().unwrap();
    let file = changed(dir.path(), |capsule| capsule.name = "x".repeat(300));
    let output = beamline(&["campaign", path(&file), "--runs", "5"]).current_dir(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(entries(dir.path()).len(), 2);
    let kept = dir.path().join("kept");
    let file = changed(dir.path(), |capsule| capsule.name = "../../x".to_owned());
    let output = run(&["fit", path(&file), "--margin", "0.3", "--out", path(&kept)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(entries(&kept).iter().all(|name| name.starts_with("x-")), "{:?}", entries(&kept));
    assert!(stdout(&output).contains("../../x"));
}

#[test]
fn what_a_campaign_writes_goes_through_no_link() {
    let dir = TempDir::new().unwrap();
    let (out, precious) = (dir.path().join("c"), dir.path().join("precious"));
    assert!(run(&["campaign", "gemm", "--runs", "20", "--out", path(&out)]).status.success());
    fs::write(&precious, "mine").unwrap();
    fs::remove_file(out.join("summary.json")).unwrap();
    for name in ["summary.json.tmp", "plan.tmp", "campaign.toml.tmp"] {
        std::os::unix::fs::symlink(&precious, out.join(name)).unwrap();
    }
    fs::remove_file(out.join("plan")).unwrap();
    let output = run(&["resume", path(&out)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
    assert!(!out.join("summary.json").is_symlink() && !out.join("plan").is_symlink());
}

#[test]
fn the_commands_of_a_campaign_that_somebody_made_are_shown_and_not_run() {
    let dir = TempDir::new().unwrap();
    let out = dir.path().join("c");
    assert!(run(&["campaign", "gemm", "--runs", "20", "--out", path(&out)]).status.success());
    let file = out.join("campaign.toml");
    let text = fs::read_to_string(&file).unwrap();
    let proof = dir.path().join("pwned");
    let commands = format!("app = \"touch {0}\"\njudge = \"touch {0}; exit 1\"\ndirectory = \"/\"\n", proof.display());
    let place = text.find("\n[").map_or(text.len(), |at| at + 1);
    fs::write(&file, format!("{}{commands}{}", &text[..place], &text[place..])).unwrap();
    let output = run(&["resume", path(&out)]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    for word in [&format!("`touch {}` in /", proof.display()), "; exit 1`", "you did not start", "--trust"] {
        assert!(said.contains(word), "no `{word}` in {said}");
    }
    assert!(!proof.exists());
    assert!(run(&["report", path(&out)]).status.success() || !proof.exists());
    assert!(!proof.exists());
}

#[test]
fn no_control_character_of_a_name_reaches_the_terminal() {
    let dir = TempDir::new().unwrap();
    let file = changed(dir.path(), |capsule| {
        capsule.name = "a\u{1b}]0;title\u{7}\n\u{9b}31mb\u{202e}".to_owned();
        capsule.provenance.command = vec!["x\u{1b}[2J".to_owned()];
        capsule.provenance.compiler = vec!["y\r\nforged".to_owned()];
        capsule.outputs.iter_mut().for_each(|output| output.name = "o\u{1b}c\nforged".to_owned());
    });
    for args in [
        &["info", path(&file)][..],
        &["info", path(&file), "--json"],
        &["campaign", path(&file), "--runs", "5"],
        &["profile", path(&file)],
        &["campaign", path(&file), "--kernel", "no\u{1b}[2Jsuch"],
    ] {
        let output = beamline(args).current_dir(dir.path()).output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        let wrong = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!said.contains(wrong), "{args:?}: {said:?}");
        assert!(!said.contains("\nforged"), "{args:?}: {said}");
    }
}

#[test]
fn names_of_any_length_are_cut_where_people_read_them() {
    let dir = TempDir::new().unwrap();
    let long = "o".repeat(70_000);
    let file = changed(dir.path(), |capsule| {
        capsule.name.clone_from(&long);
        capsule.outputs.iter_mut().for_each(|output| output.name.clone_from(&long));
    });
    for command in ["info", "profile"] {
        let output = run(&[command, path(&file)]);
        assert!(output.status.success(), "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.contains("o… (69600 more characters)"), "{command}: {said}");
        assert!(said.lines().all(|line| line.chars().count() < 1_000), "{command}: {said}");
    }
    let output = run(&["info", path(&file), "--json"]);
    assert!(stdout(&output).contains(&long));
}

#[test]
fn a_cooperative_grid_that_no_device_holds_is_refused_before_memory_is_taken_for_it() {
    let dir = TempDir::new().unwrap();
    let file = changed(dir.path(), |capsule| {
        for event in &mut capsule.events {
            if let capsule::Event::Launch(launch) = event {
                (launch.grid, launch.cooperative) = ([0x7fff_ffff, 1, 1], true);
            }
        }
    });
    let refused = "a cooperative grid of 2147483647 blocks, which all have to run at once";
    let fault = "launch=0,cta=3,thread=17,dyn=10,target=dst0,model=flip,bits=0";
    for args in [&["profile", path(&file)][..], &["campaign", path(&file)], &["inject", path(&file), fault]] {
        let output = beamline(args).current_dir(dir.path()).output().unwrap();
        let (command, said) = (args[0], stderr(&output));
        assert_eq!(output.status.code(), Some(4), "{command}: {said}");
        assert!(said.contains(refused), "{command}: {said}");
    }
    let output = run(&["info", path(&file)]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains(refused), "{}", stdout(&output));
}

#[test]
fn memory_that_a_capsule_does_not_have_is_not_read() {
    for bits in [32, 33, 62] {
        let dir = TempDir::new().unwrap();
        let file = changed(dir.path(), |capsule| {
            for event in &mut capsule.events {
                if let capsule::Event::CopyOut { from, data, .. } = event {
                    *from = capsule::Region::linear(from.address, 1 << bits);
                    *data = None;
                }
            }
            capsule.outputs.clear();
        });
        for command in ["info", "campaign"] {
            let output = run(&[command, path(&file)]);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(5), "{said}");
            assert!(said.contains("of which some are neither") && said.contains("help: "), "{said}");
        }
    }
}
