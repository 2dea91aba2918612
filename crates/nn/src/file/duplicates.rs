//! The nodes of protection: filters that are made twice, and what is compared.

use rten_onnx::onnx::NodeProto;

use super::error::{FileError, PREFIX, content};
use super::reading::Reading;
use crate::protection::Check;

impl Reading<'_> {
    /// A node of protection: channels that are taken, a comparison, or the margin. What else belongs to it follows from these.
    pub(super) fn protection(&mut self, node: &NodeProto, name: &str) -> Result<(), FileError> {
        let input = |at: usize| node.input.get(at).map_or("", String::as_str);
        let missing = || content(format!("the node `{name}`"), format!("no node before it makes `{}`", input(0)));
        if name == format!("{PREFIX}low") {
            let margin = self.constants.floats(input(1))?;
            self.protection.margin = margin.first().map(|&margin| f64::from(margin));
            return Ok(());
        }
        let (Some("Gather"), Some(layer)) = (node.op_type.as_deref(), layer_of(name)) else { return Ok(()) };
        let source = *self.known.get(input(0)).ok_or_else(missing)?;
        let size = self.tensors[source].shape.channels;
        let longs = self.constants.longs(input(1))?;
        let channels = longs.iter().map(|&it| usize::try_from(it).ok().filter(|&it| it < size));
        let channels = channels.collect::<Option<Vec<usize>>>().filter(|all| !all.is_empty());
        let channels = channels.ok_or_else(|| {
            content(format!("the node `{name}`"), format!("expected some of {size} channels, found {longs:?}"))
        })?;
        if name.ends_with("/input") {
            let output = node.output.first().cloned().unwrap_or_default();
            self.taken.insert(output, (source, channels));
            return Ok(());
        }
        let duplicate = format!("{PREFIX}{layer}/duplicate");
        let made = self.layers.iter().position(|found| found.name == duplicate);
        let duplicate =
            made.ok_or_else(|| content(format!("the node `{name}`"), format!("there is no `{duplicate}`")))?;
        let layer = source.checked_sub(1).ok_or_else(missing)?;
        self.protection.checks.push(Check { layer, duplicate, channels });
        Ok(())
    }
}

/// The layer that a node of protection belongs to.
fn layer_of(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)?.rsplit_once('/').map(|(layer, _)| layer)
}

/// The weights of filters, each of which reads `per_filter` of the channels that were taken, as weights of all `read` channels: zero
/// of those that a filter does not read. A sum of integers is the same.
pub(super) fn spread(weights: &[i8], taken: &[usize], per_filter: usize, read: usize) -> Vec<i8> {
    let filters = taken.len() / per_filter.max(1);
    let mut all = vec![0; weights.len() / taken.len().max(1) * read * filters];
    for (number, &weight) in weights.iter().enumerate() {
        let (tap, at) = (number / taken.len(), number % taken.len());
        all[(tap * read + taken[at]) * filters + at / per_filter] = weight;
    }
    all
}
