//! A check of the bytes of an ONNX file before they are decoded: every field lies within its message, and lists of numbers end
//! where their field does. The decoder never comes back from a number of more than ten bytes.

use rten_onnx::onnx::{GraphProto, ModelProto};

use super::error::{FileError, content};

/// The graph of an ONNX file.
pub(super) fn graph(bytes: &[u8]) -> Result<GraphProto, FileError> {
    if !Message::Model.is_whole(bytes, 32) {
        return Err(content("the bytes as an ONNX file", "a field ends beyond its message"));
    }
    let model = ModelProto::parse_buf(bytes).map_err(FileError::Form)?;
    model.graph.ok_or_else(|| content("the file", "it has no graph"))
}

/// The messages of a file that are looked into.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    Value,
    Type,
    TensorType,
    Shape,
    Other,
}

/// What a field with a length holds.
enum Held {
    Message(Message),
    Numbers,
    Bytes,
}

impl Message {
    fn held(self, field: u64) -> Held {
        use Message::{Attribute, Graph, Model, Node, Other, Shape, Tensor, TensorType, Type, Value};
        match (self, field) {
            (Model, 7) | (Attribute, 6) => Held::Message(Graph),
            (Model, 8 | 14) => Held::Message(Other),
            (Graph, 1) => Held::Message(Node),
            (Graph, 5) | (Attribute, 5) => Held::Message(Tensor),
            (Graph, 11..=13) => Held::Message(Value),
            (Node, 5) => Held::Message(Attribute),
            (Value, 2) => Held::Message(Type),
            (Type, 1) => Held::Message(TensorType),
            (TensorType, 2) => Held::Message(Shape),
            (Shape, 1) | (Tensor, 13) => Held::Message(Other),
            (Attribute, 8) | (Tensor, 1 | 5 | 7 | 11) => Held::Numbers,
            _ => Held::Bytes,
        }
    }

    /// Whether the bytes are such a message, to the last one. Messages within messages are looked into to a depth that no
    /// network has.
    pub(super) fn is_whole(self, bytes: &[u8], depth: u32) -> bool {
        self.walk(bytes, depth).is_some()
    }

    fn walk(self, mut bytes: &[u8], depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        while !bytes.is_empty() {
            let tag = number(&mut bytes)?;
            let length = match tag & 7 {
                0 => {
                    number(&mut bytes)?;
                    continue;
                }
                1 => 8,
                2 => usize::try_from(number(&mut bytes)?).ok()?,
                5 => 4,
                _ => return None,
            };
            let mut field = bytes.split_off(..length)?;
            match self.held(tag >> 3) {
                _ if tag & 7 != 2 => {}
                Held::Message(message) => message.walk(field, depth)?,
                Held::Numbers => {
                    while !field.is_empty() {
                        number(&mut field)?;
                    }
                }
                Held::Bytes => {}
            }
        }
        Some(())
    }
}

/// A number of seven bits a byte, the least first.
pub(super) fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let &byte = bytes.split_off_first()?;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
    }
    None
}
