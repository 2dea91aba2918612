//! The method as the planner of a campaign: a region after the other, or the rows of a map.

use campaign::{Label, LabelColumn, Labels, Planner, RunIndex, SelectionWords, Site, Subject, TargetError};
use fault::Fault;
use inject::site::LABELS;
use inject::{CapsuleTarget, SelectionCycle};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::diagnosis::Program;
use super::map::{FaultMap, MapRow};
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
    /// The text of the fault map that the settings name.
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
            Settings::File(path) | Settings::Map(path) => {
                let refused = |why: String| TargetError::new(format!("read the fault map `{path}`: {why}"));
                let text = lasting::read(&path, &words.files).map_err(refused)?;
                let map = FaultMap::read(&text).map_err(refused)?;
                let method = Self::mapped(capsule, &map).map_err(refused)?;
                Ok(Self { files: BTreeMap::from([(path.clone(), text)]), ..method })
            }
        }
    }

    fn drawn(capsule: &Arc<CapsuleTarget>, regions: &[Region]) -> Result<Self, TargetError> {
        let words =
            regions.iter().map(|it| it.words_for(capsule)).collect::<Result<Vec<_>, _>>().map_err(TargetError::new)?;
        let cells = capsule.cells(&words)?;
        let has = |number: usize| cells.numbers().contains(&number);
        let mut empty = Vec::new();
        if (0..regions.len()).any(|number| !has(number)) {
            let program = Program::of(capsule);
            let without = (0..).zip(regions).filter(|(number, _)| !has(*number));
            empty.extend(without.map(|(_, region)| (region.name.clone(), program.why_empty(region))));
        }
        if cells.numbers().is_empty() {
            let why: Vec<String> = empty.iter().map(|(name, why)| format!("{name}: {why}")).collect();
            return Err(TargetError::new(format!("find a site in any region: {}", why.join("; "))));
        }
        let names = regions.iter().map(|region| region.name.clone()).collect();
        Ok(Self { capsule: Arc::clone(capsule), names, plan: Plan::Drawn(cells), empty, files: BTreeMap::new() })
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
        Ok(Self { capsule: Arc::clone(capsule), names, plan, empty, files })
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
