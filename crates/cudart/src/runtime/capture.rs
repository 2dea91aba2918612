//! Streams whose work becomes nodes of a graph. A capture begins in one stream, spreads to others that wait for an
//! event of it, and must have come together again where it ends.

use super::graphs::{Captured, Graphs};
use super::work::Work;
use crate::code::Code;

/// `cudaStreamCaptureStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Status {
    None = 0,
    Active = 1,
    Invalidated = 2,
}

/// Whether it is the default stream, for which others wait, under its two names.
fn is_default(stream: u64) -> bool {
    stream <= 1
}

impl Graphs {
    /// What a stream's work goes into: the state of the capture, and its graph.
    pub(crate) fn status(&self, stream: u64) -> (Status, u64) {
        match self.captures.streams.get(&stream) {
            None => (Status::None, 0),
            Some(captured) if captured.broken => (Status::Invalidated, captured.graph),
            Some(captured) => (Status::Active, captured.graph),
        }
    }

    /// From now on, work in this stream is noted. The default stream cannot be captured.
    pub(crate) fn begin_capture(&mut self, stream: u64, blocking: bool) -> Result<(), Code> {
        if is_default(stream) {
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED);
        }
        if self.captures.streams.contains_key(&stream) {
            return Err(Code::ILLEGAL_STATE);
        }
        let graph = self.create();
        let captured = Captured { graph, origin: true, given: false, blocking, ends: Vec::new(), broken: false };
        self.captures.streams.insert(stream, captured);
        Ok(())
    }

    /// As [`begin_capture`](Self::begin_capture), into a graph of the application, after some of its nodes.
    pub(crate) fn begin_capture_to(
        &mut self,
        stream: u64,
        blocking: bool,
        graph: u64,
        after: Vec<u64>,
    ) -> Result<(), Code> {
        let known = self.graph(graph)?;
        if !after.iter().all(|node| known.nodes.contains_key(node)) {
            return Err(Code::INVALID_VALUE);
        }
        self.begin_capture(stream, blocking)?;
        if let Some(captured) = self.captures.streams.get_mut(&stream) {
            let unused = std::mem::replace(&mut captured.graph, graph);
            captured.given = true;
            captured.ends = after;
            self.destroy(unused)?;
        }
        Ok(())
    }

    /// The nodes that a captured stream's next one comes after, and the address of an array of them, which holds until
    /// this is asked again.
    pub(crate) fn ends(&mut self, stream: u64) -> (u64, u64) {
        let ends = self.captures.streams.get(&stream).map(|captured| captured.ends.clone()).unwrap_or_default();
        let count = ends.len() as u64;
        let shown = self.captures.shown.entry(stream).or_default();
        *shown = ends;
        (shown.as_mut_ptr().expose_provenance() as u64, count)
    }

    /// Lets the next node of a captured stream come after these, or after these too.
    pub(crate) fn set_ends(&mut self, stream: u64, nodes: Vec<u64>, add: bool) -> Result<(), Code> {
        let captured = self.captures.streams.get(&stream).ok_or(Code::ILLEGAL_STATE)?;
        let graph = self.graph(captured.graph)?;
        if !nodes.iter().all(|node| graph.nodes.contains_key(node)) {
            return Err(Code::INVALID_VALUE);
        }
        if let Some(captured) = self.captures.streams.get_mut(&stream) {
            if !add {
                captured.ends.clear();
            }
            captured.ends.extend(nodes);
        }
        Ok(())
    }

    /// The graph of what was noted since.
    pub(crate) fn end_capture(&mut self, stream: u64) -> Result<u64, Code> {
        let captured = self.captures.streams.get(&stream).cloned().ok_or(Code::ILLEGAL_STATE)?;
        if !captured.origin {
            return Err(Code::STREAM_CAPTURE_UNMATCHED);
        }
        self.captures.streams.retain(|_, other| other.graph != captured.graph);
        self.captures.events.retain(|_, (graph, _)| *graph != captured.graph);
        self.captures.shown.clear();
        let joined = captured.given || self.graph(captured.graph)?.leads_to(&captured.ends);
        if captured.broken || !joined {
            if !captured.given {
                self.destroy(captured.graph)?;
            }
            return Err(if joined { Code::STREAM_CAPTURE_INVALIDATED } else { Code::STREAM_CAPTURE_UNJOINED });
        }
        Ok(captured.graph)
    }

    /// Notes work if the stream is captured; whether it did.
    pub(crate) fn note(&mut self, stream: u64, work: impl FnOnce() -> Work) -> Result<bool, Code> {
        let blocked = self.captures.streams.iter().find(|(_, captured)| captured.blocking);
        if let Some((&blocked, _)) = blocked.filter(|_| is_default(stream)) {
            self.break_off(blocked);
            return Err(Code::STREAM_CAPTURE_IMPLICIT);
        }
        let Some(captured) = self.captures.streams.get(&stream).cloned() else { return Ok(false) };
        if captured.broken {
            return Err(Code::STREAM_CAPTURE_INVALIDATED);
        }
        let node = self.add(captured.graph, work(), &captured.ends)?;
        if let Some(captured) = self.captures.streams.get_mut(&stream) {
            captured.ends = vec![node];
        }
        Ok(true)
    }

    /// Notes where an event is if the stream is captured; whether it did.
    pub(crate) fn note_event(&mut self, event: u64, stream: u64) -> bool {
        self.captures.events.remove(&event);
        let Some(captured) = self.captures.streams.get(&stream) else { return false };
        self.captures.events.insert(event, (captured.graph, captured.ends.clone()));
        true
    }

    /// A stream waits for an event: if the event is of a capture, so is the stream from now on.
    pub(crate) fn note_wait(&mut self, stream: u64, event: u64) -> Result<(), Code> {
        let Some((graph, ends)) = self.captures.events.get(&event).cloned() else {
            let captured = self.captures.streams.contains_key(&stream);
            return if captured { Err(Code::STREAM_CAPTURE_ISOLATION) } else { Ok(()) };
        };
        let joining = Captured { graph, origin: false, given: false, blocking: false, ends: Vec::new(), broken: false };
        let captured = self.captures.streams.entry(stream).or_insert(joining);
        if captured.graph != graph {
            return Err(Code::STREAM_CAPTURE_MERGE);
        }
        captured.ends.extend(ends);
        Ok(())
    }

    /// Refuses to wait for a stream that is captured, which ends the capture for good.
    pub(crate) fn refuse_to_wait(&mut self, stream: u64) -> Result<(), Code> {
        if self.break_off(stream) { Err(Code::STREAM_CAPTURE_UNSUPPORTED) } else { Ok(()) }
    }

    /// Ends the capture that a stream is part of for good; whether there is one.
    fn break_off(&mut self, stream: u64) -> bool {
        let Some(graph) = self.captures.streams.get(&stream).map(|captured| captured.graph) else { return false };
        self.captures.streams.values_mut().filter(|other| other.graph == graph).for_each(|other| other.broken = true);
        true
    }

    /// Refuses to wait for all streams if one is captured, which ends all captures for good.
    pub(crate) fn refuse_to_wait_for_all(&mut self) -> Result<(), Code> {
        let streams: Vec<u64> = self.captures.streams.keys().copied().collect();
        streams.into_iter().map(|stream| self.refuse_to_wait(stream)).fold(Ok(()), Result::and)
    }

    /// Refuses to ask for an event of a capture.
    pub(crate) fn refuse_captured(&self, event: u64) -> Result<(), Code> {
        if self.captures.events.contains_key(&event) { Err(Code::CAPTURED_EVENT) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_spreads_and_comes_together() {
        let mut graphs = Graphs::default();
        let (main, side, fork, join) = (64, 128, 1, 2);
        graphs.begin_capture(main, true).unwrap();
        assert!(graphs.note(main, || Work::Nothing).unwrap());
        assert!(graphs.note_event(fork, main));
        graphs.note_wait(side, fork).unwrap();
        assert!(graphs.note(side, || Work::Nothing).unwrap());
        assert!(graphs.note_event(join, side));
        assert_eq!(graphs.refuse_captured(join), Err(Code::CAPTURED_EVENT));
        assert_eq!(graphs.end_capture(side), Err(Code::STREAM_CAPTURE_UNMATCHED));
        graphs.note_wait(main, join).unwrap();
        let graph = graphs.end_capture(main).unwrap();
        assert_eq!(graphs.graph(graph).unwrap().edges().len(), 1);
        assert_eq!(graphs.status(side), (Status::None, 0));
        assert!(!graphs.note(side, || Work::Nothing).unwrap());
    }

    #[test]
    fn what_does_not_come_together_is_no_graph() {
        let mut graphs = Graphs::default();
        graphs.begin_capture(64, false).unwrap();
        graphs.note_event(1, 64);
        graphs.note_wait(128, 1).unwrap();
        graphs.note(128, || Work::Nothing).unwrap();
        assert_eq!(graphs.end_capture(64), Err(Code::STREAM_CAPTURE_UNJOINED));
        graphs.begin_capture(64, false).unwrap();
        assert_eq!(graphs.refuse_to_wait(64), Err(Code::STREAM_CAPTURE_UNSUPPORTED));
        assert_eq!(graphs.note(64, || Work::Nothing), Err(Code::STREAM_CAPTURE_INVALIDATED));
        assert_eq!(graphs.note(0, || Work::Nothing), Ok(false));
        assert_eq!(graphs.end_capture(64), Err(Code::STREAM_CAPTURE_INVALIDATED));
    }

    #[test]
    fn the_default_stream_does_nothing_while_one_that_waits_for_it_is_captured() {
        let mut graphs = Graphs::default();
        graphs.begin_capture(64, true).unwrap();
        assert_eq!(graphs.note(0, || Work::Nothing), Err(Code::STREAM_CAPTURE_IMPLICIT));
        assert_eq!(graphs.end_capture(64), Err(Code::STREAM_CAPTURE_INVALIDATED));
    }
}
