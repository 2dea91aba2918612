//! The small applications under `filetests/apps`, each built at several settings of the compiler and run.
//!
//! `NAME.cu` is an application, with further translation units in a folder `NAME/` if there is one. It must print what
//! `NAME.expected` holds, and nothing to standard error unless `NAME.stderr` holds a text to be found there. One that
//! cannot pass yet has its reason in `NAME.unsupported`; it is run all the same, so that the reason goes when it can.
//! A line `// needs compute_80` says that the compiler takes it for that architecture and later ones only.

use crate::nvcc::Nvcc;
use crate::repo::{root, say};
use anyhow::{Context, Result, bail, ensure};
use capsule::Digest;
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::thread;

/// Where applications are built, and kept under the digest of all that they are made of.
pub(crate) const PLACE: &str = "/tmp/beamline-apps";

/// The first is what every check uses; of the others it uses one for each application.
const SETTINGS: [Setting; 9] = [
    Setting { level: "O3", arch: "80" },
    Setting { level: "O0", arch: "75" },
    Setting { level: "O0", arch: "80" },
    Setting { level: "O0", arch: "90" },
    Setting { level: "O1", arch: "75" },
    Setting { level: "O1", arch: "80" },
    Setting { level: "O1", arch: "90" },
    Setting { level: "O3", arch: "75" },
    Setting { level: "O3", arch: "90" },
];

/// How an application is built.
#[derive(Clone, Copy, Debug)]
struct Setting {
    level: &'static str,
    arch: &'static str,
}

impl Setting {
    fn name(self) -> String {
        format!("{}-{}", self.level, self.arch)
    }

    /// The simulator runs PTX, so no time is spent on binaries of a real architecture.
    fn flags(self) -> Vec<String> {
        let level: &[&str] = match self.level {
            "O0" => &["-O0", "-G"],
            "O1" => &["-O1", "-Xcicc", "-O1"],
            _ => &["-O3"],
        };
        let arch = format!("arch=compute_{0},code=compute_{0}", self.arch);
        let mut flags: Vec<String> = level.iter().map(ToString::to_string).collect();
        flags.extend(["-std=c++17", "-gencode", &arch, "-cudart", "shared"].map(str::to_owned));
        flags
    }
}

/// An application.
#[derive(Debug)]
struct App {
    name: String,
    /// Its translation units, the one with `main` first.
    sources: Vec<PathBuf>,
    expected: String,
    /// What must be found on standard error.
    complaint: Option<String>,
    /// Why it cannot pass.
    unsupported: Option<String>,
    /// The first architecture that the compiler takes it for.
    needs: u32,
}

/// One application at one setting, and why it failed, if it did.
struct Trial<'a> {
    app: &'a App,
    setting: usize,
    failure: Option<String>,
}

/// How applications are run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    /// Our program.
    pub(crate) program: &'a Path,
    /// A folder for their recordings, if they are wanted: `NAME-SETTING.capsule`.
    pub(crate) record: Option<&'a Path>,
}

/// The settings at which applications are built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    /// All.
    All,
    /// The first, and for one application in `one_in` another one; `seed` says for which.
    Part { seed: u64, one_in: NonZeroU64 },
}

/// Builds and runs the applications at the settings that are wanted; how many trials passed.
pub(crate) fn apps(way: Way<'_>, nvcc: &Nvcc, wanted: Wanted) -> Result<usize> {
    let (apps, all) = (find()?, matches!(wanted, Wanted::All));
    let is_wanted = |number: u64, app: &App, setting: usize| match wanted {
        _ if !app.takes(setting) => false,
        Wanted::All => true,
        Wanted::Part { seed, one_in } => {
            let is_second = setting == other_setting(&app.name) && (number + seed).is_multiple_of(one_in.get());
            setting == 0 || is_second
        }
    };
    let numbered = (0..).zip(&apps);
    let jobs = numbered.flat_map(|(number, app)| (0..SETTINGS.len()).map(move |setting| (number, app, setting)));
    let jobs: Vec<_> = jobs.filter(|(number, app, setting)| is_wanted(*number, app, *setting)).collect();
    let trials = run_all(way, nvcc, jobs.into_iter().map(|(_, app, setting)| (app, setting)).collect())?;
    if let Wanted::Part { seed, .. } = wanted {
        let only =
            apps.iter().filter(|app| trials.iter().filter(|trial| trial.app.name == app.name).count() < 2).count();
        say(&format!("seed {seed}: {only} of {} applications at their first setting alone", apps.len()))?;
    }
    let report = if all { table } else { list };
    report(&apps, &trials)?;
    judge(&apps, &trials, all)
}

