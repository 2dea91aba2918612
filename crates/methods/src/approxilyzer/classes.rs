//! Error sites and their classes: what threads with the same path have in common, and control equivalence.
//!
//! A site is one bit of one operand of one dynamic instruction: of a register that it writes, or of one that it reads. Threads whose paths are equal, over all launches of a
//! kernel, are one *path group*: everything that is known of a site from the path is found once for all of them.

use fault::Selection;
use inject::threads::{PathSites, ThreadCount, TraceStep, thread_counts};
use inject::{Golden, GoldenLaunch};
use std::collections::BTreeMap;

use super::feeds::Feeds;
use super::lists::divide;
use super::path_walk::{PathWalk, TracedPath};
use super::settings::{Apart, Settings};
use super::site_facts::{SiteFacts, ThreadShare};
use super::sites::{ApartKey, BesideClass, Class, ClassKey, KernelSites, MOST_CLASSES, PathGroup, STORES, Sites};

/// What threads of one group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    kernel: u32,
    executed: u32,
    guarded_off: u32,
    trace: u64,
    apart: ApartKey,
}

impl Sites {
    /// Those of the launches that a selection holds.
    pub(super) fn of(golden: &Golden, selection: &Selection, settings: &Settings) -> Self {
        Self::default().find(golden, selection, settings)
    }

    /// The same with their steps.
    pub(super) fn with_steps(golden: &Golden, selection: &Selection, settings: &Settings) -> Self {
        Self { steps: Some(Vec::new()), ..Self::default() }.find(golden, selection, settings)
    }

    /// The same with the facts of their sites, if the settings look at stores.
    pub(super) fn with_facts(golden: &Golden, selection: &Selection, settings: &Settings) -> Self {
        let (steps, facts) = (Some(Vec::new()), Some(Vec::new()));
        Self { steps, facts, ..Self::default() }.find(golden, selection, settings)
    }

    fn find(self, golden: &Golden, selection: &Selection, settings: &Settings) -> Self {
        let mut sites = self;
        let selected = |launch: &&(u32, &GoldenLaunch)| selection.holds_launch(&launch.1.program.name, launch.1.number);
        let launches: Vec<(u32, &GoldenLaunch)> = (0..).zip(golden.launches()).collect();
        let launches: Vec<(u32, &GoldenLaunch)> = launches.iter().filter(selected).copied().collect();
        let groups = sites.find_groups(golden, &launches, settings.groups_apart());
        let mut classes: BTreeMap<ClassKey, Class> = BTreeMap::new();
        if groups.len() > MOST_CLASSES {
            sites.classes_cut = true;
            return sites;
        }
        sites.groups.extend(groups.into_values());
        if settings.stores {
            sites.stores_cut = divide(golden, &launches, &mut sites.groups);
        }
        let walk = PathWalk::new(golden, launches, &sites.groups, settings);
        sites.addresses_cut = walk.addresses_cut();
        let mut by_control = BTreeMap::new();
        if let Some(steps) = &mut sites.steps {
            steps.resize_with(sites.groups.len(), Vec::new);
        }
        if let Some(facts) = &mut sites.facts {
            facts.resize_with(sites.groups.len(), Vec::new);
        }
        walk.visit(|TracedPath { launch, steps, feeds, path }| {
            sites.classes_cut |= classes.len() > MOST_CLASSES;
            if !sites.classes_cut {
                sites.count(path.group, steps);
                if let Some(feeds) = feeds {
                    sites.add_facts(path.group, launch, (&path.found, steps.len()), feeds);
                }
                sites.join(&mut classes, &mut by_control, &path);
            }
            !sites.classes_cut
        });
        sites.count_stores(&classes, &by_control);
        let mut beside: Vec<(&ClassKey, &u32)> = by_control.iter().collect();
        beside.sort_by_key(|(_, number)| **number);
        sites.beside =
            beside.iter().map(|((kernel, _, _, bits, ..), _)| BesideClass { kernel: *kernel, bits: *bits }).collect();
        sites.classes = classes.into_values().collect();
        sites
    }

    fn find_groups(
        &mut self,
        golden: &Golden,
        launches: &[(u32, &GoldenLaunch)],
        apart: Apart,
    ) -> BTreeMap<GroupKey, PathGroup> {
        let mut groups: BTreeMap<GroupKey, PathGroup> = BTreeMap::new();
        for &(number, launch) in launches {
            let kernel = self.kernel(&launch.program.name);
            let size = golden.threads_per_block(launch) as u64;
            for (thread, count) in (0..).zip(thread_counts(golden, launch)) {
                let ThreadCount { executed, guarded_off, trace } = count;
                let key = GroupKey { kernel, executed, guarded_off, trace, apart: apart.key(number, thread, size) };
                let fresh = || PathGroup { threads: Vec::new(), kernel, parts: Vec::new() };
                groups.entry(key).or_insert_with(fresh).threads.push((number, thread));
                self.kernels[kernel as usize].threads += 1;
            }
        }
        groups.values().for_each(|group| self.kernels[group.kernel as usize].groups += 1);
        groups
    }

    fn kernel(&mut self, name: &str) -> u32 {
        let known = self.kernels.iter().position(|kernel| kernel.name == name);
        let new = known.unwrap_or(self.kernels.len());
        if known.is_none() {
            self.kernels.push(KernelSites { name: name.to_owned(), ..KernelSites::default() });
        }
        new as u32
    }

    /// Counts the classes of store equivalence, and those of control equivalence that their sites would be in.
    fn count_stores(&mut self, classes: &BTreeMap<ClassKey, Class>, by_control: &BTreeMap<ClassKey, u32>) {
        for (&(kernel, .., hash, _), class) in classes {
            if hash & STORES != 0 {
                let counts = &mut self.kernels[kernel as usize].counts.stores;
                counts.sites += class.members * class.weight * u64::from(class.bits.count());
                counts.classes += 1;
                counts.pilots += u64::from(class.bits.count());
            }
        }
        for &(kernel, _, _, bits, ..) in by_control.keys() {
            let counts = &mut self.kernels[kernel as usize].counts.stores;
            counts.classes_by_control += 1;
            counts.pilots_by_control += u64::from(bits.count());
        }
    }

    /// Adds the facts of the sites of a group, if they were asked for and its steps can still be kept.
    fn add_facts(&mut self, group: u32, launch: &GoldenLaunch, (found, steps): (&PathSites, usize), feeds: &Feeds) {
        let Self { facts: Some(facts), steps: Some(_), groups, kernels, .. } = self else { return };
        let PathGroup { threads, kernel, .. } = &groups[group as usize];
        let share = ThreadShare { path: threads.len() as u64, kernel: kernels[*kernel as usize].threads };
        facts[group as usize] = SiteFacts::of(&launch.program, found, steps, share, feeds);
    }

    /// Counts the instructions that the threads of a group executed.
    fn count(&mut self, group: u32, path: &[TraceStep]) {
        let PathGroup { threads, kernel, .. } = &self.groups[group as usize];
        for step in path.iter().filter(|step| step.executed) {
            *self.executed.entry((*kernel, step.instruction)).or_default() += threads.len() as u64;
        }
    }
}
