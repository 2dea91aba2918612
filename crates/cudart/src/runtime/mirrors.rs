//! Memory that host and GPU both see: managed memory, and pinned memory that kernels use.
//!
//! Each side has its own bytes, and a third copy remembers what both last agreed on. Before the GPU does something,
//! what the host has changed goes to the GPU; after it, what the GPU has changed goes to the host. Both go through
//! the recorder, so that a replay sees what the host wrote and knows what the host could see.
//!
//! The host sees what a kernel wrote when the launch returns, but is recorded as seeing it at the next
//! synchronisation, when CUDA promises it. Pinned memory it may look at before that, as those do who wait for a kernel to write
//! there: it is recorded as seeing that when it gives the GPU more to do, the last time that it can have looked.

use capsule::Region;
use device::DeviceError;

use super::gpu::Gpu;
use super::host;

/// Changes are found and moved in pieces of this many bytes.
const PIECE: usize = 256;

/// Memory of both sides.
#[derive(Debug)]
struct Mirror {
    host: u64,
    device: u64,
    agreed: Vec<u8>,
    /// Whether it is the host's own, which it may look at without waiting for the GPU.
    pinned: bool,
    /// Whether the GPU changed it since the host was last recorded as seeing it.
    news: bool,
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Mirrors(Vec<Mirror>);

impl Mirrors {
    /// Adds memory whose bytes on the GPU hold, and are not on the host yet.
    ///
    /// # Safety
    /// The host's range must stay readable and writable until [`Mirrors::remove`].
    pub(crate) unsafe fn add_from_device(&mut self, gpu: &mut Gpu, at: u64, bytes: u64) -> Result<(), DeviceError> {
        let agreed = gpu.peek(&Region::linear(at, bytes))?;
        // SAFETY: passed on to the caller.
        unsafe { host::scatter(&Region::linear(at, bytes), &agreed) };
        self.0.push(Mirror { host: at, device: at, agreed, pinned: false, news: false });
        Ok(())
    }

    /// Adds memory whose bytes on the host hold, and are not on the GPU yet.
    ///
    /// # Safety
    /// As [`Mirrors::add_from_device`].
    pub(crate) unsafe fn add_from_host(
        &mut self,
        gpu: &mut Gpu,
        host: u64,
        device: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        // SAFETY: passed on to the caller.
        let agreed = unsafe { host::gather(&Region::linear(host, bytes)) }.into_owned();
        gpu.copy_in(Region::linear(device, bytes), &agreed)?;
        self.0.push(Mirror { host, device, agreed, pinned: true, news: false });
        Ok(())
    }

    /// Forgets the memory that begins at an address of the host; the address on the GPU if there was any.
    pub(crate) fn remove(&mut self, host: u64) -> Option<u64> {
        let place = self.0.iter().position(|mirror| mirror.host == host)?;
        Some(self.0.remove(place).device)
    }

    /// The address on the GPU of the memory that begins at an address of the host.
    pub(crate) fn device_of(&self, host: u64) -> Option<u64> {
        self.0.iter().find(|mirror| mirror.host == host).map(|mirror| mirror.device)
    }

    /// Brings to the GPU what the host has changed, which may have seen what kernels wrote to pinned memory.
    pub(crate) fn push(&mut self, gpu: &mut Gpu) -> Result<(), DeviceError> {
        self.tell(gpu, |mirror| mirror.pinned);
        for mirror in &mut self.0 {
            // SAFETY: whoever added the mirror vouches for the range.
            let now = unsafe { host::gather(&Region::linear(mirror.host, mirror.agreed.len() as u64)) };
            for (start, end) in changes(&mirror.agreed, &now) {
                gpu.copy_in(Region::linear(mirror.device + start as u64, (end - start) as u64), &now[start..end])?;
                mirror.agreed[start..end].copy_from_slice(&now[start..end]);
            }
        }
        Ok(())
    }

    /// Brings to the host what the GPU has changed. It is news if a kernel may have done it.
    pub(crate) fn pull(&mut self, gpu: &mut Gpu, news: bool) -> Result<(), DeviceError> {
        for mirror in &mut self.0 {
            let mut now = gpu.peek(&Region::linear(mirror.device, mirror.agreed.len() as u64))?;
            for (start, end) in changes(&mirror.agreed, &now) {
                let on_gpu = Region::linear(mirror.device + start as u64, (end - start) as u64);
                gpu.corrupt(&on_gpu, &mut now[start..end])?;
                let to = Region::linear(mirror.host + start as u64, (end - start) as u64);
                // SAFETY: whoever added the mirror vouches for the range.
                unsafe { host::scatter(&to, &now[start..end]) };
                mirror.agreed[start..end].copy_from_slice(&now[start..end]);
                mirror.news |= news;
            }
        }
        Ok(())
    }

    /// The host waits for the GPU: it is recorded as seeing what kernels changed.
    pub(crate) fn see(&mut self, gpu: &mut Gpu) {
        self.tell(gpu, |_| true);
    }

    /// The host is recorded as seeing what kernels changed in some of it.
    fn tell(&mut self, gpu: &mut Gpu, of: fn(&Mirror) -> bool) {
        for mirror in self.0.iter_mut().filter(|mirror| mirror.news && of(mirror)) {
            mirror.news = false;
            gpu.seen(Region::linear(mirror.device, mirror.agreed.len() as u64), &mirror.agreed);
        }
    }
}

/// Where two contents of the same size differ, in whole pieces that are joined where they touch.
fn changes(before: &[u8], now: &[u8]) -> Vec<(usize, usize)> {
    let mut changes: Vec<(usize, usize)> = Vec::new();
    for (index, (old, new)) in before.chunks(PIECE).zip(now.chunks(PIECE)).enumerate() {
        if old == new {
            continue;
        }
        let (start, end) = (index * PIECE, index * PIECE + new.len());
        match changes.last_mut() {
            Some((_, last)) if *last == start => *last = end,
            _ => changes.push((start, end)),
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_joined_where_they_touch() {
        let before = vec![0; 1000];
        let mut now = before.clone();
        assert_eq!(changes(&before, &now), []);
        now[0] = 1;
        now[300] = 1;
        now[999] = 1;
        assert_eq!(changes(&before, &now), [(0, 512), (768, 1000)]);
    }

    #[test]
    fn what_either_side_writes_reaches_the_other() {
        let mut gpu = Gpu::new(None);
        let mut host = vec![7_u8; 600];
        let address = host.as_mut_ptr().expose_provenance() as u64;
        let device = gpu.reserve(600).unwrap();
        let mut mirrors = Mirrors::default();
        // SAFETY: `host` outlives the mirrors.
        unsafe { mirrors.add_from_host(&mut gpu, address, device, 600) }.unwrap();
        assert_eq!(gpu.peek(&Region::linear(device, 600)).unwrap(), [7; 600]);
        gpu.fill(Region::linear(device + 10, 2), 9, 1).unwrap();
        mirrors.pull(&mut gpu, true).unwrap();
        assert_eq!(host[9..13], [7, 9, 9, 7]);
        host[599] = 5;
        mirrors.push(&mut gpu).unwrap();
        assert_eq!(gpu.peek(&Region::linear(device + 598, 2)).unwrap(), [7, 5]);
        assert_eq!(mirrors.remove(address), Some(device));
    }
}
