//! The vision transformer: held against ONNX Runtime, hit in every layer, and its coordinates.

use std::sync::OnceLock;

use campaign::{Planner, RunIndex, SelectionWords};
use nn::bundled::{Bundled, NETWORKS};
use nn::file::read_float;
use nn::float::{FloatDelta, FloatNetwork, float_forward};
use nn::hit::{Hit, LayerOperand};
use nn::observe::top_value;
use nn::{ElementSpace, FloatTarget, NetworkSource, ValueFormat};
use stats::Draws;

use crate::floats::{agree, agree_of_hits};

fn bundled() -> &'static Bundled {
    NETWORKS.iter().find(|network| network.name == "fashion-vit").unwrap()
}

fn target() -> &'static FloatTarget {
    static TARGET: OnceLock<FloatTarget> = OnceLock::new();
    TARGET.get_or_init(|| bundled().open_float(ValueFormat::Fp32).unwrap())
}

fn image(number: usize) -> Vec<f32> {
    target().images().pixels(number).iter().map(|&byte| f32::from(byte) / 255.0).collect()
}

#[test]
fn every_layer_and_all_logits_are_near_those_of_onnx_runtime() {
    const STEP: usize = 7;
    let network = target().network();
    let packed = include_bytes!("../../networks/fashion-vit/onnxruntime-fp32.zst");
    let bytes = zstd::bulk::decompress(packed, 1 << 20).unwrap();
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    let mut values = &values[..];
    for number in 0..2 {
        let run = float_forward(network, &image(number), None);
        for (layer, tensor) in network.layers().iter().zip(&run.tensors[1..]) {
            let expected = values.split_off(..tensor.len().div_ceil(STEP)).unwrap();
            let scale = expected.iter().fold(0.0_f32, |scale, value| scale.max(value.abs()));
            let found = tensor.iter().step_by(STEP);
            let error = found.zip(expected).fold(0.0_f32, |error, (a, b)| error.max((a - b).abs())) / scale;
            assert!(error < 3e-6, "image {number}, {}: {error:e} of the largest value", layer.name);
        }
    }
    assert_eq!(values.len(), 10 * 1000);
    for number in 0..1000 {
        let expected = values.split_off(..10).unwrap();
        let run = target().golden_run(number);
        let near = run.logits().iter().zip(expected).all(|(a, b)| (a - b).abs() < 2e-5);
        assert!(near, "image {number}: {:?} {expected:?}", run.logits());
        assert_eq!(top_value(run.logits()), top_value(expected), "image {number}");
    }
    assert_eq!(target().accuracy().right, 889);
}

#[test]
fn hits_of_every_layer_change_what_a_whole_run_changes_in_every_tensor() {
    let network = target().network();
    let (golden, image) = (float_forward(network, &image(3), None), image(3));
    let (mut delta, mut draws) = (FloatDelta::new(network), Draws::new(17, 0));
    for layer in 0..network.layers().len() {
        for operand in [LayerOperand::Out, LayerOperand::In(0), LayerOperand::In(1), LayerOperand::Weight] {
            let Some(space) = ElementSpace::of(network, layer, operand) else { continue };
            let element = draws.below(space.elements() as u64).unwrap() as usize;
            let model = fault::Model::single(28 + draws.below(3).unwrap() as u32);
            let place = nn::hit::Place { layer, operand, element, model };
            agree(network, &mut delta, &image, &golden, &Hit::new(vec![place]));
        }
    }
    for format in ValueFormat::ALL {
        let network = read_float("vit", bundled().float_file, format).unwrap();
        let differing = agree_of_hits(&network, &image, 100, &mut Draws::new(19, 0));
        assert!((25..100).contains(&differing), "{differing}");
    }
}

