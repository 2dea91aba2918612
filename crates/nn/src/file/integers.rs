//! Whole numbers that nodes compute of the sizes of tensors, such as the shape of a Reshape; sizes are known, and so are they.

use rten_onnx::onnx::{NodeProto, TensorProto};

use super::constants::Integers;
use super::elementwise::spread;
use super::error::FileError;
use super::float::{FloatReading, Read};
use super::order::axis_of;

/// The operators that move whole numbers, besides Concat, Gather and Slice.
const SAME: [&str; 5] = ["Unsqueeze", "Squeeze", "Cast", "Identity", "Reshape"];

/// Operators on whole numbers alone, which may all be constants.
const FOLDED: [&str; 4] = ["Mod", "ConstantOfShape", "Equal", "Where"];

/// The most elements that a constant is made to have.
const MOST: usize = 1 << 26;

impl<'f> FloatReading<'f> {
    /// Whole numbers that are a constant or computed of sizes.
    pub(super) fn longs(&self, name: &str) -> Result<Vec<i64>, FileError> {
        self.integers.get(name).map_or_else(|| self.constants.longs(name), |found| Ok(found.numbers.clone()))
    }

    /// The same with the sizes of the list, of which a single number has none.
    pub(super) fn indices(&self, name: &str) -> Result<(Vec<usize>, Vec<i64>), FileError> {
        let Some(found) = self.integers.get(name) else { return self.constants.indices(name) };
        Ok((if found.is_list { vec![found.numbers.len()] } else { Vec::new() }, found.numbers.clone()))
    }

