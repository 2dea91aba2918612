//! A command of the user that compares the outputs of a run with those of the golden run.
//!
//! It is given to `/bin/sh -c`. Its first two arguments are the golden and the faulty file of the first output. Two variables name
//! directories with a file for each output, by its name: `BEAMLINE_GOLDEN` and `BEAMLINE_FAULTY`.

use campaign::names::file_name;
use methods::kit::{CommandStarter, OutputComparison};
use process::{Limits, ProcessEnd, Reaper};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The variable that names the directory of the golden outputs.
const GOLDEN: &str = "BEAMLINE_GOLDEN";
/// The variable that names the directory of the faulty outputs.
const FAULTY: &str = "BEAMLINE_FAULTY";
/// The size of a stream or file that a command may write, in bytes.
const MOST_BYTES: u64 = 64 << 20;
/// The length of a repeated complaint, in characters.
const MOST_SAID: usize = 200;

/// Starts such commands by a shell.
pub(crate) struct Shell;

/// A command, and the golden outputs that it compares with.
struct Comparison {
    command: String,
    time: Duration,
    /// The names of the files, in the order of the outputs.
    files: Vec<String>,
    /// The calls so far: each has a directory of its own.
    calls: AtomicU64,
    reaper: Reaper,
}

impl CommandStarter for Shell {
    fn comparison(
        &self,
        command: &str,
        seconds: f64,
        golden: &[(String, Vec<u8>)],
    ) -> Result<Box<dyn OutputComparison>, String> {
        let failed = |error: io::Error| format!("lay out the golden outputs for `{command}`: {error}");
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| format!("wait {seconds} seconds for `{command}`: expected a number from 0"))?;
        let reaper = Reaper::new().map_err(failed)?;
        // Names of outputs may differ in nothing that a file's name has.
        let mut files: Vec<String> = Vec::new();
        for (at, (name, _)) in golden.iter().enumerate() {
            let plain = file_name(name);
            files.push(if files.contains(&plain) { format!("{at}-{plain}") } else { plain });
        }
        let outputs: Vec<&[u8]> = golden.iter().map(|(_, bytes)| bytes.as_slice()).collect();
        lay_out(&reaper.directory().join("golden"), &files, &outputs).map_err(failed)?;
        Ok(Box::new(Comparison { command: command.to_owned(), time, files, calls: AtomicU64::new(0), reaper }))
    }
}

impl OutputComparison for Comparison {
    fn printed(&self, outputs: &[Vec<u8>]) -> Result<String, String> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let place = self.reaper.directory().join(format!("faulty-{call}"));
        let outputs: Vec<&[u8]> = outputs.iter().map(Vec::as_slice).collect();
        let ended = lay_out(&place, &self.files, &outputs).and_then(|()| self.run(&place));
        // What cannot be removed now goes with the directory of all.
        let _ = fs::remove_dir_all(&place);
        let ended = ended.map_err(|error| format!("run `{}`: {error}", self.command))?;
        if ended.code() == Some(0) {
            return Ok(String::from_utf8_lossy(&ended.stdout).into_owned());
        }
        let how = match (ended.code(), ended.signal()) {
            (Some(code), _) => format!("it ended with code {code}"),
            (None, Some(signal)) => format!("signal {signal} ended it"),
            (None, None) => format!("it took more than {} seconds", self.time.as_secs_f64()),
        };
        let said: String = String::from_utf8_lossy(&ended.stderr).trim().chars().take(MOST_SAID).collect();
        let said = if said.is_empty() { said } else { format!("; it said `{said}`") };
        Err(format!("run `{}`: {how}{said}", self.command))
    }
}

impl Comparison {
    fn run(&self, faulty: &Path) -> io::Result<ProcessEnd> {
        let golden = self.reaper.directory().join("golden");
        let first = self.files.first().map_or_else(PathBuf::new, PathBuf::from);
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&self.command).arg("metric").arg(golden.join(&first)).arg(faulty.join(&first));
        command.env(GOLDEN, &golden).env(FAULTY, faulty);
        process::run(command, &Limits { time: self.time, file_bytes: MOST_BYTES, files: &[] }, &self.reaper)
    }
}

/// Writes outputs into a new directory.
fn lay_out(place: &Path, files: &[String], outputs: &[&[u8]]) -> io::Result<()> {
    fs::create_dir(place)?;
    files.iter().zip(outputs).try_for_each(|(name, bytes)| fs::write(place.join(name), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(command: &str, seconds: f64) -> Result<String, String> {
        let golden = [("a/b".to_owned(), b"right".to_vec()), ("a:b".to_owned(), b"2".to_vec())];
        let comparison = Shell.comparison(command, seconds, &golden).unwrap();
        comparison.printed(&[b"wrong".to_vec(), b"3".to_vec()])
    }

    #[test]
    fn a_command_gets_golden_and_faulty_files_and_its_output_is_read() {
        let both = r#"echo "$(cat "$1") $(cat "$2") $(cat "$BEAMLINE_GOLDEN/1-a-b") $(cat "$BEAMLINE_FAULTY/1-a-b")""#;
        assert_eq!(printed(both, 20.0).as_deref(), Ok("right wrong 2 3\n"));
    }

    #[test]
    fn a_command_that_fails_or_hangs_says_how() {
        let failed = printed("echo 1; echo no >&2; exit 3", 20.0).unwrap_err();
        assert!(failed.ends_with("it ended with code 3; it said `no`"), "{failed}");
        assert!(printed("kill -9 $$", 20.0).unwrap_err().ends_with("signal 9 ended it"));
        assert!(printed("sleep 1000", 0.1).unwrap_err().ends_with("it took more than 0.1 seconds"));
        // A flood ends at the limit, long before the time does.
        assert!(!printed("yes", 60.0).unwrap_err().contains("took more"));
        assert!(Shell.comparison("true", -1.0, &[]).is_err());
    }
}
