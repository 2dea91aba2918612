//! The control of a warp: groups of lanes that run together, their call frames, and who waits for what.
//!
//! Lanes that are at the same instruction of the same call form a *group*. A warp begins as one; a branch that its
//! lanes answer differently splits it. The group that is behind (deepest call first, then lowest instruction) runs
//! next, and stops where it meets another, so that groups join again where control flow does. A group that has run
//! for [`QUANTUM`] instructions while others are ready lets each of them run for as long, so that a lane that spins
//! until another lane of its warp acts gets through.

use ::lanes::registers::{FULL, LANES, Registers, bits_of, lanes};

/// Instructions that a group runs before others that are ready get their turn; also how long a warp runs before
/// the other warps of its block do.
pub(crate) const QUANTUM: u32 = 4096;

/// What a group does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Runs.
    Ready,
    /// Waits at a `.sync` instruction for the other lanes of this mask.
    WaitWarp(u32),
    /// Waits at a barrier of its block.
    WaitBlock(u32),
    /// Goes on from a `.sync` instruction with the lanes it has.
    Forced,
    /// Goes on from a `.sync` instruction that lanes of another call, or at another place, have executed for it.
    Met,
    /// Has come to a `.sync` instruction together with lanes that name others, and is still to execute it.
    Apart,
    /// Goes on from a barrier, which had this result.
    Released(u32),
}

impl State {
    pub(crate) fn is_ready(self) -> bool {
        !matches!(self, Self::WaitWarp(_) | Self::WaitBlock(_))
    }
}

/// Lanes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) pc: u32,
    pub(crate) mask: u32,
    pub(crate) frame: u32,
    pub(crate) state: State,
}

/// An active call.
#[derive(Clone, Debug)]
pub(crate) struct CallFrame {
    pub(crate) parent: u32,
    pub(crate) depth: u32,
    /// Index of the function in the program.
    pub(crate) function: u32,
    /// Where the caller goes on.
    pub(crate) back: u32,
    /// Index of the call's plan.
    pub(crate) call: u32,
    /// Where the frame starts in local memory.
    pub(crate) base: u32,
    /// Where each lane's part of the stack ends, if one took some with `alloca`.
    pub(crate) tops: Option<Box<[u32; LANES]>>,
    /// Lanes that have not returned.
    pub(crate) lanes: u32,
    /// The callee's registers as they were, if it was active already.
    pub(crate) saved: Option<Box<Registers>>,
}

impl CallFrame {
    /// Whether two frames are the same. Those that hold registers belong to recursive calls, and are taken for different.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let Self { parent, depth, function, back, call, base, tops, lanes, saved } = self;
        (parent, depth, function, back) == (&other.parent, &other.depth, &other.function, &other.back)
            && (call, base, tops, lanes) == (&other.call, &other.base, &other.tops, &other.lanes)
            && saved.is_none()
            && other.saved.is_none()
    }
}

/// How many instructions each lane has executed, and how many were issued to the warp.
#[derive(Clone, Debug)]
pub(crate) struct Executed {
    pub(crate) counts: [u32; LANES],
    pub(crate) issued: u64,
}

/// Who runs next in a warp, and how much each lane has executed.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub(crate) groups: Vec<Group>,
    pub(crate) frames: Vec<CallFrame>,
    pub(crate) free_frames: Vec<u32>,
    /// Lanes whose thread has not exited.
    pub(crate) live: u32,
    /// Instructions that each lane executed one by one, since it was given more fuel if it was.
    pub(crate) counts: [u32; LANES],
    /// Those before, and of iterations that were skipped because they are known.
    skipped: Option<Box<[u64; LANES]>>,
    /// Instructions issued to the warp.
    pub(crate) issued: u64,
    /// Instructions that each lane may execute.
    pub(crate) fuel: [u32; LANES],
    /// No lane can be out of fuel before this many are issued.
    pub(crate) fuel_check: u64,
    /// Turns left in which every ready group runs for a quantum.
    pub(crate) fair: u32,
}

impl Control {
    /// Starts at `entry` with the threads in `mask`.
    pub(crate) fn start(&mut self, entry: u32, mask: u32) {
        self.groups.clear();
        self.groups.push(Group { pc: entry, mask, frame: 0, state: State::Ready });
        self.frames.clear();
        self.free_frames.clear();
        let root = CallFrame {
            parent: 0,
            depth: 0,
            function: 0,
            back: 0,
            call: 0,
            base: 0,
            tops: None,
            lanes: FULL,
            saved: None,
        };
        self.frames.push(root);
        self.live = mask;
        self.counts = [0; LANES];
        self.skipped = None;
        self.issued = 0;
        self.fuel_check = u64::from(*self.fuel.iter().min().unwrap_or(&u32::MAX));
        self.fair = 0;
    }

