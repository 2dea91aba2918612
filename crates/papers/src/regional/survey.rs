//! The programs of the paper, each with faults in each of its regions.

use campaign::{Planner, RunIndex, SelectionWords};
use methods::kit::{MethodSettings, OpenedCapsule, StudyError};
use methods::regional::propagation::{DeclaredVariable, TrackedRun, arrays, follow};
use methods::regional::{Region, RegionTally, Regional, Settings, Tally, region_of};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use crate::page::PageContext;

/// The programs, and their names in the paper; a new one goes behind the others, as seeds count through.
pub(super) const PROGRAMS: [(&str, &str); 8] = [
    ("atax", "ATAX"),
    ("bicg", "BICG"),
    ("covar", "COVAR"),
    ("corr", "CORR"),
    ("fdtd2d", "FDTD-2D"),
    ("gramschm", "GRAMSCHM"),
    ("mm3", "3MM"),
    ("cjp", "CJP"),
];

/// A region that a statement needs beside those of the paper.
struct Narrowed {
    program: &'static str,
    region: &'static str,
    /// The launch that it is narrowed to.
    launch: &'static str,
    called: fn(&str) -> String,
}

const NARROWED: [Narrowed; 5] = [
    Narrowed { program: "fdtd2d", region: "K1.1", launch: "fdtd_step1_kernel#5", called: last_step },
    Narrowed { program: "fdtd2d", region: "K1.2", launch: "fdtd_step1_kernel#5", called: last_step },
    Narrowed { program: "fdtd2d", region: "K2", launch: "fdtd_step2_kernel#5", called: last_step },
    Narrowed { program: "fdtd2d", region: "K3", launch: "fdtd_step3_kernel#5", called: last_step },
    Narrowed { program: "gramschm", region: "K1", launch: "gramschmidt_kernel1#0", called: first_step },
];

/// What a region is called that is narrowed to its last launch.
pub(super) fn last_step(region: &str) -> String {
    format!("{region}, last step")
}

/// What a region is called that is narrowed to its first launch.
pub(super) fn first_step(region: &str) -> String {
    format!("{region}, first step")
}

/// Among how many registers the paper chooses one.
pub(super) const REGISTERS: [u32; 2] = [64, 128];

/// Seeds of a program.
const SEEDS: u64 = 100;

/// How many runs each region gets.
pub(super) struct Sizes {
    /// As many as in the paper.
    pub(super) few: u64,
    /// A hundred times as many.
    pub(super) many: u64,
    /// With faults in one of so many registers.
    pub(super) registers: u64,
    /// With what they do to variables.
    pub(super) followed: u64,
}

/// A program, measured.
#[derive(Clone)]
pub(super) struct Measured {
    /// Its name.
    pub(super) name: &'static str,
    /// Its name in the paper.
    pub(super) paper: &'static str,
    /// Its regions in order, the paper's first.
    pub(super) regions: Vec<String>,
    /// How many of them are the paper's.
    pub(super) of_paper: usize,
    /// Faults in the destinations of instructions, as many as in the paper.
    pub(super) few: Tally,
    /// The same, a hundred times as many.
    pub(super) many: Tally,
    /// By [`REGISTERS`], faults in one of so many.
    pub(super) registers: [Tally; 2],
    /// What faults in its regions did to its variables.
    pub(super) followed: Vec<FollowedFault>,
    /// The same of faults in one of 64 registers.
    pub(super) followed_registers: Vec<FollowedFault>,
    /// The names of its variables.
    pub(super) variables: Vec<String>,
}

/// A fault that corrupted something.
#[derive(Clone)]
pub(super) struct FollowedFault {
    /// Its region.
    pub(super) region: String,
    /// What came of it.
    pub(super) run: TrackedRun,
}

impl Measured {
    /// What many faults in a region came to.
    pub(super) fn region(&self, name: &str) -> &RegionTally {
        self.many.region(name)
    }

    /// As if faults in one of 64 registers were those in destinations.
    pub(super) fn in_registers(&self) -> Self {
        let [many, _] = self.registers.clone();
        Self { many, followed: self.followed_registers.clone(), ..self.clone() }
    }

    /// The regions of the paper.
    pub(super) fn of_paper(&self) -> &[String] {
        &self.regions[..self.of_paper]
    }
}

