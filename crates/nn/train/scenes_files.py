"""Makes of `scenes.npz` what the crate has of it: the network in INT8 and as floats, test scenes, what is known of them.

    python3 scenes_files.py DATA ../networks/scenes/scenes.npz ../networks/scenes

Activations are affine for each tensor, from the least and largest value over training scenes, with the zero point 0 after Relu;
weights are symmetric for each filter. From the weights on the result is exact: the same file gives the same network. It needs
numpy, and the package `zstandard` for the scenes.
"""

import hashlib
import json
import sys

import numpy as np

from floats import windows
from onnx_file import Graph
from quantise import quantise_weights, requantise
from scenes import CELLS, LAYERS, SIDE, TESTS, floats, forward, outputs, scenes, scores, test_scenes
from train import load

CALIBRATION, BUNDLED = 1000, 400


def quantised(p, data):
    """Layers as (weights, scale of each filter, biases), and the scale and the zero point of each tensor."""
    pixels, _ = scenes(*load(data, "train"), 1, range(CALIBRATION))
    low, high = {}, {}
    for i in range(0, CALIBRATION, 100):
        for name, t in forward(p, floats(pixels[i : i + 100])).items():
            low[name] = min(low.get(name, 0.0), float(t.min()))
            high[name] = max(high.get(name, 0.0), float(t.max()))
    q = {"input": (np.float32(1) / np.float32(255), 0)}
    net, source = {}, "input"
    for name, *_ in LAYERS:
        # After Relu the least value is zero, and so is the zero point.
        scale = np.float32((high[name] - low[name]) / 255)
        q[name] = scale, int(np.clip(np.rint(-low[name] / scale), 0, 255))
        net[name] = quantise_weights(p[name + ".w"], p[name + ".b"], q[source][0])
        source = name
    return net, q


def integer_forward(net, q, pixels):
    """The output of scenes (scene, row, column, channel) as bytes, by integers alone."""
    h, source = pixels[..., None], "input"
    for name, k, stride, _, cout, _ in LAYERS:
        w, scale, b = net[name]
        (sx, zx), (sy, zy) = q[source], q[name]
        # 64 bits of floating point hold these integers exactly; the padding of x - zx is zero.
        cols = windows(h.astype(np.float64) - zx, k, stride)
        acc = cols.reshape(*cols.shape[:3], -1) @ w.reshape(-1, cout).astype(np.float64) + b
        h, source = requantise(acc.astype(np.int32), (np.float32(sx) * scale) / np.float32(sy), zy), name
    return h


def integer_outputs(net, q, pixels):
    """The outputs of all scenes as bytes (scene, row, column, 15)."""
    return np.concatenate([integer_forward(net, q, pixels[i : i + 100]) for i in range(0, len(pixels), 100)])


def logits(y, q):
    """Outputs of bytes as the floats that they stand for."""
    scale, zero = q["head"]
    return scale * (y.astype(np.float32) - np.float32(zero))


def filters(w):
    """Weights as ONNX has them: (filter, channel, row, column)."""
    return np.ascontiguousarray(w.transpose(3, 2, 0, 1))


def write(net, q, path):
    """The network in operators that compute with integers."""
    g = Graph("scenes")
    g.input("input", [1, 1, SIDE, SIDE])
    for name, (scale, zero) in q.items():
        g.constant(name + ".scale", np.array(scale, np.float32))
        g.constant(name + ".zero", np.array(zero, np.uint8))
    source = "input"
    for name, k, stride, *_ in LAYERS:
        w, scale, b = net[name]
        weight = name + ".weight"
        g.constant(weight, filters(w))
        g.constant(weight + ".scale", scale)
        g.constant(weight + ".zero", np.array(0, np.int8))
        g.constant(name + ".bias", b)
        inputs = [source, source + ".scale", source + ".zero", weight, weight + ".scale", weight + ".zero"]
        inputs += [name + ".scale", name + ".zero", name + ".bias"]
        g.node("QLinearConv", name, inputs, name, pads=[k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=1)
        source = name
    g.output("head", [1, 15, CELLS, CELLS])
    g.write(path)


def write_floats(p, path):
    """The same network in floating point, nothing rounded."""
    g = Graph("scenes")
    g.input("input", [1, 1, SIDE, SIDE], "float32")
    source = "input"
    for name, k, stride, _, _, relu in LAYERS:
        g.constant(name + ".weight", filters(p[name + ".w"]))
        g.constant(name + ".bias", p[name + ".b"])
        made = name + ".sum" if relu else name
        inputs = [source, name + ".weight", name + ".bias"]
        g.node("Conv", name, inputs, made, pads=[k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=1)
        if relu:
            g.node("Relu", name + ".relu", [made], name)
        source = name
    g.output("head", [1, 15, CELLS, CELLS], "float32")
    g.write(path)


def about(y, truth):
    """The scores over all test scenes, and how many of the bundled ones are wholly right."""
    s = scores(y, truth)
    bundled = scores(y[:BUNDLED], truth[:BUNDLED])["whole"]
    return {**{k: round(s[k], 4) for k in ("f1", "precision", "recall")}, "whole": s["whole"], "bundled_whole": bundled}


def main():
    import zstandard

    data, weights, out = sys.argv[1:4]
    p = dict(np.load(weights))
    net, q = quantised(p, data)
    write(net, q, f"{out}/scenes.onnx")
    write_floats(p, f"{out}/scenes-fp32.onnx")
    pixels, truth = test_scenes(data, TESTS)
    packed = pixels[:BUNDLED].tobytes()
    for objects in truth[:BUNDLED]:
        packed += bytes([len(objects)]) + b"".join(bytes(o) for o in objects)
    with open(f"{out}/scenes.zst", "wb") as file:
        file.write(zstandard.ZstdCompressor(level=19).compress(packed))
    known = {
        "float": about(outputs(p, pixels), truth),
        "int8": about(logits(integer_outputs(net, q, pixels), q), truth),
        "test_scenes": TESTS,
        "bundled_scenes": BUNDLED,
        "bundled_objects": sum(len(objects) for objects in truth[:BUNDLED]),
        "weights_sha256": hashlib.sha256(open(weights, "rb").read()).hexdigest(),
    }
    with open(f"{out}/accuracy.json", "w") as file:
        file.write(json.dumps(known, indent=2) + "\n")
    print(known)


if __name__ == "__main__":
    main()