    /// Becomes a copy of another, in the memory that it has.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.groups.clone_from(&other.groups);
        self.frames.clone_from(&other.frames);
        self.free_frames.clone_from(&other.free_frames);
        (self.live, self.counts, self.issued) = (other.live, other.counts, other.issued);
        self.skipped.clone_from(&other.skipped);
        (self.fuel, self.fuel_check, self.fair) = (other.fuel, other.fuel_check, other.fair);
    }

    pub(crate) fn is_done(&self) -> bool {
        self.groups.is_empty()
    }

    pub(crate) fn depth(&self, frame: u32) -> u32 {
        self.frames[frame as usize].depth
    }

    /// Takes the group that runs next, if any can, and whether it is its turn although another is behind it.
    pub(crate) fn pick(&mut self) -> Option<(Group, bool)> {
        // Most warps are one group.
        if let [group] = self.groups[..]
            && group.state.is_ready()
        {
            self.groups.clear();
            self.fair = 0;
            return Some((group, false));
        }
        let ready = self.groups.iter().filter(|group| group.state.is_ready()).count();
        if ready == 0 {
            return self.force().map(|group| (group, false));
        }
        if self.fair > 0 && ready > 1 {
            self.fair -= 1;
            // Groups are put back at the end, so the first ready one has waited longest.
            let at = self.groups.iter().position(|group| group.state.is_ready())?;
            return Some((self.groups.remove(at), true));
        }
        self.fair = 0;
        let behind = |group: &Group| (std::cmp::Reverse(self.depth(group.frame)), group.pc);
        let ready = self.groups.iter().enumerate().filter(|(_, group)| group.state.is_ready());
        let (at, _) = ready.min_by_key(|(_, group)| behind(group))?;
        Some((self.groups.remove(at), false))
    }

    /// Every group waits: one that waits for lanes of this warp which cannot come goes on without them.
    fn force(&mut self) -> Option<Group> {
        let group = self.groups.remove(self.forcible()?);
        Some(Group { state: State::Forced, ..group })
    }

    /// The group that waits for lanes of this warp which may be left behind. Lanes that wait at a `.sync` instruction
    /// but name others may not: hardware waits for them for ever.
    fn forcible(&self) -> Option<usize> {
        let agrees = |members: u32, other: &Group| match other.state {
            State::WaitWarp(others) => others == members || other.mask & members == 0,
            _ => true,
        };
        let waiting = self.groups.iter().enumerate().filter(|(_, group)| match group.state {
            State::WaitWarp(members) => self.groups.iter().all(|other| agrees(members, other)),
            _ => false,
        });
        waiting.min_by_key(|(_, group)| group.pc).map(|(at, _)| at)
    }

    /// Whether some group can run without the other warps of the block.
    pub(crate) fn can_go(&self) -> bool {
        self.groups.iter().any(|group| group.state.is_ready()) || self.forcible().is_some()
    }

    /// Lets every ready group run for a quantum.
    pub(crate) fn be_fair(&mut self) {
        self.fair = self.groups.len() as u32;
    }

    /// The first instruction at which the running group must stop, because another ready group is there.
    pub(crate) fn limit(&self, pc: u32, frame: u32) -> u32 {
        let depth = self.depth(frame);
        let others = self.groups.iter().filter(|group| group.state.is_ready() && self.depth(group.frame) == depth);
        others.map(|group| group.pc).filter(|&other| other > pc).min().unwrap_or(u32::MAX)
    }

    /// Whether another ready group of the same depth is at or behind an instruction.
    pub(crate) fn is_behind(&self, pc: u32, frame: u32) -> bool {
        let depth = self.depth(frame);
        self.groups.iter().any(|group| group.state.is_ready() && group.pc <= pc && self.depth(group.frame) == depth)
    }

    /// Puts a group back, joining it with one that is where it is.
    pub(crate) fn park(&mut self, group: Group) {
        if group.mask == 0 {
            return;
        }
        let twin = self
            .groups
            .iter_mut()
            .find(|other| other.pc == group.pc && other.frame == group.frame && other.state == group.state);
        match twin {
            Some(other) => other.mask |= group.mask,
            None => self.groups.push(group),
        }
    }

    /// Adds `executed` to the count of every lane in the mask.
    #[inline(always)]
    pub(crate) fn count(&mut self, mask: u32, executed: u32) {
        for (lane, count) in self.counts.iter_mut().enumerate() {
            *count = count.wrapping_add(bits_of(mask, lane) as u32 & executed);
        }
        self.issued += u64::from(executed);
    }

    /// Takes back the count of an instruction for lanes whose guard was false.
    #[inline(always)]
    pub(crate) fn discount(&mut self, mask: u32) {
        for (lane, count) in self.counts.iter_mut().enumerate() {
            *count = count.wrapping_add(bits_of(mask, lane) as u32);
        }
    }

    /// Instructions of a lane, with those of iterations that were skipped.
    pub(crate) fn instructions(&self, lane: usize) -> u64 {
        let skipped = self.skipped.as_ref().map_or(0, |skipped| skipped[lane]);
        u64::from(self.counts[lane]).saturating_add(skipped)
    }

    /// As [`instructions`](Self::instructions), of all lanes.
    pub(crate) fn all_instructions(&self) -> u64 {
        let skipped =
            self.skipped.iter().flat_map(|skipped| skipped.iter()).fold(0, |sum: u64, &n| sum.saturating_add(n));
        self.counts.iter().map(|&count| u64::from(count)).sum::<u64>().saturating_add(skipped)
    }

    /// What was executed since it was so.
    pub(crate) fn since(&self, before: &Executed) -> Executed {
        let counts = std::array::from_fn(|lane| self.counts[lane].wrapping_sub(before.counts[lane]));
        Executed { counts, issued: self.issued - before.issued }
    }

    /// What was executed.
    pub(crate) fn executed(&self) -> Executed {
        Executed { counts: self.counts, issued: self.issued }
    }

    /// Counts what an iteration executes so many times more.
    pub(crate) fn skip(&mut self, iteration: &Executed, iterations: u64) {
        for (skipped, &executed) in self.skipped.get_or_insert_default().iter_mut().zip(&iteration.counts) {
            *skipped = skipped.saturating_add(u64::from(executed).saturating_mul(iterations));
        }
        let issued = iteration.issued.saturating_mul(iterations);
        self.issued = self.issued.saturating_add(issued);
        self.fuel_check = self.fuel_check.saturating_add(issued);
    }

    /// The lanes of a mask that have no fuel left.
    pub(crate) fn out_of_fuel(&self, mask: u32) -> u32 {
        let empty = |&lane: &usize| self.counts[lane] > self.fuel[lane];
        lanes(mask).filter(empty).fold(0, |empty, lane| empty | (1 << lane))
    }

    /// Gives lanes more fuel, and counts anew what they execute, so that it can be counted.
    pub(crate) fn refuel(&mut self, mask: u32, more: u32) {
        let skipped = self.skipped.get_or_insert_default();
        for lane in lanes(mask) {
            let count = std::mem::take(&mut self.counts[lane]);
            skipped[lane] = skipped[lane].saturating_add(count.into());
            self.fuel[lane] = self.fuel[lane].saturating_sub(count).saturating_add(more);
        }
        self.move_fuel_check();
    }

    /// Moves the next check to where a lane may be out of fuel.
    pub(crate) fn move_fuel_check(&mut self) {
        let left = lanes(self.live).map(|lane| self.fuel[lane].saturating_sub(self.counts[lane])).min();
        self.fuel_check = self.issued + u64::from(left.unwrap_or(0)) + 1;
    }

    /// Opens a call frame.
    pub(crate) fn open(&mut self, frame: CallFrame) -> u32 {
        match self.free_frames.pop() {
            Some(at) => {
                self.frames[at as usize] = frame;
                at
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    /// Lanes leave a frame, and with it those of its callers that `out` says.
    pub(crate) fn leave(&mut self, frame: u32, lanes: u32) {
        let left = &mut self.frames[frame as usize];
        left.lanes &= !lanes;
        if frame != 0 && left.lanes == 0 {
            left.saved = None;
            self.free_frames.push(frame);
        }
    }

    /// Threads end: their lanes leave every frame they are in.
    pub(crate) fn exit(&mut self, mut frame: u32, lanes: u32) {
        self.live &= !lanes;
        while frame != 0 {
            let parent = self.frames[frame as usize].parent;
            self.leave(frame, lanes);
            frame = parent;
        }
    }

    /// Whether a function is active in the call chain that ends at a frame.
    pub(crate) fn is_active(&self, mut frame: u32, function: u32) -> bool {
        loop {
            let here = &self.frames[frame as usize];
            if here.function == function {
                return true;
            }
            if frame == 0 {
                return false;
            }
            frame = here.parent;
        }
    }
}
