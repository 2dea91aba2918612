//! The one walk over the events of a capsule: [`replay`] tells a [`Replayer`] of each, in order, with its numbers.
//!
//! What an event is to whoever repeats work, or follows what becomes of bytes, is said here once: a copy to the device and
//! a fill are both the host's writing, for example. A new kind of event finds its way to every replayer here.

use crate::{BlobId, Capsule, Digest, Event, Launch, ModuleId, Region};

/// A place in the order of events, with the numbers that are next there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// The event, from 0.
    pub event: usize,
    /// The launches before it.
    pub launches: usize,
    /// The copies to the host before it.
    pub copies: usize,
}

/// What the host writes to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// The bytes of a blob, packed row after row.
    Blob(BlobId),
    /// A value of 1, 2 or 4 bytes, over and over.
    Repeated {
        /// The value, in its low bytes.
        value: u32,
        /// How many bytes.
        width: u8,
    },
}

/// Somebody who goes along the events of a capsule.
pub trait Replayer {
    /// What ends the walk before the last event.
    type Stop;

    /// A module becomes resident, and its variables get their initial values.
    ///
    /// # Errors
    /// What ends the walk, here as in all methods.
    fn load(&mut self, at: Position, module: ModuleId) -> Result<(), Self::Stop>;

    /// A kernel runs; its number is [`Position::launches`].
    ///
    /// # Errors
    /// What ends the walk.
    fn launch(&mut self, at: Position, launch: &Launch) -> Result<(), Self::Stop>;

    /// Bytes reach the host; the copy's number is [`Position::copies`].
    ///
    /// # Errors
    /// What ends the walk.
    fn copy_out(&mut self, at: Position, from: &Region, digest: Digest) -> Result<(), Self::Stop>;

    /// The host writes to the device.
    ///
    /// # Errors
    /// What ends the walk.
    fn write(&mut self, at: Position, to: &Region, content: Content) -> Result<(), Self::Stop>;

    /// Bytes move on the device.
    ///
    /// # Errors
    /// What ends the walk.
    fn copy_within(&mut self, at: Position, to: &Region, from: &Region) -> Result<(), Self::Stop>;

    /// Memory is set aside. Nothing to who follows bytes.
    ///
    /// # Errors
    /// What ends the walk.
    fn allocate(&mut self, at: Position, address: u64, bytes: u64) -> Result<(), Self::Stop> {
        let _ = (at, address, bytes);
        Ok(())
    }

    /// Memory is given back. Nothing to who follows bytes.
    ///
    /// # Errors
    /// What ends the walk.
    fn free(&mut self, at: Position, address: u64) -> Result<(), Self::Stop> {
        let _ = (at, address);
        Ok(())
    }

    /// The host waits. Nothing to who does everything in order.
    ///
    /// # Errors
    /// What ends the walk.
    fn synchronize(&mut self, at: Position) -> Result<(), Self::Stop> {
        let _ = at;
        Ok(())
    }
}

/// Tells a replayer of the events of a capsule from a position on.
///
/// # Errors
/// What the replayer ended the walk with.
pub fn replay<R: Replayer>(capsule: &Capsule, from: Position, replayer: &mut R) -> Result<(), R::Stop> {
    for (at, event) in capsule.events_from(from) {
        match event {
            Event::Load { module } => replayer.load(at, *module),
            Event::Alloc { address, bytes, .. } => replayer.allocate(at, *address, *bytes),
            Event::Free { address } => replayer.free(at, *address),
            Event::CopyIn { to, data } => replayer.write(at, to, Content::Blob(*data)),
            Event::CopyOut { from, digest, .. } => replayer.copy_out(at, from, *digest),
            Event::CopyWithin { to, from } => replayer.copy_within(at, to, from),
            Event::Fill { to, value, width } => {
                replayer.write(at, to, Content::Repeated { value: *value, width: *width })
            }
            Event::Launch(launch) => replayer.launch(at, launch),
            Event::Synchronize => replayer.synchronize(at),
        }?;
    }
    Ok(())
}

impl Position {
    /// The position behind an event that stands here.
    #[must_use]
    pub fn behind(self, event: &Event) -> Self {
        Self {
            event: self.event + 1,
            launches: self.launches + usize::from(matches!(event, Event::Launch(_))),
            copies: self.copies + usize::from(matches!(event, Event::CopyOut { .. })),
        }
    }
}

