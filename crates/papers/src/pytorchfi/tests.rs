//! Campaigns of few runs, and such with ends and times written into them: each rule holds and fails where it should.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use campaign::{Planner, RunIndex};
use methods::convolution::{KernelForm, NeuronPattern};
use nn::{ElementRegion, Fault};
use stats::Proportion;

use super::defects::DEFECTS;
use super::measured::{Measured, PATTERNS, measure};
use super::pieces;
use super::sensitive::SensitiveMaps;
use super::statements::statements;
use super::survey::{Ending, Ends, Laboratory, RunEnd, Runs, interval, missed, selection};
use crate::checks::{are_in, are_judged, fill, is_whole, statement, verdict};
use crate::page::Piece;
use crate::statements::Verdict;

fn measured() -> Measured {
    static FOUND: OnceLock<Measured> = OnceLock::new();
    FOUND
        .get_or_init(|| measure(2, &AtomicBool::new(false), [3000, 200, 3000, 2000, 300, 400], [3, 8]).unwrap())
        .clone()
}

fn changed(change: impl Fn(&mut Measured)) -> Measured {
    let mut found = measured();
    change(&mut found);
    found
}

/// Neuron flips of which every nth ends so, and the others otherwise.
fn ending(every: usize, so: Ending, otherwise: Ending) -> Measured {
    changed(|it| {
        for (number, run) in it.operands[0].all.iter_mut().enumerate() {
            run.ending = if number % every == 0 { so } else { otherwise };
        }
    })
}

fn of(found: &Measured, claim: &str) -> Verdict {
    verdict(&statements(found), claim)
}

#[test]
fn every_statement_is_judged_and_the_page_has_all_of_them() {
    let parts = statements(&measured());
    are_judged(&parts);
    are_in(include_str!("../../../../docs/methods/pytorchfi.md"), &parts);
}

#[test]
fn every_piece_has_a_place_and_tables_are_whole() {
    let made = pieces(&measured());
    fill(&super::PAGE, &made);
    for (name, piece) in &made {
        match piece {
            Piece::Table(table) => is_whole(name, table),
            Piece::Plot(plot) => {
                let points = plot.series.iter().flat_map(|series| &series.points);
                assert!(points.clone().count() > 20 && points.clone().all(|it| (0.0..=1.0).contains(&it.y)), "{name}");
            }
            Piece::Text(text) => assert!(!text.is_empty() && !text.contains("NaN"), "{name}: {text}"),
            Piece::Count(_) | Piece::Picture(_) => {}
        }
    }
}

#[test]
fn each_defect_names_a_test_that_there_is() {
    let tests = include_str!("../../../nn/tests/it/pytorchfi.rs");
    assert_eq!(tests.matches("#[test]").count(), DEFECTS.len());
    for [_, _, test] in DEFECTS {
        assert!(tests.contains(&format!("#[test]\nfn {test}() {{")), "{test}");
    }
}

#[test]
fn runs_do_not_depend_on_how_many_threads_make_them_and_ends_are_counted() {
    let target = nn::bundled::open("fashion").unwrap();
    let runs = |threads| {
        let stop = AtomicBool::new(false);
        Laboratory { target: &target, threads, stop: &stop }
            .runs(&selection("weight", "flip", "one"), "delta", 2500)
            .unwrap()
            .all
    };
    let found = runs(1);
    assert_eq!(found, runs(3));
    assert_eq!(found.len(), 2500);
    let ends = Ends::of(&found);
    let other = found.iter().filter(|run| run.ending == Ending::Logits).count() as u64;
    assert_eq!((ends.runs, ends.masked + ends.class + other), (2500, 2500));
    assert!(ends.masked > 0 && other > 0 && found.iter().all(|run| run.bit < Some(8)));
    let none = interval(Ends { runs: 1000, masked: 0, class: 0 }.class().unwrap());
    assert!(none.low == 0.0 && none.high > 0.001, "none of 1000 is not never: {none:?}");
    let stop = AtomicBool::new(false);
    let early = |layer: &str| {
        let selection = campaign::SelectionWords { kernel: vec![layer.into()], ..selection("neuron", "flip", "one") };
        let found = Laboratory { target: &target, threads: 1, stop: &stop }.early(&selection, 500).unwrap();
        (found.successes(), found.trials())
    };
    // What the last layer makes is never early; of what it reads, some is rounded away before.
    assert_eq!((early("fc"), early("gap").0), ((0, 500), 0));
    assert!((50..450).contains(&early("c4").0), "{:?}", early("c4"));
    let stop = AtomicBool::new(true);
    let stopped = Laboratory { target: &target, threads: 1, stop: &stop };
    assert!(stopped.runs(&selection("neuron", "flip", "one"), "delta", 10).is_err());
    let words = stopped.runs(&selection("melt", "flip", "one"), "delta", 0).map(|runs| runs.all.len());
    assert_eq!(words.unwrap(), 0);
}

