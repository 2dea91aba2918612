//! The cost of protection on a real GPU: a capsule and its hardened form take turns there.

use crate::failure::{Code, Coded, Failure};
use crate::out::number;
use anyhow::anyhow;
use capsule::{Capsule, Event};
use gpu::{Gpu, KernelResources, LaunchTimes, Placement, Repeats};
use serde::Serialize;
use stats::{Confidence, Median};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The answer of the GPU about a capsule and its hardened form.
#[derive(Serialize)]
pub(super) struct Timed {
    name: String,
    compute_capability: String,
    driver: String,
    /// The highest clocks of multiprocessors and of memory, in MHz.
    clocks_mhz: (u32, u32),
    /// How often each was timed, in turns; one run of each before is not counted.
    repetitions: u32,
    /// Copies to the host, and how many of them both give to the bit.
    copies: u64,
    same: u64,
    kernels: Vec<TimedKernel>,
    /// Seconds of all kernels, hardened over original, repetition by repetition.
    ratio: Spread,
}

/// A kernel, before and after.
#[derive(Serialize)]
struct TimedKernel {
    kernel: String,
    launches: u64,
    before: Cost,
    after: Cost,
    /// Seconds after over seconds before, repetition by repetition.
    ratio: Spread,
}

/// The cost of a kernel.
#[derive(Serialize)]
struct Cost {
    /// Of all its launches.
    seconds: Spread,
    /// Of a thread.
    registers: u32,
    /// Bytes of local memory of a thread.
    local_bytes: u32,
    /// Blocks that a multiprocessor holds at once, in the first launch.
    resident_blocks: u32,
}

/// A median with its bounds at 95 %.
#[derive(Clone, Copy, Serialize)]
struct Spread {
    median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let Median { value, low, high, .. } = stats::median(values, Confidence::PERCENT_95)?;
        Some(Self { median: value, low, high })
    }
}

/// Seconds of a kernel in each repetition.
#[derive(Default)]
struct Series {
    launches: u64,
    resources: KernelResources,
    seconds: Vec<f64>,
}

impl Series {
    fn cost(&self) -> Option<Cost> {
        let KernelResources { registers, local_bytes, resident_blocks } = self.resources;
        Some(Cost { seconds: Spread::of(&self.seconds)?, registers, local_bytes, resident_blocks })
    }

    /// These seconds over those of `before`.
    fn over(&self, before: &Self) -> Option<Spread> {
        let ratios = self.seconds.iter().zip(&before.seconds).map(|(after, before)| after / before);
        Spread::of(&ratios.collect::<Vec<_>>())
    }
}

/// Runs both on the GPU in turns, so that what changes there with time changes for both.
pub(super) fn timed(original: &Capsule, hardened: &Capsule, repetitions: u32) -> Result<Timed, Failure> {
    let mut gpu = Gpu::open().code(Code::Refused)?;
    let allocated = original.events.iter().filter_map(|event| match event {
        Event::Alloc { address, bytes, .. } => Some((*address, *bytes)),
        _ => None,
    });
    gpu.map(&allocated.collect::<Vec<_>>()).code(Code::Refused)?;
    let mut both = [original, hardened].map(|capsule| Repeats::new(&gpu, capsule, Placement::Recorded));
    let [Ok(before), Ok(after)] = &mut both else {
        return Err(Failure::new(Code::Refused, anyhow!("run both capsules on the GPU: there is not enough memory")));
    };
    before.load(&gpu::texts(original).code(Code::Refused)?).code(Code::Refused)?;
    after.load(&gpu::texts(hardened).code(Code::Refused)?).code(Code::Refused)?;
    let [first, second] = [before.repeat(None).code(Code::Refused)?, after.repeat(None).code(Code::Refused)?];
    let same = first.copies.iter().zip(&second.copies).filter(|(first, second)| first == second).count() as u64;
    let (mut times, mut totals) = ([BTreeMap::new(), BTreeMap::new()], [Series::default(), Series::default()]);
    for _ in 0..repetitions {
        for (repeats, (times, total)) in [&mut *before, &mut *after].into_iter().zip(times.iter_mut().zip(&mut totals))
        {
            let found = repeats.time().code(Code::Refused)?;
            total.seconds.push(found.values().map(|it| it.seconds).sum());
            add(times, found);
        }
    }
    let [before, after] = &times;
    let kernel = |(name, before): (&String, &Series)| {
        let after = after.get(name)?;
        let ratio = after.over(before)?;
        Some(TimedKernel {
            kernel: name.clone(),
            launches: before.launches,
            before: before.cost()?,
            after: after.cost()?,
            ratio,
        })
    };
    let ratio = totals[1].over(&totals[0]);
    let ratio =
        ratio.ok_or_else(|| Failure::new(Code::Refused, anyhow!("time {}: it has no launch", original.name)))?;
    let description = gpu.description();
    Ok(Timed {
        name: description.name.clone(),
        compute_capability: format!("{}.{}", description.compute.0, description.compute.1),
        driver: format!("{}.{}", description.driver.0, description.driver.1),
        clocks_mhz: description.clocks_mhz,
        repetitions,
        copies: first.copies.len() as u64,
        same,
        kernels: before.iter().filter_map(kernel).collect(),
        ratio,
    })
}

/// Adds a repetition.
fn add(times: &mut BTreeMap<String, Series>, found: BTreeMap<String, LaunchTimes>) {
    for (kernel, LaunchTimes { launches, seconds, resources }) in found {
        let series = times.entry(kernel).or_default();
        (series.launches, series.resources) = (launches, resources);
        series.seconds.push(seconds);
    }
}

impl Timed {
    /// As text.
    pub(super) fn text(&self) -> String {
        let mut text = format!(
            "\n{} (compute capability {}, driver {}): {} of {} copies to the host are the same to the bit\n",
            self.name,
            self.compute_capability,
            self.driver,
            number(self.same),
            number(self.copies)
        );
        let spread = |it: &Spread| format!("{:.3} [{:.3}, {:.3}]", it.median, it.low, it.high);
        for it in &self.kernels {
            let (before, after) = (&it.before, &it.after);
            let _ = writeln!(
                text,
                "{}: {} launches, {:.1} µs before, {:.1} µs after, {} times as long; {} and {} registers, {} and {} bytes of local memory, \
                 {} and {} blocks at once on a multiprocessor",
                it.kernel,
                number(it.launches),
                before.seconds.median * 1e6,
                after.seconds.median * 1e6,
                spread(&it.ratio),
                before.registers,
                after.registers,
                before.local_bytes,
                after.local_bytes,
                before.resident_blocks,
                after.resident_blocks
            );
        }
        let _ = writeln!(
            text,
            "all kernels: {} times as long; medians of {} repetitions in turns, bounds at 95 %",
            spread(&self.ratio),
            self.repetitions
        );
        text
    }
}