#[test]
fn coordinates_are_those_of_the_file_and_every_layer_is_drawn_from() {
    let network = target().network();
    let number = |name: &str| network.topology().layer_named(name).unwrap();
    let space = |name: &str, operand| ElementSpace::of(network, number(name), operand).unwrap();
    let shares = "/blocks/blocks.0/attention/Softmax";
    let heads = space(shares, LayerOperand::Out);
    assert_eq!(heads.sizes(), [4, 49, 49]);
    assert_eq!(heads.element(&[1, 2, 3]), Some((49 + 2) * 49 + 3));
    let products = network.topology().layouts().enumerate().filter(|(_, layout)| layout.class == "product");
    assert!(products.map(|(layer, _)| network.topology().macs(layer)).all(|macs| macs == 4 * 49 * 49 * 16));
    let tokens = space("/blocks/blocks.1/Add", LayerOperand::Out);
    assert_eq!((tokens.sizes(), tokens.element(&[48, 5])), (&[49, 64][..], Some(48 * 64 + 5)));
    let dense = space("/blocks/blocks.1/dense/dense.0/MatMul", LayerOperand::Weight);
    assert_eq!(dense.sizes(), [128, 64]);
    assert_eq!(space("/patches/Conv", LayerOperand::Out).sizes(), [64, 7, 7]);
    for space in [heads, tokens, dense] {
        let all = (0..space.elements()).map(|element| space.element(&space.coordinates(element)).unwrap());
        let mut seen: Vec<usize> = all.collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..space.elements()));
    }
    for layer in network.layers() {
        let words = SelectionWords { kernel: vec![layer.name.clone()], ..SelectionWords::default() };
        let site = &target().plan(&[RunIndex(1)], &words, 5).unwrap()[0];
        assert_eq!(&target().site(site.fault().unwrap()).unwrap().spot.kernel, &layer.name);
    }
    let id = format!("image=0,layer={shares},tensor=out,at=4:0:0,model=flip,bits=1");
    let said = target().site(&id).unwrap_err().to_string();
    assert!(said.contains("4 matrices of 49 rows and 49 columns"), "{said}");
}

#[test]
fn it_is_in_fp32_where_nothing_is_said_and_has_no_form_in_int8() {
    let source = NetworkSource { network: "fashion-vit".to_owned(), images: None, format: None };
    assert_eq!(source.settled_format(), Some(ValueFormat::Fp32));
    let expected =
        "use the network `fashion-vit` in INT8: it has no form in INT8; name one of --format fp32, fp16 and bf16";
    assert_eq!(bundled().open().unwrap_err().to_string(), expected);
    assert_eq!(source.file().unwrap_err().to_string(), expected);
    let said = source.open().unwrap().integers().unwrap_err().to_string();
    assert!(said.contains("in fp32: this is for networks of INT8; it has no form in INT8: quantise it"), "{said}");
}

/// The network with some bytes replaced by as many others.
fn replaced(from: &[u8], to: &[u8]) -> Result<FloatNetwork, nn::file::FileError> {
    let mut file = bundled().float_file.to_vec();
    let at = (0..file.len() - from.len()).find(|&at| file[at..].starts_with(from)).unwrap();
    file[at..at + to.len()].copy_from_slice(to);
    read_float("made", &file, ValueFormat::Fp32)
}

#[test]
fn a_file_of_something_else_is_refused_by_the_name_of_the_node() {
    for (from, to, expected) in [
        (
            &b"\x22\x03Erf"[..],
            &b"\x22\x03Cos"[..],
            "nothing here computes `Cos` (node `/blocks/blocks.0/dense/dense.1/Erf`; 1 of",
        ),
        (
            b"\x22\x03Div",
            b"\x22\x03Sin",
            "nothing here computes `Sin` (node `/blocks/blocks.0/dense/dense.1/Div`; 1 of",
        ),
        (b"perm@\x02@\x00", b"perm@\x02@\x02", "Transpose`: `perm` [2, 2, 3, 1, 4] does not name each axis"),
    ] {
        let said = replaced(from, to).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
    let mut draws = Draws::new(9, 0);
    let mut pick = |below: usize| draws.below(below as u64).unwrap() as usize;
    // Weights are not looked into: bytes of nodes are.
    let file = bundled().float_file;
    let nodes = (0..file.len()).filter(|&at| file[at..].starts_with(b"/blocks/")).collect::<Vec<_>>();
    for _ in 0..2000 {
        let mut bytes = file.to_vec();
        for _ in 0..=pick(3) {
            let at = (nodes[pick(nodes.len())] + pick(120)).min(bytes.len() - 1);
            bytes[at] = pick(256) as u8;
        }
        let _ = read_float("damaged", &bytes, ValueFormat::Fp32);
    }
}
