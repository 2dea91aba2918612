//! The method as the planner of a campaign: a region after the other, or the rows of a map.

use campaign::{Label, LabelColumn, Labels, Planner, RunIndex, SelectionWords, Site, Subject, TargetError};
use fault::Fault;
use inject::site::LABELS;
use inject::{CapsuleTarget, NarrowedWords, SelectionCycle};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::diagnosis::Program;
use super::map::{FaultMap, MapRow};
use super::profile::RegionProfile;
use super::region::Region;
use super::settings::Settings;
use crate::kit::chosen::first_explicit;
use crate::kit::{MethodSettings, lasting};

/// What is said of each site: what any campaign says, and its region.
static COLUMNS: LazyLock<Vec<LabelColumn>> = LazyLock::new(|| {
    let region = LabelColumn::text("region", "the region that the run is of");
    LABELS.iter().cloned().chain([region]).collect()
});

/// A capsule whose faults are in regions.
pub struct Regional {
    capsule: Arc<CapsuleTarget>,
    names: Vec<String>,
    plan: Plan,
    /// Regions without a site, and why.
    empty: Vec<(String, String)>,
    /// Warnings about regions.
    notes: Vec<String>,
    /// The text of the profile or fault map that the settings name.
    files: BTreeMap<String, String>,
}

/// Where sites come from.
enum Plan {
    /// Run i is of the region with number i mod K of the K that have sites.
    Drawn(SelectionCycle),
    /// Run i is row i.
    Mapped(Vec<Site>),
}

/// What a selection with this method says, as settings; refused where it says what the method chooses.
///
/// # Errors
/// If the words mean no settings, or say what regions say.
pub(super) fn parsed(words: &SelectionWords) -> Result<Settings, TargetError> {
    // A campaign holds the regions of a file for its name; older ones have the name.
    let settings = match Settings::read(words)? {
        file @ Settings::File(_) => file.held(&mut words.files.clone()).map_err(TargetError::new)?,
        settings => settings,
    };
    if let Some(key) = first_explicit(words, &[]) {
        return Err(TargetError::new(format!(
            "choose sites by regions and by `{key}` too: each region says its own; write `{key}` there"
        )));
    }
    if let Settings::Regions(regions) = &settings {
        for region in regions {
            inject::check_words(&region.words())
                .map_err(|error| TargetError::new(format!("aim at the region {}: {error}", region.name)))?;
        }
    }
    Ok(settings)
}

impl Regional {
    /// The method on a capsule, as `words` say.
    ///
    /// # Errors
    /// If the words mean no settings, no region has a site, or a row of a map names none.
    pub fn new(capsule: &Arc<CapsuleTarget>, words: &SelectionWords) -> Result<Self, TargetError> {
        match parsed(words)? {
            Settings::Regions(regions) => Self::drawn(capsule, &regions),
            settings @ (Settings::File(_) | Settings::Profile(_) | Settings::Map(_)) => {
                Self::of_file(capsule, &settings, words).map_err(TargetError::new)
            }
        }
    }

    /// The method by a profile or a fault map.
    fn of_file(capsule: &Arc<CapsuleTarget>, settings: &Settings, words: &SelectionWords) -> Result<Self, String> {
        let (what, path) = settings.file();
        // The digest of a lasting word is nothing to a reader.
        let shown = path.rsplit_once('#').map_or(path, |(path, _)| path);
        let refused = |why: String| format!("read the {what} `{shown}`: {why}");
        let text = lasting::read(path, &words.files).map_err(refused)?;
        let method = match settings {
            Settings::Profile(_) => RegionProfile::read(&text).and_then(|profile| Self::profiled(capsule, &profile)),
            _ => FaultMap::read(&text).and_then(|map| Self::mapped(capsule, &map)),
        };
        Ok(Self { files: BTreeMap::from([(path.to_owned(), text)]), ..method.map_err(refused)? })
    }

    fn drawn(capsule: &Arc<CapsuleTarget>, regions: &[Region]) -> Result<Self, TargetError> {
        let words =
            regions.iter().map(|it| it.words_for(capsule)).collect::<Result<Vec<_>, _>>().map_err(TargetError::new)?;
        let cells = capsule.cells(&words)?;
        let has = |number: usize| cells.numbers().contains(&number);
        let missing = |(_, region): (usize, &Region)| {
            let why = capsule.check_kernels(&region.words().kernel).err()?;
            Some(format!("{}: {why}", region.name))
        };
        let mut notes: Vec<String> =
            (0..).zip(regions).filter(|(number, _)| has(*number)).filter_map(missing).collect();
        let mut empty = Vec::new();
        let of_times = |region: &Region| region.iterations.is_some() && region.copies.is_none();
        if (0..regions.len()).any(|number| !has(number) || of_times(&regions[number])) {
            let program = Program::of(capsule);
            for (_, region) in (0..).zip(regions).filter(|(number, it)| has(*number) && of_times(it)) {
                notes.extend(program.unrolled(region).map(|why| format!("{}: {why}", region.name)));
            }
            let without = (0..).zip(regions).filter(|(number, _)| !has(*number));
            empty.extend(without.map(|(_, region)| (region.name.clone(), program.why_empty(region))));
        }
        if cells.numbers().is_empty() {
            let why: Vec<String> = empty.iter().map(|(name, why)| format!("{name}: {why}")).collect();
            return Err(TargetError::new(format!("find a site in any region: {}", why.join("; "))));
        }
        let names = regions.iter().map(|region| region.name.clone()).collect();
        let (capsule, files) = (Arc::clone(capsule), BTreeMap::new());
        Ok(Self { capsule, names, plan: Plan::Drawn(cells), empty, notes, files })
    }

