//! Nodes that move elements and compute nothing: other names of a tensor, as far as that goes. Where a node needs the elements in
//! another order than the stored one, a layer moves them before it.

use std::collections::BTreeSet;

use rten_onnx::onnx::NodeProto;

use super::attributes::Attributes;
use super::error::{FileError, content};
use super::float::{FloatReading, Read};
use super::order::{Order, axis_of, sized};
use crate::float::{FloatLayer, FloatOperator, FloatTensor, Rearrangement};
use crate::operator::{Axes, Shape};

/// The most elements that a node may make of another tensor.
const MOST: usize = 1 << 26;

/// The bytes of an element that a layer moves: its origin, and its readers.
pub(super) const MOVED: usize = 16;

/// The stored elements of an image, channel by channel.
fn by_channels(shape: Shape) -> impl Iterator<Item = u32> {
    let positions = shape.positions();
    (0..shape.elements()).map(move |number| (number % positions * shape.channels + number / positions) as u32)
}

impl FloatReading<'_> {
    /// Whether the file has the elements in the order in which they are stored.
    pub(super) fn is_plain(&self, read: &Read) -> bool {
        let shape = self.tensors[read.tensor].shape;
        read.order == Order::Plain || read.order == Order::Image && (shape.positions() == 1 || shape.channels == 1)
    }

    /// Whether they are stored position by position, and channel by channel in the file.
    pub(super) fn is_image(&self, read: &Read) -> bool {
        let shape = self.tensors[read.tensor].shape;
        read.order == Order::Image || read.order == Order::Plain && (shape.positions() == 1 || shape.channels == 1)
    }

    /// The stored element of each of the file.
    pub(super) fn elements(&self, read: &Read) -> Vec<u32> {
        let shape = self.tensors[read.tensor].shape;
        match &read.order {
            Order::Plain => (0..shape.elements() as u32).collect(),
            Order::Image => by_channels(shape).collect(),
            Order::Moved(elements) => elements.to_vec(),
        }
    }

    /// The tensor that a node reads, stored in the file's own order: the last axis is that of the channels.
    pub(super) fn plain(
        &mut self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
    ) -> Result<Read, FileError> {
        self.stored_as(node, which, attributes, |stored, of_file| stored.channels == of_file.channels)
    }

    /// The same, whose rows are those of the file, too.
    pub(super) fn matrices(
        &mut self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
    ) -> Result<Read, FileError> {
        self.stored_as(node, which, attributes, |stored, of_file| stored == of_file)
    }

    /// The tensor that a node reads, stored in the file's own order and in a shape that fits that of the file.
    fn stored_as(
        &mut self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
        fits: fn(Shape, Shape) -> bool,
    ) -> Result<Read, FileError> {
        let (read, tensor) = self.sized(node, which, attributes)?;
        match self.is_plain(&read) && fits(self.tensors[read.tensor].shape, tensor.shape) {
            true => Ok(read),
            false => self.moved(node, which, attributes, &read, tensor),
        }
    }

    /// The tensor that a node reads as an image of the batch, channels, rows and columns.
    pub(super) fn image(
        &mut self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
    ) -> Result<Read, FileError> {
        let read = self.source(node, which, attributes)?;
        let &[1, channels, height, width] = &read.dims[..] else {
            let what = format!(
                "it reads `{}` of {:?} elements, whose rows and columns were flattened or moved; expected a batch of 1, channels, \
                 rows and columns",
                node.input[which], read.dims
            );
            return Err(content(&attributes.1, what));
        };
        let shape = Shape { height, width, channels };
        match self.is_image(&read) && self.tensors[read.tensor].shape == shape {
            true => Ok(read),
            false => self.moved(node, which, attributes, &read, FloatTensor { shape, axes: Axes::Image }),
        }
    }

    fn sized(
        &self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
    ) -> Result<(Read, FloatTensor), FileError> {
        let read = self.source(node, which, attributes)?;
        let tensor = sized(&read.dims).ok_or_else(|| {
            let what = format!(
                "it reads `{}` of {:?} elements; expected a batch of 1 and up to three sizes",
                node.input[which], read.dims
            );
            content(&attributes.1, what)
        })?;
        Ok((read, tensor))
    }

    /// A layer that moves the elements of what a node reads; the name stands for what it makes from then on.
    fn moved(
        &mut self,
        node: &NodeProto,
        which: usize,
        attributes: &Attributes<'_>,
        read: &Read,
        tensor: FloatTensor,
    ) -> Result<Read, FileError> {
        let input = &node.input[which];
        self.take(&read.dims, MOVED)?;
        let elements = self.elements(read);
        let (order, origins) = if tensor.axes == Axes::Image {
            let mut origins = vec![[0; 2]; elements.len()];
            by_channels(tensor.shape).zip(elements).for_each(|(to, from)| origins[to as usize] = [0, from]);
            (Order::Image, origins)
        } else {
            (Order::Plain, elements.into_iter().map(|element| [0, element]).collect())
        };
        let from = self.tensors[read.tensor].shape;
        let moved = Rearrangement::new(origins, Vec::new(), &[from], tensor.shape);
        let moved = moved.ok_or_else(|| content(&attributes.1, format!("`{input}` has no elements")))?;
        let (name, opcode) = match &read.maker {
            Some((name, opcode)) => (name.clone(), opcode.clone()),
            None => (format!("{input}.moved"), "Transpose".to_owned()),
        };
        let (name, operator) = (self.free(name), FloatOperator::Rearrange(moved));
        self.layers.push(FloatLayer { name, opcode, operator, inputs: vec![read.tensor], activation: None });
        self.tensors.push(tensor);
        let once = self.readers.get(input.as_str()) == Some(&1);
        let made = Read { tensor: self.layers.len(), order, once, maker: None, ..read.clone() };
        self.known.insert(input.clone(), made.clone());
        Ok(made)
    }

    /// A name that no layer has.
    pub(super) fn free(&self, name: String) -> String {
        let is_taken = |name: &str| self.layers.iter().any(|layer| layer.name == name);
        let others = (2..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone()).chain(others).find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// The output of a node as another name of what it reads, with these sizes and, of each element, the number of that of the source.
    fn view(&mut self, node: &NodeProto, output: usize, name: &str, source: &Read, dims: Vec<usize>, of: &[usize]) {
        let shape = self.tensors[source.tensor].shape;
        let from = self.elements(source);
        let elements: Vec<u32> = of.iter().map(|&number| from[number]).collect();
        let mut seen = vec![false; shape.elements()];
        let is_each_once = elements.iter().all(|&at| !std::mem::replace(&mut seen[at as usize], true));
        let order = if elements.iter().copied().eq(0..shape.elements() as u32) {
            Order::Plain
        } else if elements.iter().copied().eq(by_channels(shape)) {
            Order::Image
        } else {
            Order::Moved(elements.into())
        };
        if !matches!(order, Order::Moved(_)) {
            // Nothing of what was counted is kept.
            self.bytes = self.bytes.saturating_sub(of.len() * size_of::<u32>());
        }
        let output = node.output[output].clone();
        let is_whole = is_each_once && of.len() == shape.elements();
        let once = source.once && is_whole && self.readers.get(output.as_str()) == Some(&1);
        let maker = Some((name.to_owned(), node.op_type.clone().unwrap_or_default()));
        self.known.insert(output, Read { dims, order, once, maker, ..source.clone() });
    }

    /// The sizes alone change: Flatten, Reshape, Squeeze, Unsqueeze, Identity.
    pub(super) fn resize(
        &mut self,
        node: &NodeProto,
        name: &str,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let (from, rank) = (&read.dims, read.dims.len());
        let all: usize = from.iter().product();
        let wrong = |what: String| content(&attributes.1, format!("{what} of a tensor of {from:?} elements"));
        let dims = match node.op_type.as_deref() {
            Some("Flatten") => {
                let axis = attributes.number("axis", 1);
                let axis = if axis == rank as i64 { Some(rank) } else { axis_of(axis, rank) };
                let axis = axis.ok_or_else(|| wrong("its `axis` is none".to_owned()))?;
                let first: usize = from[..axis].iter().product();
                vec![first, all / first]
            }
            Some("Reshape") => {
                // A tensor of which a size is 0 has no elements, and does not occur here.
                let copies = attributes.number("allowzero", 0) == 0;
                let said = self.longs(node.input.get(1).map_or("", String::as_str))?;
                let size = |(at, &size): (usize, &i64)| match size {
                    0 if copies => from.get(at).copied(),
                    -1 => Some(1),
                    _ => usize::try_from(size).ok().filter(|size| all.is_multiple_of(*size)),
                };
                let sizes: Option<Vec<usize>> = said.iter().enumerate().map(size).collect();
                let known =
                    sizes.as_ref().and_then(|sizes| sizes.iter().try_fold(1_usize, |all, &it| all.checked_mul(it)));
                let free = said.iter().position(|&size| size == -1);
                match (sizes, known, free) {
                    (Some(sizes), Some(known), None) if known == all => sizes,
                    (Some(mut sizes), Some(known), Some(free))
                        if all.is_multiple_of(known) && said.iter().filter(|&&size| size == -1).count() == 1 =>
                    {
                        sizes[free] = all / known;
                        sizes
                    }
                    _ => return Err(wrong(format!("it makes {said:?}"))),
                }
            }
            Some("Identity") => from.clone(),
            operator => {
                let said = self.axes(node, attributes)?;
                let removes = operator == Some("Squeeze");
                let rank = if removes { rank } else { rank + said.as_ref().map_or(0, Vec::len) };
                let axes = said.map(|said| {
                    let axes = said.iter().map(|&axis| axis_of(axis, rank)).collect::<Option<Vec<_>>>();
                    axes.filter(|axes| axes.iter().collect::<BTreeSet<_>>().len() == axes.len())
                });
                match axes {
                    Some(Some(axes)) if removes && axes.iter().all(|&axis| from[axis] == 1) => {
                        (0..rank).filter(|axis| !axes.contains(axis)).map(|axis| from[axis]).collect()
                    }
                    None if removes => from.iter().copied().filter(|&size| size != 1).collect(),
                    Some(Some(axes)) if !removes => {
                        let mut rest = from.iter();
                        let size = |axis| if axes.contains(&axis) { Some(1) } else { rest.next().copied() };
                        (0..rank).map(size).collect::<Option<Vec<_>>>().unwrap_or_default()
                    }
                    _ => return Err(wrong("its axes are none, come twice, or have several elements,".to_owned())),
                }
            }
        };
        if dims.iter().try_fold(1_usize, |all, &size| all.checked_mul(size)) != Some(all) {
            return Err(wrong(format!("it makes {dims:?}")));
        }
        let maker = Some((name.to_owned(), node.op_type.clone().unwrap_or_default()));
        self.named(node, Read { dims, maker, ..read });
        Ok(())
    }

    /// The axes of a node, an attribute or its second input.
    pub(super) fn axes(&self, node: &NodeProto, attributes: &Attributes<'_>) -> Result<Option<Vec<i64>>, FileError> {
        match (node.input.get(1).map_or("", String::as_str), attributes.find("axes")) {
            ("", None) => Ok(None),
            ("", Some(attribute)) => Ok(Some(attribute.ints.clone())),
            (name, _) => self.longs(name).map(Some),
        }
    }

    pub(super) fn transpose(
        &mut self,
        node: &NodeProto,
        name: &str,
        attributes: &Attributes<'_>,
    ) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let rank = read.dims.len();
        let said = attributes.find("perm").map_or_else(|| (0..rank as i64).rev().collect(), |perm| perm.ints.clone());
        let axes: Option<Vec<usize>> = said.iter().map(|&axis| axis_of(axis, rank)).collect();
        let is_each = |axes: &Vec<usize>| axes.len() == rank && (0..rank).all(|axis| axes.contains(&axis));
        let Some(axes) = axes.filter(is_each) else {
            return Err(content(
                &attributes.1,
                format!("`perm` {said:?} does not name each axis of {:?} once", read.dims),
            ));
        };
        self.take(&read.dims, size_of::<u32>())?;
        let steps: Vec<usize> = (0..rank).map(|axis| read.dims[axis + 1..].iter().product()).collect();
        let mut of = vec![0];
        for &axis in &axes {
            let along = |&first: &usize| (0..read.dims[axis]).map(move |at| (first, at));
            of = of.iter().flat_map(along).map(|(first, at)| first + at * steps[axis]).collect();
        }
        let dims = axes.iter().map(|&axis| read.dims[axis]).collect();
        self.view(node, 0, name, &read, dims, &of);
        Ok(())
    }

    /// Some of what lies along an axis: Split, Slice, Gather.
    pub(super) fn part(&mut self, node: &NodeProto, name: &str, attributes: &Attributes<'_>) -> Result<(), FileError> {
        let read = self.source(node, 0, attributes)?;
        let wrong = |what: String| content(&attributes.1, format!("{what} of a tensor of {:?} elements", read.dims));
        let input = |at: usize| node.input.get(at).map_or("", String::as_str);
        let said = match (node.op_type.as_deref(), input(3)) {
            (Some("Slice"), "") => Vec::new(),
            (Some("Slice"), axes) => self.longs(axes)?,
            _ => vec![attributes.number("axis", 0)],
        };
        let &[said] = &said[..] else { return Err(wrong(format!("expected one axis, found {said:?}"))) };
        let axis = axis_of(said, read.dims.len()).ok_or_else(|| wrong(format!("the axis {said} is none")))?;
        let size = read.dims[axis];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        // The sizes of indices, which take the place of the axis.
        let mut indices = None;
        match node.op_type.as_deref() {
            Some("Split") => {
                let count = node.output.len();
                let sizes = match (input(1), attributes.find("split")) {
                    ("", None) => {
                        let each = size.div_ceil(count);
                        (0..count).map(|part| size.saturating_sub(part * each).min(each) as i64).collect()
                    }
                    ("", Some(sizes)) => sizes.ints.clone(),
                    (name, _) => self.longs(name)?,
                };
                let whole = sizes.iter().try_fold(0_i64, |sum, &part| sum.checked_add(part).filter(|_| part > 0));
                let mut first = 0;
                for &part in sizes.iter().filter(|_| whole == Some(size as i64)) {
                    parts.push((first..first + part as usize).collect());
                    first += part as usize;
                }
                if parts.len() != count {
                    return Err(wrong(format!("parts of {sizes:?} do not make the axis {axis}")));
                }
            }
            Some("Slice") => {
                let steps = if input(4).is_empty() { vec![1] } else { self.longs(input(4))? };
                let (starts, ends) = (self.longs(input(1))?, self.longs(input(2))?);
                let (&[start], &[end], &[step @ 1..=i64::MAX]) = (&starts[..], &ends[..], &steps[..]) else {
                    return Err(wrong(format!(
                        "expected a start, an end and a step from 1, found {starts:?} {ends:?} {steps:?}"
                    )));
                };
                let bound = |at: i64| {
                    let at = if at < 0 { at.saturating_add(size as i64) } else { at };
                    usize::try_from(at.max(0)).unwrap_or(size).min(size)
                };
                parts.push((bound(start)..bound(end)).step_by(usize::try_from(step).unwrap_or(1)).collect());
            }
            _ => {
                let (dims, numbers) = self.indices(input(1))?;
                indices = Some(dims);
                let part = numbers.iter().map(|&at| axis_of(at, size)).collect::<Option<Vec<_>>>();
                parts.push(part.ok_or_else(|| wrong(format!("indices {numbers:?} lie beyond the axis {axis}")))?);
            }
        }
        let (before, behind): (usize, usize) =
            (read.dims[..axis].iter().product(), read.dims[axis + 1..].iter().product());
        for (output, part) in parts.iter().enumerate() {
            let count = part.len().checked_mul(before * behind);
            if part.is_empty() || count.is_none_or(|count| count > MOST) {
                return Err(wrong(format!("found {} elements along the axis {axis}", part.len())));
            }
            self.take(&[before, part.len(), behind], size_of::<u32>())?;
            let of: Vec<usize> = (0..before)
                .flat_map(|outer| part.iter().map(move |&at| (outer * size + at) * behind))
                .flat_map(|first| first..first + behind)
                .collect();
            let mut dims = read.dims.clone();
            dims.splice(axis..=axis, indices.clone().unwrap_or_else(|| vec![part.len()]));
            let name = if output == 0 { name.to_owned() } else { format!("{name}.{output}") };
            self.view(node, output, &name, &read, dims, &of);
        }
        Ok(())
    }
}
