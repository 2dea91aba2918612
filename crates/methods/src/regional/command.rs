//! `beamline regions`: faults in regions of a program, compared.

use campaign::{SelectionWords, Subject};
use serde_json::json;
use stats::{Confidence, Margin, sample_size};
use std::collections::BTreeMap;
use std::path::PathBuf;
use study::Study;

use super::profile::RegionProfile;
use super::region::Region;
use super::settings::Settings;
use super::show;
use super::tally::Tally;
use super::target::Regional;
use super::template::Template;
use crate::kit::{Campaigns, MethodSettings, StudyError, lasting};
use crate::method::{Answer, Command, CommandOption, Estimates, Request};

/// How tight the rates of each region are, if nothing is said: as in the paper.
const MARGIN: &str = "0.03";

/// Runs of a region, at most; more is a slip of the keyboard.
const MOST: u64 = 10_000_000;

/// Options of all commands about regions.
pub(super) const FILE: CommandOption = CommandOption::any(
    "file",
    "F.toml",
    None,
    "The regions, [[regions]] with name, file and lines, kernel, iterations … [default: those of the bundled workload]",
);
pub(super) const ONLY: CommandOption = CommandOption::any("only", "NAME,…", None, "Only these of the regions");
pub(super) const TARGET: CommandOption = CommandOption::any(
    "target",
    "TARGET",
    None,
    "What is hit, where a region does not say, for example reg:64 [default: dst]",
);
pub(super) const MODEL: CommandOption =
    CommandOption::any("model", "MODEL", None, "What happens to its bits, where a region does not say [default: flip]");
pub(super) const IN_MARGIN: CommandOption = CommandOption::any(
    "margin",
    "E",
    Some(MARGIN),
    "Make as many faults in each region as bound its rates within ±E at 95 %",
);
pub(super) const RUNS: CommandOption = CommandOption::any("runs", "N", None, "Make N faults in each region instead");
const FROM_PROFILE: CommandOption =
    CommandOption::any("from-profile", "F.csv", None, "Draw faults from the instructions of a profile instead");
pub(super) const FROM_MAP: CommandOption =
    CommandOption::any("from-map", "F.csv", None, "Inject the faults of a map instead of drawing some");

/// No kernel is chosen for all regions.
pub(super) const WITHOUT_KERNEL: (&str, &str) =
    ("kernel", "each region says its own; write `kernel = \"NAME\"` into [[regions]] of --file");

/// The command.
pub(super) const REGIONS: Command = Command {
    name: "regions",
    about: "Inject into regions of a program (source lines, kernels, iterations) and compare what comes of it",
    options: &[
        FILE,
        ONLY,
        TARGET,
        MODEL,
        IN_MARGIN,
        RUNS,
        CommandOption::file("profile", "F.csv", "Write the profile: the instructions that faults are drawn from"),
        CommandOption::file("map", "F.csv", "Write the fault map: a row for each run"),
        CommandOption::file("template", "F.toml", "Only write regions to begin with: the hot lines of each kernel"),
        FROM_PROFILE,
        FROM_MAP,
        CommandOption::of_words(
            "until",
            "PHASE",
            &[("profile", "the profile"), ("map", "the fault map"), ("results", "what the faults come to")],
            Some("results"),
            "The last phase that is done",
        ),
    ],
    without: &[WITHOUT_KERNEL],
    criteria: None,
    run: regions,
};

fn regions(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    if let Some(path) = request.options.get::<PathBuf>("template")? {
        return template(request, path);
    }
    let (settings, files) = settings(request)?;
    let label = settings.label(&files)?;
    let words = SelectionWords { files, ..campaigns.selection(settings.choice()) };
    let written = Written::of(request)?;
    let method = Regional::new(&request.capsule, &words)?;
    let profile = written.profile.map(|path| profile(request, &settings, path)).transpose()?;
    if written.until == "profile" {
        let (file, profile) = profile.ok_or_else(|| no_file("profile"))?;
        return Ok(answer(show::profile(&method, &profile), vec![file]));
    }
    let mut files: Vec<(PathBuf, String)> = profile.into_iter().map(|(file, _)| file).collect();
    let runs = method.runs(runs_of_region(request)?);
    let map = written.map.map(|path| Ok::<_, StudyError>((path, method.map(runs, campaigns.seed)?))).transpose()?;
    if let Some((path, map)) = &map {
        files.push((path.clone(), map.text().map_err(StudyError::Words)?));
    }
    if written.until == "map" {
        let (_, map) = map.ok_or_else(|| no_file("map"))?;
        return Ok(answer(show::map(&method, &map), files));
    }
    let tally = Tally::of(&campaigns.planned(&request.capsule, &label, settings.choice(), &method, runs)?.results)?;
    Ok(answer(show::estimates(&method, &tally), files))
}

fn answer(Estimates { json, study }: Estimates, files: Vec<(PathBuf, String)>) -> Answer {
    Answer { json, study, files, pictures: Vec::new(), sheets: Vec::new() }
}

/// The files that phases write, and the last phase.
struct Written {
    profile: Option<PathBuf>,
    map: Option<PathBuf>,
    until: String,
}

impl Written {
    fn of(request: &Request) -> Result<Self, StudyError> {
        let [profile, map] = ["profile", "map"].map(|key| request.options.get::<PathBuf>(key));
        let until = request.options.get::<String>("until")?.unwrap_or_default();
        Ok(Self { profile: profile?, map: map?, until })
    }
}

