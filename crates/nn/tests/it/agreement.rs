//! What a hit changes is what a whole run gives, in every tensor.

use fault::{Model, ModelKind};
use nn::ElementSpace;
use nn::delta::Delta;
use nn::forward::forward;
use nn::hit::{Hit, LayerOperand, Place};
use nn::network::Network;
use stats::Draws;

use crate::kit::{agree, fashion, flip};
use crate::random_networks::network as random_network;

#[test]
fn ten_thousand_hits_of_any_layer_change_what_a_whole_run_changes_in_every_tensor() {
    let network = fashion().network();
    // Neurons of every layer, also of those that campaigns leave out if nobody asks for them.
    let sizes: Vec<usize> = network.tensors()[1..].iter().map(|tensor| tensor.shape.elements()).collect();
    let total: usize = sizes.iter().sum();
    let workers = 2;
    let differing: usize = std::thread::scope(|scope| {
        let work = |worker: u64| {
            let mut delta = Delta::new(network);
            let mut differing = 0;
            for run in (worker..10_000).step_by(workers) {
                let mut draws = Draws::new(11, run);
                let image = draws.below(1000).unwrap() as usize;
                let (mut layer, mut element) = (0, draws.below(total as u64).unwrap() as usize);
                while element >= sizes[layer] {
                    element -= sizes[layer];
                    layer += 1;
                }
                let model = flip(draws.below(8).unwrap() as u32);
                let golden = fashion().golden_run(image);
                let image = fashion().images().pixels(image);
                differing +=
                    usize::from(agree(network, &mut delta, image, &golden, &Hit::neuron(layer, element, model)));
            }
            differing
        };
        let handles: Vec<_> = (0..workers as u64).map(|worker| scope.spawn(move || work(worker))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum()
    });
    // Most logits change, many do not: both ways are walked.
    assert!((3000..9000).contains(&differing), "{differing}");
}

#[test]
fn hits_of_every_model_agree_and_those_that_change_nothing_end_at_once() {
    let network = fashion().network();
    let mut delta = Delta::new(network);
    let golden = fashion().golden_run(3);
    let image = fashion().images().pixels(3);
    let stuck = |ones| Model::Stuck { mask: std::num::NonZeroU128::new(0xf0).unwrap(), ones };
    for layer in 0..network.layers().len() {
        let elements = network.output(layer).shape.elements();
        for element in (0..elements).step_by(elements.div_ceil(7)) {
            for model in [Model::Zero, Model::Value(255), Model::Value(7), stuck(false), stuck(true)] {
                agree(network, &mut delta, image, &golden, &Hit::neuron(layer, element, model));
            }
            let byte = golden.tensors[layer + 1][element];
            let nothing = delta.run(&golden, &Hit::neuron(layer, element, Model::Value(byte.into())));
            assert_eq!(
                (nothing.macs, nothing.hit.map(|hit| (hit.before, hit.after))),
                (0, Some((byte.into(), byte.into())))
            );
            assert!((0..network.tensors().len()).all(|tensor| !delta.differs(tensor)));
        }
    }
}

#[test]
fn a_hit_outside_of_the_network_hits_nothing() {
    let network = fashion().network();
    let golden = fashion().golden_run(0);
    for (layer, element) in [(0, 1 << 30), (99, 0)] {
        let hit = Hit::neuron(layer, element, Model::Zero);
        assert_eq!(Delta::new(network).run(&golden, &hit).hit, None);
        assert_eq!(forward(network, fashion().images().pixels(0), Some(&hit)).hit, None);
    }
}

/// Places of any operand of any layer, several at once.
fn random_hit(network: &Network, draws: &mut Draws) -> Hit {
    let operands = [
        LayerOperand::Out,
        LayerOperand::Weight,
        LayerOperand::Bias,
        LayerOperand::In(0),
        LayerOperand::In(1),
        LayerOperand::In(2),
    ];
    let count = 1 + draws.below(4).unwrap();
    let mut places = Vec::new();
    while (places.len() as u64) < count {
        let layer = draws.below(network.layers().len() as u64).unwrap() as usize;
        let operand = *draws.one_of(&operands).unwrap();
        let Some(space) = ElementSpace::of(network, layer, operand) else { continue };
        let number = draws.below(space.elements() as u64).unwrap() as usize;
        let element = space.element(&space.coordinates(number)).unwrap();
        let kinds = ["flip", "random", "zero", "stuck1:0x90", "stuck0:0xf0", "double-any"];
        let model = ModelKind::parse(draws.one_of(&kinds).unwrap()).unwrap().draw(draws, operand.bits()).unwrap();
        places.push(Place { layer, operand, element, model });
    }
    Hit::new(places)
}

#[test]
fn hits_of_weights_biases_inputs_and_several_places_agree_on_fashion_and_on_random_networks() {
    let (mut runs, mut differing) = (0, 0);
    for run in 0..2000 {
        let mut draws = Draws::new(23, run);
        let image = draws.below(1000).unwrap() as usize;
        let golden = fashion().golden_run(image);
        let mut delta = Delta::new(fashion().network());
        let hit = random_hit(fashion().network(), &mut draws);
        let pixels = fashion().images().pixels(image);
        differing += usize::from(agree(fashion().network(), &mut delta, pixels, &golden, &hit));
    }
    assert!((1000..2000).contains(&differing), "{differing}");
    differing = 0;
    for number in 0..800 {
        let mut draws = Draws::new(29, number);
        let network = random_network(&mut draws);
        let size = network.tensors()[0].shape.elements();
        let mut delta = Delta::new(&network);
        let image: Vec<u8> = (0..size).map(|_| draws.next() as u8).collect();
        let golden = forward(&network, &image, None);
        for _ in 0..20 {
            let hit = random_hit(&network, &mut draws);
            differing += usize::from(agree(&network, &mut delta, &image, &golden, &hit));
            runs += 1;
        }
    }
    assert!(differing * 4 > runs && differing < runs, "{differing} of {runs}");
}

#[test]
fn every_weight_is_at_its_coordinates() {
    // A weight of filter k that becomes another changes channel k alone.
    let network = fashion().network();
    let golden = fashion().golden_run(5);
    let mut delta = Delta::new(network);
    for (layer, name) in network.layers().iter().enumerate().filter(|(_, layer)| layer.conv().is_some()) {
        let space = ElementSpace::of(network, layer, LayerOperand::Weight).unwrap();
        let mut seen = vec![false; space.elements()];
        for number in 0..space.elements() {
            let at = space.coordinates(number);
            let element = space.element(&at).unwrap();
            assert!(!std::mem::replace(&mut seen[element], true), "{at:?} of {}", name.name);
            if number % 37 == 0 {
                let place = Place { layer, operand: LayerOperand::Weight, element, model: flip(6) };
                delta.run(&golden, &Hit::new(vec![place]));
                let channels = network.output(layer).shape.channels;
                let made = delta.tensor(&golden, layer + 1);
                let changed = made.iter().zip(&golden.tensors[layer + 1]).enumerate().filter(|(_, (a, b))| a != b);
                assert!(changed.into_iter().all(|(element, _)| element % channels == at[0]), "{at:?} of {}", name.name);
            }
        }
    }
}
