//! Capturing the work of streams as graphs.

use super::entry::entry_points;
use super::graph_nodes::nodes;
use crate::abi::{In, Out, is_cuda_12};
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

/// Stores the state of a stream's capture and its name; its graph, if there is one.
fn information(stream: u64, to: Out<i32>, id: Out<u64>) -> Result<Option<u64>, Code> {
    let (status, graph) = status(stream)?;
    to.put(status as i32)?;
    if status == Status::Active {
        id.put_if_wanted(graph);
    }
    Ok((status == Status::Active).then_some(graph))
}

/// Stores the graph of a capture and the nodes that the next one comes after.
fn put_ends(stream: u64, of: Option<u64>, graph: Out<u64>, ends: Out<u64>, count: Out<u64>) -> Result<(), Code> {
    let Some(of) = of else { return Ok(()) };
    let (address, number) = runtime::with(|runtime| Ok(runtime.graphs.ends(stream)))?;
    graph.put_if_wanted(of);
    ends.put_if_wanted(address);
    count.put_if_wanted(number);
    Ok(())
}

/// `cudaStreamAddCaptureDependencies` is 0, `cudaStreamSetCaptureDependencies` is 1.
fn update(stream: u64, after: In<u64>, count: u64, flags: u32) -> Result<(), Code> {
    if flags > 1 {
        return Err(Code::INVALID_VALUE);
    }
    let after = nodes(after, count)?;
    runtime::with(|runtime| {
        runtime.streams.get(stream)?;
        runtime.graphs.set_ends(stream, after, flags == 0)
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

    // The first of CUDA 12 has three results; with the next come the graph and the nodes that the next one comes after,
    // and last, before their number, data of the edges, of which there is none.
    [cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz] (
        stream: u64, to: Out<i32>, id: Out<u64>, graph: Out<u64>, ends: Out<u64>, data: Out<u64>, count: Out<u64>,
    ) {
        if is_cuda_12() {
            return information(stream, to, id).map(drop);
        }
        put_ends(stream, information(stream, to, id)?, graph, ends, count)?;
        data.put_if_wanted(0);
        Ok(())
    }

    [cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo_v2_ptsz] (
        stream: u64, to: Out<i32>, id: Out<u64>, graph: Out<u64>, ends: Out<u64>, count: Out<u64>,
    ) {
        put_ends(stream, information(stream, to, id)?, graph, ends, count)
    }

    [cudaStreamGetCaptureInfo_v3 cudaStreamGetCaptureInfo_v3_ptsz] (
        stream: u64, to: Out<i32>, id: Out<u64>, graph: Out<u64>, ends: Out<u64>, data: Out<u64>, count: Out<u64>,
    ) {
        put_ends(stream, information(stream, to, id)?, graph, ends, count)?;
        data.put_if_wanted(0);
        Ok(())
    }

    [cudaStreamBeginCaptureToGraph cudaStreamBeginCaptureToGraph_ptsz] (
        stream: u64, graph: u64, after: In<u64>, _data: u64, count: u64, mode: i32,
    ) {
        check_mode(mode)?;
        let after = nodes(after, count)?;
        runtime::with(|runtime| {
            runtime.check_told()?;
            let blocking = runtime.streams.get(stream)?.flags == 0;
            runtime.graphs.begin_capture_to(stream, blocking, graph, after)
        })
    }

    // CUDA 13 has data of the edges before their number.
    [cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_ptsz] (
        stream: u64, after: In<u64>, count_or_data: u64, flags_or_count: u64, flags: u32,
    ) {
        if is_cuda_12() {
            return update(stream, after, count_or_data, flags_or_count as u32);
        }
        update(stream, after, flags_or_count, flags)
    }

    [cudaStreamUpdateCaptureDependencies_v2 cudaStreamUpdateCaptureDependencies_v2_ptsz] (
        stream: u64, after: In<u64>, _data: u64, count: u64, flags: u32,
    ) {
        update(stream, after, count, flags)
    }

    [cudaThreadExchangeStreamCaptureMode] (mode: Out<i32>) {
        check_mode(mode.get()?)?;
        mode.put(0)
    }
}
