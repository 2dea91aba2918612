//! The bundled network is what the training script made and what ONNX Runtime computes.

use crate::kit::fashion;

#[test]
fn as_many_images_are_right_as_the_training_script_recorded() {
    let recorded = include_str!("../../networks/fashion/accuracy.json");
    let accuracy = fashion().accuracy();
    assert!(recorded.contains(&format!("\"bundled_right\": {},", accuracy.right)), "{accuracy:?} {recorded}");
    assert!(recorded.contains(&format!("\"bundled_images\": {},", accuracy.images)), "{accuracy:?} {recorded}");
    assert!(accuracy.share() > 0.85);
}

#[test]
fn every_tensor_of_some_images_and_all_logits_are_those_of_onnx_runtime() {
    let packed = include_bytes!("../../networks/fashion/onnxruntime.zst");
    let expected = zstd::bulk::decompress(packed, 1 << 20).unwrap();
    let mut expected = &expected[..];
    let mut next = |count: usize| expected.split_off(..count).unwrap();
    for image in 0..4 {
        let run = fashion().golden_run(image);
        for (number, tensor) in run.tensors.iter().enumerate().skip(1) {
            assert_eq!(next(tensor.len()), tensor, "tensor {number} of image {image}");
        }
    }
    for image in 0..1000 {
        assert_eq!(next(10), fashion().golden_run(image).logits(), "image {image}");
    }
    assert!(expected.is_empty());
}

#[test]
fn its_layers_have_the_sizes_that_are_documented() {
    let layers = fashion().layers();
    let sizes: Vec<_> = layers.iter().map(|layer| (&layer.name[..], layer.class, layer.neurons, layer.macs)).collect();
    let expected = [
        ("c1", "conv", 6272, 56_448),
        ("c2", "conv", 3136, 225_792),
        ("c3", "conv", 3136, 451_584),
        ("c4", "conv", 3136, 451_584),
        ("add", "add", 3136, 0),
        ("dw", "depthwise", 784, 7056),
        ("pw", "conv", 1568, 25_088),
        ("c5", "conv", 1568, 451_584),
        ("gap", "pool", 32, 0),
        ("fc", "dense", 10, 320),
    ];
    assert_eq!(sizes, expected);
    // Biases are counted, too.
    assert_eq!(layers.iter().map(|layer| layer.parameters).sum::<u64>(), 16_170);
}

#[test]
fn a_network_that_is_not_there_is_answered_with_those_that_are() {
    let error = nn::bundled::open("lenet").unwrap_err().to_string();
    assert!(error.starts_with("find the network `lenet`: there are `fashion` ("), "{error}");
}
