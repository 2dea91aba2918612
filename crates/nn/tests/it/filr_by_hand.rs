//! FLR, ILR and FILR of a table so small that every number is written out.

use nn::filr::agreement::Oracle;
use nn::filr::certainty::{Certainty, Criterion, Reading, cross_entropy};
use nn::filr::combine::{cheapest, combinations};
use nn::filr::flr::{curve, order};
use nn::filr::ilr::sweep;
use nn::filr::maps::FeatureMap;
use nn::filr::table::{Effect, ImageFacts, Sdc, Tally};
use nn::filr::{Order, Table};

use nn::arithmetic::Quantisation;

fn certainty(top2diff: f64) -> Certainty {
    Certainty { top1conf: (1.0 + top2diff) / 2.0, top2diff }
}

/// Top2Diff of the ten images; the fifth is wrong.
const IMAGES: [f64; 10] = [0.85, 0.25, 0.05, 0.65, 0.005, 0.65, 0.65, 0.95, 0.95, 0.95];

/// Three feature maps of 60, 30 and 10 multiplications, and of 10, 10 and 20 neurons; ten injections in each of them.
///
/// SDCs are 1, 3 and 5. All are in image 2, but the only one of the first map (image 1) and one of the third (image 3).
/// Their cross entropy changes by 2, 1 and 2 each.
fn table() -> Table {
    let map = |channel, macs, neurons| FeatureMap { layer: 0, name: "c".to_owned(), channel, neurons, macs };
    let images = IMAGES
        .iter()
        .enumerate()
        .map(|(image, &top2diff)| ImageFacts { right: image != 4, certainty: certainty(top2diff) });
    let tally = |sdcs: &[(usize, f64)], loss: f64| {
        let mut tally = Tally::default();
        for &(image, faulty) in sdcs {
            let seen = Sdc { image, fault_free: certainty(IMAGES[image]), faulty: certainty(faulty) };
            tally.count(Some(&Effect { seen, mismatch: true, loss }));
        }
        for _ in sdcs.len()..10 {
            tally.count(None);
        }
        tally
    };
    let tallies = vec![
        tally(&[(1, 0.5)], 2.0),
        tally(&[(2, 0.0), (2, 0.0), (2, 0.0)], 1.0),
        tally(&[(2, 0.0), (2, 0.0), (2, 0.0), (2, 0.0), (3, 0.3)], 2.0),
    ];
    Table::new(vec![map(0, 60, 10), map(1, 30, 10), map(2, 10, 20)], tallies, images.collect()).unwrap()
}

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-12
}

#[test]
fn feature_maps_are_taken_in_the_order_that_is_written_here() {
    let table = table();
    let found = |by| {
        let points = curve(&table, by);
        let numbers: Vec<_> = points.iter().map(|point| (point.overhead, point.coverage)).collect();
        (order(table.maps(), &table.all(), by), numbers)
    };
    // Vulnerabilities are 60, 90 and 50 of 200; by the cross entropy 120, 90 and 100.
    assert_eq!(found(Order::Mismatch), (vec![1, 0, 2], vec![(0.0, 0.0), (0.3, 0.45), (0.9, 0.75), (1.0, 1.0)]));
    assert_eq!(found(Order::Loss), (vec![0, 2, 1], vec![(0.0, 0.0), (0.6, 0.3), (0.7, 0.55), (1.0, 1.0)]));
    assert_eq!(found(Order::Rate), (vec![2, 1, 0], vec![(0.0, 0.0), (0.1, 0.25), (0.4, 0.7), (1.0, 1.0)]));
    let oracle = Oracle::new(table.maps(), vec![60.0, 90.0, 50.0]).unwrap();
    let loss = oracle.agreement(&[120.0, 90.0, 100.0]).unwrap();
    assert!(near(loss.distance, (0.15 + 0.2 + 0.0) / 3.0), "{loss:?}");
    // By its own shares it covers 120, 220 and 310 of 310.
    assert!(near(loss.own_distance, (0.45 - 120.0 / 310.0 + 0.75 - 220.0 / 310.0) / 3.0), "{loss:?}");
    // Ranks are 3, 1, 2 and 2, 3, 1.
    assert_eq!((loss.spearman, loss.spearman_bounds), (Some(-0.5), [-1.0, 1.0]));
    let itself = oracle.agreement(&[6.0, 9.0, 5.0]).unwrap();
    assert_eq!((itself.distance, itself.own_distance, itself.spearman), (0.0, 0.0, Some(1.0)));
    assert!(Oracle::new(table.maps(), vec![0.0; 3]).is_none());
}

