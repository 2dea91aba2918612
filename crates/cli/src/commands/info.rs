//! `beamline info`

use crate::args;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use capsule::{Capsule, Output};
use device::Guests;
use inject::{CopiedBuffer, Golden, Typed, copied_buffers, elements};
use serde::Serialize;
use session::capsules;
use std::sync::Arc;

#[derive(Serialize)]
struct Info {
    format: &'static str,
    name: String,
    digest: String,
    command: Vec<String>,
    tool: String,
    compiler: Vec<String>,
    launches: u64,
    threads: u64,
    kernels: Vec<Kernel>,
    /// Kernels that are launched but cannot be run, each with the reason; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refused: Vec<String>,
    allocations: u64,
    peak_bytes: u64,
    bytes_in: u64,
    bytes_out: u64,
    outputs: Vec<OutputInfo>,
    /// What is copied to the host, by buffer; empty if the program could not be run.
    copied: Vec<Copied>,
    /// The data races that were found; absent if the program could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    races: Option<Vec<String>>,
    /// How far they were looked for, if not in everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    races_unsearched: Option<String>,
    /// Kernels that sum floating-point numbers in an order that a GPU chooses, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    float_sums: Vec<String>,
    /// How many bytes kernels print, if some may: their text is an output, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<u64>,
    /// What is said of the order of launches, if several threads made them.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_note: Option<String>,
    sources: Vec<String>,
}

/// An output, and how its type is known.
#[derive(Serialize)]
struct OutputInfo {
    #[serde(flatten)]
    output: Output,
    /// `declared`, `inferred` from what the program stores, or `bytes`.
    typed: &'static str,
}

/// The copies of a buffer to the host.
#[derive(Serialize)]
struct Copied {
    buffer: String,
    copies: u64,
    /// Those after which the host launched more work: it may have acted on what it saw.
    before_last_launch: u64,
    bytes: u64,
    /// Whether one of them is an output.
    output: bool,
    /// The lines of the application that copy it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
}

impl From<CopiedBuffer> for Copied {
    fn from(buffer: CopiedBuffer) -> Self {
        let CopiedBuffer { name, copies, before_last_launch, bytes, is_output, lines } = buffer;
        Self { buffer: name, copies, before_last_launch, bytes, output: is_output, lines }
    }
}

impl Copied {
    /// What a difference in it means for a run.
    fn meaning(&self) -> &'static str {
        match (self.output, self.before_last_launch > 0) {
            (true, false) => "corrupted output",
            (true, true) => "corrupted output, or a host that acts on it",
            (false, true) => "a host that acts on it",
            (false, false) => "nothing",
        }
    }
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    launches: u64,
    threads: u64,
    /// Static instructions.
    instructions: usize,
    registers: usize,
}

/// Shows what a capsule holds.
pub(crate) fn info(args: &args::Capsule) -> Result<Code, Failure> {
    let capsule = capsules::open(&args.capsule)?;
    let info = gather(&capsule)?;
    if args.json {
        out::json(&info)?;
    } else {
        out::text(&render(&info))?;
    }
    Ok(Code::Done)
}

fn gather(capsule: &Arc<Capsule>) -> Result<Info, Failure> {
    let summary = capsule.summary();
    let (mut kernels, mut refused) = (Vec::new(), Vec::new());
    for used in &summary.kernels {
        let module = Guests::default().open(capsule, used.module).code(Code::Refused)?;
        if let Some(error) = module.as_ref().and_then(|module| module.refusal(&used.kernel)) {
            refused.push(format!("{}: {}", fault::base_name(&used.kernel), error.first_in_a_line()));
        }
        let kernel = module.and_then(|module| module.kernel(&used.kernel));
        kernels.push(Kernel {
            name: used.kernel.clone(),
            launches: used.launches,
            threads: used.threads,
            instructions: kernel.as_ref().map_or(0, |kernel| kernel.instructions as usize),
            registers: kernel.map_or(0, |kernel| kernel.registers as usize),
        });
    }
    let (golden, refusal) = match Golden::run(Arc::clone(capsule)) {
        Ok(golden) => (Some(golden), None),
        Err(error) => (None, Some(format!("the program cannot be run: {:#}", anyhow::Error::from(error)))),
    };
    let races = |golden: &Golden| golden.races().iter().map(ToString::to_string).collect();
    Ok(Info {
        format: "beamline.info/1",
        name: capsule.name.clone(),
        digest: capsule.digest().to_string(),
        command: capsule.provenance.command.clone(),
        tool: capsule.provenance.tool.clone(),
        compiler: capsule.provenance.compiler.clone(),
        launches: summary.launches,
        threads: summary.threads,
        kernels,
        refused,
        allocations: summary.allocations,
        peak_bytes: summary.peak_bytes,
        bytes_in: summary.bytes_in,
        bytes_out: summary.bytes_out,
        outputs: outputs(capsule, golden.as_ref()),
        copied: golden.as_ref().map(copied_buffers).unwrap_or_default().into_iter().map(Copied::from).collect(),
        races: golden.as_ref().map(races),
        races_unsearched: golden.as_ref().and_then(Golden::unsearched).or(refusal),
        printed: golden.as_ref().filter(|golden| golden.prints()).map(Golden::printed_bytes),
        order_note: capsule.provenance.order_note(),
        float_sums: golden.as_ref().map(Golden::float_sums).unwrap_or_default(),
        sources: capsule.sources.iter().map(|source| source.path.clone()).collect(),
    })
}

