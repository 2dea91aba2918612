//! Kernels of which everything is said by hand: how their trials ended, and how many threads their groups have.

use facts::Space;
use methods::gpu_qin::{
    Category, Choice, Endless, Grouping, KernelEstimate, KernelGroups, Lost, Mix, Settings, StateBits, ThreadGroup,
    Trial, TrialEnd, WINDOW, causes, estimates,
};
use outcome::TrapKind;

use crate::gpu_qin::paper::{KERNELS, PaperKernel};
use crate::gpu_qin::survey::{CAPPED, CAPS, MeasuredKernel};

/// Trials of a kernel.
pub(super) const TRIALS: usize = 2000;
/// Realisations of the method.
pub(super) const TIMES: usize = 4;

/// Of 1000 trials of each kernel: those that are silently corrupted, that crash, that hang. As the paper says it, as far as it does.
const ENDS: [[usize; 3]; 17] = [
    [300, 350, 0],
    [360, 400, 0],
    [350, 400, 0],
    [100, 500, 0],
    [200, 450, 0],
    [210, 500, 0],
    [180, 550, 0],
    [190, 500, 0],
    [190, 510, 0],
    [60, 600, 0],
    [240, 710, 0],
    [10, 130, 0],
    [60, 600, 0],
    [50, 700, 0],
    [80, 650, 0],
    [110, 600, 0],
    [230, 400, 0],
];

/// All kernels of the paper.
pub(super) fn all() -> Vec<MeasuredKernel> {
    KERNELS.iter().zip(ENDS).map(|(paper, ends)| kernel(paper, ends)).collect()
}

/// All kernels, some with other ends of 1000.
pub(super) fn with(others: &[(&str, [usize; 3])]) -> Vec<MeasuredKernel> {
    let ends = |(paper, ends): (&'static PaperKernel, [usize; 3])| {
        kernel(paper, others.iter().find(|it| it.0 == paper.name).map_or(ends, |it| it.1))
    };
    KERNELS.iter().zip(ENDS).map(ends).collect()
}

/// All kernels, one of them changed.
pub(super) fn changed(name: &str, change: impl Fn(&mut MeasuredKernel)) -> Vec<MeasuredKernel> {
    let mut all = all();
    all.iter_mut().filter(|it| it.paper.name == name).for_each(change);
    all
}

/// A kernel whose trials end so, of 1000; exceptions are out-of-range and illegal addresses in turn, the first sooner.
pub(super) fn kernel(paper: &'static PaperKernel, ends: [usize; 3]) -> MeasuredKernel {
    let groups = grouped(paper);
    let trials = trials(groups.groups.len(), ends);
    let unbiased = Settings { choice: Choice::Unbiased, ..Settings::default() };
    let of = |settings: Settings, trials: &[Trial]| estimate(&groups, settings, trials);
    // Each realisation lacks other trials.
    let realisations: Vec<KernelEstimate> = (0..TIMES)
        .map(|time| {
            let own = trials.iter().enumerate().filter(|(number, _)| number % (TIMES * 5) != time);
            of(Settings::default(), &own.map(|(_, trial)| *trial).collect::<Vec<_>>())
        })
        .collect();
    let capped = CAPPED.contains(&paper.name);
    MeasuredKernel {
        paper,
        iterations: 8,
        mix: Mix { alu: 50, fp: 20, memory: 20 + ends[0] as u64 % 7, control: 10 },
        state: StateBits { data: 94, rest: 6 },
        scale: ([4, 1, 1], [256, 1, 1]),
        unbiased: of(unbiased, &trials),
        causes: causes(&trials, Some(WINDOW)),
        endless: of(Settings { window: None, ..unbiased }, &trials),
        variants: [capped.then(|| realisations.clone()), None, Some(realisations.clone())],
        caps: if capped { vec![realisations.clone(); CAPS.len()] } else { Vec::new() },
        debug: of(unbiased, &trials),
        realisations,
        groups,
        trials,
        lost: Lost::default(),
        method_lost: Lost::default(),
        seconds: 1e-3,
        longer: 3.0,
    }
}

/// The estimate of a kernel.
pub(super) fn estimate(groups: &KernelGroups, settings: Settings, trials: &[Trial]) -> KernelEstimate {
    let grouping = Grouping { kernels: vec![groups.clone()] };
    estimates(&grouping, settings, trials).kernels.remove(0)
}

/// Threads of each group of a kernel, of 1000.
fn threads(paper: &PaperKernel) -> Vec<u64> {
    match (paper.name, paper.category) {
        ("MonteCarlo", _) => vec![500, 250, 125, 121, 4],
        ("SAD-k0", _) => vec![400, 300, 200, 60, 40],
        ("LBM", _) => vec![840, 160],
        ("BFS", _) => [vec![600], vec![8; 22], vec![4; 56]].concat(),
        ("PageRank" | "SSSP", _) => [vec![910], vec![8; 10], vec![1; 10]].concat(),
        (_, "I") => vec![1000],
        _ => vec![900, 100],
    }
}

fn grouped(paper: &PaperKernel) -> KernelGroups {
    let threads = threads(paper);
    let all: u64 = threads.iter().sum();
    let group = |(number, &threads): (usize, &u64)| ThreadGroup {
        instructions: 2000 + 10 * number as u32,
        executed: (2000, 2000),
        thread_instructions: 2000 * threads,
        threads,
        popularity: threads as f64 / all as f64,
        traces: 1,
        profiled: true,
    };
    KernelGroups {
        kernel: paper.kernel.to_owned(),
        launches: vec![0],
        threads: all,
        category: match threads.len() {
            1 => Category::I,
            2..=10 => Category::II,
            _ => Category::III,
        },
        coverage: 1.0,
        groups: threads.iter().enumerate().map(group).collect(),
        members: Vec::new(),
    }
}

/// Trials whose ends are spread evenly over groups.
fn trials(groups: usize, [sdc, crash, hang]: [usize; 3]) -> Vec<Trial> {
    let end = |number: usize| match number / groups % 1000 {
        at if at < sdc => TrialEnd::Sdc,
        at if at < sdc + crash => crash_of(number),
        at if at < sdc + crash + hang => TrialEnd::Hang(Endless::Loop),
        _ => TrialEnd::Benign,
    };
    // As many of each group, all thousand places of the order in each.
    let all = (0..TRIALS).map(|number| (number % groups, number * 617 % TRIALS));
    all.map(|(group, number)| Trial {
        kernel: 0,
        group,
        launch: 0,
        cta: number as u64 % 16,
        thread: (number % 256) as u32,
        hit: Ok(()),
        read: Some(1),
        end: end(number * groups),
    })
    .collect()
}

fn crash_of(number: usize) -> TrialEnd {
    let after = (number % 50) as u64;
    if number.is_multiple_of(2) {
        TrialEnd::Crash { trap: Some(TrapKind::OutOfRangeAddress), after, space: Some(Space::Shared) }
    } else {
        TrialEnd::Crash { trap: Some(TrapKind::IllegalAddress), after: 100 + after, space: Some(Space::Global) }
    }
}