#[test]
fn of_equal_feature_maps_the_cheaper_is_first() {
    let map = |channel, macs| FeatureMap { layer: 0, name: "c".to_owned(), channel, neurons: 1, macs };
    let sdc = Sdc { image: 0, fault_free: certainty(0.5), faulty: certainty(0.5) };
    let tally = |sdcs: usize| {
        let mut tally = Tally::default();
        for number in 0..6 {
            tally.count((number < sdcs).then_some(&Effect { seen: sdc, mismatch: true, loss: 1.0 }));
        }
        tally
    };
    let maps = vec![map(0, 6), map(1, 2), map(2, 3), map(3, 2)];
    let image = ImageFacts { right: true, certainty: certainty(0.5) };
    let table = Table::new(maps, vec![tally(1), tally(3), tally(2), tally(3)], vec![image]).unwrap();
    assert_eq!(order(table.maps(), &table.all(), Order::Mismatch), [1, 3, 2, 0]);
}

#[test]
fn thresholds_cover_and_cost_what_is_written_here() {
    let table = table();
    let points = sweep(&table, Criterion::Top2Diff, Reading::FaultFree);
    assert_eq!(points.len(), 101);
    // (step, coverage, by neurons, SDCs, reruns): below means below, so that 0.05 is not run again at 0.05.
    let expected = [
        (0, 0.0, 0.0, 0, 0.0),
        (1, 0.0, 0.0, 0, 0.1),
        (5, 0.0, 0.0, 0, 0.1),
        (6, 130.0 / 200.0, 110.0 / 140.0, 7, 0.2),
        (25, 130.0 / 200.0, 110.0 / 140.0, 7, 0.2),
        (26, 190.0 / 200.0, 120.0 / 140.0, 8, 0.3),
        (65, 190.0 / 200.0, 120.0 / 140.0, 8, 0.3),
        (66, 1.0, 1.0, 9, 0.6),
        (86, 1.0, 1.0, 9, 0.7),
        (100, 1.0, 1.0, 9, 1.0),
    ];
    for (step, coverage, by_neurons, sdcs, reruns) in expected {
        let point = points[step];
        assert_eq!((point.coverage, point.coverage_by_neurons, point.sdcs), (coverage, by_neurons, sdcs), "{point:?}");
        assert!(near(point.overhead, reruns) && near(point.threshold, step as f64 / 100.0), "{point:?}");
    }
    assert!(points.windows(2).all(|pair| pair[0].coverage <= pair[1].coverage && pair[0].overhead <= pair[1].overhead));
    // The faulty run of seven SDCs is a tie, those of the others 0.3 and 0.5.
    let faulty = sweep(&table, Criterion::Top2Diff, Reading::Faulty);
    let coverages = [0, 1, 30, 31, 50, 51].map(|step| faulty[step].coverage);
    assert_eq!(coverages, [0.0, 130.0 / 200.0, 130.0 / 200.0, 140.0 / 200.0, 140.0 / 200.0, 1.0]);
    // Top1Conf is one half more than half of Top2Diff: 0.525 for image 2.
    let top1conf = sweep(&table, Criterion::Top1Conf, Reading::FaultFree);
    assert_eq!([52, 53].map(|step| top1conf[step].coverage), [0.0, 130.0 / 200.0]);
}