/// Measures every program, or one.
pub(super) fn survey(
    shop: &mut PageContext<'_, '_>,
    sizes: &Sizes,
    only: Option<&str>,
) -> Result<Vec<Measured>, StudyError> {
    let chosen = (1..).zip(PROGRAMS).filter(|(_, (name, _))| only.is_none_or(|only| only == *name));
    chosen.map(|(number, (name, paper))| measured(shop, sizes, number, name, paper)).collect()
}

fn measured(
    shop: &mut PageContext<'_, '_>,
    sizes: &Sizes,
    number: u64,
    name: &'static str,
    paper: &'static str,
) -> Result<Measured, StudyError> {
    let capsule = shop.workloads.bundled(name)?;
    let text = shop.workloads.declared(name)?;
    let declared = Region::read(&text).map_err(StudyError::Words)?;
    let narrowed = NARROWED.iter().filter(|it| it.program == name).filter_map(|it| {
        let whole = declared.iter().find(|whole| whole.name == it.region)?;
        Some(Region { name: (it.called)(it.region), kernel: Some(it.launch.to_owned()), ..whole.clone() })
    });
    let regions: Vec<Region> = declared.iter().cloned().chain(narrowed).collect();
    let tally = |shop: &mut PageContext<'_, '_>, at: u64, regions: Vec<Region>, runs: u64| {
        shop.campaigns.seed = number * SEEDS + at;
        campaign(shop, &capsule, regions, runs)
    };
    let few = tally(shop, 0, declared.clone(), sizes.few)?;
    let many = tally(shop, 1, regions.clone(), sizes.many)?;
    let in_registers = |regions: &[Region], at: usize| -> Vec<Region> {
        let target = format!("reg:{}", REGISTERS[at]);
        regions.iter().map(|it| Region { target: Some(target.clone()), ..it.clone() }).collect()
    };
    // Narrowed regions are asked of the paper's choice alone.
    let mut among =
        |at: usize| tally(shop, 2 + at as u64, in_registers([&regions, &declared][at], at), sizes.registers);
    let registers = [among(0)?, among(1)?];
    shop.campaigns.seed = number * SEEDS + 9;
    let (variables, followed) = faults(shop, &capsule, &text, declared.clone(), sizes.followed)?;
    let registers_of_paper = in_registers(&declared, 0);
    let (_, followed_registers) = faults(shop, &capsule, &text, registers_of_paper, sizes.followed)?;
    let of_paper = declared.len();
    let regions = regions.into_iter().map(|it| it.name).collect();
    Ok(Measured { name, paper, regions, of_paper, few, many, registers, followed, followed_registers, variables })
}

/// Faults in regions.
fn campaign(
    shop: &mut PageContext<'_, '_>,
    capsule: &OpenedCapsule,
    regions: Vec<Region>,
    runs: u64,
) -> Result<Tally, StudyError> {
    let settings = Settings::Regions(regions);
    let method = Regional::new(capsule, &shop.campaigns.selection(settings.choice()))?;
    let finished = shop.campaigns.planned(
        capsule,
        &settings.label(&BTreeMap::new())?,
        settings.choice(),
        &method,
        method.runs(runs),
    )?;
    Ok(Tally::of(&finished.results)?)
}

/// What faults in regions do to variables: the names of these, and every fault that corrupted one.
fn faults(
    shop: &mut PageContext<'_, '_>,
    capsule: &OpenedCapsule,
    text: &str,
    regions: Vec<Region>,
    runs: u64,
) -> Result<(Vec<String>, Vec<FollowedFault>), StudyError> {
    let declared = DeclaredVariable::read(text).map_err(StudyError::Words)?;
    let arrays = arrays(capsule, &declared, None).map_err(StudyError::Words)?.arrays;
    let method = Regional::new(capsule, &shop.campaigns.selection(Settings::Regions(regions).choice()))?;
    let runs: Vec<RunIndex> = (0..method.runs(runs)).map(RunIndex).collect();
    let sites = method.plan(&runs, &SelectionWords::default(), shop.campaigns.seed)?;
    let jobs = available_parallelism().map_or(1, NonZeroUsize::get);
    let mut found = Vec::new();
    follow(capsule, &arrays, &sites, jobs, shop.campaigns.stop, &mut |run| {
        if !run.ends.is_empty() {
            let region = region_of(&sites[run.run]).to_owned();
            found.push(FollowedFault { region, run });
        }
    })?;
    found.sort_by_key(|it| it.run.run);
    Ok((arrays.into_iter().map(|it| it.name).collect(), found))
}
