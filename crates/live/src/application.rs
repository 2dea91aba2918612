//! An application whose golden run is done, and its live runs.

use crate::app_outputs::{AppOutputs, VaryingOutputs, describe};
use crate::error::{LiveError, tail};
use crate::golden_trace;
use crate::judge::Judge;
use crate::observe::{Outputs, failure, observe};
use crate::scratch::Scratch;
use campaign::{Live, RunFailure};
use capsule::Capsule;
use cudart::live::corruption::Corruption;
use cudart::live::device_op::{Fingerprint, fingerprints};
use cudart::live::golden_trace::same_arguments;
use cudart::live::report::LiveReport;
use cudart::live::{Orders, VARIABLE};
use cudart::runner::{Application, PreparedApplication, SILENT};
use fault::Fault;
use inject::Golden;
use outcome::{End, Host, Observation, Verdict};
use process::{Limits, ProcessEnd, Reaper};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs, io};

/// The factor of the time limit: a run may take the time of the golden run times this, plus [`TIME_CONSTANT`].
const TIME_FACTOR: f64 = 10.0;
/// The constant part of the time limit, in seconds.
const TIME_CONSTANT: f64 = 5.0;
/// Runs without a fault that follow one that was not like the golden run.
const MORE_REHEARSALS: usize = 3;
/// Longer than a clock that counts seconds shows the same.
const SECOND: Duration = Duration::from_millis(1050);
/// The time limit of the golden run, unless the user sets another.
const GOLDEN_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// The factor of the size limit: files and outputs may be this many times as large as the largest of the golden run.
const SIZE_FACTOR: u64 = 16;
/// The size in bytes that files and outputs may have in any case.
const SIZE_LEAST: u64 = 64 << 20;

/// An application whose golden run is done. When it is dropped, and also when we end in any other way, its temporary
/// files go.
#[derive(Debug)]
pub struct GoldenApplication {
    prepared: PreparedApplication,
    /// The program and its arguments; the program's path is absolute if it is one.
    pub(crate) words: Vec<String>,
    pub(crate) scratch: Scratch,
    pub(crate) files: Vec<String>,
    pub(crate) outputs: AppOutputs,
    /// What of them is not the same each time.
    pub(crate) varying: VaryingOutputs,
    /// The code that it ended with: what it returns when all is well.
    code: i32,
    pub(crate) judge: Option<Judge>,
    capsule: Capsule,
    pub(crate) time: Duration,
    /// The time that the user gave a run, the golden one included.
    pub(crate) timeout: Option<Duration>,
    pub(crate) file_bytes: u64,
    pub(crate) judged: AtomicU64,
    /// Last, so that it goes last.
    pub(crate) reaper: Reaper,
}

