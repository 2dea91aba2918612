//! Files of floating point: held against ONNX Runtime, and what is said of those that cannot be run.

use nn::ValueFormat;
use nn::bundled::NETWORKS;
use nn::file::{is_float, read_float, read_network};
use nn::float::{FloatConv, FloatLayer, FloatNetwork, FloatOperator, FloatTensor, float_forward};
use nn::network::{Axes, Shape, Window};
use nn::observe::top_value;

use crate::kit::fashion;

const FILE: &[u8] = NETWORKS[0].float_file;

#[test]
fn every_tensor_of_two_images_is_near_that_of_onnx_runtime_and_all_classes_are_its_classes() {
    let network = read_float("fashion", FILE, ValueFormat::Fp32).unwrap();
    let sizes: Vec<usize> = network.tensors()[1..].iter().map(|tensor| tensor.shape.elements()).collect();
    let floats = 2 * sizes.iter().sum::<usize>() + 1000 * 10;
    let packed = include_bytes!("../../networks/fashion/onnxruntime-fp32.zst");
    let bytes = zstd::bulk::decompress(packed, floats * 4).unwrap();
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
    assert_eq!(values.len(), floats);
    let mut values = &values[..];
    let run = |image: usize| {
        let image: Vec<f32> = fashion().images().pixels(image).iter().map(|&byte| f32::from(byte) / 255.0).collect();
        float_forward(&network, &image, None)
    };
    for image in 0..2 {
        let run = run(image);
        for (layer, tensor) in network.layers().iter().zip(&run.tensors[1..]) {
            let expected = values.split_off(..tensor.len()).unwrap();
            let scale = expected.iter().fold(0.0_f32, |scale, value| scale.max(value.abs()));
            let error = tensor.iter().zip(expected).fold(0.0_f32, |error, (a, b)| error.max((a - b).abs())) / scale;
            assert!(error < 2e-6, "image {image}, {}: {error:e} of the largest value", layer.name);
        }
    }
    for image in 0..1000 {
        let expected = values.split_off(..10).unwrap();
        assert_eq!(top_value(run(image).logits()), top_value(expected), "image {image}");
    }
}

/// The file with some bytes, wherever they stand, replaced by as many others.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut file = FILE.to_vec();
    let places: Vec<usize> = (0..file.len() - from.len()).filter(|&at| file[at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    places.iter().for_each(|&at| file[at..at + to.len()].copy_from_slice(to));
    file
}

fn refused(file: &[u8], format: ValueFormat) -> String {
    read_float("made", file, format).unwrap_err().to_string()
}

#[test]
fn files_that_cannot_be_run_are_answered_with_what_was_expected() {
    assert!(is_float(FILE) && !is_float(NETWORKS[0].file.unwrap()));
    // An operator that is unknown is named with a node, and how many there are.
    let unknown = replaced(b"\x22\x04Relu", b"\x22\x04Sinh");
    let said = refused(&unknown, ValueFormat::Fp32);
    assert!(said.contains("nothing here computes `Sinh` (node `c1.relu`; 7 of them); it computes Conv"), "{said}");
    // Columns without a number: the name of a size, which is empty.
    let dynamic = replaced(b"\x0a\x02\x08\x1c\x0a\x02\x08\x1c", b"\x0a\x02\x08\x1c\x0a\x02\x12\x00");
    let said = refused(&dynamic, ValueFormat::Fp32);
    assert!(said.contains("the input `input`") && said.contains("unknown") && said.contains("fixed"), "{said}");
    // A bias that is NaN, and one that FP16 stores as infinity.
    let network = read_float("fashion", FILE, ValueFormat::Fp32).unwrap();
    let bias = network.layers()[0].conv().unwrap().bias[3].to_le_bytes();
    let said = refused(&replaced(&bias, &f32::NAN.to_le_bytes()), ValueFormat::Fp32);
    assert_eq!(said, "read the constant `c1.bias`: its element 3 is NaN; expected finite numbers");
    let large = replaced(&bias, &1e6_f32.to_le_bytes());
    assert!(read_float("made", &large, ValueFormat::Bf16).is_ok());
    let said = refused(&large, ValueFormat::Fp16);
    assert!(said.contains("is 1000000, which fp16 stores as inf"), "{said}");
    // Bytes of floating point are not integers.
    assert!(read_network("made", FILE).is_err());
    for length in (0..FILE.len()).step_by(997) {
        assert!(read_float("made", &FILE[..length], ValueFormat::Fp32).is_err(), "{length}");
    }
}

#[test]
fn a_network_that_does_not_fit_into_memory_is_refused_before_anything_is_made() {
    let shape = Shape { height: 60_000, width: 60_000, channels: 1 };
    let window = Window::plain([1, 1]);
    let conv = FloatConv { window, groups: 1, weights: vec![1.0], bias: vec![0.0] };
    let operator = FloatOperator::Conv(conv);
    let layer = FloatLayer { name: "c".into(), opcode: "Conv".into(), operator, inputs: vec![0], activation: None };
    let tensors = vec![FloatTensor { shape, axes: Axes::Image }; 2];
    let said = FloatNetwork::new("large".into(), ValueFormat::Fp32, tensors, vec![layer]).unwrap_err().to_string();
    assert!(said.contains("take 28800000004 bytes, and may take 4294967296 bytes"), "{said}");
}
