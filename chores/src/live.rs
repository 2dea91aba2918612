//! Live runs of applications, some of which have hosts that decide: those that replay the launches before the faulty one, and
//! those that execute everything, must see the same; and where the host sees nothing, so must a run of the recorded capsule.

use crate::apps::{self, PLACE};
use crate::repo::{beamline, say};
use crate::workloads::{build, fixed_nvcc};
use anyhow::{Context, Result, bail, ensure};
use campaign::{Finding, Results, Row};
use outcome::{Class, End, Observation};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Faults of each application when the whole check runs.
pub(crate) const FEW: u64 = 60;

/// What is compared for an application.
#[derive(Debug, Default)]
struct Compared {
    faults: usize,
    /// Runs in which the host could see a difference.
    visible: usize,
    /// Of those, how many have another class when the host is in the loop.
    changed: usize,
    /// Runs per second of one worker with replay, without, and their milliseconds.
    speed: [f64; 2],
    disagreements: Vec<String>,
}

/// Compares so many faults of each application, and prints a table.
pub(crate) fn live(runs: u64) -> Result<()> {
    let (program, nvcc) = (beamline()?, fixed_nvcc()?);
    let bfs = build(&nvcc, "bfs")?.join("bfs");
    let small = ["compaction", "conjugate_gradients", "managed_late"];
    let built = small.iter().map(|name| Ok((*name, apps::built(&nvcc, name)?))).collect::<Result<Vec<_>>>()?;
    say("| application | faults | disagreements | seen by the host | other class live | ms per run | executing all |")?;
    say("|---|---:|---:|---:|---:|---:|---:|")?;
    let mut wrong = Vec::new();
    for (name, app) in [("bfs", bfs)].into_iter().chain(built) {
        let found = compare(&program, name, &app, runs)?;
        let [replayed, executed] = found.speed.map(|speed| format!("{:.1}", 1000.0 / speed.max(1e-9)));
        let Compared { faults, visible, changed, disagreements, .. } = found;
        say(&format!(
            "| {name} | {faults} | {} | {visible} | {changed} | {replayed} | {executed} |",
            disagreements.len()
        ))?;
        wrong.extend(disagreements);
    }
    ensure!(wrong.is_empty(), "{} disagreements:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// Runs the same faults in four ways and compares them.
fn compare(program: &Path, name: &str, app: &Path, runs: u64) -> Result<Compared> {
    let dir = Path::new(PLACE).join(format!("live-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).with_context(|| format!("create {}", dir.display()))?;
    let app = app.to_str().context("a path")?;
    let (runs, capsule) = (runs.to_string(), dir.join("recorded.capsule"));
    let recorded = capsule.to_str().context("a path")?;
    run(program, &dir, &["run", "--record", recorded, "--", app])?;
    let campaign = |out: &str, args: &[&str]| -> Result<(Vec<Row>, f64)> {
        let (before, after) = args.iter().position(|arg| *arg == "--").map_or((args, &[][..]), |at| args.split_at(at));
        let common = ["--runs", &runs, "--seed", "1", "--jobs", "1", "--json", "--out", out];
        run(program, &dir, &[before, &common, after].concat())?;
        rows(&dir.join(out))
    };
    let (replayed, fast) = campaign("replayed", &["live", "--", app])?;
    let (executed, slow) = campaign("executed", &["live", "--no-replay", "--", app])?;
    let (capsule, _) = campaign("capsule", &["campaign", recorded, "--engine", "full", "--no-app"])?;
    let (resolved, _) = campaign("resolved", &["campaign", recorded, "--app", app])?;
    let mut found = Compared { faults: replayed.len(), speed: [fast, slow], ..Compared::default() };
    // Whoever recorded it need not name it.
    let (asked, _) = campaign("asked", &["campaign", recorded])?;
    ensure!(
        asked == resolved,
        "{name}: the application that the recording names does something else than the one that is named"
    );
    ensure!([executed.len(), capsule.len(), resolved.len()] == [found.faults; 3], "{name}: rows are missing");
    for (((replayed, executed), capsule), resolved) in replayed.iter().zip(&executed).zip(&capsule).zip(&resolved) {
        let mut wrong = |what: &str| {
            found.disagreements.push(format!("{name}: {}: {what}", replayed.site.fault().unwrap_or_default()));
        };
        if replayed.site != executed.site || replayed.site != capsule.site {
            wrong("another fault is run");
        }
        let [live, all, recorded, both] = [seen(replayed)?, seen(executed)?, seen(capsule)?, seen(resolved)?];
        if live != all {
            wrong(&format!("replay and execution differ: {live:?} and {all:?}"));
        }
        let (truth, known) = (replayed.finding.class(), capsule.finding.class());
        // An application that checks its results says of a corruption that it found it.
        let checked = known == Class::Sdc && differs(recorded);
        if known != Class::Undecided && known != truth && !checked {
            wrong(&format!("{truth} live, and {known} by the capsule alone"));
        }
        if (known == Class::Undecided) != recorded.host_visible {
            wrong("what the host could see and what is undecided are not the same");
        }
        if let Some(what) = unlike(live, recorded) {
            wrong(&format!("live and capsule differ in {what}: {live:?} and {recorded:?}"));
        }
        if recorded.host_visible {
            found.visible += 1;
            found.changed += usize::from(resolved.finding.class() != capsule.finding.class());
            if (&both.end, &both.outputs, &both.host) != (&live.end, &live.outputs, &live.host) {
                wrong("the campaign that resolves it and the live one differ");
            }
        }
    }
    Ok(found)
}

/// In what a live run differs from the run of its capsule, though the host had nothing to see.
fn unlike(live: &Observation, recorded: &Observation) -> Option<&'static str> {
    let both = |one: &End, other: &End| matches!((one, other), (End::Completed, End::Completed));
    let trapped = matches!(recorded.end, End::Trapped { .. } | End::Hang { .. } | End::OutOfFuel { .. });
    match () {
        () if live.landed != recorded.landed => Some("the value"),
        () if live.first_use != recorded.first_use => Some("its first use"),
        () if recorded.host_visible && !live.host_visible => Some("what the host saw"),
        // What comes after the last launch is an output to the capsule; a host may act on it all the same.
        () if live.host_visible && !recorded.host_visible && !differs(recorded) => Some("what the host saw"),
        () if live.host_visible => None,
        () if trapped && live.end != recorded.end => Some("the end"),
        () if live.strayed != recorded.strayed => Some("strayed accesses"),
        () if live.instructions != recorded.instructions && !trapped => Some("instructions"),
        () if both(&live.end, &recorded.end) && live.outputs != recorded.outputs => Some("the outputs"),
        () => None,
    }
}

/// Whether an output differs.
fn differs(seen: &Observation) -> bool {
    seen.outputs.iter().any(|output| output.differing > 0)
}

fn seen(row: &Row) -> Result<&Observation> {
    match &row.finding {
        Finding::Seen { observation, .. } => Ok(observation),
        Finding::GivenUp => bail!("run {} was given up", row.run),
        Finding::Failed(error) => bail!("failed to {error} ({:?})", row.site.intent),
    }
}

/// The rows of a campaign, and how many it made in a second.
fn rows(dir: &Path) -> Result<(Vec<Row>, f64)> {
    let results = Results::open(dir)?;
    let mut rows = Vec::new();
    results.visit(&mut |row| rows.push(row))?;
    Ok((rows, results.summary()?.speed.runs_per_second))
}

fn run(program: &Path, dir: &Path, args: &[&str]) -> Result<()> {
    let output = Command::new(program).args(args).current_dir(dir).output();
    let output = output.with_context(|| format!("start {}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "beamline {} ended with {}:\n{said}", args.join(" "), output.status);
    Ok(())
}
