//! Small language models made by hand: what they compute, and files that are none.

use std::collections::BTreeMap;

use nn::ValueFormat;
use nn::language::LanguageModel;
use nn::language::generate::Generator;

type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

const TOKENS: usize = 5;
const WIDTH: usize = 4;
const HEADS: usize = 2;
const INNER: usize = 6;
const CONTEXT: usize = 8;

/// A model of one layer, its values from a simple sequence.
fn tiny(tied: bool) -> Tensors {
    let mut state = 1_u32;
    let mut values = |shape: &[usize]| {
        let count = shape.iter().product();
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as f32 / 32_768.0 - 1.0
        };
        (shape.to_vec(), std::iter::repeat_with(next).take(count).collect::<Vec<_>>())
    };
    let mut all = Tensors::new();
    let shapes: [(&str, &[usize]); 16] = [
        ("wte.weight", &[TOKENS, WIDTH]),
        ("wpe.weight", &[CONTEXT, WIDTH]),
        ("h.0.ln_1.weight", &[WIDTH]),
        ("h.0.ln_1.bias", &[WIDTH]),
        ("h.0.attn.c_attn.weight", &[WIDTH, 3 * WIDTH]),
        ("h.0.attn.c_attn.bias", &[3 * WIDTH]),
        ("h.0.attn.c_proj.weight", &[WIDTH, WIDTH]),
        ("h.0.attn.c_proj.bias", &[WIDTH]),
        ("h.0.ln_2.weight", &[WIDTH]),
        ("h.0.ln_2.bias", &[WIDTH]),
        ("h.0.mlp.c_fc.weight", &[WIDTH, INNER]),
        ("h.0.mlp.c_fc.bias", &[INNER]),
        ("h.0.mlp.c_proj.weight", &[INNER, WIDTH]),
        ("h.0.mlp.c_proj.bias", &[WIDTH]),
        ("ln_f.weight", &[WIDTH]),
        ("ln_f.bias", &[WIDTH]),
    ];
    for (name, shape) in shapes {
        all.insert(name.to_owned(), values(shape));
    }
    if !tied {
        all.insert("lm_head.weight".to_owned(), values(&[TOKENS, WIDTH]));
    }
    all
}

fn file(tensors: &Tensors, heads: &str) -> Vec<u8> {
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    header.insert("__metadata__".to_owned(), serde_json::json!({ "heads": heads }));
    for (name, (shape, values)) in tensors {
        let first = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        let entry = serde_json::json!({ "dtype": "F32", "shape": shape, "data_offsets": [first, data.len()] });
        header.insert(name.clone(), entry);
    }
    let header = serde_json::to_vec(&header).unwrap();
    [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
}

fn matrix(tensors: &Tensors, name: &str, input: &[f64]) -> Vec<f64> {
    let (weight, bias) = (&tensors[&format!("{name}.weight")].1, &tensors[&format!("{name}.bias")].1);
    let columns = bias.len();
    let of = |column: usize| {
        let products = input.iter().enumerate().map(|(row, value)| value * f64::from(weight[row * columns + column]));
        f64::from(bias[column]) + products.sum::<f64>()
    };
    (0..columns).map(of).collect()
}

fn norm(tensors: &Tensors, name: &str, input: &[f64]) -> Vec<f64> {
    let mean = input.iter().sum::<f64>() / input.len() as f64;
    let variance = input.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / input.len() as f64;
    let (weight, bias) = (&tensors[&format!("{name}.weight")].1, &tensors[&format!("{name}.bias")].1);
    let value = |at: usize| (input[at] - mean) / (variance + 1e-5).sqrt() * f64::from(weight[at]) + f64::from(bias[at]);
    (0..input.len()).map(value).collect()
}

/// The logits at the last position, computed from the prompt in 64 bits, the plain way.
fn expected(tensors: &Tensors, prompt: &[usize]) -> Vec<f64> {
    let row = |name: &str, row: usize| {
        let values = &tensors[name].1[row * WIDTH..(row + 1) * WIDTH];
        values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>()
    };
    let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<_>>();
    let embed = |(at, &token): (usize, &usize)| add(&row("wte.weight", token), &row("wpe.weight", at));
    let stream: Vec<Vec<f64>> = prompt.iter().enumerate().map(embed).collect();
    let fused: Vec<Vec<f64>> =
        stream.iter().map(|x| matrix(tensors, "h.0.attn.c_attn", &norm(tensors, "h.0.ln_1", x))).collect();
    let (last, size) = (prompt.len() - 1, WIDTH / HEADS);
    let mut attention = vec![0.0; WIDTH];
    for head in 0..HEADS {
        let of = |position: usize, third: usize| &fused[position][third * WIDTH + head * size..][..size];
        let score = |at: usize| {
            let dot: f64 = of(last, 0).iter().zip(of(at, 1)).map(|(q, k)| q * k).sum();
            (dot / (size as f64).sqrt()).exp()
        };
        let sum: f64 = (0..=last).map(score).sum();
        for at in 0..=last {
            for channel in 0..size {
                attention[head * size + channel] += score(at) / sum * of(at, 2)[channel];
            }
        }
    }
    let x = add(&stream[last], &matrix(tensors, "h.0.attn.c_proj", &attention));
    let gelu = |x: &f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh());
    let inner: Vec<f64> = matrix(tensors, "h.0.mlp.c_fc", &norm(tensors, "h.0.ln_2", &x)).iter().map(gelu).collect();
    let x = add(&x, &matrix(tensors, "h.0.mlp.c_proj", &inner));
    let x = norm(tensors, "ln_f", &x);
    let table = if tensors.contains_key("lm_head.weight") { "lm_head.weight" } else { "wte.weight" };
    (0..TOKENS).map(|token| row(table, token).iter().zip(&x).map(|(a, b)| a * b).sum()).collect()
}

