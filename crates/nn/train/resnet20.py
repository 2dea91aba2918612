"""Makes ResNet20 for CIFAR-10 as an ONNX file of INT8, with images, out of published weights; it trains nothing.

    python3 resnet20.py resnet20.th cifar10-test-jpeg.zip OUT

The weights are those of Y. Idelbayev (github.com/akamaster/pytorch_resnet_cifar10), the archive has a folder of JPEG files for each class.
`OUT` gets `resnet20.onnx` (the form QDQ, by ONNX Runtime's own quantiser), `images` and `labels` (IDX): 1,000 images, a hundred of each
class; a hundred others calibrate the scales. The pixels are normalised by a convolution of one tap, and the shortcuts that leave out
every other row and column and add empty channels are convolutions of one tap, too; BatchNormalization is folded into weights.
It needs the packages `torch`, `onnx`, `onnxruntime` and `pillow`.
"""

import io
import struct
import sys
import zipfile

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from PIL import Image

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def published(path):
    """The tensors of the file, by name."""
    state = torch.load(path, map_location="cpu", weights_only=False)["state_dict"]
    return {name.removeprefix("module."): tensor.numpy() for name, tensor in state.items()}


def images(archive, first, count):
    """Some images of each class, in turns, with their classes."""
    pixels, labels = [], []
    with zipfile.ZipFile(archive) as files:
        names = {c: sorted(n for n in files.namelist() if f"/{c}/" in n and n.endswith(".jpg")) for c in CLASSES}
        for number in range(first, first + count):
            for label, name in enumerate(CLASSES):
                pixels.append(np.asarray(Image.open(io.BytesIO(files.read(names[name][number]))).convert("RGB")))
                labels.append(label)
    return np.array(pixels, np.uint8), np.array(labels, np.uint8)


def floats(p):
    """The network as floats."""
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array.astype(np.float32)), name))
        return name

    def conv(name, source, w, b, stride=1, groups=1, relu=False):
        k = w.shape[2]
        made = name + ".sum" if relu else name
        inputs = [source, constant(name + ".w", w), constant(name + ".b", b)]
        nodes.append(helper.make_node("Conv", inputs, [made], name, pads=[k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=groups))
        if relu:
            nodes.append(helper.make_node("Relu", [made], [name], name + ".relu"))
        return name

    def folded(weight, norm):
        factor = p[norm + ".weight"] / np.sqrt(p[norm + ".running_var"] + 1e-5)
        return p[weight + ".weight"] * factor[:, None, None, None], p[norm + ".bias"] - p[norm + ".running_mean"] * factor

    source = conv("norm", "input", (1 / DEVIATION).reshape(3, 1, 1, 1), -MEAN / DEVIATION, groups=3)
    source = conv("conv1", source, *folded("conv1", "bn1"), relu=True)
    channels = 16
    for stage in (1, 2, 3):
        for block in (0, 1, 2):
            at = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            made = conv(at + ".conv1", source, *folded(at + ".conv1", at + ".bn1"), stride, relu=True)
            made = conv(at + ".conv2", made, *folded(at + ".conv2", at + ".bn2"))
            if stride == 2:
                w = np.zeros((2 * channels, channels, 1, 1))
                w[channels // 2 + np.arange(channels), np.arange(channels)] = 1
                source = conv(at + ".shortcut", source, w, np.zeros(2 * channels), 2)
                channels *= 2
            nodes.append(helper.make_node("Add", [made, source], [at + ".sum"], at + ".add"))
            nodes.append(helper.make_node("Relu", [at + ".sum"], [at], at + ".relu"))
            source = at
    nodes.append(helper.make_node("GlobalAveragePool", [source], ["gap"], "gap"))
    nodes.append(helper.make_node("Flatten", ["gap"], ["flat"], "flatten", axis=1))
    inputs = ["flat", constant("fc.w", p["linear.weight"]), constant("fc.b", p["linear.bias"])]
    nodes.append(helper.make_node("Gemm", inputs, ["fc"], "fc", transB=1))
    value = lambda name, shape: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "resnet20", [value("input", [1, 3, 32, 32])], [value("fc", [1, 10])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class Reader(CalibrationDataReader):
    """Images for the quantiser, one after the other."""

    def __init__(self, pixels):
        self.rest = iter(as_input(pixels))

    def get_next(self):
        image = next(self.rest, None)
        return None if image is None else {"input": image[None]}


def as_input(pixels):
    """What the network of floats reads, from bytes by row, column and channel."""
    return pixels.transpose(0, 3, 1, 2).astype(np.float32) / np.float32(255)


def main():
    weights, archive, out = sys.argv[1:4]
    onnx.save(floats(published(weights)), f"{out}/resnet20-fp32.onnx")
    pixels, labels = images(archive, 0, 100)
    quantize_static(f"{out}/resnet20-fp32.onnx", f"{out}/resnet20.onnx", Reader(images(archive, 100, 10)[0]), quant_format=QuantFormat.QDQ,
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    with open(f"{out}/images", "wb") as file:
        file.write(struct.pack(">I4I", 0x0804, *pixels.shape) + pixels.tobytes())
    with open(f"{out}/labels", "wb") as file:
        file.write(struct.pack(">II", 0x0801, len(labels)) + labels.tobytes())


if __name__ == "__main__":
    main()
