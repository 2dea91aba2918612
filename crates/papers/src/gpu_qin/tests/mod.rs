//! The statements and sentences of the page, about kernels that are made by hand.

mod made;

use methods::gpu_qin::{Discard, TrialEnd, Unread};
use outcome::TrapKind;
use std::sync::LazyLock;

use super::page::{PAGE, pieces};
use super::paper::{FAILURE_MEAN, HANGS};
use super::questions::Questions;
use super::sentences::{Measurements, sentences};
use super::statements::statements;
use super::survey::MeasuredKernel;
use crate::checks;
use crate::statements::{Part, Verdict};

fn parts(kernels: &[MeasuredKernel]) -> Vec<Part> {
    statements(kernels, &Questions::of(kernels))
}

/// What is decided of a statement about all kernels, and of the same about others.
fn both(claim: &str, others: &[MeasuredKernel]) -> [Verdict; 2] {
    static ALL: LazyLock<Vec<Part>> = LazyLock::new(|| parts(&made::all()));
    [checks::verdict(&ALL, claim), checks::verdict(&parts(others), claim)]
}

fn said(kernels: &[MeasuredKernel], name: &str) -> String {
    let (questions, parts) = (Questions::of(kernels), parts(kernels));
    let all = sentences(&Measurements { kernels, questions: &questions, parts: &parts });
    all.into_iter().find(|it| it.0 == name).unwrap().1
}

use Verdict::{Fails, Holds, Open};

#[test]
fn every_statement_has_a_rule_and_the_page_has_all_of_them() {
    let kernels = made::all();
    let parts = parts(&kernels);
    checks::are_judged(&parts);
    checks::are_in(include_str!("../../../../../docs/methods/gpu-qin.md"), &parts);
    checks::fill(&PAGE, &pieces(&kernels).unwrap());
}

#[test]
fn bounds_are_what_their_rules_say() {
    let given_up = |count: u64| {
        made::changed("AES", |it| {
            it.method_lost.given_up.insert((Discard::NoRegister, "branch".to_owned()), count);
        })
    };
    let runs: u64 = made::all().iter().map(MeasuredKernel::runs).sum();
    for (count, expected) in [(runs / 101, Holds), (runs / 99, Fails)] {
        assert_eq!(checks::verdict(&parts(&given_up(count)), "runs that are discarded"), expected);
    }
    let state = |data: u64| {
        let mut all = made::all();
        all.iter_mut().for_each(|it| (it.state.data, it.state.rest) = (data, 100 - data));
        all
    };
    assert_eq!(both("mean share of the state that faults can reach", &state(80)), [Holds, Fails]);
    let popular = made::changed("LBM", |it| it.groups.groups[0].popularity = 0.78);
    assert_eq!(both("LBM: share of the threads in the most popular group", &popular), [Holds, Fails]);
    let apart = made::changed("SSSP", |it| it.groups.groups[0].popularity = 0.89);
    assert_eq!(both("PageRank and SSSP: share of the threads that do the same", &apart), [Holds, Fails]);
    let short = made::changed("MAT", |it| it.iterations = 128);
    assert_eq!(both("MAT: iterations of its longest loop", &short), [Fails, Holds]);
    let misaligned = made::changed("AES", |it| {
        it.causes[0].trap = "misaligned_address".to_owned();
    });
    assert_eq!(both("AES: share of out-of-range and illegal addresses together", &misaligned), [Holds, Fails]);
}

#[test]
fn the_mean_of_failures_is_close_to_the_papers_or_is_not() {
    let mean = |kernels: &[MeasuredKernel]| kernels.iter().map(MeasuredKernel::failure).sum::<f64>() / 17.0;
    let (all, calm) = (made::all(), made::with(&[("BFS", [50, 0, 0]), ("PageRank", [0; 3]), ("Stencil", [0; 3])]));
    assert!((mean(&all) - FAILURE_MEAN).abs() < 0.05 && (mean(&calm) - FAILURE_MEAN).abs() > 0.05);
    assert_eq!(both("mean failure rate", &calm), [Holds, Fails]);
    let ours = &checks::statement(&parts(&calm), "mean failure rate").ours.clone();
    assert_eq!(*ours, format!("{:.1} %", mean(&calm) * 100.0));
}

#[test]
fn a_limit_on_a_rate_is_asked_of_an_interval() {
    let claim = "hang rates are low";
    // Of 2000: none is surely below 1 %, 16 are below and not surely, 200 are surely not.
    const { assert!(8.0 / 1000.0 < HANGS && HANGS < 100.0 / 1000.0) };
    let [some, many] = [8, 100].map(|hangs| made::with(&[("AES", [300, 350, hangs])]));
    assert_eq!(both(claim, &some), [Holds, Open]);
    assert_eq!(both(claim, &many), [Holds, Fails]);
    let ours = checks::statement(&parts(&many), claim).ours.clone();
    assert_eq!(ours, "most 10.0 % (AES); 1.0 % or more in 1 of 17: AES");
}

#[test]
fn rates_are_similar_where_intervals_cannot_be_far_apart() {
    let claim = "SDC rates of HashGPU-md5 and HashGPU-sha1 are similar";
    let [apart, alike] = [200, 360].map(|sdc| made::with(&[("HashGPU-sha1", [sdc, 400, 0])]));
    // 36 and 35 % of 2000 each may be six points apart.
    assert_eq!(both(claim, &apart), [Open, Fails]);
    assert_eq!(checks::verdict(&parts(&alike), claim), Open);
}

