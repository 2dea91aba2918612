"""Writes ONNX files: the few messages of its protobuf that a network of constants and nodes needs."""

import numpy as np

TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}


def varint(n):
    """A number of seven bits a byte, the least first."""
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    """A field that is a number."""
    return varint(field << 3) + varint(n)


def data(field, b):
    """A field that is bytes, a text or a message."""
    b = b.encode() if isinstance(b, str) else b
    return varint(field << 3 | 2) + varint(len(b)) + b


def filters(kind, w):
    """Weights of a convolution as ONNX has them: (filter, channel, row, column)."""
    w = w[:, :, None, :] if kind == "depthwise" else w
    return np.ascontiguousarray(w.transpose(3, 2, 0, 1))


class Graph:
    """A network that is being written, in the order of its nodes."""

    def __init__(self, name):
        self.name, self.nodes, self.constants, self.inputs, self.outputs = name, b"", b"", b"", b""

    def constant(self, name, array):
        """A tensor that the file holds."""
        dims = b"".join(number(1, d) for d in array.shape)
        tensor = dims + number(2, TYPES[array.dtype.name]) + data(8, name) + data(9, np.ascontiguousarray(array).tobytes())
        self.constants += data(5, tensor)

    def node(self, op, name, inputs, output, domain="", **attributes):
        """An operator; attributes are whole numbers or lists of them."""
        node = b"".join(data(1, i) for i in inputs) + data(2, output) + data(3, name) + data(4, op)
        for key, value in attributes.items():
            many = isinstance(value, list)
            values = b"".join(number(8, v) for v in value) if many else number(3, value)
            node += data(5, data(1, key) + values + number(20, 7 if many else 2))
        self.nodes += data(1, node + (data(7, domain) if domain else b""))

    def _value(self, name, shape, of):
        dims = b"".join(data(1, number(1, d)) for d in shape)
        return data(1, name) + data(2, data(1, number(1, TYPES[of]) + data(2, dims)))

    def input(self, name, shape, of="uint8"):
        """What the network reads, in bytes if nothing else is said."""
        self.inputs += data(11, self._value(name, shape, of))

    def output(self, name, shape, of="uint8"):
        """What the network is for, in bytes if nothing else is said."""
        self.outputs += data(12, self._value(name, shape, of))

    def write(self, path):
        """The file, of opset 13 and of ONNX Runtime's own operators."""
        graph = self.nodes + data(2, self.name) + self.constants + self.inputs + self.outputs
        opsets = data(8, data(1, "") + number(2, 13)) + data(8, data(1, "com.microsoft") + number(2, 1))
        with open(path, "wb") as file:
            file.write(number(1, 8) + data(2, "beamline") + data(7, graph) + opsets)
