//! The form QDQ: floats between dequantised inputs and a quantised output. ONNX Runtime fuses such a group to one operator on
//! integers, which is what is read here: a group becomes the node of the form QOperator that it is fused to.

use std::collections::BTreeMap;

use rten_onnx::onnx::{GraphProto, NodeProto};

use super::constants::Constants;
use super::error::{FileError, content, node_name, protects};
use super::functions::on_bytes;

/// The operators on floats that are read within a group, and what each is fused to; so are functions of one number.
const FUSED: [(&str, &str); 10] = [
    ("Conv", "QLinearConv"),
    ("Gemm", "QGemm"),
    ("Add", "QLinearAdd"),
    ("Mul", "QLinearMul"),
    ("GlobalAveragePool", "QLinearGlobalAveragePool"),
    ("ReduceMean", "ReduceMean"),
    ("Flatten", "Flatten"),
    ("MaxPool", "MaxPool"),
    ("Concat", "QLinearConcat"),
    ("AveragePool", "QLinearAveragePool"),
];

/// Those that move bytes and compute nothing where nothing quantises what they make.
const MOVED: [&str; 3] = ["Flatten", "MaxPool", "Concat"];

/// The other nodes of a group.
pub(super) const AROUND: [&str; 4] = ["QuantizeLinear", "DequantizeLinear", "Relu", "Clip"];

/// Those that bound the values of a group.
const CLAMPS: [&str; 2] = ["Relu", "Clip"];

/// By how much a product of scales may be rounded otherwise.
const ROUNDING: f32 = 1e-6;

/// Attributes that say in which type something is computed, which a fused group does not do, or what it does anyway.
const IDLE: [&str; 2] = ["block_size", "saturate"];

/// The operator on integers that one on floats is fused to within a group.
pub(super) fn fused_to(operator: &str) -> Option<&'static str> {
    FUSED.iter().find(|(from, _)| *from == operator).map(|&(_, to)| to).or_else(|| on_bytes(operator))
}

/// Whether the file has groups of this form.
pub(super) fn is_qdq(graph: &GraphProto) -> bool {
    graph.node.iter().any(|node| !protects(node) && AROUND.contains(&operator(node)))
}

/// The condition on constants under which groups are what they were fused to.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    /// Bounds of values that are the bounds of bytes, which then do their work.
    clamps: Vec<Clamp>,
    /// Scales that are one for all channels, with the node, because they are said to lie along another axis.
    single: Vec<(String, String)>,
    /// Scales of a bias, of an input and of weights, with the node: the first is the product of the others, as in sums of products.
    biases: Vec<(String, [String; 3])>,
    /// Scales that are equal, with the node that moves bytes from one to the other.
    scales: Vec<(String, [String; 2])>,
    /// Zero points that are.
    points: Vec<(String, [String; 2])>,
}

/// A Relu or a Clip, with the quantisation of what it makes.
#[derive(Debug)]
struct Clamp {
    place: String,
    /// The constants of the scale and of the zero point.
    quantisation: [String; 2],
    bounds: [Bound; 2],
}

/// A bound of values.
#[derive(Debug)]
enum Bound {
    Value(f32),
    Constant(String),
}

impl Clamp {
    /// Checks that whatever is below the lower bound is stored as 0 with or without it, and above the upper one as 255.
    fn check(&self, constants: &Constants<'_>) -> Result<(), FileError> {
        let quantisation = constants.quantisation(&self.quantisation, 0)?;
        for (bound, expected) in self.bounds.iter().zip([0, 255]) {
            let value = match bound {
                Bound::Value(value) => *value,
                Bound::Constant(name) => match constants.floats(name)?[..] {
                    [value] if !value.is_nan() => value,
                    ref found => {
                        let what = format!("a bound is one number, found {found:?}");
                        return Err(content(format!("the constant `{name}`"), what));
                    }
                },
            };
            let found = quantisation.stored(value);
            if found != expected {
                let what =
                    format!("it is fused to the clamp of bytes, and {value} is stored as {found}; expected {expected}");
                return Err(content(&self.place, what));
            }
        }
        Ok(())
    }
}

