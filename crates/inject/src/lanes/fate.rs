//! What becomes of bytes that a thread leaves behind, where that is simple: nothing reads or replaces them but copies to
//! the host. Then a difference in them is judged without following it.

use crate::golden::Golden;
use crate::index::{Index, LaunchAccesses};
use capsule::{Content, Digest, Launch, ModuleId, Position, Region, Replayer, replay};
use outcome::{Criteria, End, FirstUse, Landed, Observation, Outcome, Tier, classify};
use simt::memory::{ByteRun, ByteSet};
use simt::replica::Write;

/// A copy to the host that has the bytes of a write, and where.
#[derive(Clone, Copy, Debug)]
struct Spot {
    copy: usize,
    offset: usize,
}

/// What becomes of the bytes of a write.
#[derive(Debug)]
struct WriteFate {
    spots: Vec<Spot>,
    /// Whether work follows a copy that has them.
    host_visible: bool,
}

/// The fates of what a thread writes.
#[derive(Debug)]
pub(super) struct WriteFates {
    writes: Vec<Option<WriteFate>>,
    /// Made again for every difference.
    observation: Observation,
    /// By output: offsets and bytes of whole elements that a difference has.
    found: Vec<Vec<(usize, [u8; 8], usize)>>,
}

impl WriteFates {
    /// The fates of what a thread of a block of a launch writes.
    pub(super) fn of(golden: &Golden, index: &Index, launch: usize, block: u32, writes: &[Write]) -> Self {
        let range = |write: &Write| (write.address, write.address + u64::from(write.bytes));
        let overlap = |one: &Write, other: &Write| {
            let (one, other) = (range(one), range(other));
            one.0 < other.1 && other.0 < one.1
        };
        let alone =
            |at: usize| writes.iter().enumerate().all(|(other, write)| at == other || !overlap(&writes[at], write));
        let fate = |at: usize| alone(at).then(|| WriteFate::of(golden, index, launch, block, &writes[at])).flatten();
        let observation = Observation {
            landed: Some(Landed { before: 0, after: 0, threads: 1 }),
            first_use: FirstUse::Read { after: 0 },
            end: End::Completed,
            outputs: golden.references.iter().map(crate::compare::Reference::unchanged).collect(),
            host_visible: false,
            strayed: 0,
            instructions: 0,
            tier: Tier::Lanes,
            host: None,
        };
        let writes = (0..writes.len()).map(fate).collect();
        Self { writes, observation, found: golden.references.iter().map(|_| Vec::new()).collect() }
    }

    /// The outcome of a fault in a value that is read, after which some writes have other values, and whether the host
    /// could see it; `None` where that is not simple.
    pub(super) fn judge(
        &mut self,
        golden: &Golden,
        criteria: &Criteria,
        differing: impl Iterator<Item = (usize, Write)>,
    ) -> Option<(Outcome, bool)> {
        self.found.iter_mut().for_each(Vec::clear);
        self.observation.host_visible = false;
        for (at, write) in differing {
            let fate = self.writes[at].as_ref()?;
            self.observation.host_visible |= fate.host_visible;
            let bytes = usize::from(write.bytes);
            for spot in &fate.spots {
                let Some(output) = golden.copies[spot.copy].output else { continue };
                let size = golden.references[output].size();
                if !bytes.is_multiple_of(size) || !spot.offset.is_multiple_of(size) {
                    return None;
                }
                self.found[output].push((spot.offset, write.value.to_le_bytes(), bytes));
            }
        }
        for copy in &golden.copies {
            let Some(output) = copy.output else { continue };
            let found = &mut self.found[output];
            found.sort_unstable_by_key(|(offset, _, _)| *offset);
            golden.references[output].compare_into(&mut self.observation.outputs[output], &copy.bytes, found);
        }
        Some((classify(&self.observation, criteria), self.observation.host_visible))
    }
}

