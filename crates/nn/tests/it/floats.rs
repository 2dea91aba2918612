//! Networks of floating point: what a hit changes is what a whole run gives, by the bits of every tensor.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use campaign::{CampaignEnd, Choices, Engine, Finding, Planner, Row, SelectionWords, run_in_memory};
use fault::ModelKind;
use nn::float::{
    Activation, ActivationFunction, FloatConv, FloatDelta, FloatLayer, FloatNetwork, FloatOperator, FloatRun,
    FloatTensor, float_forward,
};
use nn::hit::{Hit, LayerOperand, Place};
use nn::network::{AveragePool, Axes, Shape, Window};
use nn::{ElementSpace, FloatTarget, ValueFormat};
use outcome::{Outcome, Sdc};
use stats::Draws;

fn fashion(format: ValueFormat) -> &'static FloatTarget {
    static FASHION: OnceLock<[FloatTarget; 3]> = OnceLock::new();
    let open = |format| nn::bundled::NETWORKS[0].open_float(format).unwrap();
    let at = ValueFormat::ALL.iter().position(|known| *known == format).unwrap();
    &FASHION.get_or_init(|| ValueFormat::ALL.map(open))[at]
}

fn words(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Compares the changes of a hit with a whole run, in every tensor. Says whether the logits differ.
pub(crate) fn agree(
    network: &FloatNetwork,
    delta: &mut FloatDelta<'_>,
    image: &[f32],
    golden: &FloatRun,
    hit: &Hit,
) -> bool {
    let full = float_forward(network, image, Some(hit));
    assert_eq!(delta.run(golden, hit).hit, full.hit, "{hit:?}");
    for (number, tensor) in full.tensors.iter().enumerate() {
        assert_eq!(words(delta.tensor(number)), words(tensor), "tensor {number} of {hit:?}");
        assert_eq!(
            delta.differs(number),
            words(&golden.tensors[number]) != words(tensor),
            "tensor {number} of {hit:?}"
        );
    }
    words(full.logits()) != words(golden.logits())
}

/// A place of a layer, and one of the models.
fn place(draws: &mut Draws, network: &FloatNetwork) -> Place {
    loop {
        let layer = draws.below(network.layers().len() as u64).unwrap() as usize;
        let operands =
            [LayerOperand::Out, LayerOperand::Weight, LayerOperand::Bias, LayerOperand::In(0), LayerOperand::In(1)];
        let operand = *draws.one_of(&operands).unwrap();
        let Some(space) = ElementSpace::of(network, layer, operand) else { continue };
        let element = draws.below(space.elements() as u64).unwrap() as usize;
        let kind =
            ModelKind::parse(draws.one_of(&["flip", "random", "zero", "stuck1:0x4000", "double"]).unwrap()).unwrap();
        let model = kind.draw(draws, network.format().bits()).unwrap();
        return Place { layer, operand, element, model };
    }
}

#[test]
fn hits_of_the_bundled_network_change_what_a_whole_run_changes_in_every_format() {
    for format in ValueFormat::ALL {
        let target = fashion(format);
        let (network, mut draws) = (target.network(), Draws::new(5, 0));
        let (mut delta, mut differing) = (FloatDelta::new(network), 0);
        for _ in 0..400 {
            let number = draws.below(1000).unwrap() as usize;
            let image: Vec<f32> = target.images().pixels(number).iter().map(|&byte| f32::from(byte) / 255.0).collect();
            let hit = Hit::new((0..=draws.below(2).unwrap()).map(|_| place(&mut draws, network)).collect());
            differing += u32::from(agree(network, &mut delta, &image, &target.golden_run(number), &hit));
        }
        assert!((100..400).contains(&differing), "{differing}");
    }
}

/// Runs drawn hits of one image; of how many the logits differ.
pub(crate) fn agree_of_hits(network: &FloatNetwork, image: &[f32], hits: usize, draws: &mut Draws) -> usize {
    let (mut delta, golden) = (FloatDelta::new(network), float_forward(network, image, None));
    let mut hit = || Hit::new((0..=draws.below(3).unwrap()).map(|_| place(draws, network)).collect());
    (0..hits).filter(|_| agree(network, &mut delta, image, &golden, &hit())).count()
}

fn random_network(draws: &mut Draws, format: ValueFormat) -> FloatNetwork {
    let mut pick = |from: u64, to: u64| (from + draws.below(to - from + 1).unwrap()) as usize;
    let shape = Shape { height: pick(1, 7), width: pick(1, 7), channels: pick(1, 4) };
    let (mut tensors, mut layers) = (vec![FloatTensor { shape, axes: Axes::Image }], Vec::new());
    for number in 0..pick(2, 6) {
        let last = tensors.len() - 1;
        let from: Shape = tensors[last].shape;
        let kernel = [pick(1, from.height.min(3) as u64), pick(1, from.width.min(3) as u64)];
        let holes = |axis: usize, size: usize| if kernel[axis] == 1 { 2 } else { (size - 1) / (kernel[axis] - 1) };
        let most = [holes(0, from.height), holes(1, from.width)];
        let dilation = most.map(|most| pick(1, most.clamp(1, 3) as u64));
        let window = Window { stride: [pick(1, 2), pick(1, 2)], dilation, ..Window::plain(kernel) };
        let pad = [0, 1].map(|axis| pick(0, window.extent(axis) as u64 - 1));
        let window = Window { pad, ..window };
        let rows = |axis: usize, size: usize| (size + pad[axis] - window.extent(axis)) / window.stride[axis] + 1;
        let made = Shape { height: rows(0, from.height), width: rows(1, from.width), ..from };
        let mut inputs = vec![last];
        let (operator, shape) = match pick(0, 9) {
            0 => (FloatOperator::MaxPool(window), made),
            1 => (FloatOperator::AveragePool(AveragePool { window, counts_padding: pick(0, 1) == 0 }), made),
            2 => {
                inputs.push(last);
                (FloatOperator::Add, from)
            }
            3 => {
                inputs.push(last);
                (FloatOperator::Concat, Shape { channels: from.channels * 2, ..from })
            }
            4 => (FloatOperator::Identity, from),
            5 => (FloatOperator::Softmax, from),
            6 => {
                inputs.push(last);
                (FloatOperator::Multiply, from)
            }
            7 => {
                // A number for each channel, in the first place or the second.
                let shape = Shape { height: 1, width: 1, ..from };
                let name = format!("g{number}");
                let (operator, inputs_of) = (FloatOperator::GlobalAverage, vec![last]);
                layers.push(FloatLayer { name, opcode: String::new(), operator, inputs: inputs_of, activation: None });
                tensors.push(FloatTensor { shape, axes: Axes::Image });
                inputs.insert(pick(0, 1), last + 1);
                (FloatOperator::Multiply, from)
            }
            _ => {
                let groups = if pick(0, 1) == 0 { 1 } else { from.channels };
                let per_group = pick(1, 3);
                let count = kernel[0] * kernel[1] * from.channels * per_group;
                let weights = (0..count).map(|_| pick(0, 2000) as f32 / 1000.0 - 1.0).collect();
                let bias = (0..groups * per_group).map(|_| pick(0, 2000) as f32 / 1000.0 - 1.0).collect();
                let shape = Shape { channels: groups * per_group, ..made };
                (FloatOperator::Conv(FloatConv { window, groups, weights, bias }), shape)
            }
        };
        let functions = ActivationFunction::ALL;
        let drawn = functions.get(pick(0, functions.len() as u64 * 3 / 2)).map(|&function| Activation::usual(function));
        let bounded = Activation { function: ActivationFunction::Clip, numbers: [0.0, 6.0] };
        let activation = if pick(0, 5) == 0 { Some(bounded) } else { drawn };
        layers.push(FloatLayer { name: format!("l{number}"), opcode: String::new(), operator, inputs, activation });
        tensors.push(FloatTensor { shape, axes: Axes::Image });
    }
    let shape = tensors[tensors.len() - 1].shape;
    let one = Shape { height: 1, width: 1, channels: shape.channels };
    let window = Window::plain([1, 1]);
    let weights = (0..shape.channels * 3).map(|_| pick(0, 2000) as f32 / 1000.0 - 1.0).collect();
    let dense = FloatOperator::Dense(FloatConv { window, groups: 1, weights, bias: vec![0.5; 3] });
    for (name, operator, made) in
        [("gap", FloatOperator::GlobalAverage, one), ("fc", dense, Shape { channels: 3, ..one })]
    {
        let inputs = vec![tensors.len() - 1];
        layers.push(FloatLayer { name: name.to_owned(), opcode: String::new(), operator, inputs, activation: None });
        tensors.push(FloatTensor { shape: made, axes: if name == "fc" { Axes::Channels } else { Axes::Image } });
    }
    FloatNetwork::new("random".to_owned(), format, tensors, layers).unwrap()
}

#[test]
fn hits_of_random_networks_change_what_a_whole_run_changes_in_every_tensor() {
    let (mut runs, mut differing) = (0, 0);
    for number in 0..600 {
        let mut draws = Draws::new(23, number);
        let network = random_network(&mut draws, ValueFormat::ALL[number as usize % 3]);
        let size = network.tensors()[0].shape.elements();
        let image: Vec<f32> = (0..size).map(|_| draws.unit() as f32 * 4.0 - 2.0).collect();
        differing += agree_of_hits(&network, &image, 20, &mut draws);
        runs += 20;
    }
    assert!(differing * 5 > runs && differing < runs, "{differing} of {runs}");
}

fn rows(format: ValueFormat, engine: &'static str, target: &str, runs: u64) -> Vec<Row> {
    let selection = SelectionWords { target: Some(target.to_owned()), ..SelectionWords::default() };
    let choices = Choices {
        capsule: Some("fashion".into()),
        runs: Some(runs),
        seed: Some(1),
        jobs: Some(1),
        engine: Some(Engine::named(engine)),
        criteria: fashion(format).criteria(),
        selection,
        ..Choices::default()
    };
    let stop = AtomicBool::new(false);
    let (end, results) = run_in_memory(fashion(format), &choices.settle().unwrap(), &stop, &mut |_| {}).unwrap();
    assert!(matches!(end, CampaignEnd::Finished(_)));
    let mut rows = Vec::new();
    results.visit(&mut |row| rows.push(row)).unwrap();
    rows
}

#[test]
fn campaigns_give_the_same_rows_on_both_engines_and_exponents_make_the_wrong_classes() {
    for format in ValueFormat::ALL {
        for target in ["neuron", "weight", "bias", "input"] {
            let [delta, full] = ["delta", "full"].map(|engine| rows(format, engine, target, 60));
            for (delta, full) in delta.iter().zip(&full) {
                let (Finding::Seen { observation: a, .. }, Finding::Seen { observation: b, .. }) =
                    (&delta.finding, &full.finding)
                else {
                    panic!("{delta:?}")
                };
                assert_eq!((&delta.site, a.clone().seen()), (&full.site, b.clone().seen()));
                assert_eq!(fashion(format).site(delta.site.fault().unwrap()).unwrap(), delta.site);
            }
        }
    }
    // The low half of the fraction changes no class; the bits of the exponent do, or they leave NaN and infinity.
    let wrong =
        |row: &&Row| matches!(row.finding, Finding::Seen { outcome: Outcome::Sdc(Sdc::Bad | Sdc::Detectable), .. });
    let bit = |row: &Row| row.site.labels.text(4).unwrap().parse::<u32>().unwrap();
    let found = rows(ValueFormat::Fp32, "delta", "neuron", 3000);
    let high = found.iter().filter(wrong).filter(|row| (27..=30).contains(&bit(row))).count();
    let low = found.iter().filter(wrong).filter(|row| bit(row) < 12).count();
    assert!(high > 10 * (low + 1), "{high} and {low}");
}

#[test]
fn logits_that_are_no_number_are_detectable() {
    let target = fashion(ValueFormat::Fp32);
    let image = (0..).find(|&image| {
        nn::observe::top_value(target.golden_run(image).logits()) == usize::from(target.images().labels()[image])
    });
    let image = image.unwrap();
    for (model, kind) in [("random,bits=0x7fc00000", Sdc::Detectable), ("random,bits=0x7f800000", Sdc::Detectable)] {
        let site = target.site(&format!("image={image},layer=fc,tensor=out,at=3,model={model}")).unwrap();
        for engine in ["delta", "full"] {
            let mut worker = campaign::Engines::worker(target, &Engine::named(engine)).unwrap();
            let seen = worker.run(&site).unwrap();
            assert_eq!(outcome::classify(&seen, &target.criteria()), Outcome::Sdc(kind), "{model} {seen:?}");
        }
    }
    // All 32 bits of a neuron are faults.
    let words = SelectionWords { kernel: vec!["fc".into()], ..SelectionWords::default() };
    assert_eq!(target.sweep(&words).unwrap().faults(), 320 * target.accuracy().right as u64);
}
