//! `beamline propagation`: where errors go, of many faults or of one.

use campaign::names::file_name;
use campaign::{Planner, RunIndex, SelectionWords, Subject as _};
use fault::{Fault, base_name};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::arrays::{DeclaredVariable, FollowedArrays, arrays};
use super::follow::TrackedRun;
use super::graph::Graph;
use super::kept::KeptRuns;
use super::line::LineTimeline;
use super::line_spread::LineSpread;
use super::picture::{pictures, pictures_at};
use super::rows::Rows;
use super::show;
use super::spread::Spread;
use super::timeline::FaultTimeline;
use crate::kit::{Campaigns, MethodSettings, StudyError};
use crate::method::{Answer, Command, CommandOption, Request};
use crate::regional::command::{
    FILE, FROM_MAP, IN_MARGIN, MODEL, ONLY, RUNS, TARGET, WITHOUT_KERNEL, runs_of_region, settings,
};
use crate::regional::region::Region;
use crate::regional::settings::Settings;
use crate::regional::target::{Regional, region_of};

/// The command.
pub(crate) const PROPAGATION: Command = Command {
    name: "propagation",
    about: "Follow faults through variables in memory: which are corrupted after which launches, how many elements, how far",
    options: &[
        CommandOption::any(
            "variables",
            "NAME,…",
            None,
            "Only these variables [default: those that are declared, or all buffers]",
        ),
        FILE,
        ONLY,
        TARGET,
        MODEL,
        IN_MARGIN,
        RUNS,
        FROM_MAP,
        CommandOption::any("fault", "ID", None, "Follow this fault alone, launch by launch"),
        CommandOption::any(
            "at",
            "FILE:LINE",
            None,
            "Look at variables within launches too, each time that the thread with the fault comes to this line, FILE:LINE or LINE",
        ),
        CommandOption::any(
            "pictures",
            "DIR",
            None,
            "Of that fault: a picture of each variable, golden, faulty, difference, a frame for each launch, or time with --at (PNG)",
        ),
        CommandOption::file("rows", "F.csv", "Write what each run did to each variable"),
        CommandOption::file("graph", "F.dot", "Write between which variables errors go, for Graphviz"),
    ],
    without: &[
        WITHOUT_KERNEL,
        ("plot", "it draws none; --graph writes where errors go, and --pictures draws one fault"),
        ("no_app", "it asks no application: faults are followed in the capsule alone"),
    ],
    criteria: None,
    run: propagation,
};

fn propagation(request: &Request, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let followed = followed_arrays(request)?;
    match request.options.get::<String>("fault")? {
        Some(id) => of_one(request, &followed, &id),
        None => of_many(request, &followed, campaigns),
    }
}

/// The variables that are followed.
fn followed_arrays(request: &Request) -> Result<FollowedArrays, StudyError> {
    let file: Option<String> = request.options.get("file")?;
    let declared = match &file {
        Some(path) => {
            let refused = |why: String| StudyError::Refused(format!("read the variables `{path}`: {why}"));
            let text = fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
            DeclaredVariable::read(&text).map_err(refused)?
        }
        None => {
            let text = request.declared.as_deref().unwrap_or_default();
            DeclaredVariable::read(text).map_err(StudyError::Words)?
        }
    };
    let names: Option<String> = request.options.get("variables")?;
    let names: Option<Vec<&str>> = names.as_deref().map(|names| names.split(',').map(str::trim).collect());
    arrays(&request.capsule, &declared, names.as_deref()).map_err(StudyError::Words)
}

/// Whether somebody says regions: by a map, a file, or the workload itself; a file may declare variables alone.
fn regions_are_said(request: &Request) -> Result<bool, StudyError> {
    if request.options.has("from-map") {
        return Ok(true);
    }
    let refused = |path: &str, why: String| StudyError::Refused(format!("read the regions `{path}`: {why}"));
    let read = |path: &str| fs::read_to_string(path).map_err(|error| refused(path, error.to_string()));
    match (request.options.get::<String>("file")?, &request.declared) {
        (Some(path), _) => Region::are_declared(&read(&path)?).map_err(|why| refused(&path, why)),
        (None, Some(text)) => Region::are_declared(text).map_err(|why| refused(request.capsule.name(), why)),
        (None, None) => Ok(false),
    }
}

/// What launches are of, by number.
fn kernels(request: &Request) -> Vec<&str> {
    let launches = request.capsule.golden_run().launches();
    launches.iter().map(|launch| base_name(&launch.program.name)).collect()
}

