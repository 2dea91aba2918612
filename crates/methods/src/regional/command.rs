//! `beamline regions`: faults in regions of a program, compared.

use campaign::{SelectionWords, Subject};
use serde_json::json;
use stats::{Confidence, Margin, sample_size};
use std::collections::BTreeMap;
use std::path::PathBuf;
use study::Study;

use super::region::Region;
use super::settings::Settings;
use super::show;
use super::tally::Tally;
use super::target::Regional;
use super::template::Template;
use crate::kit::{Campaigns, MethodSettings, StudyError, lasting};
use crate::method::{Answer, Command, CommandOption, Request};

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
        CommandOption::file("map", "F.csv", "Write the fault map: a row for each run"),
        CommandOption::file("template", "F.toml", "Only write regions to begin with: the hot lines of each kernel"),
        FROM_MAP,
        CommandOption::of_words(
            "until",
            "PHASE",
            &[("map", "the fault map"), ("results", "what the faults come to")],
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
    let method = Regional::new(&request.capsule, &words)?;
    let runs = method.runs(runs_of_region(request)?);
    let path: Option<PathBuf> = request.options.get("map")?;
    let only_map = request.options.get::<String>("until")?.as_deref() == Some("map");
    let map = path.map(|path| Ok::<_, StudyError>((path, method.map(runs, campaigns.seed)?))).transpose()?;
    if only_map {
        let (path, map) = map.ok_or_else(|| {
            StudyError::Words("end with the fault map: say where it is written with --map F.csv".to_owned())
        })?;
        let (json, study) = show::map(&method, &map);
        let files = vec![(path, map.text().map_err(StudyError::Words)?)];
        return Ok(Answer { json, study, files, pictures: Vec::new(), sheets: Vec::new() });
    }
    let mut files = Vec::new();
    if let Some((path, map)) = map {
        files.push((path, map.text().map_err(StudyError::Words)?));
    }
    let tally = Tally::of(&campaigns.planned(&request.capsule, &label, settings.choice(), &method, runs)?.results)?;
    let estimates = show::estimates(&method, &tally);
    Ok(Answer { json: estimates.json, study: estimates.study, files, pictures: Vec::new(), sheets: Vec::new() })
}

/// Regions to begin with.
fn template(request: &Request, path: PathBuf) -> Result<Answer, StudyError> {
    const OTHERS: [&str; 8] = ["file", "only", "target", "model", "runs", "margin", "map", "from-map"];
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
    let (file, map): (Option<String>, Option<String>) =
        (request.options.get("file")?, request.options.get("from-map")?);
    let regions = match (file, map) {
        (Some(_), Some(_)) => {
            return Err(StudyError::Words(
                "take sites from a map and from regions: leave --file or --from-map out".to_owned(),
            ));
        }
        (None, Some(map)) => {
            return match request.options.first_explicit(&["only", "target", "model", "runs", "margin"]) {
                Some(key) => Err(StudyError::Words(format!(
                    "choose by --{key} what a map says: edit the map, or leave --{key} out"
                ))),
                None => Settings::Map(map).held(&mut files).map(|held| (held, files)).map_err(StudyError::Words),
            };
        }
        (Some(file), None) => {
            let refused = |why: String| StudyError::Refused(format!("read the regions `{file}`: {why}"));
            let text = lasting::file(&file).map_err(refused)?;
            Region::read(&text).map_err(refused)?
        }
        (None, None) => {
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
