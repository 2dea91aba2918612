//! What the paper says of groups of threads (§III-A, §IV-B, Tables I and IV).

use super::rules::{at_least, close};
use crate::gpu_qin::among::{counted, named, those};
use crate::gpu_qin::paper::{GROUP_SPREADS, GROUPS, POPULAR, SAD_GROUPS, UNIFORM};
use crate::gpu_qin::questions::{Question, Questions};
use crate::gpu_qin::survey::MeasuredKernel;
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{listed, percent};
use methods::gpu_qin::studies::LEVEL;
use methods::gpu_qin::{Category, WINDOW, ends_by, of_ends};

/// Activated trials of a group from which its crash rate is compared with that of others.
const ENOUGH: u64 = 1000;
/// Shares of threads that the published method covers, by category II and III.
const COVERED: (f64, f64) = (0.95, 0.60);

pub(super) fn statements(kernels: &[MeasuredKernel], questions: &Questions) -> Vec<Statement> {
    let mut all = vec![categories(kernels)];
    all.extend(GROUPS.iter().filter_map(|&(name, groups)| number(named(kernels, name)?, groups)));
    all.extend(POPULAR.iter().filter_map(|&(name, share)| popular(named(kernels, name)?, share)));
    all.extend(uniform(kernels));
    all.extend([covered(kernels, Category::II), covered(kernels, Category::III)]);
    all.extend([same_way(kernels, &["MAT", "SAD-k0"]), same_way(kernels, &[])]);
    all.extend(named(kernels, "SAD-k0").and_then(neighbours));
    all.extend(
        GROUP_SPREADS.iter().filter_map(|&(name, share)| Some(spreads(named(kernels, name)?, share, questions))),
    );
    all.push(largest_spread(kernels));
    all
}

fn categories(kernels: &[MeasuredKernel]) -> Statement {
    let same = those(kernels, |it| it.groups.category.numeral() == it.paper.category);
    Statement {
        claim: "the category of every kernel (Table I)".to_owned(),
        paper: "I, II or III".to_owned(),
        ours: format!("{} of {} the same", same.len(), kernels.len()),
        judged: Judged::plain("all the same", same.len() == kernels.len()),
    }
}

fn number(it: &MeasuredKernel, groups: u64) -> Option<Statement> {
    let ours = it.groups.groups.len() as u64;
    Some(Statement {
        claim: format!("{}: number of groups", it.paper.name),
        paper: groups.to_string(),
        ours: ours.to_string(),
        judged: Judged::plain("the same number", ours == groups),
    })
}

fn popular(it: &MeasuredKernel, share: f64) -> Option<Statement> {
    let ours = it.groups.groups.first()?.popularity;
    Some(Statement {
        claim: format!("{}: share of the threads in the most popular group", it.paper.name),
        paper: percent(share),
        ours: percent(ours),
        judged: close(ours, share),
    })
}

fn uniform(kernels: &[MeasuredKernel]) -> Option<Statement> {
    let (share, names) = UNIFORM;
    let largest = |name: &&str| Some(named(kernels, name)?.groups.groups.first()?.popularity);
    let found: Vec<f64> = names.iter().filter_map(largest).collect();
    let least = found.iter().copied().reduce(f64::min)?;
    let ours = names.iter().zip(&found).map(|(name, share)| format!("{name} {}", percent(*share)));
    Some(Statement {
        claim: format!("{}: share of the threads that do the same", listed(names)),
        paper: format!("over {}", percent(share)),
        ours: listed(ours),
        judged: at_least(least, share),
    })
}

fn covered(kernels: &[MeasuredKernel], category: Category) -> Statement {
    let least = if category == Category::II { COVERED.0 } else { COVERED.1 };
    let of_category: Vec<&MeasuredKernel> = kernels.iter().filter(|it| it.groups.category == category).collect();
    let short = of_category.iter().filter(|it| it.groups.coverage < least);
    let short: Vec<String> = short.map(|it| format!("{} {}", it.paper.name, percent(it.groups.coverage))).collect();
    let ours = if short.is_empty() { "all".to_owned() } else { format!("not {}", listed(&short)) };
    Statement {
        claim: format!("profiled groups of category {} hold so many of the threads", category.numeral()),
        paper: format!("{} or more", percent(least)),
        ours: format!("{} of {}: {ours}", of_category.len() - short.len(), of_category.len()),
        judged: Judged::plain("every kernel", short.is_empty()),
    }
}

