//! The capsule of a launch that makes the output of a layer.

use capsule::{AllocKind, Capsule, Digest, ElementType, Event, Launch, ModuleId, Output, RecordedModule, Region};
use nn::forward::Run;
use nn::network::{Conv, Network, Operator};
use simt::memory::Allocations;

use crate::kit::StudyError;

/// The kernels, made of `convolution.cu` beside it.
const PTX: &str = include_str!("convolution.ptx");

/// How a kernel computes a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelForm {
    /// A thread makes one neuron.
    Direct,
    /// Blocks share tiles of both factors of a product of matrices; a thread makes two neurons.
    Tiled,
}

impl KernelForm {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Direct, Self::Tiled];

    /// The name of its kernel.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Tiled => "tiled",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.word() == word)
    }

    /// Positions and filters of the output in a block.
    fn tile(self) -> [usize; 2] {
        match self {
            Self::Direct => [16, 16],
            Self::Tiled => [32, 16],
        }
    }
}

/// The convolution of a layer.
///
/// # Errors
/// When the layer is none, or one whose channels are divided into groups, of which the kernels know nothing.
pub(super) fn convolution_of(network: &Network, layer: usize) -> Result<&Conv, StudyError> {
    let found = &network.layers()[layer];
    match &found.operator {
        Operator::Conv(conv) | Operator::Dense(conv) if conv.groups == 1 => Ok(conv),
        _ => Err(StudyError::Words(format!(
            "run the layer `{}` as a kernel: it is `{}`; kernels compute convolutions and dense layers of one group",
            found.name,
            found.class()
        ))),
    }
}

/// The launch that makes the output of a layer on an image, as an application would have recorded it, and where its output lies.
///
/// # Errors
/// When the layer is not a convolution of one group.
pub fn kernel_capsule(
    network: &Network,
    layer: usize,
    golden: &Run,
    form: KernelForm,
) -> Result<(Capsule, u64), StudyError> {
    let conv = convolution_of(network, layer)?;
    let read = network.layers()[layer].inputs[0];
    let [from, to] = [&network.tensors()[read], network.output(layer)];
    let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let inputs: [Vec<u8>; 4] = [
        golden.tensors[read].clone(),
        conv.weights.iter().map(|&weight| weight as u8).collect(),
        bytes(&conv.bias.iter().map(|&bias| bias as u32).collect::<Vec<_>>()),
        bytes(&conv.multipliers.iter().map(|factor| factor.to_bits()).collect::<Vec<_>>()),
    ];
    let output = &golden.tensors[layer + 1];
    let sizes = [inputs[0].len(), inputs[1].len(), inputs[2].len(), inputs[3].len(), output.len()];
    let mut allocations = Allocations::default();
    let place = |bytes: &usize| allocations.allocate(*bytes as u64);
    let addresses = sizes.iter().map(place).collect::<Result<Vec<u64>, _>>();
    let addresses = addresses.map_err(|error| StudyError::Refused(error.to_string()))?;

    let mut capsule = Capsule::new(format!("{}-{}-{}", network.name(), network.layers()[layer].name, form.word()));
    let ptx = capsule.blobs.add(PTX);
    let module = ModuleId(0);
    capsule.modules.push(RecordedModule {
        id: module,
        ptx: Some(ptx),
        binaries: Vec::new(),
        globals: Vec::new(),
        hardened: Vec::new(),
    });
    capsule.events.push(Event::Load { module });
    for (&address, &bytes) in addresses.iter().zip(&sizes) {
        capsule.events.push(Event::Alloc { address, bytes: bytes as u64, kind: AllocKind::Device });
    }
    for (&address, bytes) in addresses.iter().zip(&inputs) {
        let data = capsule.blobs.add(bytes);
        capsule.events.push(Event::CopyIn { to: Region::linear(address, bytes.len() as u64), data });
    }
    let numbers = [
        from.shape.height,
        from.shape.width,
        from.shape.channels,
        to.shape.height,
        to.shape.width,
        to.shape.channels,
        conv.kernel[0],
        conv.kernel[1],
        conv.stride[0],
        conv.stride[1],
        conv.pad[0],
        conv.pad[1],
        usize::from(from.quantisation.zero),
        usize::from(to.quantisation.zero),
    ];
    let pointers = addresses.iter().flat_map(|address| address.to_le_bytes());
    let params = pointers.chain(numbers.iter().flat_map(|&number| (number as u32).to_le_bytes())).collect();
    let [positions, filters] = form.tile();
    let grid = [to.shape.channels.div_ceil(filters) as u32, to.shape.positions().div_ceil(positions) as u32, 1];
    let kernel = form.word().to_owned();
    let launch = Launch { module, kernel, grid, block: [16, 16, 1], shared_bytes: 0, params, cooperative: false };
    capsule.events.extend([Event::Launch(launch), Event::Synchronize]);
    let address = addresses[4];
    capsule.events.push(Event::CopyOut {
        from: Region::linear(address, output.len() as u64),
        digest: Digest::of(output),
        data: None,
    });
    let shape = [to.shape.height, to.shape.width, to.shape.channels].map(|size| size as u64).to_vec();
    capsule.outputs.push(Output {
        name: "neurons".to_owned(),
        element: Some(ElementType::U8),
        shape,
        ..Output::untyped(0)
    });
    Ok((capsule, address))
}
