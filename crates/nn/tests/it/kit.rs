//! What several tests need.

use std::sync::OnceLock;

use fault::Model;
use nn::NetworkTarget;
use nn::delta::Delta;
use nn::forward::{Run, forward};
use nn::hit::Hit;
use nn::network::Network;

/// The network `fashion`, opened once.
pub(crate) fn fashion() -> &'static NetworkTarget {
    static FASHION: OnceLock<NetworkTarget> = OnceLock::new();
    FASHION.get_or_init(|| nn::bundled::open("fashion").unwrap())
}

/// A flip of one bit.
pub(crate) fn flip(bit: u32) -> Model {
    Model::single(bit)
}

/// Compares the changes of a hit with a whole run, in every tensor. Says whether the logits differ.
pub(crate) fn agree(network: &Network, delta: &mut Delta<'_>, image: &[u8], golden: &Run, hit: &Hit) -> bool {
    let full = forward(network, image, Some(hit));
    let made = delta.run(golden, hit);
    assert_eq!(made.hit, full.hit, "{hit:?}");
    for (number, tensor) in full.tensors.iter().enumerate() {
        assert_eq!(delta.tensor(golden, number), *tensor, "tensor {number} of {hit:?}");
        assert_eq!(delta.differs(number), golden.tensors[number] != *tensor, "tensor {number} of {hit:?}");
    }
    full.logits() != golden.logits()
}