impl Conditions {
    /// Checks them.
    pub(super) fn check(&self, constants: &Constants<'_>) -> Result<(), FileError> {
        self.clamps.iter().try_for_each(|clamp| clamp.check(constants))?;
        let moved = |place: &str| content(place, "it moves bytes, and is quantised otherwise than what it reads");
        for (place, [a, b]) in &self.scales {
            if constants.floats(a)? != constants.floats(b)? {
                return Err(moved(place));
            }
        }
        for (place, [a, b]) in &self.points {
            if constants.zero(a)? != constants.zero(b)? {
                return Err(moved(place));
            }
        }
        for (place, names) in &self.biases {
            let [bias, input, weights] = [0, 1, 2].map(|at| constants.floats(&names[at]));
            let (bias, input, weights) = (bias?, input?, weights?);
            let of = |scales: &[f32], at: usize| scales.get(at).or(scales.first()).copied().unwrap_or(f32::NAN);
            let product = |at: usize| of(&input, 0) * of(&weights, at);
            let is_product = |at: usize| (of(&bias, at) / product(at) - 1.0).abs() <= ROUNDING;
            if let Some(at) = (0..bias.len().max(weights.len())).find(|&at| !is_product(at)) {
                let what = format!(
                    "the scale of its bias is {}; expected {}, the product of the scales of its input and its weights",
                    of(&bias, at),
                    product(at)
                );
                return Err(content(place, what));
            }
        }
        for (place, scale) in &self.single {
            if constants.floats(scale)?.len() != 1 {
                return Err(content(place, "weights have a scale for each filter; these lie along another axis"));
            }
        }
        Ok(())
    }
}

/// The graph with a node for each group.
///
/// Its input and its output are the quantised ones.
///
/// # Errors
/// At the first node that is not within a group, or that cannot be fused.
pub(super) fn fused(graph: GraphProto) -> Result<(GraphProto, Conditions), FileError> {
    let nodes = graph.node.clone();
    let mut conditions = Conditions::default();
    let groups = Groups::of(&nodes);
    let mut made = graph;
    made.node.clear();
    for (number, node) in nodes.iter().enumerate() {
        match operator(node) {
            "DequantizeLinear" | "Relu" | "Clip" => {}
            "QuantizeLinear" => {
                let source = input(node, 0);
                if groups.makers.contains_key(source) {
                    made.node.push(groups.fuse(number, node, &mut conditions)?);
                } else if let Some(value) = made.input.iter_mut().find(|it| it.name.as_deref() == Some(source)) {
                    value.name = node.output.first().cloned();
                } else {
                    return Err(content(place(number, node), format!("no node before it makes `{source}`")));
                }
            }
            name if fused_to(name).is_some() && !groups.is_quantised(node) => {
                // Where integers are moved, nothing is fused.
                if MOVED.contains(&name) && !groups.dequantised.contains_key(input(node, 0)) {
                    made.node.push(node.clone());
                    continue;
                }
                let what = "nothing quantises what it makes, so that it is not fused; floats are not computed";
                return Err(content(place(number, node), what));
            }
            name if fused_to(name).is_some() => {}
            _ => made.node.push(node.clone()),
        }
    }
    for output in &mut made.output {
        if let Some(quantised) = output.name.as_deref().and_then(|name| groups.dequantised.get(name)) {
            output.name = Some(input(quantised, 0).to_owned());
        }
    }
    Ok((made, conditions))
}

/// The nodes around what is quantised.
struct Groups<'g> {
    /// The nodes that make floats of floats, by what they make.
    makers: BTreeMap<&'g str, (usize, &'g NodeProto)>,
    /// The nodes that make floats of integers, by what they make.
    dequantised: BTreeMap<&'g str, &'g NodeProto>,
    /// The tensor that is quantised, or is so after Relu or Clip.
    quantised: Vec<&'g str>,
}