#[test]
fn run_i_of_a_pattern_holds_the_neuron_of_run_i_of_one() {
    let target = nn::bundled::open("fashion").unwrap();
    let runs: Vec<RunIndex> = (0..200).map(RunIndex).collect();
    let faults = |scope: &str| -> Vec<Fault> {
        let sites = target.plan(&runs, &selection("neuron", "flip", scope), 1).unwrap();
        sites.iter().map(|site| Fault::parse(site.fault().unwrap()).unwrap()).collect()
    };
    let single = faults("one");
    for scope in PATTERNS.into_iter().filter(|scope| *scope != "layers") {
        for (one, pattern) in single.iter().zip(faults(scope)) {
            let (a, b) = (&one.parts[0], &pattern.parts[0]);
            assert_eq!((one.image, &a.layer, &a.models), (pattern.image, &b.layer, &b.models));
            let network = target.network();
            let layer = network.layer_named(&a.layer).unwrap();
            let space = nn::ElementSpace::of(network, layer, a.operand).unwrap();
            let holds = |region: &ElementRegion| region.places(space.sizes()).contains(&a.at[0].only().unwrap());
            assert!(b.at.iter().any(holds), "{one} of {pattern}");
        }
    }
}

#[test]
fn what_one_neuron_misses_is_counted_in_pairs() {
    let runs = |endings: [Ending; 4]| {
        let run = |ending| RunEnd { layer: 0, bit: Some(0), ending, macs: 0 };
        Runs { all: endings.map(run).into(), seconds: None }
    };
    use Ending::{Class, Logits, Masked};
    let found = missed(&runs([Class, Class, Class, Logits]), &runs([Class, Masked, Logits, Class])).unwrap();
    assert_eq!((found.successes(), found.trials()), (2, 3));
    assert_eq!(missed(&runs([Masked; 4]), &runs([Class; 4])), None);
}

#[test]
fn shares_of_ends_decide_about_resilience() {
    use Ending::{Class, Logits, Masked};
    use Verdict::{Fails, Holds, Open};
    let claim = "most of the time an error";
    assert_eq!([ending(10, Class, Logits), ending(10, Logits, Class)].map(|it| of(&it, claim)), [Holds, Fails]);
    assert_eq!(of(&ending(2, Class, Logits), claim), Open);
    let claim = "some errors are masked";
    assert_eq!([ending(3, Masked, Logits), ending(3, Class, Logits)].map(|it| of(&it, claim)), [Holds, Open]);
    let claim = "tiny perturbations";
    assert_eq!([ending(100, Class, Logits), ending(3, Masked, Logits)].map(|it| of(&it, claim)), [Holds, Open]);
    let claim = "convolutions are more";
    let macs = |convolutions| changed(|it| it.macs = [100, convolutions]);
    assert_eq!([macs(95), macs(90)].map(|it| of(&it, claim)), [Holds, Fails]);
}

#[test]
fn times_decide_about_overhead() {
    use Verdict::{Fails, Holds, Open};
    let times = |plain: f64, ratio: f64| {
        changed(|it| {
            for (number, block) in it.blocks.iter_mut().enumerate() {
                block.plain = plain * (1.0 + number as f64 / 1000.0);
                let with = block.plain * ratio;
                (block.idle, block.neuron, block.weight) = (with, with, with);
            }
        })
    };
    let claims = ["with a fault in a neuron", "faults in weights", "without a perturbation"];
    assert_eq!(claims.map(|claim| of(&times(0.001, 1.01), claim)), [Holds; 3]);
    assert_eq!(claims.map(|claim| of(&times(0.001, 1.2), claim)), [Fails; 3]);
    let claim = "the time with a perturbation";
    let found = [times(0.1, 1.01), times(0.1, 1.5), times(0.001, 1.01)].map(|it| of(&it, claim));
    assert_eq!(found, [Holds, Fails, Open]);
    assert_eq!(of(&changed(|it| it.blocks.truncate(1)), claim), Open);
    let ours = statement(&statements(&times(0.1, 1.01)), claim).ours.clone();
    assert!(ours.starts_with("1.00") && ours.ends_with("of 100.100 ms"), "{ours}");
}

#[test]
fn a_phantom_of_a_fault_in_each_layer_decides_about_detectors() {
    let claim = "one neuron in each layer";
    let phantoms = |count| changed(|it| it.detector.ends.iter_mut().for_each(|ends| ends.with[1] = count));
    assert_eq!([phantoms(1), phantoms(0)].map(|it| of(&it, claim)), [Verdict::Holds, Verdict::Open]);
    let scenes = measured().detector.phantoms;
    assert!(
        scenes.len() == 3
            && scenes.iter().all(|it| it.objects[1].len() > it.objects[0].len() || it.objects[0] != it.objects[1])
    );
    assert!(scenes.iter().all(|it| it.fault.matches("layer=").count() == 7), "{}", scenes[0].fault);
}

