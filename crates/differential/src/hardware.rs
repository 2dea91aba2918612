//! A real GPU as a machine: a session is a context of the driver.

use crate::machine::{Armed, Ended, Machine, Next, Repeated, Session};
use crate::protocol::MachineInfo;
use capsule::{Capsule, ModuleId};
use gpu::{Gpu, GpuError, Note, Placement, Repeats};
use rewrite::VARIABLE;
use std::collections::BTreeMap;

/// The first GPU of this machine.
#[derive(Debug)]
pub struct Hardware<'c> {
    capsule: &'c Capsule,
}

impl<'c> Hardware<'c> {
    /// The GPU, for a capsule that may have its memory [anywhere](crate::check_relocatable). What its kernels print goes to the
    /// standard output of the process.
    #[must_use]
    pub fn new(capsule: &'c Capsule) -> Self {
        Self { capsule }
    }
}

impl Machine for Hardware<'_> {
    fn session(&mut self, serve: &mut dyn FnMut(&MachineInfo, &mut dyn Session) -> Next) -> Result<Next, String> {
        let gpu = Gpu::open_as_is().map_err(|error| error.to_string())?;
        let repeats = Repeats::new(&gpu, self.capsule, Placement::Driver).map_err(|error| error.to_string())?;
        let (major, minor) = gpu.description().driver;
        let moved = repeats.allocations().map(|range| [range.from, range.to, range.bytes]).collect();
        let info = MachineInfo { name: gpu.description().name.clone(), driver: format!("{major}.{minor}"), moved };
        Ok(serve(&info, &mut Context(repeats)))
    }
}

struct Context<'g>(Repeats<'g>);

impl Session for Context<'_> {
    fn load(&mut self, texts: &BTreeMap<ModuleId, String>) -> Result<(), String> {
        self.0.load(texts).map_err(|error| error.to_string())
    }

    fn repeat(&mut self, armed: Option<&Armed<'_>>) -> Repeated {
        let note = armed.map(|armed| Note {
            launch: armed.launch,
            module: armed.module,
            variable: VARIABLE,
            bytes: armed.bytes,
        });
        match self.0.repeat(note.as_ref()) {
            Ok(replayed) => Repeated { ended: Ended::Completed(replayed.copies), record: replayed.noted },
            Err(GpuError::Call { name, .. }) => Repeated { ended: Ended::Failed(name), record: None },
            Err(error) => Repeated { ended: Ended::Failed(error.to_string()), record: None },
        }
    }
}