#[test]
fn orders_hold_by_intervals_and_not_by_rates() {
    let lowest = "SDC rate of MonteCarlo: the lowest";
    let [higher, near] = [300, 55].map(|sdc| made::with(&[("MonteCarlo", [sdc, 130, 0])]));
    assert_eq!(both(lowest, &higher), [Holds, Fails]);
    assert_eq!(checks::verdict(&parts(&near), lowest), Open);
    let third = "SDC rate of HashGPU-md5, HashGPU-sha1 and AES: among the 6 highest";
    assert_eq!(both(third, &made::with(&[("AES", [5, 400, 0])])), [Holds, Fails]);
    let failures = "failure rate of SCAN-block: the highest";
    assert_eq!(both(failures, &made::with(&[("SCAN-block", [100, 300, 0])])), [Holds, Fails]);
    let ours = checks::statement(&parts(&higher), lowest).ours.clone();
    assert_eq!(ours, "MonteCarlo 4 (30.0 %)");
}

#[test]
fn classes_are_ordered_by_the_means_of_their_kernels() {
    let highest = "combinational logic has the highest SDC rate";
    let low = ["AES", "HashGPU-md5", "HashGPU-sha1"].map(|name| (name, [20, 400, 0]));
    assert_eq!(both(highest, &made::with(&low)), [Holds, Fails]);
    let last = "monte carlo has the lowest SDC rate of the classes";
    assert_eq!(both(last, &made::with(&[("MonteCarlo", [400, 100, 0])])), [Holds, Fails]);
}

#[test]
fn exceptions_are_ordered_by_how_soon_they_come() {
    let claim = "AES: out_of_range_address comes sooner than other exceptions";
    let later = made::changed("AES", |it| {
        let cause = it.causes.iter_mut().find(|it| it.trap == "out_of_range_address").unwrap();
        cause.latencies.iter_mut().for_each(|after| *after += 1000);
    });
    assert_eq!(both(claim, &later), [Holds, Fails]);
    let few = made::changed("AES", |it| it.causes.iter_mut().for_each(|cause| cause.latencies.truncate(19)));
    assert_eq!(both(claim, &few), [Holds, Open]);
    let kinds = made::changed("AES", |it| it.causes[0].trap = "assert".to_owned());
    assert_eq!(both("the two most common exceptions", &kinds), [Holds, Fails]);
}

#[test]
fn the_cap_changes_a_rate_if_a_test_says_so() {
    let claim = "MAT: the cap of iterations changes no rate";
    let without = made::changed("MAT", |it| {
        let other = made::kernel(it.paper, [300, 450, 0]);
        it.variants[0] = Some(other.realisations);
    });
    assert_eq!(both(claim, &without), [Holds, Fails]);
    assert!(said(&without, "say-caps").contains("on MAT it does and on MRI-Q none is seen"));
}

#[test]
fn sentences_have_the_numbers_that_were_measured() {
    let kernels = made::changed("AES", |it| {
        it.method_lost.given_up = [
            ((Discard::NoRegister, "branch".to_owned()), 30),
            ((Discard::NoRegister, "store".to_owned()), 10),
            ((Discard::Steps, "int_add".to_owned()), 60),
        ]
        .into();
        it.method_lost.unread = [((Unread::Never, "move".to_owned()), 3)].into();
    });
    let given_up = said(&kernels, "say-given-up");
    assert!(
        given_up.contains("40.0 % of these because the instruction has no register to hit (branch 75 %, store 25 %)")
    );
    assert!(given_up.contains(", 60.0 % for too many steps"), "{given_up}");
    let hanging = made::with(&[("MAT", [200, 450, 25]), ("LBM", [230, 400, 50])]);
    let hangs = said(&hanging, "say-hangs");
    assert!(hangs.contains("150 of the activated faults") && hangs.contains("15 of 17 have none"), "{hangs}");
    let highest = said(&kernels, "say-highest");
    assert!(highest.starts_with("The highest SDC rates are those of HashGPU-md5 (36.0 %;"), "{highest}");
    assert!(said(&kernels, "say-classes").ends_with("and monte carlo (1.0 %)."));
}

#[test]
fn sentences_about_exceptions_count_those_that_the_paper_has_not() {
    let kernels = made::changed("AES", |it| {
        let crashes = it.trials.iter_mut().filter_map(|it| match &mut it.end {
            TrialEnd::Crash { trap, .. } => Some(trap),
            _ => None,
        });
        crashes.take(700).for_each(|trap| *trap = Some(TrapKind::Assert));
    });
    let is_crash = |trial: &&methods::gpu_qin::Trial| matches!(trial.end, TrialEnd::Crash { .. });
    let all = kernels.iter().flat_map(|it| &it.trials).filter(is_crash).count();
    let share = format!("{:.1} % of the crashes are exceptions that the paper has not", 70_000.0 / all as f64);
    let exceptions = said(&kernels, "say-exceptions");
    assert!(exceptions.contains(&share), "{exceptions} {share}");
    let tally = said(&kernels, "say-tally");
    let parts = parts(&kernels);
    let all = || parts.iter().flat_map(|part| &part.statements);
    let holds = all().filter(|it| it.judged.verdict == Holds).count();
    assert!(
        tally.starts_with(&format!("Of {} statements", all().count())) && tally.contains(&format!(", {holds} hold"))
    );
}