impl Capsule {
    /// The events from a position on, each with its own.
    pub fn events_from(&self, from: Position) -> impl Iterator<Item = (Position, &Event)> {
        let events = self.events.get(from.event..).unwrap_or_default();
        events.iter().scan(from, |next, event| {
            let at = *next;
            *next = at.behind(event);
            Some((at, event))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AllocKind;

    /// Writes down what it is told, and stops at the second launch.
    #[derive(Default)]
    struct Scribe(Vec<String>);

    impl Scribe {
        fn note(&mut self, at: Position, what: &str) -> Result<(), ()> {
            self.0.push(format!("{}/{}/{} {what}", at.event, at.launches, at.copies));
            Ok(())
        }
    }

    impl Replayer for Scribe {
        type Stop = ();

        fn load(&mut self, at: Position, module: ModuleId) -> Result<(), ()> {
            self.note(at, &format!("load {}", module.0))
        }

        fn launch(&mut self, at: Position, _: &Launch) -> Result<(), ()> {
            self.note(at, "launch")?;
            if at.launches == 1 { Err(()) } else { Ok(()) }
        }

        fn copy_out(&mut self, at: Position, _: &Region, _: Digest) -> Result<(), ()> {
            self.note(at, "copy out")
        }

        fn write(&mut self, at: Position, _: &Region, content: Content) -> Result<(), ()> {
            self.note(at, &format!("write {content:?}"))
        }

        fn copy_within(&mut self, at: Position, _: &Region, _: &Region) -> Result<(), ()> {
            self.note(at, "copy within")
        }

        fn allocate(&mut self, at: Position, address: u64, bytes: u64) -> Result<(), ()> {
            self.note(at, &format!("allocate {bytes} at {address}"))
        }
    }

    fn capsule() -> Capsule {
        let region = Region::linear(64, 8);
        let launch = Launch {
            module: ModuleId(0),
            kernel: "k".into(),
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            params: Vec::new(),
            cooperative: false,
        };
        let mut capsule = Capsule::new("walk");
        capsule.events = vec![
            Event::Load { module: ModuleId(0) },
            Event::Alloc { address: 64, bytes: 8, kind: AllocKind::Device },
            Event::Fill { to: region, value: 7, width: 1 },
            Event::Launch(launch.clone()),
            Event::Synchronize,
            Event::CopyOut { from: region, digest: Digest::of(&[7; 8]), data: None },
            Event::CopyWithin { to: region, from: region },
            Event::Launch(launch),
            Event::Free { address: 64 },
        ];
        capsule
    }

    #[test]
    fn a_replayer_is_told_of_each_event_with_its_numbers_until_it_stops() {
        let mut scribe = Scribe::default();
        assert_eq!(replay(&capsule(), Position::default(), &mut scribe), Err(()));
        let expected = [
            "0/0/0 load 0",
            "1/0/0 allocate 8 at 64",
            "2/0/0 write Repeated { value: 7, width: 1 }",
            "3/0/0 launch",
            "5/1/0 copy out",
            "6/1/1 copy within",
            "7/1/1 launch",
        ];
        assert_eq!(scribe.0, expected);
    }

    #[test]
    fn a_walk_begins_where_it_is_asked_to() {
        let mut scribe = Scribe::default();
        assert_eq!(replay(&capsule(), Position { event: 5, launches: 3, copies: 2 }, &mut scribe), Ok(()));
        assert_eq!(scribe.0, ["5/3/2 copy out", "6/3/3 copy within", "7/3/3 launch"]);
        assert_eq!(capsule().events_from(Position { event: 99, ..Position::default() }).count(), 0);
    }

    #[test]
    fn every_event_reads_and_writes_the_regions_that_it_names() {
        let (one, other) = (Region::linear(0, 8), Region::linear(8, 8));
        let out = Event::CopyOut { from: one, digest: Digest::of(b""), data: None };
        let within = Event::CopyWithin { to: one, from: other };
        let fill = Event::Fill { to: other, value: 0, width: 1 };
        assert_eq!((out.reads(), out.writes()), (Some(&one), None));
        assert_eq!((within.reads(), within.writes()), (Some(&other), Some(&one)));
        assert_eq!((fill.reads(), fill.writes()), (None, Some(&other)));
        assert_eq!((Event::Synchronize.reads(), Event::Synchronize.writes()), (None, None));
    }
}
