//! `beamline nn`: neural networks.

use crate::args;
use crate::commands::bounds::FailConditions;
use crate::commands::filr;
use crate::commands::irradiate::{EndOptions, chosen, create, opened};
use crate::commands::study::{failure, show};
use crate::commands::{generate, heat_map, inject};
use crate::failure::{Code, Coded, Failure};
use crate::interrupt::{NOTHING_KEPT, NOTHING_YET, stop_on_interrupt};
use crate::out;
use campaign::{Choices, CommandLine, SelectionWords};
use methods::convolution::{Convolution, document, tables};
use methods::kit::StudyError;
use nn::filr::choice::FilrTechnique;
use nn::{LayerSize, NetworkSource};
use serde_json::json;
use session::networks;
use std::thread::available_parallelism;
use study::{Cell, Table};

/// Answers a command about networks.
pub(crate) fn answer(command: &args::Network) -> Result<Code, Failure> {
    match command {
        args::Network::List(list) => self::list(list.json),
        args::Network::Info(named) => info(&named.source.source(), named.json),
        args::Network::Campaign(choices) => irradiate(choices, choices.exhaustive),
        args::Network::Sweep(choices) => irradiate(choices, true),
        args::Network::Inject(one) => inject::in_network(&one.files.of(&one.network), &one.fault, one.json),
        args::Network::HeatMap(args) => heat_map::answer(args),
        args::Network::Kernel(args) => kernel(args),
        args::Network::Generate(args) => generate::answer(args),
        args::Network::Filr(args) => filr::answer(args, FilrTechnique::Filr),
        args::Network::Flr(args) => filr::answer(args, FilrTechnique::Flr),
        args::Network::Ilr(args) => filr::answer(args, FilrTechnique::Ilr),
    }
}

/// Irradiates a network, as `beamline campaign nn:NETWORK` does.
fn irradiate(args: &args::NetworkCampaign, exhaustive: bool) -> Result<Code, Failure> {
    let stop = stop_on_interrupt(NOTHING_YET)?;
    let mut choices = Choices {
        capsule: Some(networks::name(&args.source.source())?),
        engine: args.engine.clone(),
        exhaustive,
        ..args.choose.choices(&args.resources, CommandLine::default())
    };
    if args.operand.is_some() {
        choices.selection.target.clone_from(&args.operand);
    }
    if !args.image.is_empty() {
        choices.selection.iterations.clone_from(&args.image);
    }
    let session = opened(chosen(&args.choose, choices)?)?;
    let stated = FailConditions::of(session.config(), &args.choose.bounds);
    create(&session, args.choose.out.clone(), &stop, EndOptions { json: args.choose.json, stated })
}

fn list(json: bool) -> Result<Code, Failure> {
    if json {
        let all: Vec<_> = networks::bundled().map(|(name, about)| json!({ "name": name, "about": about })).collect();
        out::json(&json!({ "format": "beamline.networks/1", "networks": all }))?;
    } else {
        let mut table = Table::new("", &["network", "about"]);
        table.rows = networks::bundled().map(|(name, about)| vec![Cell::text(name), Cell::text(about)]).collect();
        show(vec![table])?;
    }
    Ok(Code::Done)
}

/// The layers of a network, and what of them a campaign hits.
fn info(source: &NetworkSource, json: bool) -> Result<Code, Failure> {
    let target = networks::open(source)?;
    let name = target.name();
    let (layers, accuracy) = (target.layers(), target.accuracy());
    // Where no image is right there are layers still, but nothing to draw from.
    let population = target.population(&SelectionWords::default());
    let faults = |neurons: u64, images: u64| neurons * images * u64::from(target.bits());
    if json {
        let layer = |it: &LayerSize| {
            json!({
                "name": it.name, "class": it.class, "operator": it.opcode, "shape": it.shape, "neurons": it.neurons,
                "parameters": it.parameters, "macs": it.macs,
            })
        };
        out::json(&json!({
            "format": "beamline.network/1",
            "name": name,
            "accuracy": { "count": accuracy.right, "of": accuracy.images, "rate": accuracy.share() },
            "layers": layers.iter().map(layer).collect::<Vec<_>>(),
            "population": population.as_ref().ok().map(|&(neurons, images)| {
                json!({ "neurons": neurons, "images": images, "faults": faults(neurons, images) })
            }),
        }))?;
        return Ok(Code::Done);
    }
    let columns = ["layer", "operator", "class", "output", "neurons", "parameters", "MACs"];
    let mut table = Table::new(format!("{name}: layers"), &columns);
    table.rows = layers
        .iter()
        .map(|it| {
            vec![
                Cell::text(&it.name),
                Cell::text(&it.opcode),
                Cell::text(it.class),
                Cell::Text(it.shape.map(|size| size.to_string()).join(" × ")),
                Cell::Count(it.neurons),
                Cell::Count(it.parameters),
                Cell::Count(it.macs),
            ]
        })
        .collect();
    let share = accuracy.share() * 100.0;
    let right = target.task().when_right();
    table.notes.push(format!("{} of {} images {right} ({share:.1} %).", accuracy.right, accuracy.images));
    table.notes.push(match population {
        Ok((neurons, images)) => format!(
            "A campaign draws from {} faults: {neurons} neurons of convolutions, {images} images, {} bits.",
            out::number(faults(neurons, images)),
            target.bits()
        ),
        Err(why) => format!("A campaign has nothing to draw from: failed to {why}; check --labels."),
    });
    show(vec![table])?;
    Ok(Code::Done)
}

/// Runs a layer as a kernel, and hits that.
fn kernel(args: &args::NetworkKernel) -> Result<Code, Failure> {
    let stop = stop_on_interrupt(NOTHING_KEPT)?;
    let target = networks::open(&args.source.source())?.integers().code(Code::Refused)?;
    let network = target.network();
    let layer = network.layer_named(&args.layer).ok_or_else(|| {
        let all: Vec<&str> = network.layers().iter().map(|layer| layer.name.as_str()).collect();
        let message = format!("find the layer `{}` of `{}`: it has {}", args.layer, network.name(), all.join(", "));
        failure(StudyError::Words(message))
    })?;
    let of = Convolution {
        target: &target,
        layer,
        form: args.kernel,
        images: args.inferences.get(),
        runs: args.runs.get(),
        seed: args.seed,
    };
    let jobs = args.jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    if let Some(path) = &args.capsule {
        let capsule = of.capsule().map_err(failure)?;
        out::file(path, capsule.to_bytes().code(Code::Refused)?)?;
    }
    let found = of.study(jobs, &stop).map_err(failure)?;
    if args.json {
        out::json(&document(network.name(), &args.layer, args.kernel, &found))?;
    } else {
        show(tables(network.name(), &args.layer, args.kernel, &found))?;
    }
    Ok(Code::Done)
}
