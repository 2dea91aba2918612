//! Whole numbers that nodes compute of the sizes of tensors, such as the shape of a Reshape; sizes are known, and so are they.

use rten_onnx::onnx::NodeProto;

use super::error::FileError;
use super::float::FloatReading;
use super::order::axis_of;

/// The operators that move whole numbers, besides Concat, Gather and Slice.
const SAME: [&str; 5] = ["Unsqueeze", "Squeeze", "Cast", "Identity", "Reshape"];

impl<'f> FloatReading<'f> {
    /// Whole numbers that are a constant or computed of sizes.
    pub(super) fn longs(&self, name: &str) -> Result<Vec<i64>, FileError> {
        self.integers.get(name).map_or_else(|| self.constants.longs(name), |found| Ok(found.clone()))
    }

    /// The same with the sizes of the list, of which a single number has none.
    pub(super) fn indices(&self, name: &str) -> Result<(Vec<usize>, Vec<i64>), FileError> {
        let Some(found) = self.integers.get(name) else { return self.constants.indices(name) };
        Ok((if found.len() == 1 { Vec::new() } else { vec![found.len()] }, found.clone()))
    }

    /// Computes what a node makes of sizes; says whether it is such a node.
    pub(super) fn fold(&mut self, node: &'f NodeProto) -> bool {
        let operator = node.op_type.as_deref().unwrap_or_default();
        if let (Some(number), Some(output)) = (self.real(operator, node), node.output.first()) {
            self.constants.insert(output, number);
            return true;
        }
        let found = if operator == "Shape" {
            let read = node.input.first().and_then(|input| self.known.get(input));
            read.filter(|_| node.attribute.is_empty()).map(|read| read.dims.iter().map(|&size| size as i64).collect())
        } else if operator == "Mod" || node.input.iter().any(|input| self.integers.contains_key(input)) {
            self.made_of_integers(operator, node)
        } else {
            None
        };
        match (found, node.output.first()) {
            (Some(found), Some(output)) => {
                self.integers.insert(output.clone(), found);
                true
            }
            _ => false,
        }
    }

    /// A number of floating point that is computed of others, or of a size, as the scale of attention is.
    fn real(&self, operator: &str, node: &NodeProto) -> Option<f32> {
        let number = |input: &String| match self.constants.has(input) {
            true => self.constants.floats(input).ok().filter(|found| found.len() == 1).map(|found| found[0]),
            false => None,
        };
        let numbers = node.input.iter().map(number).collect::<Option<Vec<f32>>>();
        match (operator, &numbers.unwrap_or_default()[..]) {
            ("Sqrt", &[of]) => Some(of.sqrt()),
            ("Add", &[a, b]) => Some(a + b),
            ("Sub", &[a, b]) => Some(a - b),
            ("Mul", &[a, b]) => Some(a * b),
            ("Div", &[a, b]) => Some(a / b),
            ("Cast", found) => {
                let to = node.attribute.iter().find(|attribute| attribute.name.as_deref() == Some("to"))?.i;
                let size = || match self.integers.get(node.input.first()?)?[..] {
                    [size] => Some(size as f32),
                    _ => None,
                };
                (to == Some(1)).then(|| found.first().copied().or_else(size)).flatten()
            }
            _ => None,
        }
    }

    fn made_of_integers(&self, operator: &str, node: &NodeProto) -> Option<Vec<i64>> {
        let inputs: Vec<Vec<i64>> =
            node.input.iter().map(|input| self.longs(input)).collect::<Result<_, _>>().ok().or_else(|| {
                // Axes of another type count for nothing.
                SAME.contains(&operator).then(|| self.longs(&node.input[0]).map(|first| vec![first]).ok()).flatten()
            })?;
        let first = inputs.first()?;
        let pair = |of: fn(i64, i64) -> Option<i64>| {
            let second = inputs.get(1)?;
            let count = first.len().max(second.len());
            let each = |at: usize| of(*first.get(at % first.len())?, *second.get(at % second.len())?);
            (0..count).map(each).collect::<Option<Vec<i64>>>()
        };
        match operator {
            _ if first.is_empty() => None,
            "Concat" => Some(inputs.concat()),
            "Gather" => inputs.get(1)?.iter().map(|&at| axis_of(at, first.len()).map(|at| first[at])).collect(),
            "Slice" if inputs.get(4).is_none_or(|steps| steps == &[1]) => {
                let bound = |at: usize| {
                    let &[at] = &inputs.get(at)?[..] else { return None };
                    let at = if at < 0 { at.saturating_add(first.len() as i64) } else { at };
                    Some(usize::try_from(at.max(0)).ok()?.min(first.len()))
                };
                first.get(bound(1)?..bound(2)?).map(<[i64]>::to_vec)
            }
            "Add" => pair(i64::checked_add),
            "Sub" => pair(i64::checked_sub),
            "Mul" => pair(i64::checked_mul),
            "Div" => pair(i64::checked_div),
            "Mod" => pair(i64::checked_rem_euclid),
            _ if SAME.contains(&operator) => Some(first.clone()),
            _ => None,
        }
    }
}
