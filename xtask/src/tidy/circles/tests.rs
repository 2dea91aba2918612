//! The trees of `filetests/circles/`: each says which arrows it has and which circles.

use super::loops;
use super::resolve::{Arrows, arrows};
use super::tree::{Files, Tree};
use crate::repo::root;
use std::fs;
use std::path::PathBuf;

/// A tree as a file describes it: prose, then `== FILE` before each of its files, `== arrows` and `== circles`.
struct Case {
    name: String,
    files: Files,
    arrows: Vec<String>,
    circles: Vec<String>,
}

impl Case {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        let (mut files, mut arrows, mut circles) = (Files::new(), Vec::new(), Vec::new());
        for section in text.split("== ").skip(1) {
            let (title, body) = section.split_once('\n').unwrap();
            let lines = || body.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            match title {
                "arrows" => arrows = lines(),
                "circles" => circles = lines(),
                file => assert!(files.insert(file.into(), body.to_owned()).is_none(), "{file} is there twice"),
            }
        }
        Self { name: path.display().to_string(), files, arrows, circles }
    }
}

/// `a.rs → b.rs (Name:3)`, for each arrow.
fn words(arrows: &Arrows) -> Vec<String> {
    let pairs = arrows.iter().flat_map(|(from, all)| all.iter().map(move |(to, names)| (from, to, names)));
    let words = pairs.map(|(from, to, names)| {
        let names: Vec<String> = names.iter().map(|(line, name)| format!("{name}:{line}")).collect();
        format!("{} → {} ({})", from.display(), to.display(), names.join(", "))
    });
    words.collect()
}

#[test]
fn trees_have_the_arrows_and_circles_that_they_say() {
    let entries = fs::read_dir(root().join("filetests/circles")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for case in paths.into_iter().map(Case::read) {
        let found = arrows(&Tree::read(&case.files, "lib.rs").unwrap());
        assert_eq!(words(&found), case.arrows, "{}", case.name);
        let circles: Vec<String> = loops::circles(&found)
            .iter()
            .map(|circle| circle.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(circles, case.circles, "{}", case.name);
    }
}

#[test]
fn a_circle_is_told_with_its_files_names_and_lines() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let files = Files::from([
        file("lib.rs", "mod one;\nmod two;\n"),
        file("one.rs", "use crate::two::Two;\npub struct One(Two);\n"),
        file("two.rs", "pub struct Two;\n\nimpl From<crate::one::One> for Two {}\n"),
    ]);
    let found = arrows(&Tree::read(&files, "lib.rs").unwrap());
    let told: Vec<String> = loops::circles(&found).iter().map(|circle| loops::describe(circle, &found)).collect();
    let expect = "2 files import each other in a loop:\n      one.rs → two.rs (Two:1)\n      two.rs → one.rs (One:3)";
    assert_eq!(told, [expect]);
}

#[test]
fn a_module_without_a_file_is_an_error() {
    let files = Files::from([(PathBuf::from("lib.rs"), "mod missing;\n".to_owned())]);
    let error = Tree::read(&files, "lib.rs").unwrap_err();
    assert_eq!(error.to_string(), "find missing.rs: it is declared as a module");
}
