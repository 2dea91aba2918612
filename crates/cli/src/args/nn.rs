//! Words about neural networks.

use super::choose::{Choose, Resources};
use super::engine;
use campaign::Engine;
use clap::{Args as Group, Subcommand};
use std::path::PathBuf;

/// A command about networks.
#[derive(Debug, Subcommand)]
pub(crate) enum Network {
    /// List the bundled networks
    List(Networks),
    /// Show the layers of a network, its accuracy, and what of it can be hit
    Info(NetworkName),
    /// Irradiate a network: one faulty neuron in each run, outcomes by layer
    Campaign(Box<NetworkCampaign>),
    /// Run one fault, given by its text id
    Inject(NetworkInject),
    /// Choose which feature maps to make twice and which inferences to run again
    Filr(Filr),
}

#[derive(Debug, Group)]
pub(crate) struct Networks {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct NetworkName {
    /// A bundled network
    #[arg(value_name = "NETWORK", default_value = "fashion")]
    pub(crate) network: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What campaigns on networks share with all others; the same as `beamline campaign nn:NETWORK`.
#[derive(Debug, Group)]
pub(crate) struct NetworkCampaign {
    /// A bundled network; --kernel names layers, --group classes of operators
    #[arg(value_name = "NETWORK", default_value = "fashion")]
    pub(crate) network: String,
    /// Engine: auto, delta or full [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = engine::engine)]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) resources: Resources,
    #[command(flatten)]
    pub(crate) choose: Choose,
}

#[derive(Debug, Group)]
pub(crate) struct NetworkInject {
    /// A bundled network
    #[arg(value_name = "NETWORK")]
    pub(crate) network: String,
    /// The fault, for example image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6
    #[arg(value_name = "FAULT")]
    pub(crate) fault: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct Filr {
    /// A bundled network
    #[arg(value_name = "NETWORK", default_value = "fashion")]
    pub(crate) network: String,
    /// Inject N faults into each feature map, on either set
    #[arg(long, value_name = "N", default_value_t = 2048)]
    pub(crate) injections: u64,
    /// Share of the silent data corruptions that is to be covered on the analysis set
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub(crate) target: f64,
    /// Share of the images that is analysed; the others stand for deployment
    #[arg(long, value_name = "SHARE", default_value_t = 0.8)]
    pub(crate) analysis: f64,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of workers [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Write the document here, too
    #[arg(long, value_name = "F.json")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