impl<'g> Groups<'g> {
    fn of(nodes: &'g [NodeProto]) -> Self {
        let (mut makers, mut dequantised, mut quantised) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (number, node) in nodes.iter().enumerate() {
            let output = node.output.first().map_or("", String::as_str);
            match operator(node) {
                "DequantizeLinear" => drop(dequantised.insert(output, node)),
                "QuantizeLinear" => quantised.push(input(node, 0)),
                _ => drop(makers.insert(output, (number, node))),
            }
        }
        let before =
            |of: &&str| makers.get(of).filter(|(_, node)| CLAMPS.contains(&operator(node))).map(|(_, it)| input(it, 0));
        let clamped: Vec<&str> = quantised.iter().filter_map(before).collect();
        quantised.extend(clamped);
        let mut groups = Self { makers, dequantised, quantised };
        let products = groups.quantised.iter().filter_map(|name| groups.makers.get(name));
        let gates: Vec<&str> = products.filter_map(|&(_, node)| Some(groups.hard_swish(node)?.1)).collect();
        groups.quantised.extend(gates);
        groups
    }

    fn is_quantised(&self, node: &NodeProto) -> bool {
        node.output.iter().any(|output| self.quantised.contains(&output.as_str()))
    }

    /// The node of integers for the group that this node quantises.
    fn fuse(&self, number: usize, quantise: &NodeProto, conditions: &mut Conditions) -> Result<NodeProto, FileError> {
        let of = |name: &str| self.makers.get(name).copied();
        let unknown = || content(place(number, quantise), "no node before it makes its input");
        let (mut at, mut node) = of(input(quantise, 0)).ok_or_else(unknown)?;
        let output = [input(quantise, 1).to_owned(), input(quantise, 2).to_owned()];
        let reads_bytes = |node: &NodeProto| self.dequantised.contains_key(input(node, 0));
        if CLAMPS.contains(&operator(node)) && !reads_bytes(node) {
            conditions.clamps.push(Clamp {
                place: place(at, node),
                quantisation: output.clone(),
                bounds: bounds(node),
            });
            (at, node) = of(input(node, 0)).ok_or_else(unknown)?;
        }
        if let Some((x, _)) = self.hard_swish(node) {
            let inputs = [&self.triple(at, node, x)?[..], &output].concat();
            return Ok(made(node_name(at, node), "HardSwish", inputs, quantise));
        }
        let Some(integer) = fused_to(operator(node)) else {
            let what = format!("it quantises what `{}` makes, which is not fused", operator(node));
            return Err(content(place(number, quantise), what));
        };
        let triple = |which: usize| self.triple(at, node, which);
        let bias = || match input(node, 2) {
            "" => Ok(String::new()),
            _ => triple(2).map(|[bias, _, _]| bias),
        };
        let inputs: Vec<String> = match integer {
            "QLinearConv" => [&triple(0)?[..], &triple(1)?, &output, &[bias()?]].concat(),
            "QGemm" => [&triple(0)?[..], &triple(1)?, &[bias()?], &output].concat(),
            "QLinearAdd" | "QLinearMul" => [&triple(0)?[..], &triple(1)?, &output].concat(),
            "QLinearConcat" => {
                let each = (0..node.input.len()).map(triple).collect::<Result<Vec<_>, _>>()?;
                [&output[..], &each.concat()].concat()
            }
            "QLinearGlobalAveragePool" | "QLinearAveragePool" => [&triple(0)?[..], &output].concat(),
            _ if on_bytes(operator(node)).is_some() || integer == "ReduceMean" => {
                [&triple(0)?[..], &output, node.input.get(1..).unwrap_or_default()].concat()
            }
            _ => (0..node.input.len()).map(|which| Ok(triple(which)?[0].clone())).collect::<Result<_, FileError>>()?,
        };
        if matches!(integer, "QLinearConv" | "QGemm") && !input(node, 2).is_empty() {
            let scales = [triple(2)?, triple(0)?, triple(1)?].map(|[_, scale, _]| scale);
            conditions.biases.push((place(at, node), scales));
        }
        for which in (0..node.input.len()).filter(|_| MOVED.contains(&integer)) {
            let [_, scale, zero] = triple(which)?;
            conditions.scales.push((place(at, node), [scale, output[0].clone()]));
            conditions.points.push((place(at, node), [zero, output[1].clone()]));
        }
        if matches!(integer, "QLinearConv" | "QGemm")
            && let Some(weights) = self.dequantised.get(input(node, 1))
            && number_of(weights, "axis", 1) != i64::from(integer == "QGemm" && number_of(node, "transB", 0) == 0)
        {
            conditions.single.push((place(at, node), input(weights, 1).to_owned()));
        }
        let mut attribute = node.attribute.clone();
        if integer == "QGemm" {
            if real_of(node, "beta", 1.0) != 1.0 {
                return Err(content(place(at, node), "`beta`: expected 1"));
            }
            attribute.retain(|it| it.name.as_deref() != Some("beta"));
        }
        attribute.retain(|it| !it.name.as_deref().is_some_and(|name| IDLE.contains(&name)));
        Ok(NodeProto { attribute, ..made(node_name(at, node), integer, inputs, quantise) })
    }

