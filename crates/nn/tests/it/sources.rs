//! Images of files, and what is said of files that do not fit.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use campaign::Subject;
use flate2::write::GzEncoder;
use nn::{ImageFiles, NetworkSource, NetworkTarget, OpenedNetwork};

use crate::kit::fashion;

fn idx(magic: u32, sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
    let head = [magic].into_iter().chain(sizes.iter().copied()).flat_map(u32::to_be_bytes);
    head.chain(bytes.iter().copied()).collect()
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn open(network: &str, images: &Path, labels: &Path) -> Result<NetworkTarget, String> {
    let files = ImageFiles { images: images.to_owned(), labels: Some(labels.to_owned()) };
    let source = NetworkSource { network: network.to_owned(), images: Some(files), format: None };
    source.open().and_then(OpenedNetwork::integers).map_err(|error| {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    })
}

#[test]
fn images_of_files_are_run_as_those_that_the_program_brings_along() {
    let dir = tempfile::tempdir().unwrap();
    let (pixels, labels) = (&fashion().images().all_pixels()[..50 * 784], &fashion().images().labels()[..50]);
    let bytes: Vec<u8> = labels.iter().map(|&label| label as u8).collect();
    let images = idx(0x803, &[50, 28, 28], pixels);
    let plain = write(dir.path(), "images", &images);
    let packed = write(dir.path(), "images.gz", &gzip(&images));
    let channels = write(dir.path(), "channels", &idx(0x804, &[50, 28, 28, 1], pixels));
    let of_labels = write(dir.path(), "labels.gz", &gzip(&idx(0x801, &[50], &bytes)));
    let network = write(dir.path(), "some.onnx", include_bytes!("../../networks/fashion/fashion.onnx"));
    for (name, images) in
        [("fashion", &plain), ("fashion", &channels), ("fashion", &packed), (network.to_str().unwrap(), &packed)]
    {
        let target = open(name, images, &of_labels).unwrap();
        assert_eq!(target.name(), if name == "fashion" { name } else { "some" });
        assert_eq!((target.images().count(), target.images().all_pixels()), (50, pixels));
        for image in 0..50 {
            assert_eq!(target.golden_run(image), fashion().golden_run(image));
        }
        // Rows of other images are never joined.
        assert_ne!(target.digest(), fashion().digest());
    }
}

#[test]
fn files_that_do_not_fit_are_answered_with_what_was_expected() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| write(dir.path(), name, bytes);
    let images = file("images", &idx(0x803, &[2, 28, 28], &[7; 2 * 784]));
    let labels = file("labels", &idx(0x801, &[2], &[0, 9]));
    let wrong = |images: &Path, labels: &Path| {
        open("fashion", images, labels).unwrap_err().replace(&format!("{}/", dir.path().display()), "")
    };
    let said = [
        (
            wrong(&labels, &labels),
            "read labels: read the head: expected the magic number 0x00000803 (images: bytes by number, row and column, and in 0x00000804 by channel, too), found 0x00000801, which is that of labels",
        ),
        (
            wrong(&images, &file("text", b"no images at all")),
            "read text: read the head: expected the magic number 0x00000801 (labels: bytes by number; 0x00000b01 and 0x00000c01 are those of 16 and of 32 bits, 0x00000803 objects of a detector: bytes by number, object, and class, top, left, bottom, right), found 0x6e6f2069; the file is another IDX, or none",
        ),
        (
            wrong(&images, &file("three", &idx(0x801, &[3], &[0, 1, 2]))),
            "join images and labels: 2 images in images, and 3 labels in three",
        ),
        (
            wrong(&images, &file("ten", &idx(0x801, &[2], &[0, 10]))),
            "read ten: read the label of image 1: class 10 of 10, counted from 0",
        ),
        (
            wrong(&file("small", &idx(0x803, &[2, 8, 8], &[7; 128])), &labels),
            "run the network on small: images have [8, 8, 1] rows, columns and channels, and it reads [28, 28, 1]",
        ),
        (
            wrong(&file("colours", &idx(0x804, &[2, 28, 28, 3], &[7; 2 * 3 * 784])), &labels),
            "run the network on colours: images have [28, 28, 3] rows, columns and channels, and it reads [28, 28, 1]",
        ),
        (
            wrong(&file("cut", &idx(0x803, &[2, 28, 28], &[7; 1000])), &labels),
            "read cut: read the elements: its head says [2, 28, 28], which are 1568 bytes, found 1000",
        ),
        (
            wrong(&file("long", &idx(0x803, &[2, 28, 28], &[7; 2000])), &labels),
            "read long: read the elements: its head says [2, 28, 28], which are 1568 bytes, found 1569",
        ),
        (
            wrong(&file("huge", &idx(0x803, &[u32::MAX; 3], &[])), &labels),
            "read huge: read the elements: its head says [4294967295, 4294967295, 4294967295], and no more than 4294967296 bytes are read",
        ),
        (
            wrong(&file("none", &idx(0x803, &[0, 28, 28], &[])), &file("no labels", &idx(0x801, &[0], &[]))),
            "read no labels: read images: there are none",
        ),
        (wrong(&file("empty", &[]), &labels), "read empty: read the head: expected 16 bytes, found 0"),
    ];
    for (found, expected) in said {
        assert_eq!(found, expected);
    }
    let damaged = file("damaged", &gzip(&[1; 64])[..20]);
    assert!(
        wrong(&damaged, &labels).starts_with("read damaged: unpack the bytes by gzip"),
        "{}",
        wrong(&damaged, &labels)
    );
    assert!(wrong(&dir.path().join("missing"), &labels).starts_with("read missing: No such file"));
    let unknown = open("lenet", &images, &labels).unwrap_err();
    assert!(unknown.starts_with("find the network `lenet`"), "{unknown}");
    assert!(open("nowhere/lenet.onnx", &images, &labels).unwrap_err().contains("No such file"));
    let network = write(dir.path(), "some.onnx", include_bytes!("../../networks/fashion/fashion.onnx"));
    let without =
        NetworkSource { network: network.to_str().unwrap().to_owned(), images: None, format: None }.open().unwrap_err();
    assert!(without.to_string().ends_with("name some by --images FILE --labels FILE"), "{without}");
}
