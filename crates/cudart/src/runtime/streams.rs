//! Streams and events. All work happens when it is asked for, so every stream is always idle and every event has
//! happened.

use std::collections::BTreeMap;

use crate::code::Code;

/// A stream that the application made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) id: u64,
}

/// An event.
#[derive(Debug, Clone, Copy)]
struct Event {
    timed: bool,
    at: Option<u64>,
}

/// All streams and events of the process. Their handles look like pointers, and are never followed.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    streams: BTreeMap<u64, Stream>,
    events: BTreeMap<u64, Event>,
    made: u64,
}

/// The default stream under its three names: null, legacy, per thread.
const DEFAULT: [u64; 3] = [0, 1, 2];
/// The flag of an event without times.
const DISABLE_TIMING: u32 = 2;
/// The priorities that there are, from least to greatest.
pub(crate) const PRIORITIES: (i32, i32) = (0, -5);

impl Streams {
    fn handle(&mut self) -> u64 {
        self.made += 1;
        0x57ea_0000 + 64 * self.made
    }

    pub(crate) fn create(&mut self, flags: u32, priority: i32) -> Result<u64, Code> {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        let (least, greatest) = PRIORITIES;
        let handle = self.handle();
        let id = self.made + DEFAULT.len() as u64;
        self.streams.insert(handle, Stream { flags, priority: priority.clamp(greatest, least), id });
        Ok(handle)
    }

    pub(crate) fn destroy(&mut self, stream: u64) -> Result<(), Code> {
        self.streams.remove(&stream).map(drop).ok_or(Code::INVALID_RESOURCE_HANDLE)
    }

    /// A stream that exists.
    pub(crate) fn get(&self, stream: u64) -> Result<Stream, Code> {
        if DEFAULT.contains(&stream) {
            return Ok(Stream { flags: 0, priority: 0, id: stream + 1 });
        }
        self.streams.get(&stream).copied().ok_or(Code::INVALID_RESOURCE_HANDLE)
    }

    pub(crate) fn create_event(&mut self, flags: u32) -> Result<u64, Code> {
        if flags > 7 || (flags & 4 != 0 && flags & DISABLE_TIMING == 0) {
            return Err(Code::INVALID_VALUE);
        }
        let handle = self.handle();
        self.events.insert(handle, Event { timed: flags & DISABLE_TIMING == 0, at: None });
        Ok(handle)
    }

    pub(crate) fn destroy_event(&mut self, event: u64) -> Result<(), Code> {
        self.events.remove(&event).map(drop).ok_or(Code::INVALID_RESOURCE_HANDLE)
    }

    /// An event happens.
    pub(crate) fn record(&mut self, event: u64, nanoseconds: u64) -> Result<(), Code> {
        let event = self.events.get_mut(&event).ok_or(Code::INVALID_RESOURCE_HANDLE)?;
        event.at = Some(nanoseconds);
        Ok(())
    }

    /// Whether an event exists.
    pub(crate) fn check_event(&self, event: u64) -> Result<(), Code> {
        self.events.get(&event).map(drop).ok_or(Code::INVALID_RESOURCE_HANDLE)
    }

    /// The milliseconds between two events.
    pub(crate) fn elapsed(&self, start: u64, end: u64) -> Result<f32, Code> {
        let at = |event: u64| {
            let event = self.events.get(&event).filter(|event| event.timed);
            event.and_then(|event| event.at).ok_or(Code::INVALID_RESOURCE_HANDLE)
        };
        let (start, end) = (at(start)?, at(end)?);
        Ok((end as f64 - start as f64) as f32 / 1e6)
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.streams.clear();
        self.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_between_events_that_happened() {
        let mut streams = Streams::default();
        let [start, end] = [(); 2].map(|()| streams.create_event(0).unwrap());
        let untimed = streams.create_event(DISABLE_TIMING).unwrap();
        streams.record(start, 1_000_000).unwrap();
        assert_eq!(streams.elapsed(start, end), Err(Code::INVALID_RESOURCE_HANDLE));
        streams.record(end, 3_500_000).unwrap();
        streams.record(untimed, 0).unwrap();
        assert_eq!(streams.elapsed(start, end), Ok(2.5));
        assert_eq!(streams.elapsed(end, start), Ok(-2.5));
        assert_eq!(streams.elapsed(start, untimed), Err(Code::INVALID_RESOURCE_HANDLE));
    }

    #[test]
    fn the_default_stream_is_always_there() {
        let mut streams = Streams::default();
        let stream = streams.create(1, -100).unwrap();
        assert_eq!(streams.get(stream).unwrap().priority, -5);
        assert!(DEFAULT.iter().all(|&stream| streams.get(stream).is_ok()));
        streams.destroy(stream).unwrap();
        assert_eq!(streams.get(stream).map(|stream| stream.id), Err(Code::INVALID_RESOURCE_HANDLE));
        assert_eq!(streams.destroy(0), Err(Code::INVALID_RESOURCE_HANDLE));
    }
}
