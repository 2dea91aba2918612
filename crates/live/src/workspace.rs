//! What is lent to who runs an application in another way: a workspace for each run, and the comparison of what it
//! left with what a run without a fault left in the same way.

use crate::app_outputs::{AppOutputs, describe};
use crate::application::GoldenApplication;
use crate::error::LiveError;
use crate::judge::Judge;
use crate::scratch::WorkDirectory;
use outcome::{Host, Verdict};
use process::Reaper;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A place for one run: the directory it works in, and another for what it writes and what belongs to the run.
#[derive(Debug)]
pub struct Workspace {
    place: WorkDirectory,
    own: PathBuf,
}

/// What a run left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutputs(AppOutputs);

impl Workspace {
    /// The directory that the application works in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.place.path
    }

    /// A directory of the run that the application does not know.
    #[must_use]
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// The file that standard output goes to.
    #[must_use]
    pub fn stdout(&self) -> PathBuf {
        self.own.join("stdout")
    }

    /// The file that standard error goes to.
    #[must_use]
    pub fn stderr(&self) -> PathBuf {
        self.own.join("stderr")
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // What cannot be removed now goes with the directory of all.
        let _ = fs::remove_dir_all(&self.own);
    }
}

impl GoldenApplication {
    /// The program and its arguments, to be started in the directory of a [`Workspace`].
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Who ends what is left of processes.
    #[must_use]
    pub fn reaper(&self) -> &Reaper {
        &self.reaper
    }

    /// How large a file, or a stream of output, may become.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    /// How long a run may take, if the user said so.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// A place for a run.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn workspace(&self) -> io::Result<Workspace> {
        let number = self.judged.fetch_add(1, Ordering::Relaxed);
        let place = self.scratch.place(&self.files)?;
        let own = self.reaper.directory().join(format!("room-{number:010}"));
        fs::create_dir(&own)?;
        Ok(Workspace { place, own })
    }

    /// What a run left in its workspace.
    ///
    /// # Errors
    /// If its outputs cannot be read.
    pub fn outputs(&self, workspace: &Workspace) -> io::Result<RunOutputs> {
        let files = self.files.iter().map(|name| fs::read(workspace.directory().join(name)).ok()).collect();
        Ok(RunOutputs(AppOutputs {
            stdout: fs::read(workspace.stdout())?,
            stderr: fs::read(workspace.stderr())?,
            files,
        }))
    }

    /// Compares with these remains from now on.
    ///
    /// # Errors
    /// If a file is missing among them, or there is no room for what the judge is to see.
    pub fn refer_to(&mut self, outputs: RunOutputs) -> Result<(), LiveError> {
        let pairs = self.files.iter().zip(&outputs.0.files);
        if let Some((name, _)) = pairs.clone().find(|(_, content)| content.is_none()) {
            return Err(LiveError::NoFile { name: name.clone() });
        }
        if let Some(judge) = self.judge.take() {
            let root = self.reaper.directory().join("reference");
            fs::create_dir(&root).map_err(LiveError::Prepare)?;
            let (start, time) = (self.scratch.start(), self.time);
            let judge = Judge::new(judge.command().to_owned(), &root, start, &self.files, &outputs.0, time);
            self.judge = Some(judge.map_err(LiveError::Prepare)?);
        }
        self.outputs = outputs.0;
        Ok(())
    }

    /// How remains differ from those that are referred to; nothing is judged.
    #[must_use]
    pub fn compared(&self, outputs: &RunOutputs) -> Host {
        outputs.0.differs(&self.outputs, &self.files, &self.varying)
    }

    /// What the judge says of remains, if there is a judge and anything to be judged.
    ///
    /// # Errors
    /// If the judge fails, in words that follow "failed to".
    pub fn verdict(&self, outputs: &RunOutputs, host: &Host) -> Result<Option<Verdict>, String> {
        self.judgement(&outputs.0, host)
    }

    /// Checks a second run without a fault: it must leave the same.
    ///
    /// # Errors
    /// If it does not, or wrote to what runs share.
    pub fn check_repeated(&self, outputs: &RunOutputs) -> Result<(), LiveError> {
        let host = self.compared(outputs);
        match self.verdict(outputs, &host) {
            Ok(None) if host.differs() => {
                Err(LiveError::NotRepeated(format!("{} differs the second time on the GPU", describe(&host))))
            }
            Ok(Some(verdict)) if verdict != Verdict::Acceptable => Err(LiveError::NotRepeated(format!(
                "the judge finds the second run on the GPU {verdict}, and nothing was wrong"
            ))),
            Ok(_) => self.scratch.check(),
            Err(reason) => Err(LiveError::NotRepeated(reason)),
        }
    }
}
