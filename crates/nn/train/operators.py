"""Small networks of floating point with the operators that no bundled network has, and what ONNX Runtime makes of them.

    python3 operators.py ../tests/vectors

For each, `NAME.onnx` is the file, and `NAME.f32` has FP32 numbers: an input, then every tensor that a layer of Beamline makes of it,
position-major. It needs the packages `onnx` and `onnxruntime`. The weights are random.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SHAPE = [1, 3, 11, 9]


class Graph:
    """A network that is being written, in the order of its nodes."""

    def __init__(self, name, opset=17):
        self.opset = opset
        self.name, self.draw, self.nodes, self.constants, self.layers = name, np.random.default_rng(7), [], [], []

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operator, name, inputs, is_layer=True, **attributes):
        """A node; it `is_layer` where what it makes is a tensor of Beamline, at the end of the layer."""
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        self.layers += [name] * is_layer
        return name

    def weights(self, name, *shape):
        size = (2 / np.prod(shape[1:])) ** 0.5
        return [self.constant(name + ".w", self.draw.normal(0, size, shape).astype(np.float32)),
                self.constant(name + ".b", self.draw.normal(0, 0.2, shape[0]).astype(np.float32))]

    def conv(self, name, source, channels, filters, kernel=3, is_layer=True, **attributes):
        attributes = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4, **attributes}
        weights = self.weights(name, filters, channels // attributes.get("group", 1), kernel, kernel)
        return self.node("Conv", name, [source, *weights], is_layer, **attributes)

    def write(self, folder, beside=False):
        value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        outputs = [value(self.layers[-1], [1, 5])]
        graph = helper.make_graph(self.nodes, self.name, [value("input", SHAPE)], outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        onnx.checker.check_model(model)
        # Saving takes the data out of the model.
        whole = onnx.ModelProto.FromString(model.SerializeToString())
        data = {"save_as_external_data": True, "location": f"{self.name}.data", "size_threshold": 64} if beside else {}
        onnx.save(model, f"{folder}/{self.name}.onnx", **data)
        model = whole
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self.layers[:-1])
        x = self.draw.normal(0, 1.5, SHAPE).astype(np.float32)
        made = onnxruntime.InferenceSession(model.SerializeToString()).run(self.layers, {"input": x})
        with open(f"{folder}/{self.name}.f32", "wb") as file:
            for t in [x, *made]:
                file.write((t.transpose(0, 2, 3, 1) if t.ndim == 4 and t.shape[0] == 1 else t).tobytes())


def activations():
    """Each function behind a convolution, and once more where another node reads the convolution, too."""
    g, source = Graph("activations"), "input"
    functions = [("Sigmoid", {}), ("HardSigmoid", {}), ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.4}), ("HardSwish", {}),
                 ("LeakyRelu", {}), ("LeakyRelu", {"alpha": 0.3}), ("Tanh", {}), ("Relu", {})]
    for number, (operator, attributes) in enumerate(functions):
        conv = g.conv(f"c{number}", source, 3, 3, is_layer=False)
        joined = g.node(operator, f"joined{number}", [conv], **attributes)
        apart = g.node(operator, f"apart{number}", [joined], **attributes)
        source = g.node("Add", f"a{number}", [joined, apart])
    g.node("GlobalAveragePool", "gap", [source])
    g.node("Flatten", "flat", ["gap"], is_layer=False)
    g.node("Gemm", "fc", ["flat", *g.weights("fc", 5, 3)], transB=1)
    g.write(sys.argv[1])


def excitation():
    """Silu, squeeze and excitation, holes, padding by a node of its own, a factor, and Softmax, as networks for phones have them."""
    g = Graph("excitation")
    g.constant("pads", np.array([0, 0, 0, 1, 0, 0, 1, 2], np.int64))
    g.constant("zero", np.array(0, np.float32))
    g.constant("two", np.array([2.5], np.float32))
    g.node("Pad", "pad", ["input", "pads", "zero"], is_layer=False)
    g.conv("c1", "pad", 3, 6, pads=[0] * 4, strides=[2, 2])
    g.node("Sigmoid", "c1.sigmoid", ["c1"])
    g.node("Mul", "silu", ["c1", "c1.sigmoid"])
    g.conv("c2", "silu", 6, 6, pads=[2, 2, 2, 2], dilations=[2, 2], group=6, is_layer=False)
    g.node("HardSwish", "c2.hard", ["c2"])
    g.node("GlobalAveragePool", "squeeze", ["c2.hard"])
    g.conv("s1", "squeeze", 6, 2, kernel=1, is_layer=False)
    g.node("Relu", "s1.relu", ["s1"])
    g.conv("s2", "s1.relu", 2, 6, kernel=1, is_layer=False)
    g.node("HardSigmoid", "gate", ["s2"], alpha=1 / 6)
    g.node("Mul", "excite", ["gate", "c2.hard"])
    g.node("Mul", "excite2", ["excite", "squeeze"])
    g.conv("c3", "excite2", 6, 4, pads=[3, 1, 3, 1], dilations=[3, 1], strides=[1, 2], is_layer=False)
    g.node("Mul", "c3.times", ["two", "c3"])
    g.node("MaxPool", "pool", ["c3.times"], kernel_shape=[2, 2], dilations=[2, 1])
    g.node("Flatten", "flat", ["pool"], is_layer=False)
    g.node("Gemm", "fc", ["flat", *g.weights("fc", 5, 4 * 3 * 2)], transB=1)
    g.node("Softmax", "softmax", ["fc"], axis=-1)
    g.write(sys.argv[1])


def rows():
    """Networks of tokens have these besides those of `fashion-vit`: parts along axes, tokens that are joined, constants of channels,
    products of matrices that are not transposed, and averages that keep their axes."""
    g = Graph("rows", opset=20)
    number = lambda name, *values: g.constant(name, np.array(values, np.int64))
    move = lambda operator, name, inputs, **attributes: g.node(operator, name, inputs, is_layer=False, **attributes)
    real = lambda name, *shape: g.constant(name, g.draw.normal(0, 1, shape).astype(np.float32))
    g.node("Mul", "scaled", ["input", real("by_channel", 3, 1, 1)])
    g.conv("c1", "scaled", 3, 8, kernel=3, strides=[2, 2])
    # 8 channels of 6 x 5 positions become 30 tokens.
    move("Shape", "size", ["c1"])
    move("Slice", "size2", ["size", number("zero", 0), number("two", 2)])
    move("Concat", "size3", ["size2", number("rest", -1)], axis=0)
    move("Reshape", "flat", ["c1", "size3"])
    move("Transpose", "tokens", ["flat"], perm=[0, 2, 1])
    move("LayerNormalization", "norm", ["tokens", real("norm.w", 8)], axis=2, epsilon=1e-3)
    g.node("Gelu", "gelu", ["norm"])
    g.node("Gelu", "gelu2", ["gelu"], approximate="tanh")
    g.node("Slice", "odd", ["gelu2", number("one", 1), number("most", 1 << 40), number("axis", -2), number("step", 2)], is_layer=False)
    move("Gather", "some", ["gelu2", number("numbers", 7, 0, 7, -1)], axis=1)
    # The two parts are moved before they are joined.
    g.layers += ["odd", "some"]
    g.node("Concat", "joined", ["odd", "some"], axis=1)
    g.node("Sub", "less", ["joined", real("by_row", 1, 19, 8)])
    g.node("Mul", "more", ["less", real("by_column", 8)])
    move("Split", "half", ["more"], axis=-1, num_outputs=2)
    g.nodes[-1].output.append("half2")
    move("Transpose", "turned", ["half2"], perm=[0, 2, 1])
    g.layers += ["half", "turned"]
    g.node("MatMul", "product", ["half", "turned"])
    g.node("Softmax", "shares", ["product"], axis=2)
    g.node("Concat", "wide", ["shares", "joined"], axis=2)
    g.node("MatMul", "dense", ["wide", real("dense.w", 27, 12)])
    move("Reshape", "image", ["dense", number("sizes", 1, 19, 3, 4)])
    move("Transpose", "image2", ["image"], perm=[0, 3, 1, 2])
    g.layers.append("image2")
    g.conv("c2", "image2", 4, 6)
    g.node("MaxPool", "pool", ["c2"], kernel_shape=[3, 3], strides=[4, 1])
    g.node("ReduceMean", "mean", ["pool", number("axes", -1, -2)], keepdims=1)
    move("Flatten", "line", ["mean"])
    g.node("Gemm", "fc", ["line", *g.weights("fc", 5, 6)], transB=1)
    g.write(sys.argv[1])


def exported():
    """Networks as PyTorch exports them have these: windows that end beyond the input, a learned token that is repeated to a computed
    shape and joined, shapes of which no size is copied, attributes that change nothing, and constants in a file beside."""
    g = Graph("exported", opset=18)
    number = lambda name, *values: g.constant(name, np.array(values, np.int64))
    move = lambda operator, name, inputs, **attributes: g.node(operator, name, inputs, is_layer=False, **attributes)
    real = lambda name, *shape: g.constant(name, g.draw.normal(0, 1, shape).astype(np.float32))
    g.conv("c1", "input", 3, 8)
    g.node("MaxPool", "largest", ["c1"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    g.node("AveragePool", "average", ["largest"], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, ceil_mode=1)
    move("Reshape", "flat", ["average", number("sizes", 1, 8, 12)], allowzero=1)
    move("Transpose", "tokens", ["flat"], perm=[0, 2, 1])
    move("Shape", "size", ["tokens"])
    move("Gather", "batch", ["size", number("first", 0)])
    move("Concat", "wanted", ["batch", number("rest", -1), number("rest2", -1)], axis=0)
    one = helper.make_tensor("value", TensorProto.INT64, [1], [1])
    move("ConstantOfShape", "ones", [number("three", 3)], value=one)
    move("Mul", "minus", ["ones", number("less", -1)])
    move("Equal", "free", ["wanted", "minus"])
    move("Where", "shape", ["free", "ones", "wanted"])
    move("Expand", "token", [real("class", 1, 1, 8), "shape"])
    g.node("Concat", "joined", ["token", "tokens"], axis=1)
    g.node("MatMul", "dense", ["joined", real("dense.w", 8, 8)])
    move("Gather", "some", ["dense", g.constant("numbers", np.array([[0, 12, 3], [7, -1, 5]], np.int64))], axis=1)
    move("Reshape", "line", ["some", number("sizes2", 1, 6, 8)], allowzero=1)
    g.layers.append("line")
    g.node("ReduceMean", "mean", ["line", number("axes", 1)], keepdims=0, noop_with_empty_axes=0)
    g.node("Gemm", "fc", ["mean", *g.weights("fc", 5, 8)], transB=1)
    g.write(sys.argv[1], beside=True)


if __name__ == "__main__":
    activations()
    excitation()
    rows()
    exported()
