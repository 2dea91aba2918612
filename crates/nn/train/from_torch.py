"""Writes a PyTorch model as an ONNX file that Beamline reads: in floating point, or quantised to INT8.

    python3 from_torch.py model.py:Net --weights net.pt --images t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz --out net.onnx
    python3 from_torch.py model.py:Net --weights net.pt --images t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz \\
        --int8 --calibration train-images-idx3-ubyte.gz --out net-int8.onnx
    beamline nn campaign net.onnx --images t10k-images-idx3-ubyte.gz --labels t10k-labels-idx1-ubyte.gz

`model.py:Net` is a class or a function without arguments that makes a `torch.nn.Module`, or a module itself. The file is executed. Images are
IDX files of bytes by number, row, column and, in colour, channel; plain or gzip. Beamline feeds byte / 255. What the model was trained on
besides is said by `--mean` and `--std`, one number for all channels or one for each, in units of byte / 255; they become a convolution of one tap
named `normalise`, the first layer of the file. A model that reads bytes from 0 to 255 has `--std 0.00392156862745098`.

BatchNormalization is folded into weights, and operators are written as others that Beamline reads where these make the same values. `--int8`
quantises by ONNX Runtime's quantiser in the form QDQ, by the first images of `--calibration`. Then the file is run by ONNX Runtime and compared
with the model in PyTorch. It needs the packages `torch`, `onnx`, `onnxruntime` and `numpy`.
"""

import argparse
import gzip
import importlib.util
import logging
import math
import shlex
import struct
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import numpy as np
    import onnx
    import onnxruntime
    import torch
    from onnx import helper, numpy_helper
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
except ModuleNotFoundError as missing:
    sys.exit(f"error: the package `{missing.name}` is missing; install torch, onnx, onnxruntime and numpy")

LABELS = {0x801: ">u1", 0xB01: ">i2", 0xC01: ">i4"}


class Wrong(Exception):
    """What the caller has to put right, in one line."""


