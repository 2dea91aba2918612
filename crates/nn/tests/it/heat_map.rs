//! Heat maps: written out for a small network, held against changes of bytes, and with faults in the bundled ones.

use fault::Model;
use nn::arithmetic::Quantisation;
use nn::fault::Fault;
use nn::forward::{forward, top_class};
use nn::gradient::{RealRun, Reverse};
use nn::heat_map::{HeatMapper, SensitivityContrast};
use nn::hit::{Hit, LayerOperand, Place};
use nn::network::{Conv, Layer, Network, Operator, Shape, Tensor, Window};
use nn::observe::Task;
use stats::Draws;

use crate::kit::{fashion, flip};

const ONE: Quantisation = Quantisation { scale: 1.0, zero: 0 };

fn tensor(side: usize, channels: usize) -> Tensor {
    Tensor { shape: Shape { height: side, width: side, channels }, flat: side == 1, quantisation: ONE }
}

/// A convolution that rounds nothing: its results are its sums, from 0 to 255.
fn conv(side: usize, pad: usize, weights: Vec<i8>, bias: Vec<i32>) -> Conv {
    let made = bias.len();
    Conv {
        kernel: [side; 2],
        stride: [1; 2],
        pad: [pad; 2],
        groups: 1,
        weights,
        bias,
        multipliers: vec![1.0; made],
        scales: vec![1.0; made],
    }
}

fn layer(name: &str, operator: Operator, input: usize) -> Layer {
    Layer { name: name.to_owned(), opcode: "x".to_owned(), operator, inputs: vec![input] }
}

/// Two feature maps of 2 x 2 pixels, x and max(0, 4 - x), their means, and two logits: 3a - b and 2b.
fn small() -> Network {
    let layers = vec![
        layer("maps", Operator::Conv(conv(1, 0, vec![1, -1], vec![0, 4])), 0),
        layer("means", Operator::GlobalAverage { multiplier: 0.25 }, 1),
        layer("logits", Operator::Dense(conv(1, 0, vec![3, 0, -1, 2], vec![0, 0])), 2),
    ];
    Network::new("small".into(), vec![tensor(2, 1), tensor(2, 2), tensor(1, 2), tensor(1, 2)], layers).unwrap()
}

const IMAGE: [u8; 4] = [1, 2, 4, 9];

#[test]
fn the_heat_map_of_two_feature_maps_is_what_is_written_here() {
    let network = small();
    let mapper = HeatMapper::new(&network, Task::Classification, None).unwrap();
    assert_eq!(mapper.layer(), 0);
    let golden = mapper.fault_free(&IMAGE);
    // The means of 1, 2, 4, 9 and of 3, 2, 0, 0 are 4 and, rounded, 1.
    assert_eq!((golden.class, golden.score), (0, 12.0 - 1.0));
    assert!((golden.probability - 1.0 / (1.0 + (2.0_f64 - 11.0).exp())).abs() < 1e-12);
    // A step of a neuron is a quarter of one of its mean: weights are 3/4 and -1/4.
    assert_eq!(golden.sensitivities, [0.75, 0.25]);
    assert_eq!((golden.map.size, &golden.map.values[..]), ([2, 2], &[0.75 - 0.75, 1.5 - 0.5, 3.0, 6.75][..]));
    // The second feature map becomes 8: the logits are 12 - 8 and 16, and the heat is 3x/4 - 2.
    let hit = Fault::parse("image=0,layer=maps,tensor=out,at=1:*:*,model=random,bits=0x8").unwrap().hit(&network, 1);
    let faulty = mapper.faulty(&IMAGE, &hit.unwrap(), golden.class);
    assert_eq!((faulty.class, faulty.score), (1, 4.0));
    assert_eq!(faulty.map.values, [0.0, 0.0, 1.0, 4.75]);
    assert_eq!(faulty.sensitivities, golden.sensitivities);
}

