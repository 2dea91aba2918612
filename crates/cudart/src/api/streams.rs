//! Streams and events. Work is done when it is asked for, so nothing ever waits.

use super::entry::entry_points;
use crate::abi::{HostFunction, In, Out};
use crate::code::Code;
use crate::runtime;
use crate::runtime::streams::Stream;
use crate::runtime::work::{HostCall, Work};

/// A function of the application.
type Callback = Option<extern "C-unwind" fn(stream: u64, status: Code, data: u64)>;

fn stream(stream: u64) -> Result<Stream, Code> {
    runtime::with(|runtime| {
        runtime.check_told()?;
        runtime.streams.get(stream)
    })
}

/// What an attribute of a stream is before it is set, in its first word; those of launches alone are none of streams.
fn unset_attribute(attribute: i32, priority: i32) -> Result<u64, Code> {
    const AUTO: u64 = 1;
    match attribute {
        // The window, the domain.
        1 | 10 => Ok(0),
        // How the host waits.
        3 => Ok(AUTO),
        8 => Ok(u64::from(priority.cast_unsigned())),
        // Domains: 0 by default, 1 of other devices.
        9 => Ok(1 << 8),
        _ => Err(Code::INVALID_VALUE),
    }
}

/// The host waits for a stream.
fn wait(stream: u64) -> Result<(), Code> {
    runtime::with(|runtime| {
        runtime.streams.get(stream)?;
        runtime.graphs.refuse_to_wait(stream)?;
        runtime.synchronize()
    })
}

fn record(event: u64, stream: u64) -> Result<(), Code> {
    runtime::with(|runtime| {
        runtime.check_told()?;
        runtime.streams.get(stream)?;
        runtime.streams.check_event(event)?;
        if runtime.graphs.note_event(event, stream) {
            return Ok(());
        }
        runtime.streams.record(event, runtime.gpu.nanoseconds())
    })
}

entry_points! {
    [cudaStreamCreate] (to: Out<u64>) {
        to.put(runtime::with(|runtime| { runtime.check_told()?; runtime.streams.create(0, 0) })?)
    }

    [cudaStreamCreateWithFlags] (to: Out<u64>, flags: u32) {
        to.put(runtime::with(|runtime| { runtime.check_told()?; runtime.streams.create(flags, 0) })?)
    }

    [cudaStreamCreateWithPriority] (to: Out<u64>, flags: u32, priority: i32) {
        to.put(runtime::with(|runtime| { runtime.check_told()?; runtime.streams.create(flags, priority) })?)
    }

    [cudaStreamDestroy] (stream: u64) {
        runtime::with(|runtime| runtime.streams.destroy(stream))
    }

    [cudaStreamSynchronize cudaStreamSynchronize_ptsz] (stream: u64) {
        wait(stream)
    }

    [cudaStreamQuery cudaStreamQuery_ptsz] (stream: u64) {
        wait(stream)
    }

    [cudaStreamWaitEvent cudaStreamWaitEvent_ptsz] (of: u64, event: u64, flags: u32) {
        stream(of)?;
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        runtime::with(|runtime| {
            runtime.streams.check_event(event)?;
            runtime.graphs.note_wait(of, event)
        })
    }

    [cudaStreamGetFlags cudaStreamGetFlags_ptsz] (of: u64, flags: Out<u32>) {
        flags.put(stream(of)?.flags)
    }

    [cudaStreamGetPriority cudaStreamGetPriority_ptsz] (of: u64, priority: Out<i32>) {
        priority.put(stream(of)?.priority)
    }

    [cudaStreamGetId cudaStreamGetId_ptsz] (of: u64, id: Out<u64>) {
        id.put(stream(of)?.id)
    }

    [cudaStreamGetDevice cudaStreamGetDevice_ptsz] (of: u64, device: Out<i32>) {
        stream(of)?;
        device.put(0)
    }

    [cudaStreamCopyAttributes cudaStreamCopyAttributes_ptsz] (to: u64, from: u64) {
        stream(to)?;
        stream(from)?;
        runtime::with(|runtime| {
            runtime.graphs.copy_attributes(from, to);
            Ok(())
        })
    }

    [cudaStreamGetAttribute cudaStreamGetAttribute_ptsz] (of: u64, attribute: i32, value: Out<[u64; 8]>) {
        let mut unset = [0; 8];
        unset[0] = unset_attribute(attribute, stream(of)?.priority)?;
        let set = runtime::with(|runtime| Ok(runtime.graphs.attribute(of, attribute)))?;
        value.put(set.unwrap_or(unset))
    }

    [cudaStreamSetAttribute cudaStreamSetAttribute_ptsz] (of: u64, attribute: i32, value: In<[u64; 8]>) {
        stream(of)?;
        unset_attribute(attribute, 0)?;
        let value = value.get()?;
        runtime::with(|runtime| {
            runtime.graphs.set_attribute(of, attribute, value);
            Ok(())
        })
    }

    [cudaStreamAddCallback cudaStreamAddCallback_ptsz] (of: u64, callback: Callback, data: u64, flags: u32) {
        stream(of)?;
        let callback = callback.filter(|_| flags == 0).ok_or(Code::INVALID_VALUE)?;
        runtime::with(|runtime| runtime.graphs.refuse_to_wait(of))?;
        let status = runtime::with(|runtime| runtime.check()).err().unwrap_or(Code::SUCCESS);
        callback(of, status, data);
        Ok(())
    }

    [cudaLaunchHostFunc cudaLaunchHostFunc_ptsz] (of: u64, function: HostFunction, data: u64) {
        stream(of)?;
        let call = HostCall { function: Some(function.ok_or(Code::INVALID_VALUE)?), data };
        // The function does not run after a failure, and the failure is told by who waits.
        let now = runtime::with(|runtime| {
            Ok(!runtime.graphs.note(of, || Work::Host(call))? && runtime.is_good())
        })?;
        if now {
            call.call();
        }
        Ok(())
    }

    [cudaEventCreate] (to: Out<u64>) {
        to.put(runtime::with(|runtime| { runtime.check_told()?; runtime.streams.create_event(0) })?)
    }

    [cudaEventCreateWithFlags] (to: Out<u64>, flags: u32) {
        to.put(runtime::with(|runtime| { runtime.check_told()?; runtime.streams.create_event(flags) })?)
    }

    [cudaEventDestroy] (event: u64) {
        runtime::with(|runtime| runtime.streams.destroy_event(event))
    }

    [cudaEventRecord cudaEventRecord_ptsz] (event: u64, stream: u64) {
        record(event, stream)
    }

    [cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz] (event: u64, stream: u64, flags: u32) {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        record(event, stream)
    }

    [cudaEventQuery cudaEventSynchronize] (event: u64) {
        runtime::with(|runtime| {
            runtime.streams.check_event(event)?;
            runtime.graphs.refuse_captured(event)?;
            runtime.synchronize()
        })
    }

    [cudaEventElapsedTime cudaEventElapsedTime_v2] (milliseconds: Out<f32>, start: u64, end: u64) {
        let elapsed = runtime::with(|runtime| {
            runtime.check()?;
            runtime.streams.elapsed(start, end)
        })?;
        milliseconds.put(elapsed)
    }
}