#[test]
fn the_cheapest_combination_is_the_one_that_is_written_here() {
    let table = table();
    let all = combinations(&table, Reading::FaultFree, Order::Mismatch, 1.0);
    let expected = [
        (0, vec![1, 0, 2], 1.0, 0.0, 1.0),
        (1, vec![1, 0, 2], 1.0, 0.1, 1.2),
        // The SDCs of image 2 are run again, which leaves 60 of the first and 10 of the third.
        (6, vec![0, 2], 0.7, 0.2, 1.04),
        (26, vec![2], 0.1, 0.3, 0.43),
        (66, vec![], 0.0, 0.6, 0.6),
        (100, vec![], 0.0, 1.0, 1.0),
    ];
    for (step, maps, duplication, reruns, overhead) in expected {
        let combination = &all[step];
        assert_eq!((&combination.maps, combination.coverage), (&maps, 1.0), "{combination:?}");
        let numbers = [combination.duplication, combination.reruns, combination.overhead];
        assert!(numbers.iter().zip([duplication, reruns, overhead]).all(|(&a, b)| near(a, b)), "{combination:?}");
    }
    let chosen = cheapest(&all).unwrap();
    assert_eq!((chosen.threshold, chosen.coverage_by_reruns, &chosen.maps[..]), (0.26, 0.95, &[2][..]));
    // Faulty runs are more uncertain, and three images of ten are below 0.51.
    let faulty = combinations(&table, Reading::Faulty, Order::Mismatch, 1.0);
    let chosen = cheapest(&faulty).unwrap();
    assert!(chosen.maps.is_empty() && near(chosen.threshold, 0.51) && near(chosen.overhead, 0.3), "{chosen:?}");
}

#[test]
fn a_lower_target_takes_only_what_it_needs_and_maps_by_the_order_that_was_chosen() {
    let table = table();
    let at = |by, target, step: usize| combinations(&table, Reading::FaultFree, by, target)[step].clone();
    // Image 2 is run again: 0.65, with the first map 0.95.
    assert_eq!(at(Order::Mismatch, 0.9, 6).maps, [0]);
    assert_eq!(at(Order::Mismatch, 0.95, 6).maps, [0]);
    assert_eq!(at(Order::Mismatch, 0.96, 6).maps, [0, 2]);
    assert_eq!(at(Order::Mismatch, 0.65, 6).maps, [0_usize; 0]);
    // Changes of the cross entropy that are left are 2 x 60 and 2 x 10; without reruns they are 120, 90 and 100.
    assert_eq!(at(Order::Loss, 1.0, 6).maps, [0, 2]);
    assert_eq!(at(Order::Loss, 0.5, 0).maps, [0, 2]);
    let cheap = combinations(&table, Reading::FaultFree, Order::Mismatch, 0.9);
    let chosen = cheapest(&cheap).unwrap();
    assert!(chosen.maps.is_empty() && near(chosen.threshold, 0.26) && near(chosen.overhead, 0.3), "{chosen:?}");
}

#[test]
fn certainty_and_cross_entropy_are_those_of_the_softmax() {
    let quantisation = Quantisation { scale: 0.5, zero: 10 };
    // Values are 1, 0 and 2.
    let (logits, all) = ([12, 10, 14], 1_f64.exp() + 1.0 + 2_f64.exp());
    let certainty = Certainty::of(&logits, quantisation);
    assert!(near(certainty.top1conf, 2_f64.exp() / all));
    assert!(near(certainty.top2diff, (2_f64.exp() - 1_f64.exp()) / all));
    assert!(near(cross_entropy(&logits, quantisation, 0), -(1_f64.exp() / all).ln()));
    // Equal ones differ by nothing, and are below every threshold but 0.
    let tie = Certainty::of(&[14, 14, 0], quantisation);
    assert_eq!((tie.top2diff, tie.first_step(Criterion::Top2Diff)), (0.0, 1));
    let sure = Certainty { top1conf: 1.0, top2diff: 1.0 };
    assert_eq!(sure.first_step(Criterion::Top1Conf), 101);
    for step in 0..=100_usize {
        let at = Certainty { top1conf: step as f64 / 100.0, top2diff: 0.0 };
        assert_eq!(at.first_step(Criterion::Top1Conf), step + 1);
        let below = Certainty { top1conf: (step as f64 / 100.0).next_down().max(0.0), top2diff: 0.0 };
        assert_eq!(below.first_step(Criterion::Top1Conf), step.max(1));
    }
}

#[test]
fn a_table_has_as_many_injections_in_each_feature_map() {
    let table = table();
    let mut tallies = table.tallies().to_vec();
    tallies[1].count(None);
    let error = Table::new(table.maps().to_vec(), tallies, table.images().to_vec()).unwrap_err().to_string();
    assert!(error.ends_with("at least 1, found 10 and 11"), "{error}");
    assert!(Table::new(table.maps().to_vec(), Vec::new(), table.images().to_vec()).is_err());
}
