//! Which commands a campaign may run when it is gone on with: those that this user started before. A campaign on an
//! application names its command, and maybe a judge, and whoever hands on such a directory could name any. So the digest of
//! each set of commands that a user starts, or trusts, is kept among the user's own files, and other commands are refused.

use crate::bundled::is_bundled;
use crate::user::user_directory;
use campaign::{Choices, Config, Live};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What a digest is of, besides the commands.
const PURPOSE: &str = "beamline: commands of a campaign, 1\n";

/// Keeps in mind that this user started these commands.
pub(crate) fn remember(config: &Config) -> io::Result<()> {
    let Some(live) = &config.live else { return Ok(()) };
    remember_command(live)
}

/// Whether the campaign runs no command, or those that this user started before.
pub(crate) fn is_known(config: &Config) -> bool {
    let Some(live) = &config.live else { return true };
    is_known_command(live)
}

/// Keeps in mind that this user started this command.
pub(crate) fn remember_command(live: &Live) -> io::Result<()> {
    remember_in(&kept()?, live)
}

/// Whether this user started this command before.
pub(crate) fn is_known_command(live: &Live) -> bool {
    is_bundled(live) || kept().is_ok_and(|dir| is_known_in(&dir, live))
}

/// The commands of a campaign, as its user has to see them.
pub(crate) fn commands(config: &Config) -> String {
    let Some(live) = &config.live else { return "nothing".to_owned() };
    let directory = live.directory.as_deref().unwrap_or(".");
    let judge = live.judge.as_ref().map_or_else(String::new, |judge| format!(" and judges by `{judge}`"));
    let files = if live.in_place && !live.file.is_empty() {
        format!(", where it removes {}", live.file.join(", "))
    } else {
        String::new()
    };
    format!("`{}` in {directory}{files}{judge}", live.app)
}

/// Where digests are kept: files without content, which nobody else can make.
fn kept() -> io::Result<PathBuf> {
    let state = user_directory("XDG_STATE_HOME", ".local/state");
    let none = || io::Error::new(io::ErrorKind::NotFound, "neither `XDG_STATE_HOME` nor `HOME` names a directory");
    Ok(state.ok_or_else(none)?.join("beamline/commands"))
}

fn remember_in(dir: &Path, live: &Live) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let path = dir.join(digest(live)?);
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn is_known_in(dir: &Path, live: &Live) -> bool {
    digest(live).is_ok_and(|digest| fs::symlink_metadata(dir.join(digest)).is_ok())
}

/// What makes the commands these and no others: all that is said of the application.
fn digest(live: &Live) -> io::Result<String> {
    let choices = Choices { live: live.clone(), ..Choices::default() };
    let text = toml::to_string(&choices).map_err(io::Error::other)?;
    Ok(blake3::hash(format!("{PURPOSE}{text}").as_bytes()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(app: &str, judge: Option<&str>) -> Live {
        Live { app: app.parse().unwrap(), judge: judge.map(str::to_owned), ..Live::default() }
    }

    #[test]
    fn commands_are_known_once_they_were_started_and_others_are_not() {
        use std::os::unix::fs::MetadataExt as _;
        let state = tempfile::tempdir().unwrap();
        let dir = state.path().join("beamline/commands");
        let own = live("./app --n 5", Some("cmp \"$1\" \"$2\""));
        assert!(!is_known_in(&dir, &own));
        remember_in(&dir, &own).unwrap();
        remember_in(&dir, &own).unwrap();
        assert!(is_known_in(&dir, &own));
        assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o077, 0);
        for other in [
            live("./app --n 6", own.judge.as_deref()),
            live("./app --n 5", Some("touch x")),
            live("./app --n 5", None),
            Live { directory: Some("/".into()), ..own.clone() },
            Live { in_place: true, ..own.clone() },
            Live { file: vec!["x".into()], ..own.clone() },
        ] {
            assert!(!is_known_in(&dir, &other), "{other:?}");
        }
    }

    #[test]
    fn a_bundled_executable_is_known_unless_a_judge_is_run_or_files_are_removed() {
        let own = live("bundled:bfs", None);
        assert!(is_bundled(&own) && is_bundled(&live("bundled:bfs 100 3", None)));
        for other in [live("./bundled:bfs", None), live("bundled:bfs", Some("touch x")), Live { in_place: true, ..own }]
        {
            assert!(!is_bundled(&other), "{other:?}");
        }
    }

    #[test]
    fn all_that_is_run_is_shown() {
        let live =
            Live { directory: Some("/d".into()), file: vec!["f".into()], in_place: true, ..live("a b", Some("j")) };
        let config = Choices { live, ..Choices::default() }.settle().unwrap();
        assert_eq!(commands(&config), "`a b` in /d, where it removes f and judges by `j`");
    }
}
