//! The programs of the paper, each with faults in each of its regions.

use campaign::{Planner, RunIndex, SelectionWords, Site};
use methods::kit::{MethodSettings, OpenedCapsule, StudyError};
use methods::regional::propagation::{DeclaredVariable, arrays, follow};
use methods::regional::{Region, RegionTally, Regional, Settings, Tally, region_of};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use study::Picture;

use super::followed::{FollowedFault, spreading};
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

/// The programs of which statements tell where errors go.
const FOLLOWED: [&str; 3] = ["atax", "covar", "mm3"];

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
    /// In the program that is built for a debugger.
    pub(super) unoptimised: u64,
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
    /// Faults in the program as it is bundled.
    pub(super) build: BuildFaults,
    /// Faults in the program as it is built for a debugger.
    pub(super) unoptimised: BuildFaults,
    /// The names of its variables.
    pub(super) variables: Vec<String>,
    /// Its variables after single faults.
    pub(super) pictures: Vec<Picture>,
}

/// The ends of faults in one build of a program.
#[derive(Clone)]
pub(super) struct BuildFaults {
    /// Faults in the destinations of instructions, by region, and by region and what was struck, as [`part`] names them.
    pub(super) many: Tally,
    /// By [`REGISTERS`], faults in one of so many.
    pub(super) registers: [Tally; 2],
    /// Faults in destinations, and in one of 64 registers, that were followed through variables.
    pub(super) followed: [Vec<FollowedFault>; 2],
}

/// The kind of a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Struck {
    Float,
    /// A number of an index or an address, or bits.
    Integer,
    Predicate,
}

impl Struck {
    fn of(opcode: &str) -> Self {
        if opcode.starts_with("setp") {
            Self::Predicate
        } else if opcode.ends_with(".f32") || opcode.ends_with(".f64") {
            Self::Float
        } else {
            Self::Integer
        }
    }
}

/// The name of the faults in a region that strike something.
fn part(region: &str, struck: Struck) -> String {
    format!("{region}, {struck:?}")
}

impl Measured {
    /// What many faults in a region came to.
    pub(super) fn region(&self, name: &str) -> &RegionTally {
        self.build.many.region(name)
    }

    /// The ends of those of these faults that strike something.
    pub(super) fn struck(&self, region: &str, struck: Struck) -> &RegionTally {
        self.region(&part(region, struck))
    }

    /// Faults that were followed.
    pub(super) fn followed(&self) -> &[FollowedFault] {
        &self.build.followed[0]
    }

    /// As if faults in one of 64 registers were those in destinations.
    pub(super) fn in_registers(&self) -> Self {
        let [many, _] = self.build.registers.clone();
        let [_, followed] = self.build.followed.clone();
        let build = BuildFaults { many, followed: [followed.clone(), followed], ..self.build.clone() };
        Self { build, ..self.clone() }
    }

    /// As if the program that is built for a debugger were the one that is bundled.
    pub(super) fn in_debug_build(&self) -> Self {
        Self { build: self.unoptimised.clone(), ..self.clone() }
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
    let program = Program { number, text: &text, declared: &declared, regions: &regions };
    shop.campaigns.seed = program.seed(0);
    let few = campaign(shop, &capsule, declared.clone(), sizes.few)?;
    let followed = if FOLLOWED.contains(&name) { sizes.followed } else { 0 };
    let (variables, build) = program.build(shop, &capsule, 1, [sizes.many, sizes.registers, followed])?;
    let for_debugger = shop.workloads.unoptimised(name)?;
    let counts = [sizes.unoptimised, sizes.unoptimised, followed];
    let (_, unoptimised) = program.build(shop, &for_debugger, UNOPTIMISED, counts)?;
    // What a debugger sees, as the paper does.
    let pictures = spreading(&for_debugger, &text, &variables, &unoptimised.followed.concat())?;
    let of_paper = declared.len();
    let regions = regions.into_iter().map(|it| it.name).collect();
    Ok(Measured { name, paper, regions, of_paper, few, build, unoptimised, variables, pictures })
}

/// The first of the seeds of the program that is built for a debugger.
const UNOPTIMISED: u64 = 20;

/// A program with its regions.
struct Program<'p> {
    number: u64,
    /// Its declarations.
    text: &'p str,
    /// The regions of the paper.
    declared: &'p [Region],
    /// These, and those that statements need beside them.
    regions: &'p [Region],
}

impl Program<'_> {
    fn seed(&self, at: u64) -> u64 {
        self.number * SEEDS + at
    }

    /// The names of its variables, and the ends of faults in each region of one build, by how many: in destinations, in registers, followed.
    fn build(
        &self,
        shop: &mut PageContext<'_, '_>,
        capsule: &OpenedCapsule,
        first: u64,
        [many, registers, followed]: [u64; 3],
    ) -> Result<(Vec<String>, BuildFaults), StudyError> {
        let tally = |shop: &mut PageContext<'_, '_>, at: u64, regions: Vec<Region>, runs: u64| {
            shop.campaigns.seed = self.seed(first + at);
            campaign(shop, capsule, regions, runs)
        };
        let in_registers = |regions: &[Region], at: usize| -> Vec<Region> {
            let target = format!("reg:{}", REGISTERS[at]);
            regions.iter().map(|it| Region { target: Some(target.clone()), ..it.clone() }).collect()
        };
        let many = tally(shop, 0, self.regions.to_vec(), many)?;
        // Narrowed regions are asked of the paper's choice alone.
        let of_choice = [self.regions, self.declared];
        let mut among = |at: usize| tally(shop, 1 + at as u64, in_registers(of_choice[at], at), registers);
        let registers = [among(0)?, among(1)?];
        shop.campaigns.seed = self.seed(first + 8);
        let (variables, in_destinations) = faults(shop, capsule, self.text, self.declared.to_vec(), followed)?;
        let (_, in_one_of_64) = faults(shop, capsule, self.text, in_registers(self.declared, 0), followed)?;
        Ok((variables, BuildFaults { many, registers, followed: [in_destinations, in_one_of_64] }))
    }
}

/// Faults in regions: by region, and by region and what was struck.
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
    let names = |site: &Site| {
        let region = region_of(site);
        vec![region.to_owned(), part(region, Struck::of(&site.spot.opcode))]
    };
    Ok(Tally::by(&finished.results, &names)?)
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
            let site = &sites[run.run];
            let fault = site.fault().unwrap_or_default().to_owned();
            found.push(FollowedFault { region: region_of(site).to_owned(), fault, run });
        }
    })?;
    found.sort_by_key(|it| it.run.run);
    Ok((arrays.into_iter().map(|it| it.name).collect(), found))
}
