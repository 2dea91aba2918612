//! `beamline groups`

use crate::args::{self, By};
use crate::commands::irradiate::stop_on_interrupt;
use crate::commands::study;
use crate::failure::{Code, Coded, Failure};
use crate::{out, source};
use anyhow::anyhow;
use inject::{CapsuleTarget, Golden};
use methods::gpu_qin::{
    Bench, Choice, Coverage, Grouping, ResilienceClass, Settings, resilience_classes, studies::popularity,
};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    capsule: &'a str,
    by: &'static str,
    #[serde(flatten)]
    grouping: &'a Grouping,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resilience: Vec<Classes>,
}

/// The groups of a kernel that a pilot campaign cannot tell apart.
#[derive(Serialize)]
struct Classes {
    kernel: String,
    classes: Vec<ResilienceClass>,
    /// The share of threads in groups with too few trials.
    unknown: f64,
}

/// Shows the threads of a capsule in groups.
pub(crate) fn groups(args: &args::Groups) -> Result<Code, Failure> {
    if let Some(share) = args.coverage.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(Failure::new(Code::Usage, anyhow!("cover {share} of the threads: a share is from 0 to 1")));
    }
    let target = CapsuleTarget::new(source::golden(source::open(&args.capsule)?)?);
    let grouping = grouping(target.golden_run(), args)?;
    let resilience = if args.by == By::Resilience { classes(&target, &grouping, args)? } else { Vec::new() };
    if let Some(path) = &args.plot {
        let plot = popularity(&target.golden_run().capsule().name, &grouping, fault::base_name);
        out::file(path, report::study::svg(&plot))?;
    }
    if args.json {
        let by = match args.by {
            By::Instructions => "instructions",
            By::Trace => "trace",
            By::Resilience => "resilience",
        };
        let capsule = &target.golden_run().capsule().name;
        out::json(&Document { format: "beamline.groups/1", capsule, by, grouping: &grouping, resilience })?;
    } else {
        out::text(&report::gpu_qin::groups(&grouping, fault::base_name))?;
        out::text(&resilience.iter().map(render).collect::<String>())?;
    }
    Ok(Code::Done)
}

fn grouping(golden: &Golden, args: &args::Groups) -> Result<Grouping, Failure> {
    let selection = fault::Selection::default().in_kernels(&args.kernel).code(Code::Usage)?;
    let by = if args.by == By::Trace { methods::gpu_qin::By::Trace } else { methods::gpu_qin::By::Instructions };
    let coverage = args.coverage.map_or(Coverage::Published, Coverage::Share);
    let grouping = Grouping::of(golden, coverage, by, &|name, number| selection.holds_launch(name, number));
    if grouping.kernels.is_empty() {
        let error = anyhow!("find a kernel: none matches {}", args.kernel.join(", "));
        return Err(Failure::new(Code::Usage, error).help("`beamline profile` lists the kernels"));
    }
    Ok(grouping)
}

/// Irradiates all threads once and joins the groups that this cannot tell apart.
fn classes(target: &CapsuleTarget, grouping: &Grouping, args: &args::Groups) -> Result<Vec<Classes>, Failure> {
    let stop = stop_on_interrupt()?;
    let settings = Settings { choice: Choice::Unbiased, ..Settings::default() };
    let mut progress = study::Told::default();
    let mut bench = Bench {
        dir: args.out.clone(),
        seed: args.seed,
        kernels: args.kernel.clone(),
        jobs: None,
        stop: &stop,
        told: &mut |name, event| progress.event(name, event),
    };
    let measured = bench.measure(target, settings, args.runs).map_err(study::failure)?;
    let of = |(number, kernel): (usize, &methods::gpu_qin::KernelGroups)| {
        let (classes, unknown) = resilience_classes(kernel, number, settings, &measured.trials);
        Classes { kernel: kernel.kernel.clone(), classes, unknown }
    };
    Ok(grouping.kernels.iter().enumerate().map(of).collect())
}

fn render(classes: &Classes) -> String {
    let mut text = format!(
        "\n{}: {} classes by resilience; {} of the threads are in groups with too few trials\n",
        fault::base_name(&classes.kernel),
        classes.classes.len(),
        out::percent(classes.unknown)
    );
    let row = |class: &ResilienceClass| {
        let all = class.ends.iter().sum::<u64>().max(1) as f64;
        let mut row = vec![class.instructions.len().to_string(), out::percent(class.popularity)];
        row.push(out::number(class.ends.iter().sum()));
        row.extend([1, 2, 3].map(|end| out::percent(class.ends[end] as f64 / all)));
        let names: Vec<String> = class.instructions.iter().take(8).map(ToString::to_string).collect();
        row.push(names.join(" ") + if class.instructions.len() > 8 { " …" } else { "" });
        row
    };
    let header = ["groups", "threads", "activated", "sdc", "crash", "hang", "instructions"];
    text += &out::table(&header, ">>>>>><", &classes.classes.iter().map(row).collect::<Vec<_>>());
    text
}
