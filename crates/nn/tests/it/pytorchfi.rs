//! The defects of PyTorchFI (its repository, 2023), one test each; the page about it names these tests.

use campaign::{Engine, Engines, Planner, RunIndex, SelectionWords};
use fault::Model;
use nn::Fault;
use nn::delta::Delta;
use nn::file::read_network;
use nn::forward::forward;
use nn::hit::Hit;

use crate::kit::{agree, fashion, flip};

/// The faults of a campaign, each with its image.
fn hits(runs: u64, selection: &SelectionWords) -> Vec<(usize, Hit)> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    let sites = fashion().plan(&runs, selection, 7).unwrap();
    let hit = |site: &campaign::Site| {
        let fault = Fault::parse(site.fault().unwrap()).unwrap();
        (fault.image, fault.hit(fashion().network(), fashion().images().count()).unwrap())
    };
    sites.iter().map(hit).collect()
}

/// There, each injection copies the whole model and runs all of it.
#[test]
fn a_fault_costs_a_small_part_of_a_forward_run_and_copies_no_network() {
    let network = fashion().network();
    let whole: u64 = (0..network.layers().len()).map(|layer| network.macs(layer)).sum();
    let hits = hits(2000, &SelectionWords::default());
    let mut delta = Delta::new(network);
    let needed: u64 = hits.iter().map(|(image, hit)| delta.run(&fashion().golden_run(*image), hit).macs).sum();
    assert!(needed > 0 && needed * 50 < whole * hits.len() as u64, "{needed} of {whole} each");
}

/// There, the layer is drawn first, so that a neuron of a small layer is hit more often.
#[test]
fn a_layer_is_hit_as_often_as_it_has_neurons() {
    let runs = 50_000;
    let hits = hits(runs, &SelectionWords::default());
    let layers = fashion().layers();
    let drawn = |class: &str| matches!(class, "conv" | "depthwise");
    let total: u64 = layers.iter().filter(|layer| drawn(layer.class)).map(|layer| layer.neurons).sum();
    for (number, layer) in layers.iter().enumerate().filter(|(_, layer)| drawn(layer.class)) {
        let found = hits.iter().filter(|(_, hit)| hit.places()[0].layer == number).count() as f64;
        let share = layer.neurons as f64 / total as f64;
        let deviation = (runs as f64 * share * (1.0 - share)).sqrt();
        assert!((found - share * runs as f64).abs() < 5.0 * deviation, "{}: {found}", layer.name);
    }
}

/// There, a flip is computed on floats within a range that the user names, and a value outside of it stops the program.
#[test]
fn a_flip_is_one_bit_of_the_stored_byte_whatever_the_value_and_numbers_are_stored_as_near_as_they_can_be() {
    let network = fashion().network();
    let golden = fashion().golden_run(0);
    let mut delta = Delta::new(network);
    for byte in 0..=255_u32 {
        for bit in 0..8 {
            // The value is put there first, and then flipped.
            let places = [Model::Value(byte.into()), flip(bit)].map(|model| Hit::neuron(0, 40, model).places()[0]);
            delta.run(&golden, &Hit::new(places.into()));
            assert_eq!(u32::from(delta.tensor(&golden, 1)[40]), byte ^ (1 << bit));
        }
    }
    let far = |model: &str| SelectionWords { model: Some(model.to_owned()), ..SelectionWords::default() };
    for (model, stored) in [("value:1e30", 255), ("value:-1e30", 0)] {
        let stores = |hit: &Hit| hit.places().iter().all(|place| place.model == Model::Value(stored));
        assert!(hits(200, &far(model)).iter().all(|(_, hit)| stores(hit)), "{model}");
    }
}

/// There, a convolution with a module of its own within it is passed over.
#[test]
fn every_convolution_of_a_file_is_a_layer_that_is_hit() {
    let files: [(&[u8], usize); 4] = [
        (nn::bundled::NETWORKS[0].file.unwrap(), 7),
        (include_bytes!("../vectors/fashion-qdq.onnx"), 7),
        (include_bytes!("../vectors/pools-qdq.onnx"), 3),
        (include_bytes!("../vectors/mixed-qdq.onnx"), 4),
    ];
    for (file, expected) in files {
        let network = read_network("file", file).unwrap();
        let convolutions = network.layers().iter().enumerate().filter(|(_, layer)| layer.opcode == "QLinearConv");
        let image = fashion().images().pixels(1);
        let golden = forward(&network, image, None);
        let mut delta = Delta::new(&network);
        let mut found = 0;
        for (number, layer) in convolutions {
            agree(&network, &mut delta, image, &golden, &Hit::neuron(number, 0, flip(7)));
            assert!(delta.differs(number + 1), "{}", layer.name);
            found += 1;
        }
        assert_eq!(found, expected);
    }
}

/// There, the second inference with the same fault stops with an index that is out of range.
#[test]
fn a_fault_may_be_run_again_and_again() {
    let runs: Vec<RunIndex> = (0..40).map(RunIndex).collect();
    for model in ["flip", "zero", "value:0.5"] {
        let selection = SelectionWords { model: Some(model.to_owned()), ..SelectionWords::default() };
        let sites = fashion().plan(&runs, &selection, 3).unwrap();
        for engine in ["delta", "full"] {
            let mut worker = fashion().worker(&Engine::named(engine)).unwrap();
            let first: Vec<_> = sites.iter().map(|site| worker.run(site).unwrap()).collect();
            for _ in 0..2 {
                for (site, first) in sites.iter().zip(&first) {
                    assert_eq!(worker.run(site).unwrap(), *first, "{model} by {engine}");
                    assert_eq!(worker.run(site).unwrap(), *first, "{model} by {engine}");
                }
            }
        }
    }
}

/// There, only what a module makes can be hit: neither sums nor what functions make.
#[test]
fn sums_averages_and_inputs_of_any_layer_are_hit() {
    let of = |target: &str, layer: &str| SelectionWords {
        target: Some(target.to_owned()),
        kernel: vec![layer.to_owned()],
        ..SelectionWords::default()
    };
    let network = fashion().network();
    let mut delta = Delta::new(network);
    for (target, layer) in [("neuron", "add"), ("neuron", "gap"), ("input", "add"), ("input", "gap"), ("input", "fc")] {
        let hits = hits(300, &of(target, layer));
        let differing = hits.iter().filter(|(image, hit)| {
            let golden = fashion().golden_run(*image);
            agree(network, &mut delta, fashion().images().pixels(*image), &golden, hit)
        });
        assert!(differing.count() > 20, "{target} of {layer}");
    }
}
