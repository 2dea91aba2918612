//! Gradients: those of finite differences where a network is linear, and runs without rounding that are near those of bytes.

use nn::forward::forward;
use nn::gradient::{Nudge, RealRun, Reverse};
use nn::network::Network;
use stats::Draws;

use crate::kit::fashion;
use crate::random_networks::network;

/// The change of a direction over the logits for each unit of a nudge.
fn difference(network: &Network, image: &[u8], direction: &[f64], nudge: Nudge) -> f64 {
    let along = |nudge| {
        let run = RealRun::new(network, image, nudge);
        run.logits().iter().zip(direction).map(|(logit, by)| logit * by).sum::<f64>()
    };
    (along(Some(nudge)) - along(None)) / nudge.by
}

/// Compares some gradients with differences; says how many were compared, and how many of them are not zero.
fn compare(network: &Network, image: &[u8], draws: &mut Draws, count: usize) -> [usize; 2] {
    let classes = network.logits().shape.elements();
    let direction: Vec<f64> = (0..classes).map(|_| draws.unit() * 2.0 - 1.0).collect();
    let run = RealRun::new(network, image, None);
    let gradients = Reverse::new(network).gradients(&run, &direction);
    let [mut compared, mut moving] = [0, 0];
    for _ in 0..count {
        let tensor = 1 + draws.below(network.layers().len() as u64).unwrap() as usize;
        let element = draws.below(network.tensors()[tensor].shape.elements() as u64).unwrap() as usize;
        let by = f64::from(network.tensors()[tensor].quantisation.scale) / 1e4;
        let [up, down] = [by, -by].map(|by| difference(network, image, &direction, Nudge { tensor, element, by }));
        let found = gradients[tensor][element];
        let near = 1e-7 * (1.0 + up.abs().max(down.abs()));
        // At a corner, of a bound or of a maximum, the sides differ.
        if (up - down).abs() > near || tensor == network.layers().len() {
            continue;
        }
        assert!((found - (up + down) / 2.0).abs() <= near, "tensor {tensor}, element {element}: {found}, {up}, {down}");
        compared += 1;
        moving += usize::from(found != 0.0);
    }
    [compared, moving]
}

#[test]
fn gradients_of_random_networks_are_finite_differences() {
    let [mut compared, mut moving] = [0, 0];
    for number in 0..400 {
        let mut draws = Draws::new(41, number);
        let network = network(&mut draws);
        let size = network.tensors()[0].shape.elements();
        let image: Vec<u8> = (0..size).map(|_| draws.next() as u8).collect();
        let found = compare(&network, &image, &mut draws, 20);
        (compared, moving) = (compared + found[0], moving + found[1]);
    }
    assert!(compared > 4000 && moving > 400, "{compared} compared, {moving} of them not zero");
}

#[test]
fn gradients_of_the_bundled_network_are_finite_differences() {
    let [mut compared, mut moving] = [0, 0];
    for image in 0..8 {
        let mut draws = Draws::new(31, image);
        let found = compare(fashion().network(), fashion().images().pixels(image as usize), &mut draws, 60);
        (compared, moving) = (compared + found[0], moving + found[1]);
    }
    assert!(compared > 300 && moving > 200, "{compared} compared, {moving} of them not zero");
}

#[test]
fn runs_without_rounding_are_near_those_of_bytes() {
    let network = fashion().network();
    let (mut classes, mut apart, mut all) = (0, 0.0, 0.0);
    for image in 0..100 {
        let pixels = fashion().images().pixels(image);
        let (bytes, real) = (forward(network, pixels, None), RealRun::new(network, pixels, None));
        let quantisation = network.logits().quantisation;
        let of_bytes: Vec<f64> = bytes.logits().iter().map(|&byte| f64::from(quantisation.value(byte))).collect();
        let top = |logits: &[f64]| (0..logits.len()).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        classes += usize::from(top(&of_bytes) == top(real.logits()));
        for (one, other) in of_bytes.iter().zip(real.logits()) {
            apart += (one - other).abs();
            all += one.abs();
        }
    }
    assert!(classes >= 95 && apart < all / 20.0, "{classes} of 100, {apart} of {all}");
}
