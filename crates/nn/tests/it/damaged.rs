//! What is wrong with a file, or with images, is said and nothing panics.

use nn::bundled::NETWORKS;
use nn::detection::Object;
use nn::file::{FileError, read_network};
use nn::idx;
use nn::images::{Images, Shown};
use nn::network::Shape;
use stats::Draws;

/// The logits of ten classes.
const LOGITS: Shape = Shape { height: 1, width: 1, channels: 10 };

/// The file with some of its bytes replaced.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = NETWORKS[0].file.unwrap().to_vec();
    let places: Vec<usize> = (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

fn message(bytes: &[u8]) -> String {
    read_network("damaged", bytes).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn operators_that_are_not_computed_are_named_before_anything_else() {
    let bytes = replaced(b"QLinearConv", b"QLinearBonk");
    let error = read_network("damaged", &bytes).unwrap_err();
    let FileError::Operators { found } = &error else { panic!("{error}") };
    assert_eq!(found, &[("QLinearBonk".to_owned(), "c1".to_owned(), 7)]);
    assert_eq!(
        error.to_string(),
        "run the network: nothing here computes `QLinearBonk` (node `c1`; 7 of them); it computes QLinearConv, \
         QLinearAdd, QLinearMul, QLinearSigmoid, QLinearLeakyRelu, QLinearGlobalAveragePool, QLinearAveragePool, QLinearConcat, \
         QGemm, Flatten, MaxPool, Concat, and between DequantizeLinear and QuantizeLinear also Conv, Gemm, Add, Mul, \
         GlobalAveragePool, AveragePool, ReduceMean, Relu, Clip, LeakyRelu, Sigmoid, HardSigmoid, HardSwish, Tanh, Erf and Gelu"
    );
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    assert_eq!(message(b""), "read the file: it has no graph");
    assert_eq!(message(b"no network at all"), "read the bytes as an ONNX file: a field ends beyond its message");
    // The name of the weights, where the node says it and where the file holds them, is as long as another.
    let nobody = replaced(b"c3.weight.scale", b"c3.weight.scald");
    assert!(read_network("renamed", &nobody).is_ok());
    let misspelt = message(&replaced(b"strides", b"stridez"));
    assert!(misspelt.starts_with("read the node `c1`: its attribute `stridez` is not read; alpha, "), "{misspelt}");
    let missing = message(&replaced(b"\x42\x07c3.bias", b"\x42\x07c3.bios"));
    assert_eq!(missing, "read the constant `c3.bias`: the file does not hold it");
    let scale = message(&replaced(&scale_of("c2.scale"), &f32::NAN.to_le_bytes()));
    assert_eq!(scale, "read the constant `c2.scale`: a scale is finite and above 0, found NaN");
}

/// The bytes of a constant of one number.
fn scale_of(name: &str) -> [u8; 4] {
    let network = read_network("fashion", NETWORKS[0].file.unwrap()).unwrap();
    let layer = network.layer_named(name.trim_end_matches(".scale")).unwrap();
    network.output(layer).quantisation.scale.to_le_bytes()
}

#[test]
fn a_file_that_ends_early_or_has_other_bytes_is_an_error_or_a_network_and_never_a_panic() {
    let file = NETWORKS[0].file.unwrap();
    for end in (0..file.len()).step_by(61) {
        assert!(read_network("short", &file[..end]).is_err(), "{end} bytes");
    }
    let mut errors = 0;
    for round in 0..1500 {
        let mut draws = Draws::new(3, round);
        let mut bytes = file.to_vec();
        for _ in 0..=round % 4 {
            let at = draws.below(bytes.len() as u64).unwrap() as usize;
            bytes[at] = draws.below(256).unwrap() as u8;
        }
        errors += usize::from(read_network("mutated", &bytes).is_err());
    }
    assert!(errors > 20, "{errors}");
}

#[test]
fn images_and_labels_have_to_fit_each_other() {
    let shape = Shape { height: 2, width: 2, channels: 1 };
    let message = |pixels: usize, labels: &[u16]| {
        Images::new(shape, vec![0; pixels], Shown::Classes(labels.to_vec()), LOGITS).unwrap_err().to_string()
    };
    assert_eq!(message(7, &[1, 2]), "read images: 2 labels need 8 bytes of pixels (2 x 2 x 1 each), found 7");
    assert_eq!(message(8, &[1, 10]), "read the label of image 1: class 10 of 10, counted from 0");
    assert_eq!(message(0, &[]), "read images: there are none");
    let images = Images::new(shape, vec![7; 8], Shown::Classes(vec![0, 9]), LOGITS).unwrap();
    assert_eq!((images.pixels(1), images.pixels(2)), (&[7; 4][..], &[][..]));
    let network = read_network("fashion", NETWORKS[0].file.unwrap()).unwrap();
    let error = nn::NetworkTarget::new(network, NETWORKS[0].file.unwrap(), images).unwrap_err().to_string();
    assert_eq!(error, "run the network `fashion` on images: it reads 784 bytes, and an image has 4");
    let map = Shape { height: 7, ..LOGITS };
    let error = Images::new(shape, vec![7; 8], Shown::Classes(vec![0, 9]), map).unwrap_err().to_string();
    let made = "hold what the network makes against labels: the last layer makes";
    assert_eq!(error, format!("{made} 7 × 1 × 10 numbers, expected logits: at least two, and one position"));
    let objects = |bounds, cells| {
        let shown = Shown::Objects(vec![vec![Object { class: 4, bounds }], Vec::new()]);
        Images::new(shape, vec![7; 8], shown, cells).map_err(|error| error.to_string())
    };
    assert_eq!(objects([0.0, 1.0, 2.0, 2.0], map).unwrap().count(), 2);
    let cells = "a cell for each part of the image, with five channels and those of the classes";
    assert_eq!(
        objects([0.0, 1.0, 2.0, 2.0], Shape { channels: 5, ..map }).unwrap_err(),
        format!("{made} 7 × 1 × 5 numbers, expected {cells}")
    );
    assert_eq!(
        objects([0.0, 1.0, 2.0, 3.0], map).unwrap_err(),
        "read the objects of image 0: a box of rows 0 to 2 and columns 1 to 3 is not within 2 x 2 pixels"
    );
    let class = objects([0.0, 1.0, 2.0, 2.0], Shape { channels: 9, ..map }).unwrap_err();
    assert_eq!(class, "read the label of image 0: class 4 of 4, counted from 0");
}

#[test]
fn labels_have_8_or_16_or_32_bits_and_are_classes() {
    let file = |magic: u32, labels: &[&[u8]]| {
        let head = [magic, labels.len() as u32].into_iter().flat_map(u32::to_be_bytes);
        head.chain(labels.concat()).collect::<Vec<u8>>()
    };
    assert_eq!(idx::shown(&file(0x0801, &[&[7], &[255]])).unwrap(), Shown::Classes(vec![7, 255]));
    assert_eq!(idx::shown(&file(0x0b01, &[&[0, 7], &[3, 231]])).unwrap(), Shown::Classes(vec![7, 999]));
    let long = idx::shown(&file(0x0c01, &[&[0, 0, 255, 255], &[0, 0, 3, 231]]));
    assert_eq!(long.unwrap(), Shown::Classes(vec![65535, 999]));
    let message = |magic, labels: &[&[u8]]| idx::shown(&file(magic, labels)).unwrap_err().to_string();
    let label = "read the label of image 1: expected a class from 0 to 65535, found";
    assert_eq!(message(0x0c01, &[&[0; 4], &[0, 1, 0, 0]]), format!("{label} 65536"));
    assert_eq!(message(0x0b01, &[&[0; 2], &[255, 255]]), format!("{label} -1"));
}

#[test]
fn objects_are_five_bytes_each_and_the_class_255_is_none() {
    let file = |sizes: [u32; 3], bytes: &[u8]| {
        let head = [0x0803, sizes[0], sizes[1], sizes[2]].into_iter().flat_map(u32::to_be_bytes);
        head.chain(bytes.iter().copied()).collect::<Vec<u8>>()
    };
    let none = [255; 5];
    let bytes = [[3, 1, 2, 8, 9], none, none, none].concat();
    let object = Object { class: 3, bounds: [1.0, 2.0, 8.0, 9.0] };
    assert_eq!(idx::shown(&file([2, 2, 5], &bytes)).unwrap(), Shown::Objects(vec![vec![object], Vec::new()]));
    let message = idx::shown(&file([2, 2, 4], &bytes[..16])).unwrap_err().to_string();
    let expected = "expected images, objects of each, and 5: class, top, left, bottom, right";
    assert_eq!(message, format!("read the objects: its head says [2, 2, 4], {expected}"));
}