#[test]
fn a_small_model_generates_what_is_computed_by_hand() {
    for tied in [true, false] {
        let tensors = tiny(tied);
        let model = LanguageModel::read("tiny", &file(&tensors, "2"), ValueFormat::Fp32).unwrap();
        assert_eq!(model.is_tied(), tied);
        let mut prompt = vec![3, 0, 4];
        let golden = Generator::new(model, 4).golden(&prompt).generation;
        for (step, found) in golden.logits.chunks_exact(TOKENS).enumerate() {
            for (found, expected) in found.iter().zip(expected(&tensors, &prompt)) {
                assert!((f64::from(*found) - expected).abs() < 1e-5, "step {step}: {found} {expected}");
            }
            prompt.push(golden.tokens[step]);
        }
    }
}

#[test]
fn files_that_are_no_model_are_refused_by_name() {
    let refused = |bytes: &[u8]| LanguageModel::read("tiny", bytes, ValueFormat::Fp32).unwrap_err().to_string();
    let whole = file(&tiny(true), "2");
    assert!(refused(&whole[..5]).contains("it is cut off, or not safetensors"));
    assert!(refused(&whole[..200]).contains("it is cut off, or not safetensors"));
    assert!(refused(&whole[..whole.len() - 4]).contains("read the tensor `wte.weight`: its shape takes 80 bytes"));
    assert!(refused(&[&2_u64.to_le_bytes()[..], b"[]"].concat()).contains("read the header: "));
    assert!(refused(&file(&tiny(true), "3")).contains("read `heads` of the metadata: it is `3`"));
    let with = |change: &dyn Fn(&mut Tensors)| {
        let mut tensors = tiny(true);
        change(&mut tensors);
        refused(&file(&tensors, "2"))
    };
    let nan = with(&|all| all.get_mut("ln_f.bias").unwrap().1[2] = f32::NAN);
    assert!(nan.contains("read the tensor `ln_f.bias`: value 2 is NaN; expected finite numbers"), "{nan}");
    let missing = with(&|all| drop(all.remove("h.0.mlp.c_fc.bias")));
    assert!(missing.contains("find the tensor `h.0.mlp.c_fc.bias`"), "{missing}");
    let shape = with(&|all| *all.get_mut("ln_f.bias").unwrap() = (vec![3], vec![0.0; 3]));
    assert!(shape.contains("read the tensor `ln_f.bias`: its shape is [3], expected [4]"), "{shape}");
    let flat = with(&|all| *all.get_mut("wpe.weight").unwrap() = (vec![4], vec![0.0; 4]));
    assert!(flat.contains("read the tensor `wpe.weight`: its shape is [4], expected two sizes above 0"), "{flat}");
    let unknown = with(&|all| drop(all.insert("h.3.x".to_owned(), (vec![1], vec![0.0]))));
    assert!(unknown.contains("use the tensor `h.3.x`"), "{unknown}");
}

#[test]
fn damaged_bytes_never_panic() {
    let whole = file(&tiny(false), "2");
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5b;
        drop(LanguageModel::read("tiny", &bytes, ValueFormat::Fp32));
    }
}