#[test]
fn the_least_and_the_most_sensitive_feature_map_become_a_number() {
    let network = small();
    let mapper = HeatMapper::new(&network, Task::Classification, Some("maps")).unwrap();
    let contrast = SensitivityContrast::new(mapper, (3, &IMAGE), 100.0, 4).unwrap();
    assert_eq!(contrast.channels, [1, 0]);
    let part = |at| format!("image=3,layer=maps,tensor=out,at={at}:*:*,model=random,bits=0x64");
    assert_eq!(contrast.faults.clone().map(|fault| fault.to_string()), [part(1), part(0)]);
    for (fault, faulty) in contrast.faults.iter().zip(&contrast.faulty) {
        assert_eq!(*faulty, mapper.faulty(&IMAGE, &fault.hit(&network, 4).unwrap(), 0));
    }
    // With the first one, the heat is 100 · 3/4 less a quarter of the second.
    let flat = 100.0 * 0.75;
    assert_eq!(contrast.faulty[1].map.values, [flat - 0.75, flat - 0.5, flat, flat]);
    assert_eq!(contrast.differences()[1], contrast.fault_free.map.difference(&contrast.faulty[1].map));
    // Of a number that is too large the largest byte is stored. Their mean is then at its bound, and no change goes through.
    let largest = SensitivityContrast::new(mapper, (3, &IMAGE), 1e4, 4).unwrap();
    assert!(largest.faults[1].to_string().ends_with("bits=0xff"));
    assert_eq!(largest.faulty[1].map.values, [0.0; 4]);
}

/// Convolutions with bounds between them, and a largest of windows; nothing is rounded before the logits.
fn bounded(draws: &mut Draws) -> Network {
    let weights = |draws: &mut Draws, count| (0..count).map(|_| draws.below(5).unwrap() as i8 - 2).collect();
    let pool = Window { stride: [2, 2], ..Window::plain([2, 2]) };
    let layers = vec![
        layer("first", Operator::Conv(conv(3, 1, weights(draws, 18), vec![1, 2])), 0),
        layer("pool", Operator::MaxPool(pool), 1),
        layer("second", Operator::Conv(conv(1, 0, weights(draws, 6), vec![1, 2, 3])), 2),
        layer("logits", Operator::Dense(conv(2, 0, weights(draws, 24), vec![0, 0])), 3),
    ];
    let tensors = vec![tensor(4, 1), tensor(4, 2), tensor(2, 2), tensor(2, 3), tensor(1, 2)];
    Network::new("bounded".to_owned(), tensors, layers).unwrap()
}

/// A fault of one operand of the network above that replaces a number or changes one.
fn place(draws: &mut Draws, network: &Network) -> Place {
    let operands = [
        (0, LayerOperand::Out, 32),
        (1, LayerOperand::In(0), 32),
        (1, LayerOperand::Out, 8),
        (2, LayerOperand::Weight, 6),
        (2, LayerOperand::In(0), 8),
        (3, LayerOperand::Weight, 24),
        (3, LayerOperand::Bias, 2),
    ];
    let (layer, operand, elements) = *draws.one_of(&operands).unwrap();
    assert!(layer < network.layers().len());
    let model = match operand {
        LayerOperand::Weight | LayerOperand::Bias => flip(draws.below(3).unwrap() as u32),
        _ => Model::Value(draws.below(256).unwrap().into()),
    };
    Place { layer, operand, element: draws.below(elements).unwrap() as usize, model }
}