    /// The input of a product that the other input is the HardSigmoid of, and what that is called: together they are HardSwish.
    fn hard_swish(&self, product: &'g NodeProto) -> Option<(usize, &'g str)> {
        if operator(product) != "Mul" {
            return None;
        }
        [0, 1].into_iter().find_map(|x| {
            let gate = input(product, 1 - x);
            let &(_, node) = self.makers.get(gate).filter(|(_, node)| operator(node) == "HardSigmoid")?;
            let numbers = [real_of(node, "alpha", 0.2), real_of(node, "beta", 0.5)];
            // The same tensor may be dequantised for each of its readers.
            let of = |name: &str| self.dequantised.get(name).map(|it| &it.input);
            let is_same = of(input(node, 0)).is_some() && of(input(node, 0)) == of(input(product, x));
            (is_same && numbers == [1.0 / 6.0, 0.5]).then_some((x, gate))
        })
    }

    /// The integers, the scale and the zero point of an input.
    fn triple(&self, number: usize, node: &NodeProto, which: usize) -> Result<[String; 3], FileError> {
        let name = input(node, which);
        let dequantise = self.dequantised.get(name).ok_or_else(|| {
            let what =
                format!("its input `{name}` is not dequantised, so that it is not fused; floats are not computed");
            content(place(number, node), what)
        })?;
        Ok([0, 1, 2].map(|at| input(dequantise, at).to_owned()))
    }
}

/// A node of integers in place of the group that ends with `quantise`.
fn made(name: String, operator: &str, input: Vec<String>, quantise: &NodeProto) -> NodeProto {
    let (name, op_type, output) = (Some(name), Some(operator.to_owned()), quantise.output.clone());
    NodeProto { name, op_type, input, output, ..NodeProto::default() }
}

fn operator(node: &NodeProto) -> &str {
    node.op_type.as_deref().unwrap_or_default()
}

/// The bounds of a Relu or a Clip. The latter has constants, or numbers of its own in files before version 11.
fn bounds(node: &NodeProto) -> [Bound; 2] {
    let relu = operator(node) == "Relu";
    let least = if relu { 0.0 } else { f32::NEG_INFINITY };
    let attribute = |name: &str| node.attribute.iter().find(|it| it.name.as_deref() == Some(name))?.f;
    [(1, "min", least), (2, "max", f32::INFINITY)].map(|(at, name, default)| match input(node, at) {
        "" => Bound::Value(attribute(name).unwrap_or(default)),
        constant => Bound::Constant(constant.to_owned()),
    })
}

fn number_of(node: &NodeProto, attribute: &str, default: i64) -> i64 {
    let found = node.attribute.iter().find(|it| it.name.as_deref() == Some(attribute));
    found.and_then(|it| it.i).unwrap_or(default)
}

fn real_of(node: &NodeProto, attribute: &str, default: f32) -> f32 {
    let found = node.attribute.iter().find(|it| it.name.as_deref() == Some(attribute));
    found.and_then(|it| it.f).unwrap_or(default)
}

fn input(node: &NodeProto, at: usize) -> &str {
    node.input.get(at).map_or("", String::as_str)
}

fn place(number: usize, node: &NodeProto) -> String {
    format!("the node `{}`", node_name(number, node))
}