fn of_one(request: &Request, followed: &FollowedArrays, id: &str) -> Result<Answer, StudyError> {
    if let Some(key) = request
        .options
        .first_explicit(&["only", "target", "model", "runs", "margin", "from-map", "rows", "graph", "seed"])
    {
        return Err(StudyError::Words(format!(
            "combine --{key} with --fault: --{key} is for many faults; leave one of them out"
        )));
    }
    let fault: Fault = id.parse().map_err(|error| StudyError::Words(format!("read the fault `{id}`: {error}")))?;
    let at: Option<String> = request.options.get("at")?;
    let line = at.map(|at| LineTimeline::of(&request.capsule, &followed.arrays, &fault, &at)).transpose()?;
    let course = FaultTimeline::of(&request.capsule, &followed.arrays, &fault)?;
    let kernels = kernels(request);
    let (mut json, mut study) = show::course(request.capsule.name(), &course, &kernels, &followed.doubts);
    if let Some(line) = &line {
        json["at"] = line.document();
        study.tables.insert(0, line.table());
    }
    let mut shown = Vec::new();
    if let Some(dir) = request.options.get::<PathBuf>("pictures")? {
        let file = |name: &str| format!("{}.png", file_name(name));
        let drawn = match &line {
            Some(line) => pictures_at(line, &followed.arrays, &fault),
            None => pictures(&course, &kernels),
        };
        if drawn.is_empty() {
            study.tables[0]
                .notes
                .push("No picture is drawn: every followed variable is as without the fault.".to_owned());
        }
        shown.extend(drawn.into_iter().map(|it| (dir.join(file(&it.name)), it)));
    }
    Ok(Answer { json, study, files: Vec::new(), pictures: shown, sheets: Vec::new() })
}

fn of_many(request: &Request, followed: &FollowedArrays, campaigns: &mut Campaigns<'_>) -> Result<Answer, StudyError> {
    let arrays = &followed.arrays;
    if request.options.has("pictures") {
        return Err(StudyError::Words(
            "show the pictures of many faults: say which with --fault ID, for example one of --rows".to_owned(),
        ));
    }
    let (settings, files) = if regions_are_said(request)? {
        settings(request)?
    } else {
        if let Some(only) = request.options.get::<String>("only")? {
            return Err(StudyError::Words(format!(
                "find the region `{only}`: no regions are declared; declare some as [[regions]] in --file"
            )));
        }
        let (target, model) = (request.options.get("target")?, request.options.get("model")?);
        let all = Region { name: "all".to_owned(), target, model, ..Region::default() };
        (Settings::Regions(vec![all]), BTreeMap::new())
    };
    let words = SelectionWords { files, ..campaigns.selection(settings.choice()) };
    let method = Regional::new(&request.capsule, &words)?;
    let runs: Vec<RunIndex> = (0..method.runs(runs_of_region(request)?)).map(RunIndex).collect();
    let sites = method.plan(&runs, &SelectionWords::default(), campaigns.seed)?;
    let at: Option<String> = request.options.get("at")?;
    let mut line = at.map(|at| LineSpread::of(&request.capsule, arrays, &sites, &at)).transpose()?;
    let kernels = kernels(request);
    let accesses = request.capsule.array_accesses(arrays);
    let always: Vec<usize> = (0..arrays.len()).filter(|&place| arrays[place].launches.is_none()).collect();
    let wants_rows = request.options.has("rows");
    let (mut spread, mut graph, mut rows) = (Spread::default(), Graph::default(), Rows::default());
    let mut see = |it: TrackedRun| {
        let region = region_of(&sites[it.run]);
        spread.add(region, &it, arrays.len());
        graph.add(&it, &kernels, &accesses, &always);
        line.iter_mut().filter(|_| it.class().has_landed()).for_each(|line| line.add(region, it.run));
        if wants_rows {
            rows.add(region, sites[it.run].fault().unwrap_or_default(), &it, &kernels, arrays);
        }
    };
    let jobs = campaigns.workers();
    KeptRuns::open(&campaigns.dir, &request.capsule, followed)?.follow(&sites, jobs, campaigns.stop, &mut see)?;
    let (mut json, mut study) = show::spread(request.capsule.name(), method.regions(), followed, &spread, &graph);
    if let Some(line) = &mut line {
        line.look(jobs, campaigns.stop)?;
        json["at"] = line.document(method.regions());
        study.tables.push(line.table(method.regions()));
    }
    let mut files = Vec::new();
    if let Some(path) = request.options.get::<PathBuf>("rows")? {
        files.push((path, rows.text().map_err(StudyError::Words)?));
    }
    if let Some(path) = request.options.get::<PathBuf>("graph")? {
        files.push((path, graph.dot(arrays)));
    }
    Ok(Answer { json, study, files, pictures: Vec::new(), sheets: Vec::new() })
}
