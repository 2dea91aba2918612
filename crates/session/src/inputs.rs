//! Inputs of an application as capsules: a bundled workload's, or those of an executable with a description.

use crate::bundled::{self, Bundled};
use crate::error::{ErrorKind, SessionError};
use crate::open::{open, open_recording};
use campaign::{Choices, CommandLine};
use capsule::Capsule;
use live::{Recorder, Recording};
use methods::kit::{Inputs, OpenedCapsule, Realised, StudyError, hash_named_files};
use space::{FileSource, Point, Space, SpaceError};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An application that can be run with any input of its space.
pub struct RecordedInputs {
    name: String,
    words: String,
    program: PathBuf,
    space: Space,
    /// The directory of the description, from which its files are named.
    place: PathBuf,
    recorder: Recorder,
    workload: Option<Bundled>,
    choices: Choices,
}

/// Bytes of a description, at most: a device may have no end.
const MOST_BYTES: u64 = 1 << 20;

/// The text of a description, of a file or of a pipe.
fn description(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("it has more than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

/// Opens an application with its space: a bundled workload, or an executable with the description in a file. `choices` are
/// those of each input's session.
///
/// # Errors
/// If there is none, it has no space, or it cannot be run here.
pub fn open_inputs(app: &str, file: Option<&Path>, choices: Choices) -> Result<RecordedInputs, SessionError> {
    let workload = bundled::find(app);
    let text = match (file, workload) {
        (Some(path), _) => description(path).map_err(|error| {
            SessionError::new(ErrorKind::Refused, format!("read the space {}: {error}", path.display()))
        })?,
        (None, Some(workload)) => workload.space().map(str::to_owned).ok_or_else(|| no_space(app))?,
        (None, None) => return Err(no_space(app)),
    };
    let described = |error: SpaceError| {
        let file = file.map_or_else(|| format!("the space of {app}"), |path| path.display().to_string());
        SessionError::new(ErrorKind::Refused, format!("read {file}: {error}"))
    };
    let space = Space::read(&text).map_err(described)?;
    let program = match workload {
        Some(workload) => workload.place_application()?,
        None => PathBuf::from(app),
    };
    let recorder = Recorder::new(&program)?;
    let name = Path::new(app).file_name().and_then(|name| name.to_str()).unwrap_or(app).to_owned();
    let mut words = vec![app.to_owned()];
    words.extend(file.iter().flat_map(|path| ["--space".to_owned(), path.display().to_string()]));
    let words = CommandLine::new(words).map_or_else(|_| app.to_owned(), |words| words.to_string());
    let parent = file.and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    let place = parent.unwrap_or(Path::new(".")).to_owned();
    Ok(RecordedInputs { name, words, program, space, place, recorder, workload, choices })
}

fn no_space(app: &str) -> SessionError {
    let known: Vec<&str> = bundled::all().filter(|it| it.space().is_some()).map(|it| it.name).collect();
    let message = format!("vary the input of `{app}`: nothing says what may vary");
    let help = format!(
        "describe it in a file and name that with --space F.toml; bundled workloads with a space are {}",
        known.join(", ")
    );
    SessionError::new(ErrorKind::Words, message).with_help(help)
}

impl RecordedInputs {
    fn capsule(&self, point: &Point) -> Result<Result<(Capsule, f64), Realised>, SessionError> {
        let (arguments, seconds) = (self.space.arguments(point), self.space.limits().seconds);
        let time = Duration::from_secs_f64(seconds);
        let mut files = Vec::new();
        for (name, source) in self.space.files(point) {
            match self.contents(source, time)? {
                Ok(bytes) => files.push((name.to_owned(), bytes)),
                Err(why) => return Ok(Err(Realised::Not(format!("its file {name} cannot be made: {why}")))),
            }
        }
        let not = |why: String| Err(Realised::Not(why));
        Ok(match self.recorder.record(&arguments, &files, time)? {
            Recording::Done(mut capsule, seconds) => {
                if let Some(workload) = self.workload {
                    capsule.outputs = workload.outputs(&capsule);
                }
                Ok((*capsule, seconds))
            }
            Recording::Ended(how) => not(format!("the application {how}")),
            Recording::TimeOver => Err(Realised::NotNow(format!("the application took longer than {seconds} s"))),
            Recording::NoRoom(why) => Err(Realised::NotNow(format!("the machine had no room for it: {why}"))),
            Recording::NotRecorded(said) if said.is_empty() => not("the application gave the GPU nothing to do".into()),
            Recording::NotRecorded(said) => not(format!("the application left no recording: {said}")),
        })
    }

    /// The contents of a file of an input, or why it cannot be made.
    fn contents(&self, source: FileSource, time: Duration) -> Result<Result<Vec<u8>, String>, SessionError> {
        Ok(match source {
            FileSource::Text(text) => Ok(text.into_bytes()),
            FileSource::Command(words) => self.recorder.printed(&words, &self.place, time)?,
            FileSource::Copy(name) => {
                let path = self.place.join(name);
                fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
            }
        })
    }
}

impl RecordedInputs {
    fn kept_at(&self, point: &Point, dir: &Path) -> PathBuf {
        dir.join(format!("{}.capsule", campaign::names::file_name(&format!("{}_{point}", self.name))))
    }

    fn open_at(&self, path: &Path) -> Result<OpenedCapsule, StudyError> {
        let name = Some(path.display().to_string());
        let session = open(Choices { capsule: name, no_app: true, ..self.choices.clone() }).map_err(refused)?;
        let opened = session.opened_capsule().map_err(refused)?;
        opened.ok_or_else(|| StudyError::Refused(format!("open {}: it is not a program of a GPU", path.display())))
    }
}

fn refused(error: SessionError) -> StudyError {
    StudyError::Refused(error.to_string())
}

impl Inputs for RecordedInputs {
    fn name(&self) -> &str {
        &self.name
    }

    fn words(&self) -> String {
        self.words.clone()
    }

    fn space(&self) -> &Space {
        &self.space
    }

    fn realise(&self, point: &Point) -> Result<Realised, StudyError> {
        match self.space.check(point) {
            Ok(()) => {}
            Err(error) => return Ok(Realised::Not(error.violation().unwrap_or_else(|| error.to_string()))),
        }
        let (mut capsule, seconds) = match self.capsule(point).map_err(refused)? {
            Ok(recorded) => recorded,
            Err(not) => return Ok(not),
        };
        capsule.name = self.capsule_name(point);
        let session = match open_recording(self.choices.clone(), capsule.into()) {
            Ok(session) => session,
            Err(error) => return Ok(Realised::Not(error.to_string())),
        };
        let Some(opened) = session.opened_capsule().map_err(refused)? else {
            return Ok(Realised::Not("it is not a program of a GPU".to_owned()));
        };
        let instructions = opened.golden_run().thread_instructions();
        let most = self.space.limits().instructions;
        if instructions > most {
            return Ok(Realised::Not(format!(
                "it is too large: {instructions} thread instructions, of {most} at most"
            )));
        }
        Ok(Realised::Ready(Box::new(opened), seconds))
    }

    fn identity(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // The program was read a moment ago; without it there are no inputs.
        hasher.update(&fs::read(&self.program).unwrap_or_default());
        hasher.update(format!("{:?} {:?}", self.space, self.choices).as_bytes());
        // The files that files are made of; a name that changes with the input is not among them.
        for (_, source) in self.space.files(&self.space.reference()) {
            let words = match source {
                FileSource::Text(_) => Vec::new(),
                FileSource::Command(words) => words,
                FileSource::Copy(name) => vec![name],
            };
            hash_named_files(&mut hasher, &self.place, words.iter().map(String::as_str));
        }
        hasher.finalize().to_hex().to_string()
    }

    fn keep(&mut self, point: &Point, capsule: &OpenedCapsule, dir: &Path) -> Result<OpenedCapsule, StudyError> {
        let path = self.kept_at(point, dir);
        let failed = |error: String| StudyError::Refused(format!("write {}: {error}", path.display()));
        fs::create_dir_all(dir).map_err(|error| failed(error.to_string()))?;
        capsule.golden_run().capsule().write(&path).map_err(|error| failed(error.to_string()))?;
        self.open_at(&path)
    }

    fn open_kept(&mut self, point: &Point, digest: &str, dir: &Path) -> Result<Option<OpenedCapsule>, StudyError> {
        let path = self.kept_at(point, dir);
        // Another program may have left one of this name.
        match Capsule::open(&path) {
            Ok(capsule) if capsule.digest().to_string() == digest => self.open_at(&path).map(Some),
            _ => Ok(None),
        }
    }

    fn command(&self, point: &Point) -> String {
        let program = std::path::absolute(&self.program).unwrap_or_else(|_| self.program.clone());
        let line = quoted(std::iter::once(program.display().to_string()).chain(self.space.arguments(point)));
        let files = self.space.files(point).flat_map(|(name, source)| file_steps(name, source, &self.place));
        let files: Vec<String> = files.collect();
        if files.is_empty() {
            return format!("beamline run --record F.capsule -- {line}");
        }
        // As for a search, the files lie in an empty directory: those of the user stay as they are.
        let files = files.join(" && ");
        format!("(cd \"$(mktemp -d)\" && {files} && beamline run --record \"$OLDPWD/F.capsule\" -- {line})")
    }
}

/// The commands of a shell that make a file of an input in the directory in which they run.
fn file_steps(name: &str, source: FileSource, place: &Path) -> Vec<String> {
    // The files of the space are named from its own directory.
    let place = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
    let words = |words: &[&str]| quoted(words.iter().map(|&word| word.to_owned()));
    let folder = Path::new(name).parent().filter(|it| !it.as_os_str().is_empty());
    let mut steps: Vec<String> =
        folder.iter().map(|folder| words(&["mkdir", "-p", &folder.display().to_string()])).collect();
    steps.push(match source {
        FileSource::Text(text) => format!("{} > {}", words(&["printf", "%s", &text]), words(&[name])),
        FileSource::Command(command) => {
            let within = words(&["cd", &place.display().to_string()]);
            format!("({within} && {}) > {}", quoted(command.into_iter()), words(&[name]))
        }
        FileSource::Copy(from) => words(&["cp", &place.join(from).display().to_string(), name]),
    });
    steps
}

/// Words as a shell takes them; nothing where one of them has a zero byte.
fn quoted(words: impl Iterator<Item = String>) -> String {
    CommandLine::new(words.collect()).map_or_else(|_| String::new(), |line| line.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_an_input_are_made_by_a_shell_as_they_are_for_a_search() {
        let dir = tempfile::tempdir().unwrap();
        let (place, run) = (dir.path().join("space dir"), dir.path().join("run"));
        fs::create_dir_all(&place).unwrap();
        fs::create_dir_all(&run).unwrap();
        fs::write(place.join("weights"), "w").unwrap();
        let text = "it's 5 %d\n".to_owned();
        let sources = [
            ("a/b.txt", FileSource::Text(text.clone()), text.as_str()),
            ("c", FileSource::Command(vec!["cat".into(), "weights".into()]), "w"),
            ("d", FileSource::Copy("weights".into()), "w"),
        ];
        for (name, source, contents) in sources {
            let line = file_steps(name, source, &place).join(" && ");
            let ended = std::process::Command::new("sh").args(["-c", &line]).current_dir(&run).status().unwrap();
            assert!(ended.success(), "{line}");
            assert_eq!(fs::read_to_string(run.join(name)).unwrap(), contents, "{line}");
        }
    }
}
