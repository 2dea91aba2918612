//! Every fault of some images, and estimates held against that.

use nn::NetworkTarget;
use nn::filr::convergence::SEEDS;
use nn::filr::exhaustive::judge_all;
use nn::filr::inject::Work;
use nn::filr::maps::feature_maps;
use nn::filr::sets::divide;
use nn::filr::{FilrError, Order, Settings, analyse};
use nn::forward::{forward, top_class};
use nn::hit::Hit;
use stats::Draws;

use crate::filr::some;
use crate::heuristics::{GO_ON, IMAGES, classes, linear};
use crate::kit::flip;

#[test]
fn every_fault_is_judged_as_a_whole_run_judges_it() {
    let network = linear();
    let top = |image: usize| top_class(forward(&network, &IMAGES[image], None).logits());
    let labels = (0..IMAGES.len()).map(|image| top(image) as u16).collect();
    let target = NetworkTarget::new(network.clone(), b"", classes(&network, labels));
    let target = target.unwrap();
    let (set, _) = divide(&target, 0.7, 1);
    let (maps, work) = (feature_maps(&network), Work { threads: 2, stop: &GO_ON });
    let truth = judge_all(&set, &maps, 2, 1, work, &mut |_, _| {}).unwrap();
    assert_eq!((truth.images(), truth.faults()), (2, 2 * 4 * 8));
    for (number, map) in maps.iter().enumerate() {
        let mut mismatches = 0;
        for &image in set.images() {
            for fault in 0..16 {
                let hit = Hit::neuron(0, fault / 8 * 2 + map.channel, flip(fault as u32 % 8));
                mismatches +=
                    usize::from(top_class(forward(&network, &IMAGES[image], Some(&hit)).logits()) != top(image));
            }
        }
        assert!(mismatches > 0 && mismatches < 32, "{mismatches}");
        assert_eq!(truth.of_map(number).filter(|it| it.mismatch).count(), mismatches);
        assert!((truth.propagation(Order::Mismatch)[number] - mismatches as f64 / 32.0).abs() < 1e-12);
        // Draws come to what they are drawn from.
        let mut draws = Draws::new(5, 0);
        let drawn = (0..20_000).filter(|_| truth.draw(number, &mut draws).unwrap().mismatch).count();
        assert!((drawn as f64 / 20_000.0 - mismatches as f64 / 32.0).abs() < 0.02);
    }
    let error = judge_all(&set, &maps, 3, 1, work, &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, FilrError::Setting { .. }) && error.to_string().contains("at most 2 are possible"));
}

#[test]
fn more_injections_come_nearer_to_the_truth_whatever_the_number_of_threads() {
    let settings = Settings { injections_per_map: 64, exhaustive_images: 2, seed: 3, ..Settings::default() };
    let one = analyse(some(), &settings, &GO_ON, &mut |_, _| {}).unwrap();
    let two = analyse(some(), &Settings { threads: 2, ..settings }, &GO_ON, &mut |_, _| {}).unwrap();
    assert_eq!(one, two);
    let found = one.exhaustive.unwrap();
    assert_eq!((found.images, found.faults), (2, 2 * 156_800));
    let of = |by: Order| found.estimates.iter().filter(move |it| it.by == by);
    assert!(of(Order::Mismatch).chain(of(Order::Loss)).all(|it| it.distances.len() == SEEDS));
    let ends = |by| (of(by).next().unwrap().mean, of(by).next_back().unwrap().mean);
    let (few, many) = ends(Order::Mismatch);
    assert!(many < 0.01 && many < few / 5.0, "{few} {many}");
    // The order by the change of the cross entropy comes to its own, which is not that of mismatches.
    let itself = found.orders.iter().find(|it| it.by == Order::Loss).unwrap().agreement.unwrap();
    assert!((ends(Order::Loss).1 - itself.distance).abs() < 0.01);
    assert!(found.orders[0].agreement.unwrap().distance == 0.0 && found.heuristics.len() == 7);
}
