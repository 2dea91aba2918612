//! What is to be known of an application that live runs start.

use super::keys::keys;
use super::{CommandLine, ConfigError};

keys! {
    /// The application that live runs start, and how what it leaves is judged.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct Live {
        /// The program and its arguments; empty where no run is live.
        app: CommandLine = "app" apart,
        /// The directory that it is started for: relative names mean what they mean there.
        directory: Option<String> = "directory" one,
        /// The files that it leaves, by names that are relative to the directory.
        file: Vec<String> = "file" each,
        /// The command of the shell that says whether what it left is good.
        judge: Option<String> = "judge" one,
        /// The seconds that it may take.
        timeout: Option<f64> = "timeout" number,
        /// It runs in the directory itself.
        in_place: bool = "in-place" flag,
    }
}

impl Live {
    /// The same, if it names an application.
    ///
    /// # Errors
    /// If something is said of an application that is not named, or what is said cannot be.
    pub(super) fn settled(self, jobs: Option<u32>) -> Result<Option<Self>, ConfigError> {
        if self.app.words().is_empty() {
            return match self.first_explicit() {
                Some(key) => Err(ConfigError::NoApp { key }),
                None => Ok(None),
            };
        }
        if let Some(seconds) = self.timeout.filter(|seconds| !(*seconds > 0.0 && *seconds <= 1e6)) {
            return Err(ConfigError::Timeout { seconds });
        }
        let inside = |name: &&String| {
            let mut parts = name.split('/');
            !name.is_empty() && parts.all(|part| !part.is_empty() && part != ".." && part != ".")
        };
        if let Some(name) = self.file.iter().find(|name| !inside(name)) {
            return Err(ConfigError::OutsideFile { name: name.clone() });
        }
        if self.in_place && jobs.is_some_and(|jobs| jobs != 1) {
            return Err(ConfigError::InPlaceJobs);
        }
        Ok(Some(self))
    }

    /// The key of the first thing that is said beside the application.
    #[must_use]
    pub fn first_explicit(&self) -> Option<&'static str> {
        let mut entries = Vec::new();
        super::keys::Keys::say(self, &mut entries);
        entries.first().map(|entry| entry.key)
    }
}
