//! What the paper says of crashes: their causes and latencies (§IV-E, Fig. 9 and 10).

use super::rules::close;
use crate::gpu_qin::among::{counted, named, those};
use crate::gpu_qin::paper::{CAUSES, EXCEPTIONS, ILLEGAL, MISALIGNED, OUT_OF_RANGE};
use crate::gpu_qin::questions::{LEAST_CRASHES, Question, Questions, latencies};
use crate::gpu_qin::survey::MeasuredKernel;
use crate::statements::{Judged, Statement, Verdict};
use crate::words::{listed, percent};
use methods::gpu_qin::Cause;
use methods::gpu_qin::studies::LEVEL;

/// The kernel in which the paper finds illegal addresses soonest.
const OTHERWISE: &str = "Stencil";

pub(super) fn statements(kernels: &[MeasuredKernel], questions: &Questions) -> Vec<Statement> {
    let mut all = vec![known(kernels), leading(kernels)];
    for (name, both, misaligned) in CAUSES {
        let Some(it) = named(kernels, name) else { continue };
        all.push(share(it, "out-of-range and illegal addresses together", &[OUT_OF_RANGE, ILLEGAL], both));
        all.extend(misaligned.map(|paper| share(it, "misaligned addresses", &[MISALIGNED], paper)));
    }
    all.extend(["AES", "MAT"].iter().filter_map(|name| sooner(named(kernels, name)?, OUT_OF_RANGE, questions)));
    all.extend(named(kernels, OTHERWISE).and_then(|it| sooner(it, ILLEGAL, questions)));
    all.push(everywhere(kernels, questions));
    all
}

/// The share of causes among the crashes of a kernel.
fn part(it: &MeasuredKernel, words: &[&str]) -> f64 {
    it.causes.iter().filter(|cause| words.contains(&cause.trap.as_str())).map(|cause| cause.share).sum()
}

fn known(kernels: &[MeasuredKernel]) -> Statement {
    let words: Vec<&str> = EXCEPTIONS.iter().map(|exception| exception.word).collect();
    let found = |word: &&str| kernels.iter().any(|it| part(it, &[word]) > 0.0);
    let seen: Vec<&str> = words.iter().copied().filter(found).collect();
    let mut others: Vec<&str> = kernels.iter().flat_map(|it| &it.causes).map(|cause| cause.trap.as_str()).collect();
    others.retain(|word| !words.contains(word));
    others.sort_unstable();
    others.dedup();
    Statement {
        claim: "kinds of exceptions that there are (Table VI)".to_owned(),
        paper: format!("{}", words.len()),
        ours: format!("{} of these; others: {}", seen.len(), listed(&others)),
        judged: Judged::plain("these and no others", seen.len() == words.len() && others.is_empty()),
    }
}

fn leading(kernels: &[MeasuredKernel]) -> Statement {
    let leads = |it: &MeasuredKernel| {
        it.causes.iter().take(2).all(|cause| [OUT_OF_RANGE, ILLEGAL].contains(&cause.trap.as_str()))
    };
    let otherwise = those(kernels, |it| !leads(it));
    Statement {
        claim: "the two most common exceptions are out-of-range and illegal addresses, in every kernel (Fig. 9)"
            .to_owned(),
        paper: "all benchmarks".to_owned(),
        ours: format!("not so in {}", counted(&otherwise, kernels.len())),
        judged: Judged::plain("no kernel is otherwise", otherwise.is_empty()),
    }
}

fn share(it: &MeasuredKernel, what: &str, words: &[&str], paper: f64) -> Statement {
    let ours = part(it, words);
    Statement {
        claim: format!("{}: share of {what} among crashes (Fig. 9)", it.paper.name),
        paper: percent(paper),
        ours: percent(ours),
        judged: close(ours, paper),
    }
}

/// For each other exception of a kernel, the share of pairs in which `cause` is the sooner one, and whether that is so.
fn compared(it: &MeasuredKernel, cause: &str, questions: &Questions) -> Vec<(String, f64, Verdict)> {
    let pair = |(first, second, found): (&Cause, &Cause, stats::RankComparison)| {
        let (other, smaller) = match cause {
            word if word == first.trap => (&second.trap, found.smaller),
            word if word == second.trap => (&first.trap, 1.0 - found.smaller),
            _ => return None,
        };
        let question = Question::Sooner(it.paper.name, first.trap.clone(), second.trap.clone());
        let sure = questions.is_sure(&question);
        let verdict = if sure { Verdict::plain(smaller > 0.5) } else { Verdict::Open };
        Some((other.clone(), smaller, verdict))
    };
    latencies(it).into_iter().filter_map(pair).collect()
}

fn rule() -> String {
    format!("it is the sooner of a pair more often than not, corrected p < {LEVEL}")
}

fn sooner(it: &MeasuredKernel, cause: &str, questions: &Questions) -> Option<Statement> {
    let compared = compared(it, cause, questions);
    let said = compared.iter().map(|(other, smaller, _)| format!("{} of pairs with {other}", percent(*smaller)));
    let ours = format!("sooner in {}", listed(said));
    let verdict = if compared.is_empty() { Verdict::Open } else { Verdict::all(compared.iter().map(|it| it.2)) };
    Some(Statement {
        claim: format!("{}: {cause} comes sooner than other exceptions (Fig. 10)", it.paper.name),
        paper: "sooner".to_owned(),
        ours: if compared.is_empty() { format!("fewer than {LEAST_CRASHES} crashes to compare") } else { ours },
        judged: Judged::by(rule(), verdict),
    })
}

fn everywhere(kernels: &[MeasuredKernel], questions: &Questions) -> Statement {
    let of = |it: &MeasuredKernel| compared(it, OUT_OF_RANGE, questions);
    let asked = those(kernels, |it| it.paper.name != OTHERWISE && !of(it).is_empty());
    let later = those(kernels, |it| asked.contains(&it.paper.name) && of(it).iter().any(|it| it.2 == Verdict::Fails));
    let sooner = those(kernels, |it| asked.contains(&it.paper.name) && of(it).iter().all(|it| it.2 == Verdict::Holds));
    let verdict = match () {
        () if !later.is_empty() => Verdict::Fails,
        () if sooner.len() == asked.len() => Verdict::Holds,
        () => Verdict::Open,
    };
    Statement {
        claim: format!(
            "in every kernel but {OTHERWISE}, out-of-range addresses come sooner than other exceptions (Fig. 10)"
        ),
        paper: "all".to_owned(),
        ours: format!(
            "sooner than every other in {}; later than some other in {}",
            counted(&sooner, asked.len()),
            counted(&later, asked.len())
        ),
        judged: Judged::by(rule(), verdict),
    }
}