def first_line(error):
    """What an error says, without its details."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"


def idx(path, kinds):
    """The array in a file of the form IDX, which begins with one of these numbers."""
    try:
        data = Path(path).read_bytes()
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError) as error:
        raise Wrong(f"read {path}: {error}") from None
    magic = int.from_bytes(data[:4], "big")
    if len(data) < 4 or magic not in kinds:
        raise Wrong(f"read {path}: it begins with {magic:#010x}, expected one of {', '.join(f'{kind:#010x}' for kind in kinds)}")
    head = 4 + 4 * (magic & 0xFF)
    if len(data) < head:
        raise Wrong(f"read {path}: it ends within its head")
    sizes = struct.unpack(f">{magic & 0xFF}I", data[4:head])
    of = np.dtype(kinds[magic])
    if len(data) - head != math.prod(sizes) * of.itemsize:
        raise Wrong(f"read {path}: its head says {sizes}, and {len(data) - head} bytes follow")
    return np.frombuffer(data, of, offset=head).reshape(sizes)


def images_of(path):
    """Images as bytes by number, channel, row and column."""
    pixels = idx(path, {0x803: "u1", 0x804: "u1"})
    pixels = pixels[..., None] if pixels.ndim == 3 else pixels
    if not pixels.size:
        raise Wrong(f"read {path}: there are no images")
    return np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))


def floats(pixels):
    """What Beamline feeds a network of floating point."""
    return pixels.astype(np.float32) / np.float32(255)


class Normalised(torch.nn.Module):
    """A model behind the convolution of one tap that normalises each channel of the pixels."""

    def __init__(self, model, channels, mean, std):
        super().__init__()
        self.normalise = torch.nn.Conv2d(channels, channels, 1, groups=channels)
        mean, std = (torch.tensor(it, dtype=torch.float32).expand(channels) for it in (mean, std))
        self.normalise.weight.data = (1 / std).reshape(-1, 1, 1, 1).clone()
        self.normalise.bias.data = (-mean / std).clone()
        self.model = model

    def forward(self, pixels):
        return self.model(self.normalise(pixels))


def load(place, weights):
    """The module that `FILE.py:NAME` makes, with weights from a file, ready for inference."""
    path, _, name = place.rpartition(":")
    if not path or not name:
        raise Wrong(f"{place}: expected FILE.py:NAME")
    path = Path(path)
    if not path.is_file():
        raise Wrong(f"{path}: there is no such file")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None:
        raise Wrong(f"{path}: expected a Python file, whose name ends in .py")
    file = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = file
    try:
        spec.loader.exec_module(file)
    except Exception as error:
        raise Wrong(f"execute {path}: {first_line(error)}") from None
    if not hasattr(file, name):
        made = [key for key, it in vars(file).items() if callable(it) and getattr(it, "__module__", "") == path.stem]
        raise Wrong(f"{path} has no `{name}`; it has {', '.join(made) or 'no functions or classes'}")
    model = getattr(file, name)
    if not isinstance(model, torch.nn.Module):
        try:
            model = model()
        except Exception as error:
            raise Wrong(f"call {name}() without arguments: {first_line(error)}") from None
    if not isinstance(model, torch.nn.Module):
        raise Wrong(f"{name} makes something of the type {type(model).__name__}, expected a torch.nn.Module")
    if weights:
        load_weights(model, weights)
    for key, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise Wrong(f"the weights `{key}` are not all finite")
    return model.float().eval()


def load_weights(model, path):
    """Loads a dictionary of tensors, or one that has it under `state_dict`; `module.` is what a parallel training puts before names."""
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise Wrong(f"read the weights {path}: {error.strerror}") from None
    except Exception as error:
        raise Wrong(f"read the weights {path}: {type(error).__name__}; expected what torch.save makes of a state_dict()") from None
    found = found.get("state_dict", found) if isinstance(found, dict) else found
    if not isinstance(found, dict) or not all(isinstance(it, torch.Tensor) for it in found.values()):
        raise Wrong(f"read the weights {path}: expected a dictionary of tensors, as state_dict() makes")
    found = {key.removeprefix("module."): tensor for key, tensor in found.items()}
    known = model.state_dict()
    few = lambda keys: ", ".join(sorted(keys)[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")
    missing, more = known.keys() - found.keys(), found.keys() - known.keys()
    unlike = [key for key in known.keys() & found.keys() if known[key].shape != found[key].shape]
    for keys, what in (missing, "lacks"), (more, "has what the model does not:"), (unlike, "has other sizes of"):
        if keys:
            raise Wrong(f"the weights {path}: it {what} {few(keys)}")
    model.load_state_dict(found)


def export(model, sample, path):
    """Writes the module for inputs of the size of `sample`, with constants folded."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            torch.onnx.export(model, (sample,), path, dynamo=False, opset_version=13, input_names=["input"], output_names=["logits"])
        except Exception as error:
            raise Wrong(f"export the model: {first_line(error)}") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = path
    try:
        onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        model = onnx.shape_inference.infer_shapes(onnx.load(path), data_prop=True)
    except Exception as error:
        raise Wrong(f"optimise the exported model: {first_line(error)}") from None
    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info]:
        if any(not dim.HasField("dim_value") for dim in value.type.tensor_type.shape.dim):
            makers = [node.op_type for node in graph.node if value.name in node.output]
            raise Wrong(f"`{value.name}`{f', made by {makers[0]},' if makers else ''} has a size that depends on values; "
                        "Beamline reads fixed sizes only")
    return model


