//! What a hit changes is what a whole run gives, in every tensor.

use nn::delta::Delta;
use nn::hit::{Hit, Model};
use stats::Draws;

use crate::kit::{agree, fashion, flip};

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
                differing += usize::from(agree(network, &mut delta, image, &golden, &Hit { layer, element, model }));
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
    let stuck = |ones| Model::Stuck { mask: std::num::NonZeroU8::new(0xf0).unwrap(), ones };
    for layer in 0..network.layers().len() {
        let elements = network.output(layer).shape.elements();
        for element in (0..elements).step_by(elements.div_ceil(7)) {
            for model in [Model::Zero, Model::Value(255), Model::Value(7), stuck(false), stuck(true)] {
                agree(network, &mut delta, image, &golden, &Hit { layer, element, model });
            }
            let byte = golden.tensors[layer + 1][element];
            let nothing = delta.run(&golden, &Hit { layer, element, model: Model::Value(byte) });
            assert_eq!((nothing.macs, nothing.hit.map(|hit| (hit.before, hit.after))), (0, Some((byte, byte))));
            assert!((0..network.tensors().len()).all(|tensor| !delta.differs(tensor)));
        }
    }
}

#[test]
fn a_hit_outside_of_the_network_hits_nothing() {
    let network = fashion().network();
    let golden = fashion().golden_run(0);
    for (layer, element) in [(0, 1 << 30), (99, 0)] {
        let hit = Hit { layer, element, model: Model::Zero };
        assert_eq!(Delta::new(network).run(&golden, &hit).hit, None);
        assert_eq!(nn::forward::forward(network, fashion().images().pixels(0), Some(&hit)).hit, None);
    }
}