    fn profiled(capsule: &Arc<CapsuleTarget>, profile: &RegionProfile) -> Result<Self, String> {
        let (names, words): (Vec<String>, Vec<NarrowedWords>) = profile.narrowed(capsule)?.into_iter().unzip();
        let cells = capsule.cells(&words).map_err(|error| error.to_string())?;
        let without = (0..).zip(&names).filter(|(number, _)| !cells.numbers().contains(number));
        let empty: Vec<(String, String)> = without
            .map(|(_, name)| (name.clone(), "no executed instruction of its rows matches all that they say".to_owned()))
            .collect();
        if let (true, Some((name, why))) = (cells.numbers().is_empty(), empty.first()) {
            return Err(format!("no region has a site; {name}: {why}"));
        }
        let (capsule, files) = (Arc::clone(capsule), BTreeMap::new());
        Ok(Self { capsule, names, plan: Plan::Drawn(cells), empty, notes: Vec::new(), files })
    }

    fn mapped(capsule: &Arc<CapsuleTarget>, map: &FaultMap) -> Result<Self, String> {
        let of_row = |at: usize| format!("fault {} of it", at + 1);
        let fault = |(at, row): (usize, &MapRow)| {
            row.fault.parse::<Fault>().map_err(|error| format!("{}: {error}", of_row(at)))
        };
        let faults: Vec<Fault> = map.rows.iter().enumerate().map(fault).collect::<Result<_, _>>()?;
        let sites = capsule.sites_of(&faults).map_err(|(at, error)| format!("{}: {error}", of_row(at)))?;
        let named = sites.into_iter().zip(&map.rows).map(|(site, row)| labelled(site, &row.region)).collect();
        let plan = Plan::Mapped(named);
        let (names, empty, files) = (map.regions(), Vec::new(), BTreeMap::new());
        Ok(Self { capsule: Arc::clone(capsule), names, plan, empty, notes: Vec::new(), files })
    }

    /// The name of the capsule.
    #[must_use]
    pub fn name(&self) -> &str {
        self.capsule.name()
    }

    /// The regions, in order.
    #[must_use]
    pub fn regions(&self) -> &[String] {
        &self.names
    }

    /// Regions without a site, and why.
    #[must_use]
    pub fn empty(&self) -> &[(String, String)] {
        &self.empty
    }

    /// Warnings about regions: lines that are unrolled where iterations are chosen.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// How many runs a campaign has in which each region has so many; of a map, as many as it has rows.
    #[must_use]
    pub fn runs(&self, of_region: u64) -> u64 {
        match &self.plan {
            Plan::Drawn(cells) => of_region * cells.numbers().len() as u64,
            Plan::Mapped(sites) => sites.len() as u64,
        }
    }

    /// The fault map of a number of runs.
    ///
    /// # Errors
    /// If a run cannot be planned.
    pub fn map(&self, runs: u64, seed: u64) -> Result<FaultMap, TargetError> {
        let all: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
        let sites = self.plan(&all, &SelectionWords::default(), seed)?;
        let row = |(run, site): (u64, Site)| MapRow {
            run,
            region: region_of(&site).to_owned(),
            kernel: fault::base_name(&site.spot.kernel).to_owned(),
            line: site.spot.line,
            opcode: site.spot.opcode.clone(),
            fault: site.fault().unwrap_or_default().to_owned(),
        };
        Ok(FaultMap { rows: (0..).zip(sites).map(row).collect() })
    }
}

/// The region of a site, as its row says.
#[must_use]
pub fn region_of(site: &Site) -> &str {
    site.labels.text(LABELS.len()).unwrap_or_default()
}

fn labelled(site: Site, region: &str) -> Site {
    let labels = site.labels.all().iter().cloned().chain([Label::from(region)]).collect();
    Site { labels: Labels::new(labels), ..site }
}

impl Planner for Regional {
    fn runs(&self) -> Option<u64> {
        match &self.plan {
            Plan::Drawn(_) => None,
            Plan::Mapped(sites) => Some(sites.len() as u64),
        }
    }

    fn files(&self) -> BTreeMap<String, String> {
        self.files.clone()
    }

    fn labels(&self) -> &[LabelColumn] {
        &COLUMNS
    }

    fn plan(&self, runs: &[RunIndex], _: &SelectionWords, seed: u64) -> Result<Vec<Site>, TargetError> {
        match &self.plan {
            Plan::Drawn(cells) => {
                let sites = cells.plan(&self.capsule, runs, seed)?;
                let named = |(run, site): (&RunIndex, Site)| {
                    labelled(site, cells.of_run(*run).map_or("", |number| &self.names[number]))
                };
                Ok(runs.iter().zip(sites).map(named).collect())
            }
            Plan::Mapped(sites) => {
                let site = |run: &RunIndex| {
                    let at = usize::try_from(run.0).ok().and_then(|at| sites.get(at)).cloned();
                    at.ok_or_else(|| {
                        let faults = sites.len();
                        TargetError::new(format!("plan run {run}: the fault map has {faults} faults; leave `runs` out"))
                    })
                };
                runs.iter().map(site).collect()
            }
        }
    }
}
