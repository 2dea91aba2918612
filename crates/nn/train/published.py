"""What `resnet20.py` and `lite0.py` share: published weights, networks of floats, their quantisation, and files of the form IDX.

It needs the packages `numpy`, `onnx` and `onnxruntime`. Weights are read without `torch`.
"""

import collections
import pickle
import struct

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

STORAGES = {"FloatStorage": np.float32, "LongStorage": np.int64}
IDX = {"uint8": 0x08, "int32": 0x0C}


class Pickle(pickle.Unpickler):
    """Reads what `torch.save` wrote before version 1.6. Nothing but tensors and dictionaries is made, whatever the file says."""

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        known = {"OrderedDict": collections.OrderedDict, "_rebuild_tensor": tensor, "_rebuild_tensor_v2": tensor, **STORAGES}
        if name not in known:
            raise pickle.UnpicklingError(f"no weights: {module}.{name}")
        return known[name]

    def persistent_load(self, found):
        """The elements of a tensor, which are not known yet: they follow behind all that is pickled."""
        _, of, key, _, count, _ = found
        return self.storages.setdefault(key, np.zeros(count, of))


def tensor(storage, offset, size, stride, *_):
    """A view of elements."""
    return np.lib.stride_tricks.as_strided(storage[offset:], size, [step * storage.itemsize for step in stride])


def published(file):
    """What an open file of weights has: for those used here, the tensors by name, or a dictionary with them in it."""
    if pickle.load(file) != 0x1950A86A20F9469CFC6C or pickle.load(file) != 1001:
        raise ValueError("no file of weights of the old form of torch.save")
    pickle.load(file)  # the sizes of numbers on the machine that wrote it
    weights = Pickle(file)
    found = weights.load()
    for key in pickle.load(file):
        storage = weights.storages[key]
        assert struct.unpack("<q", file.read(8))[0] == len(storage), key
        storage[:] = np.frombuffer(file.read(storage.nbytes), storage.dtype)
    return found


class Floats:
    """A network of floats that is being written, in the order of its nodes. `p` has published tensors by name."""

    def __init__(self, p, epsilon):
        self.p, self.epsilon, self.nodes, self.constants = p, epsilon, [], []

    def constant(self, name, array):
        """A tensor that the file holds."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(np.asarray(array, np.float32)), name))
        return name

    def node(self, operator, name, inputs, made=None, **attributes):
        """An operator, which makes the tensor `made`, or one of its own name."""
        self.nodes.append(helper.make_node(operator, inputs, [made or name], name, **attributes))
        return made or name

    def conv(self, name, source, w, b, stride=1, groups=1, pads=None, clamp=None):
        """A convolution, padded by half its window if nothing else is said, and behind it `clamp`: an operator and its bounds."""
        k = w.shape[2]
        made = name + ".sum" if clamp else name
        inputs = [source, self.constant(name + ".w", w), self.constant(name + ".b", b)]
        self.node("Conv", name, inputs, made, pads=pads or [k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=groups)
        return self.clamp(name, *clamp) if clamp else made

    def clamp(self, name, operator, *bounds):
        """What clamps the tensor `name.sum`."""
        return self.node(operator, f"{name}.{operator.lower()}", [name + ".sum", *bounds], name)

    def normalise(self, mean, deviation):
        """The convolution of one tap that normalises each channel of the pixels."""
        return self.conv("norm", "input", (1 / deviation).reshape(3, 1, 1, 1), -mean / deviation, groups=3)

    def folded(self, weight, norm):
        """The weights and the biases of a convolution with the BatchNormalization behind it."""
        p = self.p
        factor = p[norm + ".weight"] / np.sqrt(p[norm + ".running_var"] + self.epsilon)
        return p[weight + ".weight"] * factor[:, None, None, None], p[norm + ".bias"] - p[norm + ".running_mean"] * factor

    def classify(self, source, weight):
        """The mean of each channel, and the logits."""
        self.node("GlobalAveragePool", "gap", [source])
        self.node("Flatten", "flatten", ["gap"], "flat", axis=1)
        w, b = self.p[weight + ".weight"], self.p[weight + ".bias"]
        self.node("Gemm", "fc", ["flat", self.constant("fc.w", w), self.constant("fc.b", b)], transB=1)

    def model(self, name, size, classes):
        """The network, which reads three channels of `size` by `size` pixels."""
        value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        graph = helper.make_graph(self.nodes, name, [value("input", [1, 3, size, size])], [value("fc", [1, classes])], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class Reader(CalibrationDataReader):
    """Images for the quantiser, one after the other."""

    def __init__(self, pixels):
        self.rest = iter(pixels)

    def get_next(self):
        image = next(self.rest, None)
        return None if image is None else {"input": as_input(image[None])}


def as_input(pixels):
    """What the network of floats reads, from bytes by row, column and channel."""
    return pixels.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255)


def write(out, model, calibration, pixels, labels):
    """Writes a network of floats, the network of INT8 that it becomes by the calibrating images, and images with their labels."""
    path = f"{out}/{model.graph.name}"
    onnx.save(model, path + "-fp32.onnx")
    quantize_static(path + "-fp32.onnx", path + ".onnx", Reader(calibration), quant_format=QuantFormat.QDQ,
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    write_idx(f"{out}/images", pixels)
    write_idx(f"{out}/labels", labels)


def write_idx(path, array):
    """Writes an array in the form IDX, the most significant byte of each number first."""
    with open(path, "wb") as file:
        file.write(struct.pack(f">HBB{array.ndim}I", 0, IDX[array.dtype.name], array.ndim, *array.shape))
        file.write(array.astype(array.dtype.newbyteorder(">")).tobytes())