/// The outputs with their types. Where one is not declared, the program is run to see what it stores; where it cannot
/// be run, the bytes are compared.
fn outputs(capsule: &Capsule, golden: Option<&Golden>) -> Vec<OutputInfo> {
    let declared = golden.map_or_else(|| capsule.effective_outputs(), |golden| golden.outputs().to_vec());
    let wanted = declared.iter().any(|output| output.element.is_none());
    let found = golden.filter(|_| wanted).map(elements).unwrap_or_default();
    let show = |(at, output): (usize, Output)| {
        let (element, typed) = match (output.element, found.get(at)) {
            (Some(element), _) => (Some(element), "declared"),
            (None, Some(Typed::Inferred(element))) => (Some(*element), "inferred"),
            (None, _) => (None, "bytes"),
        };
        OutputInfo { output: Output { element, ..output }, typed }
    };
    declared.into_iter().enumerate().map(show).collect()
}

fn render(info: &Info) -> String {
    let mut text = format!("{} (digest {})\n", out::short(&info.name), info.digest);
    let command = info.command.join(" ");
    text += &format!("recorded by {} from: {}\n", out::short(&info.tool), out::short(&command));
    for compiler in &info.compiler {
        text += &format!("compiled by {}\n", out::short(compiler));
    }
    text += &format!(
        "{} allocations, {} at most; {} copied in, {} copied out\n\n",
        info.allocations,
        out::bytes(info.peak_bytes),
        out::bytes(info.bytes_in),
        out::bytes(info.bytes_out)
    );
    let kernels = info.kernels.iter().map(|kernel| {
        vec![
            fault::base_name(&kernel.name).to_owned(),
            out::number(kernel.launches),
            out::number(kernel.threads),
            out::number(kernel.instructions as u64),
            out::number(kernel.registers as u64),
        ]
    });
    let header = ["kernel", "launches", "threads", "static instructions", "virtual registers"];
    text += &out::table(&header, "<>", &kernels.collect::<Vec<_>>());
    if !info.refused.is_empty() {
        text += "\nkernels that cannot be run:\n";
        info.refused.iter().for_each(|kernel| text += &format!("  {}\n", out::short(kernel)));
    }
    let outputs = info.outputs.iter().map(|OutputInfo { output, typed }| {
        let shape: Vec<String> = output.shape.iter().map(ToString::to_string).collect();
        vec![
            if output.name.is_empty() { format!("copy {}", output.copy) } else { output.name.clone() },
            output.element.map_or_else(|| "bytes".to_owned(), |element| format!("{element} ({typed})")),
            shape.join(" × "),
            output.tolerance.map_or_else(|| "exact".to_owned(), |tolerance| format!("{} {tolerance}", output.metric)),
        ]
    });
    text += "\n";
    text += &out::table(&["output", "type", "shape", "good if"], "<", &outputs.collect::<Vec<_>>());
    let has_lines = info.copied.iter().any(|copied| !copied.lines.is_empty());
    if has_lines || info.copied.iter().any(|copied| copied.before_last_launch > 0 || !copied.output) {
        let copied = info.copied.iter().map(|copied| {
            vec![
                out::short(&copied.buffer).to_string(),
                out::number(copied.copies),
                out::bytes(copied.bytes),
                copied.meaning().to_owned(),
                out::short(&copied.lines.join(", ")).to_string(),
            ]
        });
        text += "\n";
        text += &out::table(
            &["copied to the host", "copies", "size", "what a difference means", "copied at"],
            "<>><<",
            &copied.collect::<Vec<_>>(),
        );
        text += "`campaign --scratch BUFFER` leaves out copies whose content does not matter\n";
    }
    match info.races.as_deref() {
        None => {
            let refusal = info.races_unsearched.as_deref().unwrap_or("the program cannot be run");
            text += &format!("\ndata races: not looked for, {}\n", out::short(refusal));
        }
        Some([]) => {
            let part = info.races_unsearched.as_ref();
            text += &part.map_or_else(
                || "\ndata races: none found\n".to_owned(),
                |part| format!("\ndata races: none in the part that was looked at; {part}\n"),
            );
        }
        Some(races) => {
            text += "\ndata races; the warps of these kernels are interleaved:\n";
            races.iter().for_each(|race| text += &format!("  {}\n", out::short(race)));
            info.races_unsearched.iter().for_each(|part| text += &format!("  {part}\n"));
        }
    }
    if let Some(bytes) = info.printed {
        text += &format!(
            "note: the text that kernels print ({} bytes) is an output, `{}`\n",
            out::number(bytes),
            inject::PRINTED
        );
    }
    info.float_sums.iter().chain(&info.order_note).for_each(|sum| text += &format!("note: {}\n", out::short(sum)));
    text
}