    /// Computes what a node makes of sizes; says whether it is such a node.
    pub(super) fn fold(&mut self, node: &'f NodeProto) -> bool {
        let operator = node.op_type.as_deref().unwrap_or_default();
        if let (Some(number), Some(output)) = (self.real(operator, node), node.output.first()) {
            self.constants.insert(output, &[], vec![number]);
            return true;
        }
        if operator == "Expand"
            && let (Some((dims, numbers)), Some(output)) = (self.expanded(node), node.output.first())
        {
            self.constants.insert(output, &dims, numbers);
            return true;
        }
        let found = if operator == "Shape" {
            let read = node.input.first().and_then(|input| self.known.get(input));
            read.filter(|_| node.attribute.is_empty()).and_then(whole_sizes)
        } else if FOLDED.contains(&operator) || node.input.iter().any(|input| self.integers.contains_key(input)) {
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
                let size = || match self.integers.get(node.input.first()?)?.numbers[..] {
                    [size] => Some(size as f32),
                    _ => None,
                };
                (to == Some(1)).then(|| found.first().copied().or_else(size)).flatten()
            }
            _ => None,
        }
    }

    /// A constant that is repeated along some of its axes.
    fn expanded(&self, node: &NodeProto) -> Option<(Vec<usize>, Vec<f32>)> {
        let (dims, numbers) = self.constants.finite(node.input.first()?).ok()?;
        let said = self.longs(node.input.get(1)?).ok()?;
        let rank = dims.len().max(said.len());
        let size = |at: usize| {
            let own = (at + dims.len()).checked_sub(rank).map_or(1, |at| dims[at]);
            let said = (at + said.len()).checked_sub(rank).map_or(Some(1), |at| usize::try_from(said[at]).ok());
            match (own, said?) {
                (1, said) => Some(said),
                (own, said) => (said == 1 || said == own).then_some(own),
            }
        };
        let to: Vec<usize> = (0..rank).map(size).collect::<Option<_>>()?;
        let count = to.iter().try_fold(1_usize, |all, &size| all.checked_mul(size))?;
        let numbers = (count <= MOST).then(|| spread(&dims, &numbers, &to))??;
        Some((to, numbers))
    }

    fn made_of_integers(&self, operator: &str, node: &NodeProto) -> Option<Integers> {
        let is_same = SAME.contains(&operator);
        // Axes of another type count for nothing.
        let counted = if is_same { 1 } else { node.input.len() };
        let inputs = node.input.iter().take(counted).map(|input| self.indices(input).ok());
        let inputs = inputs.collect::<Option<Vec<(Vec<usize>, Vec<i64>)>>>()?;
        let first = &inputs.first()?.1;
        if first.is_empty() || inputs.iter().any(|(dims, _)| dims.len() > 1) {
            return None;
        }
        let is_list = |at: usize| inputs.get(at).is_some_and(|(dims, _)| !dims.is_empty());
        let pair = |of: fn(i64, i64) -> Option<i64>| {
            let second = &inputs.get(1)?.1;
            let count = first.len().max(second.len());
            let fits = |numbers: &[i64]| numbers.len() == 1 || numbers.len() == count;
            let each = |at: usize| of(*first.get(at % first.len())?, *second.get(at % second.len())?);
            let numbers =
                (fits(first) && fits(second)).then(|| (0..count).map(each).collect::<Option<Vec<i64>>>())??;
            Some(Integers { is_list: is_list(0) || is_list(1), numbers })
        };
        let list = |numbers: Vec<i64>| Integers { is_list: true, numbers };
        match operator {
            "Concat" => Some(list(inputs.iter().flat_map(|(_, numbers)| numbers.iter().copied()).collect())),
            "Gather" => {
                let of = &inputs.get(1)?.1;
                let numbers = of.iter().map(|&at| axis_of(at, first.len()).map(|at| first[at]));
                Some(Integers { is_list: is_list(1), numbers: numbers.collect::<Option<_>>()? })
            }
            "Slice" if inputs.get(4).is_none_or(|(_, steps)| steps == &[1]) => {
                let bound = |at: usize| {
                    let &[at] = &inputs.get(at)?.1[..] else { return None };
                    let at = if at < 0 { at.saturating_add(first.len() as i64) } else { at };
                    Some(usize::try_from(at.max(0)).ok()?.min(first.len()))
                };
                first.get(bound(1)?..bound(2)?).map(|numbers| list(numbers.to_vec()))
            }
            "ConstantOfShape" => {
                let &[count @ 0..1024] = &first[..] else { return None };
                let value = node.attribute.iter().find(|attribute| attribute.name.as_deref() == Some("value"));
                let value = value.map(|it| it.t.as_ref().and_then(long)).unwrap_or(Some(0))?;
                Some(list(vec![value; count as usize]))
            }
            "Equal" => pair(|a, b| Some(i64::from(a == b))),
            "Where" => {
                let [(_, are), (_, some), (_, others)] = &inputs[..] else { return None };
                let count = are.len().max(some.len()).max(others.len());
                let at = |numbers: &[i64], at: usize| numbers.get(if numbers.len() == 1 { 0 } else { at }).copied();
                let each = |number| at(if at(are, number)? != 0 { some } else { others }, number);
                Some(list((0..count).map(each).collect::<Option<_>>()?))
            }
            "Add" => pair(i64::checked_add),
            "Sub" => pair(i64::checked_sub),
            "Mul" => pair(i64::checked_mul),
            "Div" => pair(i64::checked_div),
            // The sign of what is left is that of the divisor.
            "Mod" if node.attribute.iter().all(|attribute| attribute.i.unwrap_or(0) == 0) => {
                pair(|number, of| (of > 0).then(|| number.rem_euclid(of)))
            }
            _ if is_same => {
                let to = node.attribute.iter().find(|attribute| attribute.name.as_deref() == Some("to"));
                let is_list = match operator {
                    "Unsqueeze" if is_list(0) => return None,
                    "Cast" if !to.is_some_and(|to| matches!(to.i, Some(6 | 7))) => return None,
                    "Unsqueeze" => true,
                    "Squeeze" => first.len() > 1,
                    "Reshape" => match self.indices(node.input.get(1)?).ok()?.1.len() {
                        0 => false,
                        1 => true,
                        _ => return None,
                    },
                    _ => is_list(0),
                };
                Some(Integers { is_list, numbers: first.clone() })
            }
            _ => None,
        }
    }
}

/// The only whole number of a tensor.
fn long(tensor: &TensorProto) -> Option<i64> {
    match (tensor.int64_data.as_slice(), &tensor.raw_data) {
        (&[number], _) => Some(number),
        (_, Some(data)) => data.borrow().as_slice().try_into().ok().map(i64::from_le_bytes),
        _ => None,
    }
}

/// The sizes of a tensor, with the zeros around it.
fn whole_sizes(read: &Read) -> Option<Integers> {
    let [top, left, bottom, right] = read.around;
    let mut numbers: Vec<i64> = read.dims.iter().map(|&size| size as i64).collect();
    match &mut numbers[..] {
        [_, _, height, width] => {
            *height += (top + bottom) as i64;
            *width += (left + right) as i64;
        }
        _ if read.around != [0; 4] => return None,
        _ => {}
    }
    Some(Integers { is_list: true, numbers })
}
