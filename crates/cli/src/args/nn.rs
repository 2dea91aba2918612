//! Words about neural networks.

use super::choose::{Choose, Resources};
use super::engine;
use campaign::Engine;
use clap::{Args as Group, Subcommand};
use methods::convolution::KernelForm;
use nn::filr::NeuronFault;
use nn::{ImageFiles, LanguageSource, NetworkSource, ValueFormat};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// A command about networks.
#[derive(Debug, Subcommand)]
pub(crate) enum Network {
    /// List the bundled networks
    List(Networks),
    /// Show the layers of a network, its accuracy, and what of it can be hit
    Info(NetworkName),
    /// Irradiate a network: one fault in each run, in neurons, weights, biases or inputs; outcomes by layer
    Campaign(Box<NetworkCampaign>),
    /// Run every fault of some images: all bits of all neurons, or of what --where names
    Sweep(Box<NetworkCampaign>),
    /// Run one fault, given by its text id
    Inject(NetworkInject),
    /// See which parts of an image the class comes from (Grad-CAM), without a fault and with one; without FAULT, with one in the feature
    /// map to which the class is least sensitive, and in the most sensitive one
    HeatMap(HeatMap),
    /// Run a convolution as a CUDA kernel, hit its instructions, and see which neurons that changes and what they do to the class
    Kernel(NetworkKernel),
    /// Irradiate the generation of text by a small language model: activations, weights, biases, or stored keys and values; which
    /// tokens change, and for how long
    Generate(Box<Generate>),
    /// Choose which feature maps to make twice (FLR) and which inferences to run again (ILR)
    Filr(Filr),
    /// Choose which feature maps to make twice
    Flr(Filr),
    /// Choose which inferences to run again
    Ilr(Filr),
}

#[derive(Debug, Group)]
pub(crate) struct Networks {
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// A network with its images.
#[derive(Debug, Group)]
pub(crate) struct SourceOptions {
    /// A bundled network, or an ONNX file
    #[arg(value_name = "NETWORK", default_value = "fashion")]
    pub(crate) network: String,
    #[command(flatten)]
    pub(crate) files: NetworkImages,
}

/// Images that a network does not bring along.
#[derive(Debug, Group)]
pub(crate) struct NetworkImages {
    /// Run it on these images (IDX by number, row, column and, in colour, channel; plain or gzip), or on those of the bundled network
    /// of this name [default: those of the bundled network]
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) images: Option<PathBuf>,
    /// Their labels (IDX of bytes, or of 16 or 32 bits; plain or gzip), or the objects that a detector shall find: bytes by image,
    /// object, and class, top, left, bottom, right
    #[arg(long, value_name = "FILE", requires = "images")]
    pub(crate) labels: Option<PathBuf>,
    /// Compute in floating point, values stored as fp32, fp16 or bf16 after each operator [default: INT8, or fp32 of a file of
    /// floating point]
    #[arg(long, value_name = "fp32|fp16|bf16", value_parser = float_format)]
    pub(crate) format: Option<ValueFormat>,
}

fn float_format(word: &str) -> Result<ValueFormat, String> {
    ValueFormat::parse(word).ok_or_else(|| format!("there are {}", session::networks::formats().join(", ")))
}

impl NetworkImages {
    /// A network on these images.
    pub(crate) fn of(&self, network: &str) -> NetworkSource {
        // The images of a bundled network bring their labels along.
        let files = |images| ImageFiles { images, labels: self.labels.clone() };
        let images = self.images.clone().map(files);
        NetworkSource { network: network.to_owned(), images, format: self.format }
    }
}

impl SourceOptions {
    /// The network with its images.
    pub(crate) fn source(&self) -> NetworkSource {
        self.files.of(&self.network)
    }
}

#[derive(Debug, Group)]
pub(crate) struct NetworkName {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What campaigns on networks share with all others; the same as `beamline campaign nn:NETWORK`.
#[derive(Debug, Group)]
pub(crate) struct NetworkCampaign {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The operand that is hit: neuron (the stored output, after Relu), weight, bias, or input (what a layer reads; of the image if no
    /// layer is named) [default: neuron]. --model takes value:V, range:A..B and expr:FORMULA (numbers; x is the fault-free one), too; --scope is one, row, column,
    /// channel (a feature map or filter), tile:ROWSxCOLUMNS, any:N (places of a layer) or layers (one in each), and :each
    /// behind it changes every place in its own way
    #[arg(long = "where", value_name = "neuron|weight|bias|input", conflicts_with = "target")]
    pub(crate) operand: Option<String>,
    /// Images by their numbers, for example 17 or 0-9 [default: all that the network gets right]
    #[arg(long, value_name = "RANGE", value_delimiter = ',', conflicts_with = "iterations")]
    pub(crate) image: Vec<String>,
    /// Every bit of every element that is selected, instead of a sample
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Engine: auto, delta or full [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = engine::engine)]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) resources: Resources,
    #[command(flatten)]
    pub(crate) choose: Choose,
}

