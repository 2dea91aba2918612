//! What repeats a capsule whose modules were rewritten: a real GPU, or whatever else runs PTX.

use crate::protocol::MachineInfo;
use capsule::ModuleId;
use std::collections::BTreeMap;

/// How a repetition ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The program came to its end; the bytes of every copy to the host, in order.
    Completed(Vec<Vec<u8>>),
    /// The machine says that a kernel did what no program may; its name for that.
    Failed(String),
    /// The machine knows that it does not end.
    Hang,
}

/// What came of a repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How it ended.
    pub ended: Ended,
    /// The bytes of the record of the fault after the launch that was to be hit, where they could be read.
    pub record: Option<Vec<u8>>,
}

/// Bytes of a fault's record, and where they are written.
#[derive(Clone, Copy, Debug)]
pub struct Armed<'a> {
    /// The launch before which they are written, from 0.
    pub launch: usize,
    /// The module that has the record.
    pub module: ModuleId,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// A machine whose memory nothing has spoilt yet.
pub trait Session {
    /// Uses these texts of the modules from now on.
    ///
    /// # Errors
    /// If the machine does not take one of them; what it says follows "failed to".
    fn load(&mut self, texts: &BTreeMap<ModuleId, String>) -> Result<(), String>;

    /// Repeats the capsule from its start, with a fault if one is given. After a failure the session is over.
    fn repeat(&mut self, armed: Option<&Armed<'_>>) -> Repeated;
}

/// What a session ended for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another is needed.
    Renew,
    /// There is nothing more to do.
    End,
}

/// Has sessions, one after the other.
pub trait Machine {
    /// Opens a session, and has it served.
    ///
    /// # Errors
    /// If there can be none; the text follows "failed to".
    fn session(&mut self, serve: &mut dyn FnMut(&MachineInfo, &mut dyn Session) -> Next) -> Result<Next, String>;
}
