//! Commands that published methods add.

use crate::args::{FileArgs, InputArgs, MethodArgs};
use crate::commands::comparison::Shell;
use crate::commands::study::{ProgressPrinter, campaigns, capsule_of, failure, open, write_plots};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{SAME_COMMAND, stop_on_interrupt};
use crate::out;
use anyhow::Context as _;
use campaign::Choices;
use methods::kit::{CommandStarter, InputHistory, Inputs as _, StudyEvent};
use methods::{Answer, CommandOption, FilesRequest, InputRequest, Options, Request, registry};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Answers a command.
pub(crate) fn answer(args: MethodArgs) -> Result<Code, Failure> {
    let Some(command) = registry::commands().find(|command| command.name == args.name) else {
        return Err(Failure::new(Code::Bug, anyhow::anyhow!("find the command `{}`", args.name)));
    };
    let stop = stop_on_interrupt(SAME_COMMAND)?;
    check_written(command.options, &args.options, args.plot.as_deref())?;
    let declared = session::bundled::find(&args.capsule).map(|it| it.toml().to_owned());
    let asks_none = args.no_app || command.without.iter().any(|(option, _)| *option == "no_app");
    let criteria = command.criteria.map(|of| of(&args.options, declared.as_deref()));
    let criteria = criteria.transpose().map_err(failure)?.unwrap_or_default();
    let session = open(&args.capsule, &args.kept, asks_none, criteria)?;
    let commands: Option<Arc<dyn CommandStarter>> = Some(Arc::new(Shell));
    let request = Request { capsule: capsule_of(&session)?, declared, options: args.options, commands };
    let mut told = ProgressPrinter::default();
    let mut event = |name: &str, event: &StudyEvent<'_>| told.event(name, event);
    let mut campaigns = campaigns(&args.kept, &stop, &mut event);
    let answer = (command.run)(&request, &mut campaigns).map_err(failure)?;
    write_plot(args.plot.as_deref(), answer.study.plots.first())?;
    show(&answer, args.json)
}

/// Answers a command about the inputs of an application.
pub(crate) fn answer_inputs(args: InputArgs) -> Result<Code, Failure> {
    let Some(command) = registry::input_commands().find(|command| command.name == args.name) else {
        return Err(Failure::new(Code::Bug, anyhow::anyhow!("find the command `{}`", args.name)));
    };
    let stop = stop_on_interrupt(SAME_COMMAND)?;
    check_written(command.options, &args.options, None)?;
    let declared = session::bundled::find(&args.app).map(|it| it.toml().to_owned());
    let criteria = command.criteria.map(|of| of(&args.options, declared.as_deref()));
    let criteria = criteria.transpose().map_err(failure)?.unwrap_or_default();
    let choices = Choices { criteria, fuel: args.kept.fuel, ..Choices::default() };
    let mut inputs = session::inputs::open_inputs(&args.app, args.space.as_deref(), choices)?;
    let history = InputHistory::open(&args.kept.out, inputs.name(), &inputs.identity()).map_err(failure)?;
    let mut request = InputRequest { inputs: &mut inputs, declared, options: args.options };
    let mut told = ProgressPrinter::default();
    let mut event = |name: &str, event: &StudyEvent<'_>| told.event(name, event);
    let mut campaigns = campaigns(&args.kept, &stop, &mut event);
    campaigns.history = Some(history);
    let answer = (command.run)(&mut request, &mut campaigns).map_err(failure)?;
    if let Some(dir) = &args.plots {
        write_plots(dir, &answer.study, args.name)?;
    }
    show(&answer, args.json)
}