impl GoldenApplication {
    /// Runs an application without a fault, and records it.
    ///
    /// # Errors
    /// If it cannot be run or recorded, or a signal ends it.
    pub fn new(live: &Live) -> Result<Self, LiveError> {
        let reaper = Reaper::new().map_err(LiveError::Prepare)?;
        let directory = live.directory.as_ref().map_or_else(|| PathBuf::from("."), PathBuf::from);
        let root = (!live.in_place).then(|| reaper.directory().to_owned());
        let mut scratch = Scratch::new(&directory, root, &live.file)?;
        let prepared = prepared(live, scratch.start())?;
        let path = reaper.directory().join("golden.capsule");
        let (place, copied) = scratch.first_place(&live.file).map_err(LiveError::Prepare)?;
        let recorded = prepared.clone().recording(Some(&path))?;
        let limit = live.timeout.map(Duration::from_secs_f64);
        let limits = Limits { time: limit.unwrap_or(GOLDEN_TIME), file_bytes: u64::MAX, files: &[] };
        let mut ended = start(&recorded, &place.path, None, &limits, &reaper).map_err(LiveError::Prepare)?;
        if let (None, Some(limit)) = (ended.status, live.timeout) {
            return Err(LiveError::TimeOver { limit });
        }
        let Some(code) = ended.code() else {
            return Err(LiveError::Ended { how: how(&ended), said: tail(&ended.stderr) });
        };
        let outputs = AppOutputs::of(&mut ended, &place.path, &live.file);
        if let Some((name, _)) = live.file.iter().zip(&outputs.files).find(|(_, content)| content.is_none()) {
            return Err(LiveError::NoFile { name: name.clone() });
        }
        scratch.check()?;
        scratch.learn(&place, &copied);
        if !path.exists() {
            return Err(LiveError::NotRecorded { said: tail(&outputs.stderr) });
        }
        let capsule = Capsule::open(&path)?;
        let allowed = TIME_CONSTANT + TIME_FACTOR * ended.seconds;
        let time = Duration::from_secs_f64(live.timeout.unwrap_or(allowed));
        let judge = live.judge.as_ref().map(|command| {
            Judge::new(command.clone(), reaper.directory(), scratch.start(), &live.file, &outputs, time)
        });
        Ok(Self {
            judge: judge.transpose().map_err(LiveError::Prepare)?,
            file_bytes: SIZE_LEAST.max(SIZE_FACTOR.saturating_mul(outputs.largest() as u64)),
            files: live.file.clone(),
            words: words(live, scratch.start()),
            timeout: limit,
            prepared,
            scratch,
            outputs,
            varying: VaryingOutputs::default(),
            code,
            capsule,
            time,
            judged: AtomicU64::new(0),
            reaper,
        })
    }

    /// What it gave the GPU to do.
    #[must_use]
    pub fn capsule(&self) -> &Capsule {
        &self.capsule
    }

    /// Checks that it does what the capsule of a golden run holds.
    ///
    /// # Errors
    /// Where it does something else first; or if contents cannot be read.
    pub fn check_same(&self, golden: &Golden) -> Result<(), LiveError> {
        let (expected, found) = (fingerprints(golden.capsule())?, fingerprints(&self.capsule)?);
        let events = expected.len().max(found.len());
        let differs = |event: &usize| expected.get(*event) != found.get(*event);
        let what = |prints: &[Fingerprint], event: usize| {
            prints.get(event).map_or_else(|| "the end".to_owned(), |print| print.what())
        };
        let other_arguments = || {
            let mut launches = golden.launches().iter().zip(self.capsule.launches());
            let differing = launches.find(|(known, (_, launch))| {
                !same_arguments(&golden.recorded(known).params, &launch.params, golden.read_arguments(known))
            });
            differing.map(|(known, _)| known.event)
        };
        match (0..events).find(differs).or_else(other_arguments) {
            Some(event) => {
                let (expected, found) = (what(&expected, event), what(&found, event));
                Err(LiveError::OtherWork { event, expected, found })
            }
            None => Ok(()),
        }
    }

    /// The trace of a golden run of its work, as a file that every run reads.
    pub(crate) fn trace(&self, golden: &Golden) -> Result<File, LiveError> {
        process::sealed_file(&golden_trace::write(golden)?).map_err(LiveError::Prepare)
    }

    /// Runs it again without a fault: it must do and leave the same, or no difference would mean anything. Where nobody judges,
    /// numbers that are not the same are left out from then on, and it runs some more times to find them all. Where it leaves a
    /// time of day, one of these runs is in a later second.
    pub(crate) fn rehearse(&mut self, golden: &Golden, trace: &File, replay: bool) -> Result<(), LiveError> {
        let mut learned = self.rehearsal(golden, trace, replay)?;
        if self.outputs.has_clock() {
            sleep(SECOND);
            learned |= self.rehearsal(golden, trace, replay)?;
        }
        for _ in 0..if learned { MORE_REHEARSALS } else { 0 } {
            self.rehearsal(golden, trace, replay)?;
        }
        Ok(())
    }

