"""Quantises `fashion.npz` by ONNX Runtime's own quantiser in the form QDQ, and keeps what ONNX Runtime makes of it.

    zstd -d ../networks/fashion/images.zst -o images
    python3 qdq.py ../networks/fashion/fashion.npz images fashion-qdq.onnx expected
    zstd -19 expected -o ../tests/vectors/fashion-qdq.zst && mv fashion-qdq.onnx ../tests/vectors
    python3 qdq.py random images pools-qdq.onnx expected
    zstd -19 expected -o ../tests/vectors/pools-qdq.zst && mv pools-qdq.onnx ../tests/vectors

    python3 qdq.py mixed images mixed-qdq.onnx expected
    zstd -19 expected -o ../tests/vectors/mixed-qdq.zst && mv mixed-qdq.onnx ../tests/vectors
    python3 qdq.py signed images signed-qdq.onnx expected
    zstd -19 expected -o ../tests/vectors/signed-qdq.zst && mv signed-qdq.onnx ../tests/vectors

    python3 qdq.py gated images gated-qdq.onnx expected
    zstd -19 expected -o ../tests/vectors/gated-qdq.zst && mv gated-qdq.onnx ../tests/vectors

`gated-signed` and `gated-qop` make their files in the same way.

The word `random` stands for a plain stack of convolutions and pools, as in VGG, with random weights: it classifies nothing. `mixed`
stands for one with average pools and tensors that are joined though their scales differ. `signed` is the stack with signed bytes, as the quantiser
makes them by default, and with an input whose bytes are not those of the image; what is kept has 128 added. `gated` has functions of one number and
products: squeeze and excitation with the gate as either factor, SiLU, HardSwish in several spellings, averages by ReduceMean; `gated-signed` the same
with signed bytes, and `gated-qop` in the form QOperator, where some functions stay in floats.

A test of the crate reads the file and compares: the bytes of every quantised tensor of two images, and all logits. It needs the
packages `onnx` and `onnxruntime`, and an x86 processor. Tensors are written position-major.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from networks import network
from onnx_file import filters


def floats(p):
    """The network as floats, with Relu as nodes of its own."""
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array.astype(np.float32)), name))
        return name

    def weights(name, w):
        return [constant(name + ".w", w), constant(name + ".b", p[name + ".b"])]

    for name, kind, inputs, k, stride, channels, relu in network("fashion"):
        inputs, made = list(inputs), name + ".sum" if relu else name
        if kind == "dense":
            nodes.append(helper.make_node("Gemm", inputs + weights(name, p[name + ".w"].T), [made], name, transB=1))
        elif kind in {"conv", "depthwise"}:
            inputs += weights(name, filters(kind, p[name + ".w"]))
            groups = channels if kind == "depthwise" else 1
            nodes.append(helper.make_node("Conv", inputs, [made], name, pads=[k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=groups))
        elif kind == "flatten":
            nodes.append(helper.make_node("Flatten", inputs, [made], kind, axis=1))
        else:
            nodes.append(helper.make_node({"add": "Add", "gap": "GlobalAveragePool"}[kind], inputs, [made], name))
        if relu:
            nodes.append(helper.make_node("Relu", [made], [name], name + ".relu"))
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "fashion", [value("input", [1, 1, 28, 28])], [value("fc", [1, 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def stack():
    """Convolutions, Relu and pools in turn, with random weights."""
    draw = np.random.default_rng(1)
    nodes, constants, source, channels = [], [], "input", 1

    def constant(name, shape, size):
        constants.append(numpy_helper.from_array(draw.normal(0, size, shape).astype(np.float32), name))
        return name

    pools = [dict(kernel_shape=[2, 2], strides=[2, 2]), dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
             dict(kernel_shape=[3, 2], strides=[1, 2], pads=[1, 0, 1, 1])]
    for number, (filters, pool) in enumerate(zip([6, 8, 12], pools)):
        name = f"conv{number}"
        size = (2 / (9 * channels)) ** 0.5
        inputs = [source, constant(name + ".w", (filters, channels, 3, 3), size), constant(name + ".b", (filters,), 0.1)]
        nodes.append(helper.make_node("Conv", inputs, [name], name, pads=[1] * 4, kernel_shape=[3, 3]))
        nodes.append(helper.make_node("Relu", [name], [name + ".r"], name + ".relu"))
        source, channels = f"pool{number}", filters
        nodes.append(helper.make_node("MaxPool", [name + ".r"], [source], source, **pool))
    nodes.append(helper.make_node("Flatten", [source], ["flat"], "flatten", axis=1))
    inputs = ["flat", constant("fc.w", (10, 12 * 7 * 4), 0.05), constant("fc.b", (10,), 0.1)]
    nodes.append(helper.make_node("Gemm", inputs, ["fc"], "fc", transB=1))
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "stack", [value("input", [1, 1, 28, 28])], [value("fc", [1, 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def mixed():
    """Average pools with and without their padding, and branches with scales of their own that are joined, with random weights."""
    draw = np.random.default_rng(2)
    nodes, constants = [], []

    def constant(name, shape, size):
        constants.append(numpy_helper.from_array(draw.normal(0, size, shape).astype(np.float32), name))
        return name

    def node(operator, name, inputs, **attributes):
        nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))

    def conv(name, source, channels, filters, size, relu, **attributes):
        inputs = [source, constant(name + ".w", (filters, channels, 3, 3), size), constant(name + ".b", (filters,), 0.1)]
        node("Conv", name + ".sum" if relu else name, inputs, pads=[1] * 4, kernel_shape=[3, 3], **attributes)
        if relu:
            nodes.append(helper.make_node("Relu", [name + ".sum"], [name], name + ".relu"))

    conv("c1", "input", 1, 6, 0.5, True)
    pool = dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    node("AveragePool", "a1", ["c1"], **pool)
    node("AveragePool", "a2", ["c1"], count_include_pad=1, **pool)
    node("MaxPool", "m1", ["c1"], kernel_shape=[2, 2], strides=[2, 2])
    conv("c2", "c1", 6, 5, 0.3, False, strides=[2, 2])
    node("Concat", "j1", ["a1", "c2", "m1", "a2"], axis=1)
    conv("c3", "j1", 23, 8, 0.1, True)
    conv("c4", "j1", 23, 7, 0.2, False)
    node("Concat", "j2", ["c3", "c4", "c3"], axis=1)
    node("AveragePool", "a3", ["j2"], kernel_shape=[3, 2], strides=[1, 2], pads=[1, 0, 1, 1], count_include_pad=1)
    node("AveragePool", "a4", ["a3"], kernel_shape=[5, 4], strides=[3, 2])
    node("Flatten", "flat", ["a4"], axis=1)
    inputs = ["flat", constant("fc.w", (10, 23 * 4 * 2), 0.1), constant("fc.b", (10,), 0.1)]
    node("Gemm", "fc", inputs, transB=1)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "mixed", [value("input", [1, 1, 28, 28])], [value("fc", [1, 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def gated():
    """Functions of one number, and products of two tensors, one of which may be a gate, with random weights."""
    draw = np.random.default_rng(3)
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(operator, name, inputs, **attributes):
        nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))

    def conv(name, source, channels, filters, size=3, **attributes):
        scale = (2 / (size * size * channels)) ** 0.5
        inputs = [source, constant(name + ".w", draw.normal(0, scale, (filters, channels, size, size)).astype(np.float32)),
                  constant(name + ".b", draw.normal(0, 0.1, filters).astype(np.float32))]
        node("Conv", name, inputs, pads=[size // 2] * 4, kernel_shape=[size, size], **attributes)

    def gate(name, source, channels, squeeze, function, **attributes):
        node(squeeze, name + ".mean", [source], **({"axes": [2, 3], "keepdims": 1} if squeeze == "ReduceMean" else {}))
        conv(name + ".less", name + ".mean", channels, 4, 1)
        node("Relu", name + ".relu", [name + ".less"])
        conv(name + ".more", name + ".relu", 4, channels, 1)
        node(function, name, [name + ".more"], **attributes)

    sixth = dict(alpha=1 / 6, beta=0.5)
    conv("leaky.sum", "input", 1, 8, strides=[2, 2])
    node("LeakyRelu", "leaky", ["leaky.sum"], alpha=0.1)
    conv("silu.sum", "leaky", 8, 12)
    node("Sigmoid", "silu.gate", ["silu.sum"])
    node("Mul", "silu", ["silu.sum", "silu.gate"])
    gate("first", "silu", 12, "GlobalAveragePool", "HardSigmoid", **sixth)
    node("Mul", "excited", ["first", "silu"])
    conv("swish.sum", "excited", 12, 10, strides=[2, 2])
    node("HardSigmoid", "swish.gate", ["swish.sum"], **sixth)
    node("Mul", "swish", ["swish.sum", "swish.gate"])
    gate("second", "swish", 10, "ReduceMean", "Sigmoid")
    node("Mul", "again", ["swish", "second"])
    conv("tanh.sum", "again", 10, 10)
    node("Tanh", "tanh", ["tanh.sum"])
    node("Add", "both", ["tanh", "again"])
    node("HardSwish", "hard", ["both"])
    conv("split.sum", "hard", 10, 9)
    node("HardSigmoid", "split.gate", ["split.sum"], **sixth)
    node("Mul", "split", ["split.gate", "split.sum"])
    conv("erf.sum", "split", 9, 9)
    node("Erf", "erf", ["erf.sum"])
    node("Mul", "square", ["erf", "split.sum"])
    node("ReduceMean", "flat", ["square"], axes=[2, 3], keepdims=0)
    weights = lambda name, *size: constant(name, draw.normal(0, 0.6, size).astype(np.float32))
    node("Gemm", "hidden.sum", ["flat", weights("hidden.w", 16, 9), weights("hidden.b", 16)], transB=1)
    node("HardSigmoid", "hidden.gate", ["hidden.sum"], **sixth)
    node("Mul", "hidden", ["hidden.sum", "hidden.gate"])
    node("Gemm", "fc", ["hidden", weights("fc.w", 10, 16), weights("fc.b", 10)], transB=1)
    value = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "gated", [value("input", [1, 1, 28, 28])], [value("fc", [1, 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)


def joined(graph):
    """The gate of `split` in floats, as some files have HardSwish: nothing quantises what is between HardSigmoid and Mul."""
    for node in graph.node:
        if node.name == "split":
            node.input[0] = "split.gate"
    read = {name for node in graph.node for name in node.input}
    while unread := [node for node in graph.node if node.output[0] not in read | {it.name for it in graph.output}]:
        for node in unread:
            graph.node.remove(node)
        read = {name for node in graph.node for name in node.input}


class Images(CalibrationDataReader):
    """Images for the quantiser, one after the other."""

    def __init__(self, images):
        self.rest = iter(images)

    def get_next(self):
        image = next(self.rest, None)
        return None if image is None else {"input": image}


def put_back(graph, names, clips):
    """Relu or Clip behind some nodes again: the quantiser leaves it out where bytes do its work. Other files have it.

    The first Clip of the file has the greatest value that a byte stands for as its bound, the second none, and so on.
    """
    constants = {it.name: numpy_helper.to_array(it) for it in graph.initializer}
    quantise = {node.input[0]: node for node in graph.node if node.op_type == "QuantizeLinear"}
    greatest = sorted(clips)[::2]
    for number, node in reversed(list(enumerate(graph.node))):
        if node.name in names | clips:
            made = node.output[0]
            node.output[0] = made + ".sum"
            inputs, name = [made + ".sum"], node.name
            if name in clips:
                bounds = [0.0] + [255 * constants[quantise[made].input[1]]] * (name in greatest)
                for bound, value in zip(["min", "max"], bounds):
                    graph.initializer.append(numpy_helper.from_array(np.asarray(value, np.float32), f"{name}.{bound}"))
                    inputs.append(f"{name}.{bound}")
            operator = "Clip" if name in clips else "Relu"
            graph.node.insert(number + 1, helper.make_node(operator, inputs, [made], f"{name}.{operator.lower()}"))


def main():
    weights, images, network, out = sys.argv[1:5]
    images = np.fromfile(images, np.uint8)[: 784 * 1000].reshape(1000, 1, 1, 28, 28).astype(np.float32) / np.float32(255)
    made, signed = {"random": stack, "mixed": mixed, "signed": stack}, weights.endswith("signed")
    by_operators = weights == "gated-qop"
    made |= dict.fromkeys(["gated", "gated-signed", "gated-qop"], gated)
    onnx.save(made[weights]() if weights in made else floats(np.load(weights)), "floats.onnx")
    quantize_static("floats.onnx", network, Images(images[:200]), quant_format=QuantFormat.QOperator if by_operators else QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QInt8 if signed else QuantType.QUInt8, weight_type=QuantType.QInt8)
    model = onnx.load(network)
    if weights in {"gated", "gated-signed"}:
        joined(model.graph)
    if weights == "signed":
        for it in model.graph.initializer:
            if it.name == "input_scale":
                it.CopyFrom(numpy_helper.from_array(np.asarray(2 / 255, np.float32), it.name))
            if it.name == "input_zero_point":
                it.CopyFrom(numpy_helper.from_array(np.asarray(-88, np.int8), it.name))
            if it.name == "conv0.b_quantized_scale":
                it.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(it) * np.float32(2), it.name))
    put_back(model.graph, {"c1", "add", "dw"}, {"conv1", "conv2"})
    del model.metadata_props[:], model.graph.value_info[:]
    onnx.save(model, network)
    onnx.checker.check_model(model)
    quantised = lambda node: node.op_type == "QuantizeLinear" or by_operators and node.op_type.startswith("Q")
    made = [node for node in model.graph.node if quantised(node)]
    names = [node.output[0] for node in made]
    options = onnxruntime.SessionOptions()
    # On an x86 processor, groups of signed bytes are fused only if this is allowed; otherwise floats are computed. It needs VNNI.
    option = "session.qdqisint8allowed" if weights == "gated-signed" else "session.x64quantprecision"
    options.add_session_config_entry(option, "1")
    plain = onnxruntime.InferenceSession(network, options)
    constants = {it.name: numpy_helper.to_array(it) for it in model.graph.initializer}
    last = {node.output[0]: node for node in model.graph.node}[model.graph.output[0].name]
    shift = 128 if signed else 0
    scale, zero = constants[last.input[1]], int(constants[last.input[2]]) + shift
    model.graph.output.extend(onnx.helper.make_tensor_value_info(name, TensorProto.INT8 if signed else TensorProto.UINT8, None) for name in names)
    every = onnxruntime.InferenceSession(model.SerializeToString(), options)
    print(names, scale, zero)
    data, logits = b"", b""
    for i, image in enumerate(images):
        found = plain.run(None, {"input": image})[0]
        logits += (np.rint(found / scale) + zero).astype(np.uint8).tobytes()
        if i < 2:
            tensors = [(t.astype(np.int16) + shift).astype(np.uint8) for t in every.run(names, {"input": image})]
            data += b"".join((t.transpose(0, 2, 3, 1) if t.ndim == 4 else t).tobytes() for t in tensors)
    with open(out, "wb") as file:
        file.write(data + logits)


if __name__ == "__main__":
    main()