#[test]
fn gradients_at_a_faulty_run_are_what_a_byte_more_and_a_byte_less_change() {
    let [mut compared, mut moving] = [0, 0];
    for number in 0..300 {
        let mut draws = Draws::new(7, number);
        let network = bounded(&mut draws);
        let image: Vec<u8> = (0..16).map(|_| draws.below(40).unwrap() as u8).collect();
        let hit = Hit::new(if number % 4 == 0 { Vec::new() } else { vec![place(&mut draws, &network)] });
        let run = forward(&network, &image, Some(&hit));
        let real = RealRun::of_bytes(&network, &run, Some(&hit));
        let gradients = Reverse::with_hit(&network, Some(&hit)).gradients(&real, &[1.0]);
        for (layer, element) in (0..3).flat_map(|layer| (0..8).map(move |element| (layer, element))) {
            let byte = run.tensors[layer + 1][element];
            let change = |byte: u8| {
                let there = Place { layer, operand: LayerOperand::Out, element, model: Model::Value(byte.into()) };
                let both = Hit::new(hit.places().iter().copied().chain([there]).collect());
                let changed = forward(&network, &image, Some(&both));
                f64::from(changed.accumulators[3][0] - run.accumulators[3][0])
            };
            let (Some(more), Some(less)) = (byte.checked_add(1), byte.checked_sub(1)) else { continue };
            let [up, down] = [change(more), -change(less)];
            // At a corner the sides differ.
            if up == down {
                assert_eq!(gradients[layer + 1][element], up, "network {number}, layer {layer}, {element}: {hit:?}");
                compared += 1;
                moving += usize::from(up != 0.0);
            }
        }
    }
    assert!(compared > 2000 && moving > 500, "{compared} compared, {moving} of them not zero");
}

#[test]
fn a_fault_without_effect_leaves_the_heat_map_as_it_is() {
    let network = fashion().network();
    for layer in ["pw", "c3", "c1"] {
        let mapper = HeatMapper::new(network, Task::Classification, Some(layer)).unwrap();
        let number = mapper.layer();
        let pixels = fashion().images().pixels(17);
        let golden = mapper.fault_free(pixels);
        let run = forward(network, pixels, None);
        assert_eq!(golden.class, top_class(run.logits()));
        for element in [0, 100, 150] {
            let same = Model::Value(run.tensors[number + 1][element].into());
            assert_eq!(mapper.faulty(pixels, &Hit::neuron(number, element, same), golden.class), golden);
        }
        assert_eq!(golden.map.values.len(), network.output(number).shape.positions());
        assert!(golden.map.values.iter().all(|&value| value >= 0.0));
    }
}

#[test]
fn the_usual_layer_is_the_last_with_rows_and_columns_and_others_are_listed() {
    let name = |network: &Network| {
        let mapper = HeatMapper::new(network, Task::Classification, None).unwrap();
        network.layers()[mapper.layer()].name.clone()
    };
    assert_eq!(name(fashion().network()), "c5");
    for bundled in ["fashion-vgg", "fashion-fire"] {
        let target = nn::bundled::open(bundled).unwrap();
        let mapper = HeatMapper::new(target.network(), target.images().task(), None).unwrap();
        assert!(target.network().output(mapper.layer()).shape.positions() > 1, "{bundled}");
        assert!(mapper.fault_free(target.images().pixels(0)).map.values.iter().any(|&value| value > 0.0));
    }
    let refused = |layer| HeatMapper::new(fashion().network(), Task::Classification, Some(layer)).unwrap_err();
    for layer in ["c9", "gap", "fc"] {
        let said = refused(layer).to_string();
        assert!(said.contains(&format!("`{layer}` of `fashion`: layers with rows and columns are c1, ")), "{said}");
    }
    let scenes = nn::bundled::open("scenes").unwrap();
    let refused = HeatMapper::new(scenes.network(), scenes.images().task(), None).unwrap_err().to_string();
    assert_eq!(
        refused,
        "make heat maps of `scenes`: it finds objects, and a heat map is that of the class of a classifier"
    );
}

#[test]
fn the_most_sensitive_feature_map_changes_the_heat_map_more_than_the_least() {
    let target = fashion();
    let mapper = HeatMapper::new(target.network(), Task::Classification, None).unwrap();
    let (mut more, mut sums) = (0, [0.0; 2]);
    for image in 0..20 {
        let found = SensitivityContrast::new(mapper, (image, target.images().pixels(image)), 1e4, 1000).unwrap();
        let [least, most] = found.differences();
        more += usize::from(most > least);
        sums = [sums[0] + least, sums[1] + most];
    }
    assert!(more >= 15 && sums[1] > 2.0 * sums[0], "{more} of 20, {sums:?}");
}
