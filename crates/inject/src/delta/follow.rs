//! What becomes of a difference between launches and in them, up to the end of the program.

use super::Delta;
use crate::run::Progress;
use capsule::{Content, Digest, Launch, ModuleId, Position, Region, Replayer, replay};

impl Delta<'_> {
    /// Follows what differs after a launch to the end of the program.
    pub(super) fn follow(&mut self, number: usize, progress: &mut Progress) {
        let golden = self.golden;
        let at = golden.position(number);
        let behind = at.behind(&golden.capsule.events[at.event]);
        // Where a block does not complete, the progress says so.
        let _ = replay(&golden.capsule, behind, &mut DeltaReplay { delta: self, progress });
    }
}

/// The replay of a difference to the end of the program.
struct DeltaReplay<'f, 'g> {
    delta: &'f mut Delta<'g>,
    progress: &'f mut Progress,
}

/// A block did not complete.
struct Incomplete;

impl Replayer for DeltaReplay<'_, '_> {
    type Stop = Incomplete;

    fn load(&mut self, _: Position, module: ModuleId) -> Result<(), Incomplete> {
        let mut difference = self.delta.overlay.write();
        let variables = self.delta.golden.modules.variables(module);
        variables.for_each(|(address, bytes)| difference.agree_at(address, bytes));
        Ok(())
    }

    fn launch(&mut self, at: Position, _: &Launch) -> Result<(), Incomplete> {
        self.progress.host_visible |= self.progress.differs;
        if !self.delta.rest_of(at.launches, 0, self.progress) {
            return Err(Incomplete);
        }
        self.delta.launched(at.launches);
        Ok(())
    }

    fn copy_out(&mut self, at: Position, from: &Region, _: Digest) -> Result<(), Incomplete> {
        let golden = self.delta.golden;
        let copy = &golden.copies[at.copies];
        let mut difference = self.delta.overlay.write();
        let runs = difference.packed(from);
        self.progress.differs |= !copy.scratch && !runs.is_empty();
        if let Some(output) = copy.output {
            self.progress.outputs.push(golden.references[output].compare_runs(&copy.bytes, &runs));
        }
        Ok(())
    }

    fn write(&mut self, _: Position, to: &Region, _: Content) -> Result<(), Incomplete> {
        self.delta.overlay.write().agree_in(to);
        Ok(())
    }

    fn copy_within(&mut self, _: Position, to: &Region, from: &Region) -> Result<(), Incomplete> {
        self.delta.overlay.write().copied(to, from);
        Ok(())
    }
}