class Rewriter:
    """Writes nodes as others that Beamline reads, which make the same values."""

    def __init__(self, model):
        self.model, self.graph = model, model.graph
        values = [*self.graph.input, *self.graph.output, *self.graph.value_info]
        self.shapes = {it.name: [dim.dim_value for dim in it.type.tensor_type.shape.dim] for it in values}
        self.constants = {it.name: numpy_helper.to_array(it) for it in self.graph.initializer}
        read = [name for node in self.graph.node for name in node.input] + [it.name for it in self.graph.output]
        self.once = {name for name in read if read.count(name) == 1}

    def constant(self, name, array):
        """A tensor that the file holds, with a name of its own."""
        while name in self.constants:
            name += "_"
        self.constants[name] = array
        self.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def run(self):
        """Rewrites all nodes, in their order."""
        rewrites = {"BatchNormalization": self.norm, "Reshape": self.reshape, "MatMul": self.matmul, "ReduceMean": self.mean,
                    "MaxPool": self.pool, "AveragePool": self.pool, "Squeeze": self.reshape, "Conv": self.conv}
        made, taken = [], set()
        for node in self.graph.node:
            rewrite = rewrites.get(node.op_type)
            found = rewrite(node) if rewrite else None
            made.extend([node] if found is None else found)
        for node in made:
            # Layers that share weights get copies: the quantiser does not expect them.
            for at, name in enumerate(node.input):
                if name in self.constants and node.op_type in {"Conv", "Gemm"}:
                    node.input[at] = self.constant(name, self.constants[name]) if name in taken else name
                    taken.add(name)
        del self.graph.node[:]
        self.graph.node.extend(made)
        used = {name for node in made for name in node.input}
        kept = [it for it in self.graph.initializer if it.name in used]
        del self.graph.initializer[:], self.graph.value_info[:], self.model.metadata_props[:]
        self.graph.initializer.extend(kept)
        del self.model.opset_import[:]
        self.model.opset_import.append(helper.make_opsetid("", 13))
        self.model.ir_version = 8
        self.graph.name = "torch"
        onnx.checker.check_model(self.model)
        return self.model

    def norm(self, node):
        """BatchNormalization that no convolution before it could take: Gemm takes it, or it becomes a depthwise convolution of one tap."""
        scale, shift, mean, variance = (self.constants[name].astype(np.float64) for name in node.input[1:5])
        epsilon = next((it.f for it in node.attribute if it.name == "epsilon"), 1e-5)
        factor = scale / np.sqrt(variance + epsilon)
        before = next((it for it in self.graph.node if node.input[0] in it.output), None)
        at = {it.name: helper.get_attribute_value(it) for it in before.attribute} if before else {}
        if before and before.op_type == "Gemm" and node.input[0] in self.once and before.input[1] in self.constants and len(before.input) == 3:
            w, b = (self.constants[name].astype(np.float64) for name in before.input[1:])
            w = w * (factor[:, None] if at.get("transB") else factor)
            before.input[1] = self.constant(before.input[1] + ".folded", w.astype(np.float32))
            before.input[2] = self.constant(before.input[2] + ".folded", ((b - mean) * factor + shift).astype(np.float32))
            before.output[0] = node.output[0]
            return []
        if len(self.shapes.get(node.input[0], [])) != 4:
            return None
        w = self.constant(node.output[0] + ".w", factor.reshape(-1, 1, 1, 1).astype(np.float32))
        b = self.constant(node.output[0] + ".b", (shift - mean * factor).astype(np.float32))
        return [helper.make_node("Conv", [node.input[0], w, b], node.output, node.name, kernel_shape=[1, 1], group=len(factor))]

    def conv(self, node):
        """Padding in numbers, where the file says that what is made is as large as what is read."""
        at = {it.name: helper.get_attribute_value(it) for it in node.attribute}
        before, after = (self.shapes.get(name, []) for name in (node.input[0], node.output[0]))
        auto = at.pop("auto_pad", b"NOTSET")
        if auto not in {b"SAME_UPPER", b"SAME_LOWER"} or len(before) != 4 or len(after) != 4:
            return None
        strides, dilations, kernel = (at.get(key, [1, 1]) for key in ("strides", "dilations", "kernel_shape"))
        total = [max(0, (after[2 + i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - before[2 + i]) for i in (0, 1)]
        first = [(it + (auto == b"SAME_LOWER")) // 2 for it in total]
        at["pads"] = first + [total[i] - first[i] for i in (0, 1)]
        return [helper.make_node("Conv", node.input, node.output, node.name, **at)]

    def reshape(self, node):
        """Whatever leaves one row is Flatten."""
        before, after = (self.shapes.get(name, []) for name in (node.input[0], node.output[0]))
        if len(after) == 2 and before[:1] == after[:1] == [1]:
            return [helper.make_node("Flatten", node.input[:1], node.output, node.name, axis=1)]
        return None

    def matmul(self, node):
        """The product of a row and a constant is Gemm."""
        if node.input[1] in self.constants and len(self.shapes.get(node.input[0], [])) == 2:
            return [helper.make_node("Gemm", node.input, node.output, node.name)]
        return None

    def mean(self, node):
        """The mean of rows and columns is GlobalAveragePool."""
        keep = next((it.i for it in node.attribute if it.name == "keepdims"), 1)
        axes = next((list(it.ints) for it in node.attribute if it.name == "axes"), None)
        shape = self.shapes.get(node.input[0], [])
        if axes is None or len(shape) != 4 or sorted(axis % 4 for axis in axes) != [2, 3]:
            return None
        pooled = node.output[0] if keep else node.output[0] + ".pooled"
        nodes = [helper.make_node("GlobalAveragePool", node.input[:1], [pooled], node.name)]
        if not keep:
            nodes.append(helper.make_node("Flatten", [pooled], node.output, node.name + ".flat", axis=1))
        return nodes

    def pool(self, node):
        """Windows of MaxPool that end beyond the input (`ceil_mode`) are padding; those that never do need none."""
        at = {it.name: helper.get_attribute_value(it) for it in node.attribute}
        before, after = (self.shapes.get(name, []) for name in (node.input[0], node.output[0]))
        if not at.get("ceil_mode") or len(before) != 4 or len(after) != 4:
            return None
        kernel, strides, pads = at["kernel_shape"], at.get("strides", [1, 1]), list(at.get("pads", [0] * 4))
        more = [max(0, (after[2 + i] - 1) * strides[i] + kernel[i] - before[2 + i] - pads[i] - pads[2 + i]) for i in (0, 1)]
        if any(more) and node.op_type != "MaxPool":
            return None
        at.update(ceil_mode=0, pads=pads[:2] + [pads[2] + more[0], pads[3] + more[1]])
        return [helper.make_node(node.op_type, node.input, node.output, node.name, **at)]


class Reader(CalibrationDataReader):
    """Images for the quantiser, one after the other."""

    def __init__(self, pixels):
        self.rest = iter(pixels)

    def get_next(self):
        image = next(self.rest, None)
        return None if image is None else {"input": floats(image[None])}


def quantise(source, out, pixels):
    """Quantises a file. The input gets the scale 1/255 and the zero point 0: Beamline feeds bytes as they are."""
    logging.disable(logging.WARNING)
    of_input = dict(quant_type=QuantType.QUInt8, scale=np.array(1 / 255, np.float32), zero_point=np.array(0, np.uint8))
    try:
        quantize_static(source, out, Reader(pixels), quant_format=QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8,
                        weight_type=QuantType.QInt8, extra_options={"TensorQuantOverrides": {"input": [of_input]}})
    except Exception as error:
        raise Wrong(f"quantise the network: {first_line(error)}") from None


def compare(model, path, pixels, labels, int8):
    """Runs PyTorch and ONNX Runtime on images, and prints how much they agree."""
    options = onnxruntime.SessionOptions()
    # Without VNNI, products of u8 and s8 saturate at 16 bits unless weights are made u8 first.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise Wrong(f"run {path} by ONNX Runtime: {first_line(error)}") from None
    ours, theirs = [], []
    with torch.no_grad():
        for image in pixels:
            value = floats(image[None])
            ours.append(model(torch.from_numpy(value)).numpy().ravel())
            theirs.append(session.run(None, {"input": value})[0].ravel())
    ours, theirs = np.array(ours), np.array(theirs)
    if not np.isfinite(ours).all():
        raise Wrong(f"run the model on image {np.argwhere(~np.isfinite(ours))[0][0]}: its logits are not all finite")
    count, apart = len(pixels), np.abs(ours - theirs).max()
    equal = int((ours.argmax(1) == theirs.argmax(1)).sum())
    print(f"PyTorch and ONNX Runtime on {count} images: logits differ by {apart:.3g} at most (the largest is {np.abs(ours).max():.3g}); "
          f"{equal} of {count} classes are equal ({equal / count:.1%})")
    if labels is not None:
        right = [int((it.argmax(1) == labels[:count]).sum()) for it in (ours, theirs)]
        print(f"right by the labels: PyTorch {right[0]} of {count} ({right[0] / count:.2%}), ONNX Runtime {right[1]} ({right[1] / count:.2%})")
    if not int8 and apart > 1e-3 * max(1, np.abs(ours).max()):
        raise Wrong(f"{path} is not the model: logits differ by {apart:.3g}")


def arguments():
    parser = argparse.ArgumentParser(description="Writes a PyTorch model as an ONNX file that Beamline reads.")
    parser.add_argument("model", metavar="FILE.py:NAME", help="a class or function that makes a torch.nn.Module")
    parser.add_argument("--weights", help="a file that torch.save made of its state_dict()")
    parser.add_argument("--images", required=True, help="IDX of bytes, plain or gzip")
    parser.add_argument("--labels", help="IDX of the classes; only printed accuracy needs it")
    parser.add_argument("--out", required=True, help="the ONNX file to write")
    parser.add_argument("--mean", type=float, nargs="+", help="subtracted from byte / 255, for each channel")
    parser.add_argument("--std", type=float, nargs="+", help="what the rest is divided by")
    parser.add_argument("--int8", action="store_true", help="quantise to INT8, in the form QDQ")
    parser.add_argument("--calibration", help="images for the scales of INT8 [default: --images]")
    parser.add_argument("--calibrate", type=int, default=200, metavar="N", help="how many of them [default: 200]")
    parser.add_argument("--check", type=int, default=1000, metavar="N", help="images on which the file is compared [default: 1000]")
    return parser.parse_args()


def main():
    args = arguments()
    if args.calibrate < 1 or args.check < 1:
        raise Wrong("--calibrate and --check: expected at least 1 image")
    if not Path(args.out).parent.is_dir():
        raise Wrong(f"write {args.out}: there is no such folder")
    model = load(args.model, args.weights)
    pixels = images_of(args.images)
    channels = pixels.shape[1]
    labels = idx(args.labels, LABELS) if args.labels else None
    if labels is not None and len(labels) != len(pixels):
        raise Wrong(f"{args.labels} has {len(labels)} labels for {len(pixels)} images")
    if args.mean or args.std:
        mean, std = args.mean or [0.0], args.std or [1.0]
        if {len(mean), len(std)} - {1, channels} or min(std) <= 0:
            raise Wrong(f"--mean and --std: expected one number, or one for each of {channels} channels; those of --std are above 0")
        model = Normalised(model, channels, mean, std).eval()
    sample = torch.from_numpy(floats(pixels[:1]))
    size = " x ".join(map(str, pixels.shape[1:]))
    try:
        with torch.no_grad():
            made = model(sample)
    except Exception as error:
        raise Wrong(f"run the model on an image of {size} (channels, rows, columns): {first_line(error)}") from None
    if not isinstance(made, torch.Tensor) or made.ndim < 2 or made.shape[0] != 1 or made.numel() != made.shape[1] or made.numel() < 2:
        found = f"{list(made.shape)} numbers" if isinstance(made, torch.Tensor) else f"a {type(made).__name__}"
        raise Wrong(f"the model makes {found} of an image of {size}, expected logits: [1, classes]")
    if not torch.isfinite(made).all():
        raise Wrong("run the model on image 0: its logits are not all finite")
    with tempfile.TemporaryDirectory() as folder:
        plain = f"{folder}/floats.onnx"
        network = Rewriter(export(model, sample, plain)).run()
        onnx.save(network, plain if args.int8 else args.out)
        if args.int8:
            calibration = images_of(args.calibration) if args.calibration else pixels
            if calibration.shape[1:] != pixels.shape[1:]:
                raise Wrong(f"{args.calibration} has images of another size than {args.images}")
            quantise(plain, args.out, calibration[: args.calibrate])
    compare(model, args.out, pixels[: args.check], labels, args.int8)
    print("now run: " + shlex.join(["beamline", "nn", "campaign", args.out, "--images", args.images, "--labels", args.labels or "LABELS"]))


if __name__ == "__main__":
    try:
        main()
    except Wrong as error:
        sys.exit(f"from_torch.py: {error}")