/// Answers a command that reads files.
pub(crate) fn answer_files(args: FileArgs) -> Result<Code, Failure> {
    let Some(reader) = registry::readers().find(|reader| reader.name == args.name) else {
        return Err(Failure::new(Code::Bug, anyhow::anyhow!("find the command `{}`", args.name)));
    };
    let mut known: Vec<PathBuf> = Vec::new();
    let mut files = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        let read = || format!("read {name}");
        let real = path.canonicalize().with_context(read).code(Code::Refused)?;
        if known.contains(&real) {
            return Err(Failure::new(Code::Usage, anyhow::anyhow!("read {name} twice: leave it out once")));
        }
        known.push(real);
        // Bytes that are no text are for the reader to find.
        let bytes = std::fs::read(path).with_context(read).code(Code::Refused)?;
        files.push((name, String::from_utf8_lossy(&bytes).into_owned()));
    }
    let answer = (reader.run)(&FilesRequest { files, options: args.options }).map_err(failure)?;
    let written = answer.files.iter().find(|(path, _)| path.canonicalize().is_ok_and(|path| known.contains(&path)));
    if let Some((path, _)) = written {
        let why = anyhow::anyhow!("write {}, which was read: name another file", path.display());
        return Err(Failure::new(Code::Usage, why));
    }
    show(&answer, args.json)
}

/// Checks before anything runs that files can be written which options name, and that each is another one.
fn check_written(all: &[CommandOption], options: &Options, plot: Option<&Path>) -> Result<(), Failure> {
    let mut known: Vec<PathBuf> = Vec::new();
    let named = all.iter().filter(|option| option.is_written).filter_map(|option| options.values.get(option.key));
    for path in named.map(Path::new).chain(plot) {
        let writable = campaign::files::check_writable(path);
        writable.with_context(|| format!("write {}", path.display())).code(Code::Usage)?;
        let place = campaign::files::place(path).unwrap_or_else(|_| path.to_owned());
        if known.contains(&place) {
            let twice = anyhow::anyhow!("write two files to {}: give each a name of its own", path.display());
            return Err(Failure::new(Code::Usage, twice));
        }
        known.push(place);
    }
    Ok(())
}

/// Writes the files of an answer, and prints it.
fn show(answer: &Answer, json: bool) -> Result<Code, Failure> {
    for (path, text) in &answer.files {
        out::file(path, text)?;
    }
    for (path, picture) in &answer.pictures {
        if let Some(dir) = path.parent() {
            let made = std::fs::create_dir_all(dir).with_context(|| format!("make the directory {}", dir.display()));
            made.code(Code::Usage)?;
        }
        let drawn = report::study::png(picture).with_context(|| format!("draw {}", path.display()));
        out::file(path, drawn.code(Code::Bug)?)?;
    }
    answer.sheets.iter().try_for_each(|(path, sheet)| write_sheet(path, sheet))?;
    if json {
        out::json(&answer.json)?;
    } else {
        out::text(&report::study::text(&answer.study))?;
    }
    Ok(Code::Done)
}

/// Writes rows as Parquet.
#[cfg(feature = "parquet")]
fn write_sheet(path: &Path, sheet: &study::Sheet) -> Result<(), Failure> {
    let written = campaign::files::write(path, |file| report::write_sheet(sheet, file).map_err(anyhow::Error::from));
    let rows = written.with_context(|| format!("write {}", path.display())).code(Code::Usage)?;
    out::note(&format!("wrote {}, {} rows", path.display(), out::number(rows)));
    Ok(())
}

#[cfg(not(feature = "parquet"))]
fn write_sheet(path: &Path, _: &study::Sheet) -> Result<(), Failure> {
    let error = anyhow::anyhow!("write {}: this beamline was built without the feature `parquet`", path.display());
    Err(Failure::new(Code::Usage, error).help("build it with `cargo build --release --features parquet`"))
}

fn write_plot(path: Option<&Path>, plot: Option<&study::Plot>) -> Result<(), Failure> {
    match (path, plot) {
        (None, _) => Ok(()),
        (Some(path), Some(plot)) => out::file(path, report::study::svg(plot)),
        (Some(_), None) => Err(Failure::new(Code::Usage, anyhow::anyhow!("write a plot: this command draws none"))),
    }
}
