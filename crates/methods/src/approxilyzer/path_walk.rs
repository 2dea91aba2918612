//! The path of each group, traced where its first thread is: the one way to the sites of a group.

use inject::threads::{BasedAccess, PathDestinations, StoreLists, TraceStep, traces};
use inject::{Golden, GoldenLaunch};
use std::collections::{BTreeMap, BTreeSet};

use super::feeds::Feeds;
use super::join::GroupPath;
use super::lists::StorePath;
use super::settings::{Apart, Settings};
use super::sites::{ApartKey, PathGroup};
use super::traps::Traps;
use super::windows::Windows;

/// The paths of groups that are known.
pub(super) struct PathWalk<'a> {
    golden: &'a Golden,
    launches: Vec<(u32, &'a GoldenLaunch)>,
    settings: &'a Settings,
    /// By launch, the threads that are the first of a group, with the group.
    representatives: BTreeMap<u32, BTreeMap<u64, u32>>,
    traps: Traps,
}

/// A path where it is traced.
pub(super) struct TracedPath<'a> {
    /// The launch of the thread.
    pub(super) launch: &'a GoldenLaunch,
    /// The steps of the thread.
    pub(super) steps: &'a [TraceStep],
    /// Where the values of its program go, if stores are looked at.
    pub(super) feeds: Option<&'a Feeds>,
    /// The path, with what is known of it.
    pub(super) path: GroupPath<'a>,
}

impl<'a> PathWalk<'a> {
    /// Of groups of threads of these launches.
    pub(super) fn new(
        golden: &'a Golden,
        launches: Vec<(u32, &'a GoldenLaunch)>,
        groups: &[PathGroup],
        settings: &'a Settings,
    ) -> Self {
        let traps = Traps::of(golden, &launches, groups.iter(), settings.addresses);
        let mut representatives: BTreeMap<u32, BTreeMap<u64, u32>> = BTreeMap::new();
        for (number, group) in (0..).zip(groups) {
            if let Some(&(launch, thread)) = group.threads.first() {
                representatives.entry(launch).or_default().insert(thread, number);
            }
        }
        Self { golden, launches, settings, representatives, traps }
    }

    /// The same for some of the groups alone.
    pub(super) fn only(mut self, wanted: &BTreeSet<u32>) -> Self {
        self.representatives.values_mut().for_each(|threads| threads.retain(|_, group| wanted.contains(group)));
        self.representatives.retain(|_, threads| !threads.is_empty());
        self
    }

    /// Whether there were more accesses than are kept: flips in the addresses of the others are not known to trap.
    pub(super) fn addresses_cut(&self) -> bool {
        self.traps.is_cut()
    }

    /// Visits the path of each group, until a visit gives `false`.
    pub(super) fn visit(&self, mut visit: impl FnMut(TracedPath<'_>) -> bool) {
        let mut goes_on = true;
        for &(number, launch) in &self.launches {
            let Some(wanted) = self.representatives.get(&number).filter(|_| goes_on) else { continue };
            let destinations = PathDestinations::of(launch);
            let accesses = BasedAccess::of(&launch.program);
            let feeds = self.settings.stores.then(|| Feeds::of(&launch.program));
            let listed = StoreLists::listed(&launch.program);
            let threads: Vec<u64> = wanted.keys().copied().collect();
            let size = self.golden.threads_per_block(launch) as u64;
            traces(self.golden, launch, &threads, |thread, steps| {
                let Some(&group) = wanted.get(&thread).filter(|_| goes_on) else { return };
                let path = GroupPath {
                    group,
                    apart: self.settings.apart.key(number, thread, size),
                    found: destinations.sites(launch, steps),
                    windows: Windows::of(launch, steps, self.settings),
                    settings: self.settings,
                    accesses: self.traps.steps(group, steps, &accesses),
                    stores: feeds.as_ref().map(|feeds| StorePath::of(feeds, &listed, steps)),
                };
                goes_on = visit(TracedPath { launch, steps, feeds: feeds.as_ref(), path });
            });
        }
    }
}

impl Apart {
    /// The numbers from 1 of what it keeps apart, of a thread of a launch with blocks of this size; 0 for the others.
    pub(super) fn key(self, launch: u32, thread: u64, size: u64) -> ApartKey {
        (
            if self.launches { launch + 1 } else { 0 },
            if self.blocks { thread / size + 1 } else { 0 },
            if self.threads { (thread % size) as u32 + 1 } else { 0 },
        )
    }
}