impl WriteFate {
    fn of(golden: &Golden, index: &Index, launch: usize, block: u32, write: &Write) -> Option<Self> {
        let runs = ByteRun::of(write.address, u64::from(write.bytes)).map(set_of).collect();
        let mut path = Path { golden, index, write, runs, fate: Self { spots: Vec::new(), host_visible: false } };
        if !path.is_untouched(launch, block + 1) {
            return None;
        }
        let at = golden.position(launch);
        let behind = at.behind(&golden.capsule.events[at.event]);
        match replay(&golden.capsule, behind, &mut path) {
            Ok(()) | Err(Stop::Replaced) => {
                path.fate.host_visible |= golden.acts_at_end.get().is_some() && !path.fate.spots.is_empty();
                Some(path.fate)
            }
            Err(Stop::Entangled) => None,
        }
    }
}

/// The bytes of a write on their way to the end of the program.
struct Path<'p> {
    golden: &'p Golden,
    index: &'p Index,
    write: &'p Write,
    /// The bytes, by page.
    runs: Vec<(u32, ByteSet)>,
    fate: WriteFate,
}

/// Why the way ends before the program does.
enum Stop {
    /// All the bytes were replaced.
    Replaced,
    /// What becomes of them is not simple.
    Entangled,
}

impl Path<'_> {
    /// Whether no block of a launch, from one on, reads or writes the bytes.
    fn is_untouched(&self, launch: usize, from: u32) -> bool {
        let next =
            |launch: &LaunchAccesses| self.runs.iter().all(|(page, bytes)| launch.next(*page, bytes, from).is_none());
        self.index.launch(launch).is_some_and(next)
    }
}

impl Replayer for Path<'_> {
    type Stop = Stop;

    /// It may set variables of the module.
    fn load(&mut self, _: Position, _: ModuleId) -> Result<(), Stop> {
        Err(Stop::Entangled)
    }

    fn launch(&mut self, at: Position, _: &Launch) -> Result<(), Stop> {
        self.fate.host_visible |= !self.fate.spots.is_empty();
        if self.is_untouched(at.launches, 0) { Ok(()) } else { Err(Stop::Entangled) }
    }

    fn copy_out(&mut self, at: Position, from: &Region, _: Digest) -> Result<(), Stop> {
        match place(from, self.write) {
            Place::Outside => {}
            Place::Inside(_) if self.golden.copies[at.copies].scratch => {}
            Place::Inside(offset) => self.fate.spots.push(Spot { copy: at.copies, offset }),
            Place::Across => return Err(Stop::Entangled),
        }
        Ok(())
    }

    fn write(&mut self, _: Position, to: &Region, _: Content) -> Result<(), Stop> {
        match place(to, self.write) {
            Place::Outside => Ok(()),
            Place::Inside(_) => Err(Stop::Replaced),
            Place::Across => Err(Stop::Entangled),
        }
    }

    fn copy_within(&mut self, _: Position, to: &Region, from: &Region) -> Result<(), Stop> {
        let outside = |region| matches!(place(region, self.write), Place::Outside);
        if outside(to) && outside(from) { Ok(()) } else { Err(Stop::Entangled) }
    }
}

fn set_of(run: ByteRun) -> (u32, ByteSet) {
    let mut bytes = ByteSet::default();
    bytes.insert(run.range());
    (run.page, bytes)
}

/// Where the bytes of a write lie with regard to a region.
enum Place {
    Outside,
    /// In one of its rows, at this offset in its packed bytes.
    Inside(usize),
    Across,
}

fn place(region: &Region, write: &Write) -> Place {
    let (from, to) = (write.address, write.address + u64::from(write.bytes));
    let mut offset = 0;
    for (address, bytes) in region.rows() {
        if from < address + bytes && address < to {
            let inside = address <= from && to <= address + bytes;
            return if inside { Place::Inside((offset + from - address) as usize) } else { Place::Across };
        }
        offset += bytes;
    }
    Place::Outside
}