/// One application of the folder, built as every check uses it; its path.
pub(crate) fn built(nvcc: &Nvcc, name: &str) -> Result<PathBuf> {
    fs::create_dir_all(PLACE).with_context(|| format!("create {PLACE}"))?;
    let app = find()?.into_iter().find(|app| app.name == name);
    build(nvcc, &app.with_context(|| format!("find {name}.cu"))?, SETTINGS[0])
}

/// The setting beside the first, spread over the applications by their names.
fn other_setting(name: &str) -> usize {
    1 + name.bytes().map(usize::from).sum::<usize>() % (SETTINGS.len() - 1)
}

/// Every application of the folder, by name.
fn find() -> Result<Vec<App>> {
    let mut found = Vec::new();
    for source in cuda_files(&root().join("filetests/apps"))? {
        let name = source.file_stem().and_then(|stem| stem.to_str()).context("a name")?.to_owned();
        let beside = |extension| match fs::read_to_string(source.with_extension(extension)) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("read {name}.{extension}")),
        };
        let (complaint, unsupported) = (beside("stderr")?, beside("unsupported")?);
        let expected = fs::read_to_string(source.with_extension("expected"));
        let expected = expected.with_context(|| format!("read {name}.expected"))?;
        let folder = source.with_extension("");
        let units = if folder.is_dir() { cuda_files(&folder)? } else { Vec::new() };
        let needs = needs(&source)?;
        let sources = [vec![source], units].concat();
        found.push(App { name, sources, expected, complaint, unsupported, needs });
    }
    Ok(found)
}

/// The architecture that a source says it needs.
fn needs(source: &Path) -> Result<u32> {
    let text = fs::read_to_string(source).with_context(|| format!("read {}", source.display()))?;
    match text.lines().find_map(|line| line.strip_prefix("// needs compute_")) {
        Some(number) => number.parse().with_context(|| format!("{}: read what it needs", source.display())),
        None => Ok(0),
    }
}

impl App {
    /// Whether the compiler takes it at a setting.
    fn takes(&self, setting: usize) -> bool {
        SETTINGS[setting].arch.parse().is_ok_and(|arch: u32| arch >= self.needs)
    }
}

fn cuda_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut found: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "cu"));
    found.sort();
    Ok(found)
}