#[test]
fn trained_networks_decide_by_pairs_and_by_ratios() {
    use Verdict::{Fails, Holds, Open};
    let found = measured();
    assert_eq!(found.trained.len(), 16);
    assert_eq!(found.trained.iter().filter(|it| it.training.inject).count(), 5);
    // The more of its runs change the class, the less resilient it is.
    let rates = |injected: u64, robust: u64| {
        changed(|it| {
            for (number, network) in it.trained.iter_mut().enumerate() {
                let class = match (network.training.inject, network.training.alpha > 0.0) {
                    (true, _) => injected,
                    (_, true) => robust,
                    _ => 1000,
                } + number as u64;
                let ends = Ends { runs: 100_000, masked: 0, class };
                (network.flips, network.range) = ([ends; 2], ends);
            }
        })
    };
    let claim = "training with injections";
    let either = changed(|it| {
        for network in it.trained.iter_mut().filter(|it| it.training.inject) {
            let class = if network.training.seed % 2 == 0 { 100 } else { 1 };
            (network.flips, network.range) =
                ([Ends { runs: 1000, masked: 0, class }; 2], Ends { runs: 1000, masked: 0, class });
        }
    });
    assert_eq!([rates(700, 1), rates(1500, 1), either].map(|it| of(&it, claim)), [Holds, Fails, Open]);
    let claim = "adversarial training (IBP)";
    assert_eq!([rates(1, 250), rates(1, 500), rates(1, 50)].map(|it| of(&it, claim)), [Holds, Fails, Fails]);
    let claim = "training with IBP improves";
    assert_eq!([rates(1, 500), rates(1, 2000), rates(1, 1000)].map(|it| of(&it, claim)), [Holds, Fails, Open]);
    let claim = "not all networks that are trained against";
    assert_eq!(of(&rates(1, 1000), claim), Open);
    let apart = changed(|it| {
        for (number, network) in it.trained.iter_mut().enumerate() {
            network.flips = [Ends {
                runs: 100_000,
                masked: 0,
                class: if network.training.alpha > 0.0 { 50 * 3_u64.pow(number as u32 - 4) } else { 100 },
            }; 2];
        }
    });
    assert_eq!(of(&apart, claim), Holds);
    let slower = |by: f64| {
        changed(|it| {
            it.trained.iter_mut().for_each(|it| it.training.seconds = if it.training.inject { by } else { 1.0 });
        })
    };
    assert_eq!([slower(1.01), slower(1.2)].map(|it| of(&it, "and no time")), [Holds, Fails]);
}

#[test]
fn kernels_make_the_bytes_of_the_network_and_leave_several_neurons_changed() {
    let found = measured().kernels;
    assert_eq!(found.len(), 12);
    for it in &found {
        let sum = it.found.masked + it.found.due + it.found.undecided + it.found.corrupted().runs;
        assert_eq!((sum, it.found.flips.runs), (it.found.runs, 400), "{} {}", it.layer, it.form.word());
        assert!(it.found.neurons >= it.found.corrupted().runs && it.found.one_bit > 0);
    }
    let several = |form| {
        let of = found.iter().filter(move |it| it.form == form);
        of.map(|it| it.found.corrupted().runs - it.found.patterns[&NeuronPattern::Single].runs).sum::<u64>()
    };
    assert!(several(KernelForm::Tiled) > 20 * several(KernelForm::Direct).max(1));
}

#[test]
fn sensitive_feature_maps_decide_by_a_difference() {
    use Verdict::{Fails, Holds, Open};
    let claim = "a large value (10,000)";
    let maps = |least, most| changed(|it| (it.maps.images, it.maps.least, it.maps.most) = (500, least, most));
    assert_eq!([maps(0, 60), maps(60, 0), maps(20, 22)].map(|it| of(&it, claim)), [Holds, Fails, Open]);
    assert_eq!(of(&changed(|it| it.maps = SensitiveMaps::default()), claim), Open);
}

#[test]
fn heat_maps_decide_by_their_intervals_in_every_network() {
    use Verdict::{Fails, Holds, Open};
    let claim = "a large value in the most sensitive feature map";
    let shares = |most: [u64; 3]| {
        changed(|it| {
            for (network, most) in it.networks.iter_mut().zip(most) {
                network.skewed = Proportion::from_counts(most, 100 - most);
            }
        })
    };
    let found = [[90, 80, 70], [90, 50, 70], [90, 50, 30]].map(|most| of(&shares(most), claim));
    assert_eq!(found, [Holds, Open, Fails]);
}
