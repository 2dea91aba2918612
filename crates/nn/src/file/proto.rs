//! The few messages of ONNX that are written: nodes, constants, outputs. A message ends nowhere but where its length says, and
//! repeated fields may follow each other anywhere in it, so that a graph is a copy of another with fields of its own.

/// A message that is being written.
#[derive(Clone, Debug, Default)]
pub(super) struct Proto(Vec<u8>);

/// The types of tensors, as ONNX numbers them.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(super) enum ElementKind {
    Float = 1,
    Unsigned8 = 2,
    Signed8 = 3,
    Integer32 = 6,
    Integer64 = 7,
    Boolean = 9,
}

impl Proto {
    fn varint(mut self, mut number: u64) -> Self {
        while number > 127 {
            self.0.push(number as u8 | 128);
            number >>= 7;
        }
        self.0.push(number as u8);
        self
    }

    /// A field that is a number.
    pub(super) fn number(self, field: u64, number: u64) -> Self {
        self.varint(field << 3).varint(number)
    }

    /// A field that is bytes, a text or a message.
    pub(super) fn bytes(self, field: u64, bytes: impl AsRef<[u8]>) -> Self {
        let mut next = self.varint(field << 3 | 2).varint(bytes.as_ref().len() as u64);
        next.0.extend_from_slice(bytes.as_ref());
        next
    }

    /// Fields that are written already.
    pub(super) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// A node, without attributes.
    pub(super) fn node(operator: &str, name: &str, inputs: &[&str], output: &str) -> Self {
        let node = inputs.iter().fold(Self::default(), |node, input| node.bytes(1, input));
        node.bytes(2, output).bytes(3, name).bytes(4, operator)
    }

    /// A node with an attribute that is a whole number.
    pub(super) fn attribute(self, name: &str, number: u64) -> Self {
        self.bytes(5, Self::default().bytes(1, name).number(3, number).number(20, 2).0)
    }

    /// A constant of these sizes; `data` is little-endian.
    pub(super) fn constant(name: &str, kind: ElementKind, sizes: &[usize], data: &[u8]) -> Self {
        let tensor = sizes.iter().fold(Self::default(), |tensor, &size| tensor.number(1, size as u64));
        tensor.number(2, kind as u64).bytes(8, name).bytes(9, data)
    }

    /// An output of a graph with an element for each image of a batch.
    pub(super) fn output(name: &str, kind: ElementKind) -> Self {
        let shape = Self::default().bytes(1, []);
        let of = Self::default().bytes(1, Self::default().number(1, kind as u64).bytes(2, shape).0);
        Self::default().bytes(1, name).bytes(2, of.0)
    }
}

impl AsRef<[u8]> for Proto {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A field of a message: its number, all of its bytes, and those that it holds if it has a length.
pub(super) struct Field<'b> {
    pub(super) number: u64,
    pub(super) whole: &'b [u8],
    pub(super) held: &'b [u8],
}

/// The fields of a message that was found whole.
pub(super) fn fields(mut bytes: &[u8]) -> Vec<Field<'_>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let start = bytes;
        let Some(tag) = super::wire::number(&mut bytes) else { break };
        let length = match tag & 7 {
            0 => super::wire::number(&mut bytes).map(|_| 0),
            1 => Some(8),
            2 => super::wire::number(&mut bytes).and_then(|length| usize::try_from(length).ok()),
            _ => Some(4),
        };
        let Some(held) = length.and_then(|length| bytes.split_off(..length)) else { break };
        found.push(Field { number: tag >> 3, whole: &start[..start.len() - bytes.len()], held });
    }
    found
}