/// Does all the jobs, as many at a time as there are processors.
fn run_all<'a>(way: Way<'_>, nvcc: &Nvcc, jobs: Vec<(&'a App, usize)>) -> Result<Vec<Trial<'a>>> {
    fs::create_dir_all(PLACE).with_context(|| format!("create {PLACE}"))?;
    let (queue, done) = (Mutex::new(jobs.into_iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().ok().and_then(|mut queue| queue.next());
    let work = || {
        while let Some((app, setting)) = next() {
            let built = build(nvcc, app, SETTINGS[setting]);
            let name = format!("{}-{}.capsule", app.name, SETTINGS[setting].name());
            let outcome = built.and_then(|built| try_out(way, app, &built, &name));
            let failure = outcome.err().map(|error| format!("{error:#}"));
            if let Ok(mut done) = done.lock() {
                done.push(Trial { app, setting, failure });
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut trials = done.into_inner().map_err(|_| anyhow::anyhow!("a worker panicked"))?;
    trials.sort_by(|a, b| (&a.app.name, a.setting).cmp(&(&b.app.name, b.setting)));
    Ok(trials)
}

/// Builds an application, unless the same has been built before; its path.
fn build(nvcc: &Nvcc, app: &App, setting: Setting) -> Result<PathBuf> {
    let flags = setting.flags();
    let mut text = flags.join(" ");
    let header = app.sources[0].with_file_name("check.h");
    for path in app.sources.iter().chain([&header]) {
        text += &fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    }
    let digest = Digest::of(text.as_bytes()).to_string();
    let built =
        Path::new(PLACE).join(format!("{}-{}-{}", app.name, setting.name(), digest.get(..16).unwrap_or(&digest)));
    if !built.exists() {
        let unfinished = built.with_extension("unfinished");
        let mut args: Vec<&str> = flags.iter().map(String::as_str).collect();
        args.extend(["-o", unfinished.to_str().context("a path")?]);
        for source in &app.sources {
            args.push(source.to_str().context("a path")?);
        }
        nvcc.compile(Path::new(PLACE), &args)?;
        fs::rename(&unfinished, &built).with_context(|| format!("name {}", built.display()))?;
    }
    Ok(built)
}

/// Runs an application and compares what it prints with what it should.
fn try_out(way: Way<'_>, app: &App, built: &Path, recording: &str) -> Result<()> {
    let output = run(way, built, recording)?;
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    if stdout != app.expected || !output.status.success() {
        bail!("ended with {}, printed\n{stdout}and said\n{stderr}", output.status);
    }
    match &app.complaint {
        Some(complaint) => ensure!(stderr.contains(complaint), "did not say `{complaint}` but\n{stderr}"),
        None => ensure!(stderr.is_empty(), "printed to standard error:\n{stderr}"),
    }
    Ok(())
}

fn run(way: Way<'_>, built: &Path, recording: &str) -> Result<Output> {
    let mut command = Command::new(way.program);
    command.arg("run");
    if let Some(folder) = way.record {
        command.arg("--record").arg(folder.join(recording));
    }
    command.arg("--").arg(built).current_dir(PLACE);
    command.output().with_context(|| format!("start {}", way.program.display()))
}

/// A line for each application.
fn list(apps: &[App], trials: &[Trial<'_>]) -> Result<()> {
    for app in apps {
        let of_app = trials.iter().filter(|trial| trial.app.name == app.name);
        let words: Vec<String> =
            of_app.map(|trial| format!("{} {}", SETTINGS[trial.setting].name(), trial.word())).collect();
        say(&format!("{:<16} {}", app.name, words.join(", ")))?;
    }
    Ok(())
}

/// A row for each application, a column for each setting.
fn table(apps: &[App], trials: &[Trial<'_>]) -> Result<()> {
    let row = |name: &str, words: &[String]| {
        let cells: String = words.iter().map(|word| format!(" {word:>6}")).collect();
        say(&format!("{name:<16}{cells}"))
    };
    row("", &SETTINGS.map(Setting::name))?;
    for app in apps {
        let of_app = |setting| trials.iter().find(|trial| trial.app.name == app.name && trial.setting == setting);
        let words = (0..SETTINGS.len()).map(|setting| of_app(setting).map_or("n/a", Trial::word).to_owned());
        row(&app.name, &words.collect::<Vec<_>>())?;
    }
    for app in apps {
        let without = (0..SETTINGS.len()).filter(|&setting| !app.takes(setting)).count();
        if without > 0 {
            say(&format!("{} is not built at {without} settings: it needs compute_{}", app.name, app.needs))?;
        }
    }
    Ok(())
}

impl Trial<'_> {
    fn word(&self) -> &'static str {
        match (&self.failure, &self.app.unsupported) {
            (None, _) => "ok",
            (Some(_), Some(_)) => "not yet",
            (Some(_), None) => "FAILED",
        }
    }
}

/// Says what cannot pass and why, and what failed.
///
/// # Errors
/// An application failed without a reason on file, or has a reason on file and passes at all settings.
fn judge(apps: &[App], trials: &[Trial<'_>], all: bool) -> Result<usize> {
    let mut wrong = Vec::new();
    for trial in trials.iter().filter(|trial| trial.app.unsupported.is_none()) {
        if let Some(failure) = &trial.failure {
            wrong.push(format!("{} at {}: {failure}", trial.app.name, SETTINGS[trial.setting].name()));
        }
    }
    let mut unsupported = 0;
    for app in apps {
        let Some(reason) = &app.unsupported else { continue };
        let mut of_app = trials.iter().filter(|trial| trial.app.name == app.name);
        if all && of_app.all(|trial| trial.failure.is_none()) {
            wrong.push(format!("{0} passes: delete filetests/apps/{0}.unsupported", app.name));
        } else {
            unsupported += 1;
            say(&format!("not supported yet: {}: {reason}", app.name))?;
        }
    }
    let passed = trials.iter().filter(|trial| trial.failure.is_none()).count();
    say(&format!("applications: {} of {} not supported yet", unsupported, apps.len()))?;
    ensure!(wrong.is_empty(), "{} failed:\n{}", wrong.len(), wrong.join("\n"));
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_has_a_second_setting() {
        for name in ["a", "features", "textures"] {
            assert!((1..SETTINGS.len()).contains(&other_setting(name)));
        }
    }

    #[test]
    fn applications_say_what_they_print() {
        assert!(find().unwrap().iter().all(|app| app.expected.lines().count() > 1));
    }
}
