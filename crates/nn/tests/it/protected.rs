//! Networks with protection written into them: what they compute, what they notice, and what cannot be protected.

use campaign::{Engine, Engines, Planner, RunIndex, SelectionWords};
use nn::NetworkTarget;
use nn::bundled::NETWORKS;
use nn::delta::Delta;
use nn::file::{protected, read_network};
use nn::images::{Images, Shown};
use nn::protection::{DUPLICATE, MARGIN};
use outcome::End;

use crate::kit::{agree, fashion};

/// Feature maps of a convolution, and of the depthwise one.
const MAPS: [(&str, usize); 5] = [("c4", 3), ("c4", 7), ("dw", 0), ("dw", 15), ("dw", 9)];

fn maps() -> Vec<(usize, usize)> {
    MAPS.map(|(layer, channel)| (fashion().network().layer_named(layer).unwrap(), channel)).to_vec()
}

fn target(margin: Option<f64>) -> NetworkTarget {
    let file = protected(NETWORKS[0].file.unwrap(), &maps(), margin).unwrap();
    let network = read_network("protected", &file).unwrap();
    let shown = Shown::Classes(fashion().images().labels()[..200].to_vec());
    let first = network.tensors()[0].shape;
    let pixels = fashion().images().all_pixels()[..200 * first.elements()].to_vec();
    let images = Images::new(first, pixels, shown, network.logits().shape).unwrap();
    NetworkTarget::new(network, &file, images).unwrap()
}

#[test]
fn it_computes_what_the_network_does_and_no_duplicate_differs() {
    let target = target(Some(0.5));
    let network = target.network();
    let names: Vec<&str> = network.layers().iter().map(|layer| layer.name.as_str()).collect();
    let expected = [
        "c1",
        "c2",
        "c3",
        "c4",
        "protection/c4/duplicate",
        "add",
        "dw",
        "protection/dw/duplicate",
        "pw",
        "c5",
        "gap",
        "fc",
    ];
    assert_eq!(names, expected);
    let protection = network.protection();
    assert_eq!((protection.margin, protection.checks.len()), (Some(0.5), 2));
    assert_eq!(protection.checks[1].channels, [0, 15, 9]);
    for image in 0..200 {
        let run = target.golden_run(image);
        assert_eq!(run.logits(), fashion().golden_run(image).logits());
        for check in &protection.checks {
            let [original, duplicate] = [check.layer, check.duplicate].map(|layer| &run.tensors[layer + 1]);
            let channels = network.output(check.layer).shape.channels;
            for (a, b) in original.chunks(channels).zip(duplicate.chunks(check.channels.len())) {
                assert!(check.channels.iter().zip(b).all(|(&channel, b)| a[channel] == *b));
            }
        }
    }
}

#[test]
fn every_fault_in_a_protected_feature_map_is_noticed_and_both_engines_say_the_same() {
    let target = target(None);
    let words = SelectionWords { model: Some("flip".into()), ..SelectionWords::default() };
    let runs: Vec<RunIndex> = (0..3000).map(RunIndex).collect();
    let sites = target.plan(&runs, &words, 3).unwrap();
    let [mut delta, mut full] = ["delta", "full"].map(|engine| target.worker(&Engine::named(engine)).unwrap());
    let (mut noticed, mut in_duplicates, mut others) = (0, 0, 0);
    for (number, site) in sites.iter().enumerate() {
        let seen = delta.run(site).unwrap();
        if number % 10 == 0 {
            let whole = full.run(site).unwrap();
            assert_eq!((&seen.end, &seen.outputs), (&whole.end, &whole.outputs), "{:?}", site.fault());
        }
        let is_noticed = matches!(&seen.end, End::Detected { by } if by == DUPLICATE);
        let channel = site.labels.number(1).unwrap() as usize;
        let protected = MAPS.contains(&(site.spot.kernel.as_str(), channel));
        let duplicate = site.spot.kernel.starts_with("protection/");
        assert_eq!(is_noticed, protected || duplicate, "{:?}", site.fault());
        (noticed, in_duplicates) = (noticed + u32::from(protected), in_duplicates + u32::from(duplicate));
        others += u32::from(!is_noticed);
    }
    assert!(noticed > 50 && in_duplicates > 50 && others > 2000, "{noticed} {in_duplicates} {others}");
}

#[test]
fn a_small_margin_is_noticed_also_where_nothing_else_is() {
    let target = target(Some(1.1));
    let sites = target.plan(&[RunIndex(0), RunIndex(1)], &SelectionWords::default(), 3).unwrap();
    let mut worker = target.worker(&Engine::named("auto")).unwrap();
    for site in &sites {
        let seen = worker.run(site).unwrap();
        assert!(matches!(&seen.end, End::Detected { by } if by == MARGIN || by == DUPLICATE), "{seen:?}");
        assert_eq!(seen.outputs.iter().find(|it| it.name == "top1").map(|it| it.elements), Some(1));
    }
}

#[test]
fn changes_agree_with_whole_runs_in_duplicates_too() {
    let target = target(None);
    let mut delta = Delta::new(target.network());
    let words =
        SelectionWords { scope: Some("tile:2x2".into()), model: Some("random".into()), ..SelectionWords::default() };
    let runs: Vec<RunIndex> = (0..200).map(RunIndex).collect();
    let mut differ = 0;
    for site in target.plan(&runs, &words, 8).unwrap() {
        let fault = nn::Fault::parse(site.fault().unwrap()).unwrap();
        let hit = fault.hit(target.network(), 200).unwrap();
        let image = target.images().pixels(fault.image);
        differ += usize::from(agree(target.network(), &mut delta, image, &target.golden_run(fault.image), &hit));
    }
    assert!(differ > 50, "{differ}");
}

#[test]
fn files_and_feature_maps_that_cannot_be_protected_are_named() {
    let message = |file: &[u8], maps: &[(usize, usize)], margin| protected(file, maps, margin).unwrap_err().to_string();
    let file = NETWORKS[0].file.unwrap();
    assert_eq!(message(file, &[], None), "read the protection: it has neither feature maps nor a margin");
    assert_eq!(message(file, &[(0, 8)], None), "read the layer `c1`: it has no feature map 8");
    let add = fashion().network().layer_named("add").unwrap();
    assert!(message(file, &[(add, 0)], None).contains("it is not a convolution"));
    assert!(message(file, &[(99, 0)], None).contains("it is not a convolution"));
    let qdq = include_bytes!("../vectors/fashion-qdq.onnx");
    assert!(message(qdq, &maps(), None).starts_with("read the file: it has QuantizeLinear or DequantizeLinear"));
    assert!(message(NETWORKS[0].float_file, &maps(), None).ends_with("protection is written into networks of INT8"));
    // A file that is cut, or whose names are others, is an error or another network, and never a panic.
    let whole = protected(file, &maps(), Some(0.5)).unwrap();
    let mut draws = stats::Draws::new(6, 0);
    let mut errors = 0;
    for _ in 0..300 {
        let mut bytes = whole.clone();
        let at = draws.below(bytes.len() as u64).unwrap() as usize;
        bytes[at] ^= 1 << draws.below(8).unwrap();
        errors += usize::from(read_network("changed", &bytes).is_err());
        bytes.truncate(at);
        assert!(read_network("cut", &bytes).is_err());
    }
    assert!(errors > 20, "{errors}");
}
