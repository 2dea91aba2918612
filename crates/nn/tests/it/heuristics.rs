//! Heuristics of feature maps on a network so small that its bounds are found by enumeration, and on the bundled one.

use std::sync::atomic::AtomicBool;

use nn::NetworkTarget;
use nn::arithmetic::Quantisation;
use nn::filr::heuristics::{HEURISTICS, Heuristic, estimate};
use nn::filr::inject::Work;
use nn::filr::maps::feature_maps;
use nn::filr::sets::divide;
use nn::gradient::{Nudge, RealRun};
use nn::images::{Images, Shown};
use nn::network::{Conv, Layer, Network, Operator, Shape, Tensor};

pub(crate) static GO_ON: AtomicBool = AtomicBool::new(false);

const STEP: f32 = 0.5;
pub(crate) const SHAPE: Shape = Shape { height: 2, width: 1, channels: 2 };

/// The images, with a class for each.
pub(crate) fn classes(network: &Network, labels: Vec<u16>) -> Images {
    Images::new(SHAPE, IMAGES.concat(), Shown::Classes(labels), network.logits().shape).unwrap()
}

/// A convolution that hands its input on, and a linear layer of three classes.
pub(crate) fn linear() -> Network {
    let copied = Conv {
        kernel: [1, 1],
        stride: [1, 1],
        pad: [0, 0],
        groups: 1,
        weights: vec![1, 0, 0, 1],
        bias: vec![0; 2],
        multipliers: vec![1.0; 2],
        scales: vec![1.0; 2],
    };
    let logits = Conv {
        kernel: [2, 1],
        stride: [1, 1],
        pad: [0, 0],
        groups: 1,
        weights: vec![3, -1, 0, 1, 2, -2, 0, 1, 4, -3, 2, 1],
        bias: vec![100, 90, 80],
        multipliers: vec![0.5; 3],
        scales: vec![1.0; 3],
    };
    let quantisation = Quantisation { scale: STEP, zero: 0 };
    let tensor = |shape, flat| Tensor { shape, flat, quantisation };
    let layer = |name: &str, operator, input| Layer {
        name: name.to_owned(),
        opcode: String::new(),
        operator,
        inputs: vec![input],
    };
    let classes = Shape { height: 1, width: 1, channels: 3 };
    Network::new(
        "linear".to_owned(),
        vec![tensor(SHAPE, false), tensor(SHAPE, false), tensor(classes, true)],
        vec![layer("copy", Operator::Conv(copied), 0), layer("fc", Operator::Dense(logits), 1)],
    )
    .unwrap()
}

/// Three images, of which two are analysed.
pub(crate) const IMAGES: [[u8; 4]; 3] = [[10, 4, 6, 8], [2, 9, 5, 1], [7, 7, 3, 5]];

/// The mean over images of the bound of a noise: of its variance over `noises` (in the unit of values, for a value that is given),
/// summed over neurons and classes.
fn enumerated(network: &Network, images: &[usize], channel: usize, noises: impl Fn(f64) -> Vec<f64>) -> f64 {
    let of_image = |&image: &usize| {
        let golden = RealRun::new(network, &IMAGES[image], None);
        let logits: Vec<f64> = golden.logits().to_vec();
        let top = (0..3).reduce(|most, other| if logits[other] > logits[most] { other } else { most }).unwrap();
        let mut bound = 0.0;
        for element in (0..4).filter(|element| element % 2 == channel) {
            let noises = noises(golden.tensors[1][element]);
            for class in (0..3).filter(|&class| class != top) {
                let margin = logits[class] - logits[top];
                let squares = noises.iter().map(|&by| {
                    let nudge = Nudge { tensor: 1, element, by };
                    let run = RealRun::new(network, &IMAGES[image], Some(nudge));
                    let moved = run.logits()[class] - run.logits()[top];
                    (moved - margin).powi(2)
                });
                bound += squares.sum::<f64>() / noises.len() as f64 / (2.0 * margin * margin);
            }
        }
        bound
    };
    images.iter().map(of_image).sum::<f64>() / images.len() as f64
}

/// The middles of equal parts from one number to another.
fn middles(low: f64, high: f64) -> Vec<f64> {
    (0..400).map(|part| low + (high - low) * (f64::from(part) + 0.5) / 400.0).collect()
}

#[test]
fn bounds_of_a_linear_layer_are_those_of_enumeration() {
    let network = linear();
    let images = classes(&network, vec![0, 1, 2]);
    let target = NetworkTarget::new(network.clone(), b"", images).unwrap();
    let (set, _) = divide(&target, 0.7, 1);
    assert_eq!(set.images().len(), 2);
    let maps = feature_maps(&network);
    let found = estimate(&set, &maps, Work { threads: 1, stop: &GO_ON }).unwrap();
    let of = |heuristic, map: usize| found[HEURISTICS.iter().position(|&it| it == heuristic).unwrap()][map];
    for map in 0..2 {
        let bytes = |image: usize| [IMAGES[image][map], IMAGES[image][map + 2]].map(|byte| f64::from(byte) * 0.5);
        let all: Vec<f64> = set.images().iter().flat_map(|&image| bytes(image)).collect();
        let (low, high) = all.iter().fold((f64::MAX, f64::MIN), |(low, high), &it| (low.min(it), high.max(it)));
        assert_eq!((of(Heuristic::MaxNeuron, map), of(Heuristic::FmapRange, map)), (high, high - low));
        let norms: f64 = set.images().iter().map(|&image| bytes(image)[0].hypot(bytes(image)[1])).sum();
        assert!((of(Heuristic::L2, map) - norms / 2.0).abs() < 1e-6);
        let half = f64::from(STEP) / 2.0;
        let rounding = enumerated(&network, set.images(), map, |_| middles(-half, half));
        let gain = of(Heuristic::Gain, map);
        assert!((gain / rounding - 1.0).abs() < 1e-3, "{gain} {rounding}");
        assert!((of(Heuristic::GainWithoutStep, map) * 0.25 / gain - 1.0).abs() < 1e-9);
        // One neuron of the two is replaced.
        let replaced = enumerated(&network, set.images(), map, |value| middles(low - value, high - value)) / 2.0;
        let modified = of(Heuristic::ModGain, map);
        assert!((modified / replaced - 1.0).abs() < 1e-3, "{modified} {replaced}");
    }
}

#[test]
fn the_gradient_is_that_of_the_cross_entropy() {
    let network = linear();
    let images = classes(&network, vec![0, 1, 2]);
    let target = NetworkTarget::new(network.clone(), b"", images).unwrap();
    let (set, _) = divide(&target, 0.7, 1);
    let maps = feature_maps(&network);
    let found = estimate(&set, &maps, Work { threads: 1, stop: &GO_ON }).unwrap();
    let place = HEURISTICS.iter().position(|&it| it == Heuristic::Gradient).unwrap();
    let entropy = |image: usize, nudge| {
        let run = RealRun::new(&network, &IMAGES[image], nudge);
        let all: f64 = run.logits().iter().map(|logit| logit.exp()).sum();
        all.ln() - run.logits()[image]
    };
    for map in 0..2 {
        let slope = |image: usize, element: usize| {
            let at = |by| entropy(image, Some(Nudge { tensor: 1, element, by }));
            ((at(0.01) - at(-0.01)) / 0.02).abs()
        };
        let sum: f64 = set.images().iter().map(|&image| slope(image, map) + slope(image, map + 2)).sum();
        let gradient = found[place][map];
        assert!((gradient / (sum / 4.0) - 1.0).abs() < 1e-3, "{gradient} {sum}");
    }
}