    /// What of its outputs is left out when runs are compared.
    pub(crate) fn note(&self) -> Option<String> {
        self.varying.describe(&self.outputs, &self.files)
    }

    /// Whether something had to be left out.
    fn rehearsal(&mut self, golden: &Golden, trace: &File, replay: bool) -> Result<bool, LiveError> {
        let not_repeated = |what: String| Err(LiveError::NotRepeated(what));
        let run = self.run(golden, trace, replay, Twist::None).map_err(LiveError::Prepare)?;
        if let Some(reason) = failure(&run.report) {
            return not_repeated(reason.to_owned());
        }
        if run.ended.code() != Some(self.code) {
            return not_repeated(format!("the second time, the application {}", how(&run.ended)));
        }
        let (found, expected) = (run.report.counters.launches, golden.launches().len() as u64);
        if found != expected {
            return not_repeated(format!(
                "the second time, the application made {found} launches instead of {expected}"
            ));
        }
        let mut learned = false;
        let mut run = run;
        if self.judge.is_none() && run.host.differs() {
            // Some of it may be learned although another part is no number.
            learned = self.varying.learn(&self.outputs, &run.outputs);
            run.host = run.outputs.differs(&self.outputs, &self.files, &self.varying);
        }
        match self.judged(&run) {
            Ok(None) if run.host.differs() => not_repeated(format!("{} differs the second time", describe(&run.host))),
            Ok(Some(verdict)) if verdict != Verdict::Acceptable => {
                not_repeated(format!("the judge finds the second run {verdict}, and nothing was wrong"))
            }
            Ok(_) => self.scratch.check().map(|()| learned),
            Err(reason) => not_repeated(reason),
        }
    }

    /// Runs it with a fault.
    pub(crate) fn inject(
        &self,
        golden: &Golden,
        outputs: &Outputs,
        trace: &File,
        replay: bool,
        fault: &Fault,
    ) -> Result<Observation, RunFailure> {
        let run = self.run(golden, trace, replay, Twist::Fault(fault));
        let run = run.map_err(|error| RunFailure::new(format!("run the application: {error}")))?;
        let seen = observe(golden, outputs, fault, &run.ended, &run.report, run.host.clone(), self.code)
            .map_err(RunFailure::new)?;
        let verdict = if seen.end == End::Completed { self.judged(&run).map_err(RunFailure::new)? } else { None };
        let host = seen.host.map(|host| Host { verdict, ..host });
        Ok(Observation { host, ..seen })
    }

