//! Whether the story of a fault says what its run did.

use campaign::config::SelectionWords;
use campaign::story::{Propagation, Story};
use campaign::{Planner, RunIndex, Subject};
use fault::Fault;
use inject::{CapsuleTarget, Strategy};
use outcome::{End, classify};
use testkit::random_capsules::random_capsule;
use testkit::tiers::{TARGETS, target};
use testkit::workload;

/// What of a story contradicts the run of its fault, or itself.
fn contradiction(target: &CapsuleTarget, fault: &Fault) -> Option<String> {
    let seen = target.runner(Strategy::Full).run(fault).unwrap();
    let story = target.story(fault, &target.criteria()).unwrap();
    let outcome = classify(&seen, &target.criteria()).class();
    let outputs = story.copies.iter().any(|copy| copy.output.is_some());
    let landed = seen.landed.is_some();
    let first = story.steps.first().map(|step| step.what);
    let checks = [
        ("another observation", story.observation.clone().seen() == seen.clone().seen()),
        ("another outcome", story.outcome == outcome.word()),
        (
            "outputs that differ without a copy that does",
            outputs == (landed && seen.outputs.iter().any(|output| output.differing > 0)) || !completed(&story),
        ),
        ("a landed fault without its step", landed == (first == Some(Propagation::Hit)) || story.instruction.is_none()),
        ("steps of a fault that did not land", landed || story.steps.len() <= 1),
        (
            "a path that it did not leave, of another length",
            !completed(&story) || left(&story) || lengths_agree(&story),
        ),
        ("clean registers and another way", !(left(&story) && story.path.clean_after.is_some())),
        (
            "nothing stored, and memory that differs",
            !nothing_left(&story) || story.launches.iter().all(|it| it.bytes == 0),
        ),
    ];
    let wrong = checks.iter().find(|(_, holds)| !holds)?;
    Some(format!("{}, {fault}: {}\n{story:#?}", target.name(), wrong.0))
}

fn completed(story: &Story) -> bool {
    story.observation.end == End::Completed
}

fn left(story: &Story) -> bool {
    story.path.left_after.is_some()
}

fn lengths_agree(story: &Story) -> bool {
    story.path.found == story.path.golden
}

/// Whether the thread alone was corrupted, and cleaned itself before anything left its registers.
fn nothing_left(story: &Story) -> bool {
    let alone = story.threads.is_some_and(|threads| threads.count <= 1);
    let kept = story
        .steps
        .iter()
        .all(|step| !matches!(step.what, Propagation::Stores | Propagation::Decides | Propagation::Diverges));
    let register = story.site.spot.target.starts_with("dst");
    alone && kept && register && story.steps_left_out == 0 && story.path.clean_after.is_some() && completed(story)
}

fn contradictions(target: &CapsuleTarget, runs: u64) -> Vec<String> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let mut found = Vec::new();
    for kind in TARGETS {
        let words = SelectionWords { target: Some((*kind).to_owned()), ..SelectionWords::default() };
        let Ok(sites) = target.plan(&runs, &words, 1) else { continue };
        found.extend(sites.iter().filter_map(|site| contradiction(target, &site.fault().unwrap().parse().unwrap())));
    }
    found
}

#[test]
fn stories_say_what_runs_do() {
    let workloads = ["bfs", "hotspot", "pathfinder", "reduce"];
    let told = testkit::in_parallel(&workloads, |name| contradictions(&workload(name), 5));
    let numbers: Vec<u64> = (0..20).collect();
    let random = |&number: &u64| contradictions(&target(random_capsule(4, number).unwrap()).unwrap(), 3);
    let random = testkit::in_parallel(&numbers, random);
    crate::report("stories that are not true", &[told, random].concat().concat());
}