/// A campaign on generations, in the words of all others; the same as `beamline campaign language:MODEL`.
#[derive(Debug, Group)]
pub(crate) struct Generate {
    /// A bundled language model, or a file of safetensors with the tensors of GPT-2; --kernel names layers, --group classes of them
    #[arg(value_name = "MODEL", default_value = "language")]
    pub(crate) model: String,
    /// Continue these prompts, JSON such as [{"prompt": "The store "}] [default: those of the bundled model]
    #[arg(long, value_name = "FILE")]
    pub(crate) prompts: Option<PathBuf>,
    /// Store values as fp32, fp16 or bf16 [default: fp32]
    #[arg(long, value_name = "fp32|fp16|bf16", value_parser = float_format)]
    pub(crate) format: Option<ValueFormat>,
    /// The operand that is hit: activation (the stored result of a layer, at one step), weight or bias (from one step to the end),
    /// or cache (a stored key or value of an earlier position, from one step to the end) [default: activation]
    #[arg(long = "where", value_name = "activation|weight|bias|cache", conflicts_with = "target")]
    pub(crate) operand: Option<String>,
    /// Prompts by their numbers, for example 17 or 0-9 [default: all]
    #[arg(long, value_name = "RANGE", value_delimiter = ',', conflicts_with = "iterations")]
    pub(crate) prompt: Vec<String>,
    /// Run this one fault instead, and show the text with it below the text without it, such as
    /// prompt=3,step=17,layer=h0.k,tensor=cache,at=21:5,model=flip,bits=30
    #[arg(long, value_name = "FAULT")]
    pub(crate) show: Option<String>,
    /// Engine: auto, delta or full [default: auto]
    #[arg(long, value_name = "ENGINE", value_parser = engine::engine)]
    pub(crate) engine: Option<Engine>,
    #[command(flatten)]
    pub(crate) resources: Resources,
    #[command(flatten)]
    pub(crate) choose: Choose,
}

impl Generate {
    /// The model with its prompts.
    pub(crate) fn source(&self) -> LanguageSource {
        let (model, prompts) = (self.model.clone(), self.prompts.clone());
        LanguageSource { model, prompts, format: self.format.unwrap_or_default() }
    }
}

#[derive(Debug, Group)]
pub(crate) struct NetworkInject {
    /// A bundled network, or an ONNX file
    #[arg(value_name = "NETWORK")]
    pub(crate) network: String,
    #[command(flatten)]
    pub(crate) files: NetworkImages,
    /// The fault, for example image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6
    #[arg(value_name = "FAULT")]
    pub(crate) fault: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct HeatMap {
    /// A bundled classifier, or an ONNX file, in INT8
    #[arg(value_name = "NETWORK")]
    pub(crate) network: String,
    #[command(flatten)]
    pub(crate) files: NetworkImages,
    /// The fault, for example image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6 [default: --value in all neurons of the least
    /// sensitive feature map of the layer, and in those of the most sensitive one]
    #[arg(value_name = "FAULT", conflicts_with_all = ["image", "value"])]
    pub(crate) fault: Option<String>,
    /// Images by their numbers, for example 17 or 0-9, of those that the network gets right [default: the first 100]
    #[arg(long, value_name = "RANGE", value_delimiter = ',')]
    pub(crate) image: Vec<String>,
    /// The number that all neurons of the feature map become, as near as a byte comes to it
    #[arg(long, value_name = "V", default_value_t = 10_000.0, allow_negative_numbers = true, value_parser = number)]
    pub(crate) value: f64,
    /// Make the heat map of this layer [default: the last with rows and columns before all positions are summed up]
    #[arg(long, value_name = "LAYER")]
    pub(crate) layer: Option<String>,
    /// Draw the first image and its heat maps (PNG)
    #[arg(long, value_name = "F.png")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Group)]
pub(crate) struct NetworkKernel {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// The layer: a convolution or a dense layer of one group
    #[arg(long, value_name = "LAYER")]
    pub(crate) layer: String,
    /// A thread for each neuron, or a product of matrices through shared memory
    #[arg(long, value_name = "direct|tiled", default_value = "tiled", value_parser = kernel_form)]
    pub(crate) kernel: KernelForm,
    /// How many faults, in the kernel and, beside it, in single neurons
    #[arg(long, value_name = "N", default_value = "20000")]
    pub(crate) runs: NonZeroU64,
    /// On how many images, the first that the network gets right
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) inferences: NonZeroUsize,
    /// Seed of all random choices
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Number of workers [default: one for each core]
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Write the kernel on the first image as a capsule, for any other command
    #[arg(long, value_name = "FILE")]
    pub(crate) capsule: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

fn kernel_form(word: &str) -> Result<KernelForm, String> {
    KernelForm::parse(word).ok_or_else(|| "expected direct or tiled".to_owned())
}

fn neuron_fault(word: &str) -> Result<NeuronFault, String> {
    match word {
        "flip" => Ok(NeuronFault::Flip),
        "random" => Ok(NeuronFault::Random),
        _ => Err("expected flip or random".to_owned()),
    }
}

#[derive(Debug, Group)]
pub(crate) struct Filr {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    /// flip: one bit of a neuron's byte flips (FxP-Flip of the thesis); random: it becomes any byte (FxP-Rand)
    #[arg(long, value_name = "flip|random", default_value = "flip", value_parser = neuron_fault)]
    pub(crate) model: NeuronFault,
    /// Write the network with the choice for --target as an ONNX file: filters once more, a comparison, and an output `rerun` that
    /// is true where they differ, or where the run is uncertain
    #[arg(long, value_name = "F.onnx")]
    pub(crate) protected: Option<PathBuf>,
    /// Inject N faults into each feature map, on either set
    #[arg(long, value_name = "N", default_value_t = 2048)]
    pub(crate) injections: u64,
    /// Judge every fault of N images of the analysis set, too, and hold estimates against that
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) exhaustive: usize,
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

/// A number, which NaN is not.
fn number(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|number: &f64| !number.is_nan()).ok_or_else(|| "expected a number".to_owned())
}