    /// Whether its host acts on what it is given after its last launch: with every copy from then on corrupted, and without a
    /// fault, it does other work, or ends otherwise or not at all.
    pub(crate) fn acts_on_results(&self, golden: &Golden, trace: &File, replay: bool) -> Result<bool, LiveError> {
        for &corruption in Corruption::ALL {
            let run = self.run(golden, trace, replay, Twist::Corruption(corruption)).map_err(LiveError::Prepare)?;
            let done = run.report.counters.operations;
            let same = failure(&run.report).is_none() && done == golden.capsule().events.len() as u64;
            if !same || run.ended.code() != Some(self.code) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the judge says of a run, if there is a judge and anything to be judged.
    fn judged(&self, run: &Ran) -> Result<Option<Verdict>, String> {
        self.judgement(&run.outputs, &run.host)
    }

    pub(crate) fn judgement(&self, outputs: &AppOutputs, host: &Host) -> Result<Option<Verdict>, String> {
        let Some(judge) = self.judge.as_ref().filter(|_| host.differs()) else { return Ok(None) };
        let number = self.judged.fetch_add(1, Ordering::Relaxed);
        let place = self.reaper.directory().join(format!("judged-{number:010}"));
        judge.judge(outputs, &place, &self.reaper).map(Some)
    }

    fn run(&self, golden: &Golden, trace: &File, replay: bool, twist: Twist<'_>) -> io::Result<Ran> {
        let place = self.scratch.place(&self.files)?;
        let report = process::memory_file()?;
        let orders = Orders {
            trace: number(trace),
            report: number(&report),
            parent: std::process::id(),
            fuel: golden.fuel(),
            loops: golden.loops(),
            addresses: Arc::clone(golden.addresses()),
            interleaved: golden.interleaved(),
            replay,
            fault: if let Twist::Fault(fault) = twist { Some(fault.to_string()) } else { None },
            corruption: if let Twist::Corruption(corruption) = twist { Some(corruption) } else { None },
        };
        // The report may hold every copy that the host makes.
        let copies: u64 = golden.copies().iter().map(|copy| copy.bytes.len() as u64).sum();
        let file_bytes = self.file_bytes.max(copies.saturating_mul(SIZE_FACTOR));
        let limits = Limits { time: self.time, file_bytes, files: &[trace, &report] };
        let mut ended = start(&self.prepared, &place.path, Some(&orders), &limits, &self.reaper)?;
        let report = LiveReport::read(&process::contents(&report)?);
        let report =
            report.ok_or_else(|| io::Error::other(format!("it {} before it came to the CUDA runtime", how(&ended))))?;
        let outputs = AppOutputs::of(&mut ended, &place.path, &self.files);
        let host = outputs.differs(&self.outputs, &self.files, &self.varying);
        Ok(Ran { ended, report, outputs, host })
    }
}

impl Drop for GoldenApplication {
    /// In place, what the golden run left is there at the end, and not what the last faulty one did.
    fn drop(&mut self) {
        if self.scratch.in_place() {
            for (name, content) in self.files.iter().zip(&self.outputs.files) {
                if let Some(content) = content {
                    // There is nobody to tell.
                    let _ = fs::write(self.scratch.start().join(name), content);
                }
            }
        }
    }
}

/// What is otherwise in a run than in the golden one.
enum Twist<'f> {
    None,
    Fault(&'f Fault),
    /// Of what the host gets after the last launch.
    Corruption(Corruption),
}

/// A run that is over.
struct Ran {
    ended: ProcessEnd,
    report: LiveReport,
    outputs: AppOutputs,
    host: Host,
}

/// The application as it is started; a relative path of the program is meant from its directory.
fn prepared(live: &Live, directory: &Path) -> Result<PreparedApplication, LiveError> {
    let mut words = live.app.words().iter();
    let name = words.next().map_or("", String::as_str);
    let relative = name.contains('/') && Path::new(name).is_relative();
    let program = if relative { directory.join(name).into() } else { name.into() };
    let run = Application { program, args: words.map(Into::into).collect(), ..Application::default() };
    Ok(run.prepare()?.called(name).anywhere())
}

/// The same as words, for who starts it in another way.
fn words(live: &Live, directory: &Path) -> Vec<String> {
    let mut words = live.app.words().to_vec();
    if let Some(name) = words.first_mut().filter(|name| name.contains('/') && Path::new(name.as_str()).is_relative()) {
        *name = directory.join(&*name).to_string_lossy().into_owned();
    }
    words
}

pub(crate) fn start(
    prepared: &PreparedApplication,
    directory: &Path,
    orders: Option<&Orders>,
    limits: &Limits<'_>,
    reaper: &Reaper,
) -> io::Result<ProcessEnd> {
    let mut command = prepared.command();
    command.current_dir(directory).env(SILENT, "1");
    if env::var_os("PWD").is_some() {
        command.env("PWD", directory);
    }
    if let Some(orders) = orders {
        command.env(VARIABLE, orders.to_string());
    }
    process::run(command, limits, reaper)
}

fn number(file: &File) -> i32 {
    std::os::fd::AsRawFd::as_raw_fd(file)
}

/// How a process ended, in words that follow its name.
pub(crate) fn how(ended: &ProcessEnd) -> String {
    match (ended.code(), ended.signal()) {
        (Some(code), _) => format!("ended with code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => format!("was stopped after {:.1} seconds", ended.seconds),
    }
}