fn no_file(phase: &str) -> StudyError {
    StudyError::Words(format!("end with the {phase}: say where it is written with --{phase} F.csv"))
}

/// The file of a profile, and the profile.
fn profile(
    request: &Request,
    settings: &Settings,
    path: PathBuf,
) -> Result<((PathBuf, String), RegionProfile), StudyError> {
    let Settings::Regions(regions) = settings else {
        return Err(StudyError::Words(
            "write the profile of regions and take sites from a profile or a map: leave --profile out".to_owned(),
        ));
    };
    let profile = RegionProfile::of(&request.capsule, regions).map_err(StudyError::Words)?;
    Ok(((path, profile.text().map_err(StudyError::Words)?), profile))
}

/// Regions to begin with.
fn template(request: &Request, path: PathBuf) -> Result<Answer, StudyError> {
    const OTHERS: [&str; 11] =
        ["file", "only", "target", "model", "runs", "margin", "profile", "map", "from-profile", "from-map", "seed"];
    if let Some(key) = request.options.first_explicit(&OTHERS) {
        return Err(StudyError::Words(format!(
            "combine --{key} with --template, which injects nothing: leave one out"
        )));
    }
    let (name, template) = (request.capsule.name(), Template::of(&request.capsule));
    let files = vec![(path, template.text(name).map_err(StudyError::Words)?)];
    let mut study = Study::new("regions", "", "");
    study.tables = vec![template.table(name)];
    let json = json!({ "format": "beamline.regions/1", "capsule": name, "template": template.names(), "regions": [], "empty": [] });
    Ok(Answer { json, study, files, pictures: Vec::new(), sheets: Vec::new() })
}

/// How many faults each region gets.
pub(super) fn runs_of_region(request: &Request) -> Result<u64, StudyError> {
    let runs = match request.options.get::<u64>("runs")? {
        Some(_) if request.options.first_explicit(&["margin"]).is_some() => {
            return Err(StudyError::Words(
                "make as many faults as --runs and as --margin say: leave one of them out".to_owned(),
            ));
        }
        Some(runs) => runs,
        None => {
            let margin = Margin::new(request.options.get("margin")?.unwrap_or_default());
            sample_size(margin.map_err(|error| StudyError::Words(error.to_string()))?, Confidence::PERCENT_95)
        }
    };
    if (1..=MOST).contains(&runs) {
        return Ok(runs);
    }
    Err(StudyError::Words(format!("make {runs} faults in each region: expected 1 to {MOST}")))
}

/// The choice of sites, and the texts of the files that it names.
pub(super) fn settings(request: &Request) -> Result<(Settings, BTreeMap<String, String>), StudyError> {
    let mut files = BTreeMap::new();
    const SOURCES: [&str; 3] = ["file", "from-profile", "from-map"];
    let [file, profile, map] = SOURCES.map(|key| request.options.get::<String>(key));
    let (file, profile, map) = (file?, profile?, map?);
    let said: Vec<&str> = SOURCES.into_iter().filter(|key| request.options.first_explicit(&[*key]).is_some()).collect();
    if let [one, other, ..] = said[..] {
        return Err(StudyError::Words(format!("take sites from --{one} and from --{other}: leave one of them out")));
    }
    let chosen: &[&str] = if map.is_some() {
        &["only", "target", "model", "runs", "margin", "seed"]
    } else {
        &["only", "target", "model"]
    };
    if let Some(taken) = profile.map(Settings::Profile).or(map.map(Settings::Map)) {
        let what = taken.file().0;
        return match request.options.first_explicit(chosen) {
            Some(key) => Err(StudyError::Words(format!(
                "choose by --{key} what a {what} says: edit the {what}, or leave --{key} out"
            ))),
            None => taken.held(&mut files).map(|held| (held, files)).map_err(StudyError::Words),
        };
    }
    let regions = match file {
        Some(file) => {
            let refused = |why: String| StudyError::Refused(format!("read the regions `{file}`: {why}"));
            let text = lasting::file(&file).map_err(refused)?;
            Region::read(&text).map_err(refused)?
        }
        None => {
            let name = request.capsule.name();
            let missing = || {
                StudyError::Words(format!(
                    "find the regions of {name}: it is no bundled workload; say them with --file regions.toml"
                ))
            };
            let text = request.declared.as_ref().ok_or_else(missing)?;
            Region::read(text)
                .map_err(|why| StudyError::Words(format!("read the regions of {name}: {why}; say some with --file")))?
        }
    };
    let only: Option<String> = request.options.get("only")?;
    let (target, model): (Option<String>, Option<String>) =
        (request.options.get("target")?, request.options.get("model")?);
    let names: Vec<String> = regions.iter().map(|it| it.name.clone()).collect();
    let wanted: Option<Vec<&str>> = only.as_deref().map(|only| only.split(',').map(str::trim).collect());
    if let Some(strange) = wanted.iter().flatten().find(|name| !names.iter().any(|it| it == *name)) {
        return Err(StudyError::Words(format!("find the region `{strange}`: there are {}", names.join(", "))));
    }
    let chosen =
        regions.into_iter().filter(|it| wanted.as_ref().is_none_or(|wanted| wanted.contains(&it.name.as_str())));
    let said = |it: Region| Region {
        target: it.target.or_else(|| target.clone()),
        model: it.model.or_else(|| model.clone()),
        ..it
    };
    Ok((Settings::Regions(chosen.map(said).collect()), files))
}