/// Of some kernels, or of all.
fn same_way(kernels: &[MeasuredKernel], names: &[&str]) -> Statement {
    let meant = |it: &MeasuredKernel| names.is_empty() || names.contains(&it.paper.name);
    let all = those(kernels, meant);
    let unlike = those(kernels, |it| meant(it) && it.groups.groups.iter().any(|group| group.traces > 1));
    let of = if names.is_empty() { "all kernels".to_owned() } else { listed(names) };
    Statement {
        claim: format!("{of}: threads with the same number of instructions execute the same instructions"),
        paper: "identical traces".to_owned(),
        ours: format!("not so in {}", counted(&unlike, all.len())),
        judged: Judged::plain("one trace in every group", unlike.is_empty()),
    }
}

/// The two most popular groups of SAD-k0.
fn neighbours(it: &MeasuredKernel) -> Option<Statement> {
    let [first, second, ..] = it.groups.groups.as_slice() else { return None };
    let ends = ends_by(it.activated(Some(WINDOW)).iter(), |trial| trial.group);
    let rate = |group: usize, end: usize| of_ends(*ends.get(&group)?, end);
    let difference = |end: usize| Some((rate(0, end)?.rate - rate(1, end)?.rate).abs());
    let (sdc, crash) = (difference(1)?, difference(2)?);
    let longer = f64::from(first.instructions.abs_diff(second.instructions))
        / f64::from(first.instructions.max(second.instructions));
    let (instructions, rates) = SAD_GROUPS;
    Some(Statement {
        claim: format!("{}: rates of its two most popular groups, whose lengths differ little", it.paper.name),
        paper: format!("{} apart in length, {} in rates", percent(instructions), percent(rates)),
        ours: format!("{} in length, {} in SDC, {} in crashes", percent(longer), percent(sdc), percent(crash)),
        judged: Judged::plain(
            format!("both rates {} apart at most", percent(rates * 2.0)),
            sdc.max(crash) <= rates * 2.0,
        ),
    })
}

/// By how much crash rates differ between groups with enough trials, if there are two of these.
fn spread(it: &MeasuredKernel) -> Option<f64> {
    let ends = ends_by(it.activated(Some(WINDOW)).iter(), |trial| trial.group);
    let enough = ends.values().filter(|ends| ends.iter().sum::<u64>() >= ENOUGH);
    let rates: Vec<f64> = enough.map(|ends| ends[2] as f64 / ends.iter().sum::<u64>() as f64).collect();
    let (least, most) = (rates.iter().copied().reduce(f64::min)?, rates.iter().copied().reduce(f64::max)?);
    (rates.len() > 1).then_some(most - least)
}

fn spreads(it: &MeasuredKernel, share: f64, questions: &Questions) -> Statement {
    let found = spread(it);
    let differ = questions.is_sure(&Question::Between(it.paper.name));
    Statement {
        claim: format!("{}: crash rates vary between groups", it.paper.name),
        paper: format!("by {}", percent(share)),
        ours: match found {
            Some(found) => format!("by {} (groups of {ENOUGH} trials or more)", percent(found)),
            None => format!("fewer than two groups have {ENOUGH} trials or more"),
        },
        judged: Judged::by(
            format!("groups differ (corrected p < {LEVEL}), by half the paper's {} at least", percent(share)),
            match (differ, found) {
                (true, Some(found)) if found >= share / 2.0 => Verdict::Holds,
                (true, Some(_)) => Verdict::Fails,
                _ => Verdict::Open,
            },
        ),
    }
}

fn largest_spread(kernels: &[MeasuredKernel]) -> Statement {
    let found = GROUP_SPREADS.iter().map(|&(name, _)| (name, named(kernels, name).and_then(spread)));
    let (known, unknown): (Vec<_>, Vec<_>) = found.partition(|it| it.1.is_some());
    let mut known: Vec<(&str, f64)> = known.into_iter().filter_map(|(name, spread)| Some((name, spread?))).collect();
    known.sort_by(|a, b| b.1.total_cmp(&a.1));
    let first = known.first().is_some_and(|it| it.0 == "BFS");
    let last = known.last().is_some_and(|it| it.0 == "Stencil");
    let mut ours = listed(known.iter().map(|(name, _)| *name));
    if !unknown.is_empty() {
        ours += &format!("; of {} it is not known", listed(unknown.iter().map(|(name, _)| *name)));
    }
    Statement {
        claim: "of these four, groups of BFS vary most and those of Stencil least".to_owned(),
        paper: "BFS, SCAN-block and LBM, Stencil".to_owned(),
        ours,
        judged: Judged::by(
            "BFS first and Stencil last",
            match (unknown.is_empty(), first && last) {
                (true, true) => Verdict::Holds,
                (true, false) => Verdict::Fails,
                (false, _) => Verdict::Open,
            },
        ),
    }
}
