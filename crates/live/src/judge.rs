//! The user's command that says whether what a run left is good.
//!
//! It is given to `/bin/sh -c` in the directory that the application is started for. Its first two arguments are the
//! golden and the faulty file: the first one that was named, or standard output where none was. Two variables name
//! directories with all that each run left: `stdout`, `stderr`, and the files under `files/`. The exit code is the
//! verdict: 0 acceptable, 1 bad, 2 detectable; anything else says that the judge itself failed.

use crate::app_outputs::AppOutputs;
use crate::error::tail;
use outcome::Verdict;
use process::{Limits, Reaper};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The variable that names the directory of what the golden run left.
pub const GOLDEN: &str = "BEAMLINE_GOLDEN";
/// The variable that names the directory of what the faulty run left.
pub const FAULTY: &str = "BEAMLINE_FAULTY";

/// A judge, and what it compares with.
#[derive(Debug)]
pub(crate) struct Judge {
    command: String,
    /// Where the golden run's things lie.
    golden: PathBuf,
    /// Where it works.
    directory: PathBuf,
    /// The names of the files.
    files: Vec<String>,
    time: Duration,
}

impl Judge {
    /// A judge, with what the golden run left laid out below a directory.
    pub(crate) fn new(
        command: String,
        root: &Path,
        directory: &Path,
        files: &[String],
        golden: &AppOutputs,
        time: Duration,
    ) -> io::Result<Self> {
        let place = root.join("golden");
        lay_out(&place, golden, files)?;
        Ok(Self { command, golden: place, directory: directory.to_owned(), files: files.to_vec(), time })
    }

    /// The command.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// What it says of what a run left; `place` names a directory that is not there yet.
    pub(crate) fn judge(&self, outputs: &AppOutputs, place: &Path, reaper: &Reaper) -> Result<Verdict, String> {
        let done = lay_out(place, outputs, &self.files).and_then(|()| self.run(place, reaper));
        // What cannot be removed now goes with the directory of all.
        let _ = fs::remove_dir_all(place);
        let ended = done.map_err(|error| format!("run the judge `{}`: {error}", self.command))?;
        match ended.code() {
            Some(0) => Ok(Verdict::Acceptable),
            Some(1) => Ok(Verdict::Bad),
            Some(2) => Ok(Verdict::Detectable),
            code => {
                let how = match (code, ended.signal()) {
                    (Some(code), _) => format!("it ended with code {code}, expected 0, 1 or 2"),
                    (None, Some(signal)) => format!("signal {signal} ended it"),
                    (None, None) => format!("it took more than {} seconds", self.time.as_secs_f64()),
                };
                let said = tail(&ended.stderr);
                let said = if said.is_empty() { said } else { format!("; it said `{said}`") };
                Err(format!("run the judge `{}`: {how}{said}", self.command))
            }
        }
    }

    fn run(&self, faulty: &Path, reaper: &Reaper) -> io::Result<process::ProcessEnd> {
        let main = self.files.first().map_or(PathBuf::from("stdout"), |name| Path::new("files").join(name));
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(&self.command).arg("judge");
        command.arg(self.golden.join(&main)).arg(faulty.join(&main)).current_dir(&self.directory);
        command.env(GOLDEN, &self.golden).env(FAULTY, faulty);
        process::run(command, &Limits { time: self.time, file_bytes: u64::MAX, files: &[] }, reaper)
    }
}

/// Writes what a run left into a new directory.
fn lay_out(place: &Path, outputs: &AppOutputs, names: &[String]) -> io::Result<()> {
    fs::create_dir(place)?;
    fs::write(place.join("stdout"), &outputs.stdout)?;
    fs::write(place.join("stderr"), &outputs.stderr)?;
    for (name, content) in names.iter().zip(&outputs.files) {
        let path = place.join("files").join(name);
        fs::create_dir_all(path.parent().unwrap_or(place))?;
        if let Some(content) = content {
            fs::write(path, content)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(command: &str, time: f64) -> Result<Verdict, String> {
        let reaper = Reaper::new().unwrap();
        let outputs = |text: &str| AppOutputs {
            stdout: format!("said {text}").into(),
            stderr: Vec::new(),
            files: vec![Some(text.into()), None],
        };
        let files = ["out/a b".to_owned(), "gone".to_owned()];
        let time = Duration::from_secs_f64(time);
        let judge =
            Judge::new(command.to_owned(), reaper.directory(), Path::new("/"), &files, &outputs("1"), time).unwrap();
        let verdict = judge.judge(&outputs("2"), &reaper.directory().join("faulty"), &reaper);
        assert!(!reaper.directory().join("faulty").exists());
        verdict
    }

    #[test]
    fn the_code_of_the_judge_is_the_verdict() {
        for (code, expected) in [(0, Verdict::Acceptable), (1, Verdict::Bad), (2, Verdict::Detectable)] {
            assert_eq!(verdict(&format!("exit {code}"), 20.0), Ok(expected));
        }
        assert!(
            verdict("echo broken >&2; exit 3", 20.0)
                .unwrap_err()
                .contains("code 3, expected 0, 1 or 2; it said `broken`")
        );
        assert!(verdict("kill -9 $$", 20.0).unwrap_err().contains("signal 9"));
        assert!(verdict("sleep 1000", 0.1).unwrap_err().contains("more than 0.1 seconds"));
    }

    #[test]
    fn the_judge_gets_both_files_and_all_that_was_left() {
        let check = r#"test "$(cat "$1") $(cat "$2")" = "1 2" && test "$(cat "$BEAMLINE_GOLDEN/stdout")" = "said 1" \
            && test "$(cat "$BEAMLINE_FAULTY/files/out/a b")" = 2 && test ! -e "$BEAMLINE_FAULTY/files/gone""#;
        assert_eq!(verdict(check, 20.0), Ok(Verdict::Acceptable));
    }
}
