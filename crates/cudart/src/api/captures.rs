//! Capturing the work of streams as graphs.

use super::entry::entry_points;
use crate::abi::Out;
use crate::code::Code;
use crate::runtime;
use crate::runtime::capture::Status;

/// `cudaStreamCaptureMode`: global, of the thread, relaxed. Which calls of other threads are unsafe is no question
/// here, so they are all the same.
fn check_mode(mode: i32) -> Result<(), Code> {
    if (0..=2).contains(&mode) { Ok(()) } else { Err(Code::INVALID_VALUE) }
}

/// The state of a stream's capture, and its graph.
fn status(stream: u64) -> Result<(Status, u64), Code> {
    runtime::with(|runtime| {
        runtime.streams.get(stream)?;
        Ok(runtime.graphs.status(stream))
    })
}

entry_points! {
    [cudaStreamBeginCapture cudaStreamBeginCapture_ptsz] (stream: u64, mode: i32) {
        check_mode(mode)?;
        runtime::with(|runtime| {
            runtime.check_told()?;
            let blocking = runtime.streams.get(stream)?.flags == 0;
            runtime.graphs.begin_capture(stream, blocking)
        })
    }

    [cudaStreamEndCapture cudaStreamEndCapture_ptsz] (stream: u64, graph: Out<u64>) {
        if graph.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let captured = runtime::with(|runtime| {
            runtime.streams.get(stream)?;
            runtime.graphs.end_capture(stream)
        });
        graph.put(*captured.as_ref().unwrap_or(&0))?;
        captured.map(drop)
    }

    [cudaStreamIsCapturing cudaStreamIsCapturing_ptsz] (stream: u64, to: Out<i32>) {
        to.put(status(stream)?.0 as i32)
    }

    // What comes after the first three results differs from version to version: the nodes that come next.
    [cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz cudaStreamGetCaptureInfo_v2
     cudaStreamGetCaptureInfo_v2_ptsz cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo_v3_ptsz] (
        stream: u64, to: Out<i32>, id: Out<u64>,
    ) {
        let (status, graph) = status(stream)?;
        to.put(status as i32)?;
        if status == Status::Active {
            id.put_if_wanted(graph);
        }
        Ok(())
    }

    [cudaThreadExchangeStreamCaptureMode] (mode: Out<i32>) {
        check_mode(mode.get()?)?;
        mode.put(0)
    }
}
