//! `beamline profile`

use crate::args;
use crate::commands::trace;
use crate::failure::{Code, Failure};
use crate::out;
use facts::Source;
use inject::{Golden, profile as count};
use serde::Serialize;
use session::capsules;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Profile {
    format: &'static str,
    capsule: String,
    launches: u64,
    threads: u64,
    thread_instructions: u64,
    /// As above, with instructions whose guard was false counted too.
    with_guarded_off: u64,
    seconds: f64,
    /// What it took beforehand to look for data races.
    race_seconds: f64,
    kernels: Vec<Kernel>,
    groups: Vec<Share>,
    opcodes: Vec<Share>,
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    launches: u64,
    threads: u64,
    thread_instructions: u64,
    /// Threads by how many instructions they execute, most threads first.
    thread_groups: Vec<ThreadGroup>,
}

#[derive(Serialize)]
struct ThreadGroup {
    instructions: u32,
    threads: u64,
}

#[derive(Serialize)]
struct Share {
    name: String,
    executed: u64,
    guarded_off: u64,
    share: f64,
}

#[derive(Serialize)]
struct Line {
    file: String,
    line: u32,
    executed: u64,
    share: f64,
}

/// Shows what a capsule executes.
pub(crate) fn profile(args: &args::Profile) -> Result<Code, Failure> {
    let golden = capsules::golden(args.machine.machine()?, capsules::open(&args.capsule)?)?;
    if let Some(thread) = args.trace {
        return trace::trace(&golden, thread, args.json);
    }
    let profile = gather(&golden);
    if args.json {
        out::json(&profile)?;
    } else {
        out::text(&render(&profile))?;
    }
    Ok(Code::Done)
}

fn gather(golden: &Golden) -> Profile {
    let mut groups: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut opcodes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut lines: BTreeMap<(String, u32), u64> = BTreeMap::new();
    for launch in count(golden) {
        for (facts, count) in launch.instructions() {
            for (table, key) in [(&mut groups, facts.group.to_string()), (&mut opcodes, facts.mnemonic.to_string())] {
                let entry = table.entry(key).or_default();
                entry.0 += count.executed;
                entry.1 += count.guarded_off;
            }
            let place = |source: &Source| Some((source.file()?.to_owned(), source.line()));
            if let Some(place) = facts.source.as_ref().and_then(place) {
                *lines.entry(place).or_default() += count.executed;
            }
        }
    }
    let total = golden.thread_instructions();
    let share = |n: u64| n as f64 / total.max(1) as f64;
    let mut lines: Vec<Line> = lines
        .into_iter()
        .map(|((file, line), executed)| Line { file, line, executed, share: share(executed) })
        .collect();
    lines.sort_by_key(|line| (std::cmp::Reverse(line.executed), line.file.clone(), line.line));
    let guarded_off: u64 = groups.values().map(|(_, off)| off).sum();
    Profile {
        format: "beamline.profile/1",
        capsule: golden.capsule().name.clone(),
        launches: golden.launches().len() as u64,
        threads: golden.threads(),
        thread_instructions: total,
        with_guarded_off: total + guarded_off,
        seconds: golden.seconds(),
        race_seconds: golden.race_seconds(),
        kernels: kernels(golden),
        groups: shares(groups, share),
        opcodes: shares(opcodes, share),
        lines,
    }
}

/// A table of counts, largest first.
fn shares(counts: BTreeMap<String, (u64, u64)>, share: impl Fn(u64) -> f64) -> Vec<Share> {
    let rows = counts.into_iter().map(|(name, (executed, guarded_off))| Share {
        name,
        executed,
        guarded_off,
        share: share(executed),
    });
    let mut rows: Vec<Share> = rows.collect();
    rows.sort_by(|a, b| b.executed.cmp(&a.executed).then_with(|| a.name.cmp(&b.name)));
    rows
}

fn kernels(golden: &Golden) -> Vec<Kernel> {
    let mut by_name: BTreeMap<&str, (u64, BTreeMap<u32, u64>)> = BTreeMap::new();
    for launch in golden.launches() {
        let (launches, threads) = by_name.entry(&launch.program.name).or_default();
        *launches += 1;
        for count in launch.counts().iter() {
            *threads.entry(count).or_default() += 1;
        }
    }
    let kernels = by_name.into_iter().map(|(name, (launches, threads))| {
        let mut groups: Vec<ThreadGroup> =
            threads.iter().map(|(&instructions, &threads)| ThreadGroup { instructions, threads }).collect();
        groups.sort_by_key(|group| (std::cmp::Reverse(group.threads), group.instructions));
        Kernel {
            name: name.to_owned(),
            launches,
            threads: threads.values().sum(),
            thread_instructions: threads.iter().map(|(&count, &threads)| u64::from(count) * threads).sum(),
            thread_groups: groups,
        }
    });
    kernels.collect()
}

fn render(profile: &Profile) -> String {
    let mut text = format!(
        "{}: {} launches, {} threads, {} thread-instructions ({} with guarded-off ones) in {:.3} s\n\n",
        out::short(&profile.capsule),
        out::number(profile.launches),
        out::number(profile.threads),
        out::number(profile.thread_instructions),
        out::number(profile.with_guarded_off),
        profile.seconds
    );
    let kernels = profile.kernels.iter().map(|kernel| {
        let counts = || kernel.thread_groups.iter().map(|group| group.instructions);
        vec![
            fault::base_name(&kernel.name).to_owned(),
            out::number(kernel.launches),
            out::number(kernel.threads),
            out::number(kernel.thread_instructions),
            format!("{} – {}", counts().min().unwrap_or(0), counts().max().unwrap_or(0)),
            out::number(kernel.thread_groups.len() as u64),
        ]
    });
    let header = ["kernel", "launches", "threads", "thread-instructions", "per thread", "thread groups"];
    text += &out::table(&header, "<>", &kernels.collect::<Vec<_>>());
    let row = |share: &Share| {
        let off = out::number(share.guarded_off);
        vec![share.name.clone(), out::number(share.executed), out::percent(share.share), off]
    };
    text += "\n";
    text += &out::table(
        &["group", "executed", "share", "guarded off"],
        "<>",
        &profile.groups.iter().map(row).collect::<Vec<_>>(),
    );
    text += "\n";
    let top = profile.opcodes.iter().take(15).map(row);
    text += &out::table(&["instruction", "executed", "share", "guarded off"], "<>", &top.collect::<Vec<_>>());
    let lines = profile.lines.iter().take(15).map(|line| {
        let file = line.file.rsplit('/').next().unwrap_or(&line.file);
        vec![format!("{file}:{}", line.line), out::number(line.executed), out::percent(line.share)]
    });
    if !profile.lines.is_empty() {
        text += "\n";
        text += &out::table(&["line", "executed", "share"], "<>", &lines.collect::<Vec<_>>());
    }
    text
}
