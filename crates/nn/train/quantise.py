"""Quantises `fashion.npz` to INT8 and writes what the crate has of it: the network as ONNX, test images, what is known of both.

    python3 quantise.py DATA fashion.npz ../networks/fashion

Activations are affine for each tensor, from the least and largest value over training images, with the zero point 0 after Relu;
weights are symmetric for each filter, -127 to 127; biases have 32 bits at the product of both scales. From the weights on the
result is exact: the same file gives the same network. It needs numpy, and the package `zstandard` for the images.
"""

import hashlib
import json
import sys

import numpy as np

from fashion import LAYERS, accuracy, forward, load, windows
from onnx_file import Graph

CALIBRATION, IMAGES = 2000, 1000
RELU = {"c1", "c2", "c3", "add", "dw", "pw", "c5", "gap"}


def ranges(p, images):
    """The least and the largest value of each tensor."""
    low, high = {}, {}
    for i in range(0, len(images), 500):
        tensors = forward(p, images[i : i + 500, :, :, None].astype(np.float32) / np.float32(255))
        for name, t in tensors.items():
            low[name] = min(low.get(name, 0.0), float(t.min()))
            high[name] = max(high.get(name, 0.0), float(t.max()))
    return low, high


def activation(name, low, high):
    """Scale and zero point of a tensor; zero is a value that it can have."""
    if name == "input":
        return np.float32(1) / np.float32(255), 0
    if name in RELU:
        return np.float32(high[name] / 255), 0
    scale = np.float32((high[name] - low[name]) / 255)
    return scale, int(np.clip(np.rint(-low[name] / scale), 0, 255))


def quantise_weights(w, b, sx):
    """Bytes, a scale for each filter (the last axis), and biases."""
    largest = np.abs(w).reshape(-1, w.shape[-1]).max(axis=0)
    scale = (np.maximum(largest, 1e-8) / 127).astype(np.float32)
    q = np.clip(np.rint(w / scale), -127, 127).astype(np.int8)
    return q, scale, np.rint(b / (np.float32(sx) * scale)).astype(np.int32)


def requantise(acc, m, zero):
    """The byte of an accumulator; product and rounding in 32 bits."""
    return np.clip(np.rint(acc.astype(np.float32) * m) + np.float32(zero), 0, 255).astype(np.uint8)


def fma(a, b, c):
    """a*b + c of 32 bits, rounded once: the product is exact in 64 bits, and ties after that are too rare to meet here."""
    return (a.astype(np.float64) * np.float64(b) + np.float64(c)).astype(np.float32)


def add(a, b, qa, qb, qc):
    """ONNX Runtime's QLinearAdd on x86."""
    (sa, za), (sb, zb), (sc, zc) = qa, qb, qc
    ra, rb = np.float32(sa) / np.float32(sc), np.float32(sb) / np.float32(sc)
    fixed = np.float32(zc) - fma(np.float32(za), ra, np.float32(zb) * rb)
    inner = (b.astype(np.float64) * np.float64(rb) + np.float64(fixed)).astype(np.float32)
    return np.clip(np.rint((a.astype(np.float64) * np.float64(ra) + inner.astype(np.float64)).astype(np.float32)), 0, 255).astype(np.uint8)


def integer_forward(net, q, images):
    """All tensors of images as bytes, by integers alone."""
    t = {"input": images[:, :, :, None]}
    h, source = t["input"], "input"
    for name, kind, k, stride, cin, cout, _ in LAYERS:
        w, scale, b = net[name]
        (sx, zx), (sy, zy) = q[source], q[name]
        # 64 bits of floating point hold these integers exactly; the padding of x - zx is zero.
        cols = windows(h.astype(np.float64) - zx, k, stride)
        if kind == "depthwise":
            acc = np.einsum("nyxrsc,rsc->nyxc", cols, w.astype(np.float64))
        else:
            acc = cols.reshape(*cols.shape[:3], -1) @ w.reshape(-1, cout).astype(np.float64)
        m = (np.float32(sx) * scale) / np.float32(sy)
        t[name] = h = requantise((acc + b).astype(np.int32), m, zy)
        source = name
        if name == "c4":
            t["add"] = h = add(t["c4"], t["c2"], q["c4"], q["c2"], q["add"])
            source = "add"
    total = h.astype(np.int32).sum(axis=(1, 2))
    (sx, zx), (sy, zy) = q["c5"], q["gap"]
    n = h.shape[1] * h.shape[2]
    t["gap"] = requantise(total - n * zx, np.float32(sx) / (np.float32(sy) * np.float32(n)), zy)
    w, scale, b = net["fc"]
    acc = (t["gap"].astype(np.int32) - q["gap"][1]) @ w.astype(np.int32) + b
    t["fc"] = requantise(acc, (np.float32(q["gap"][0]) * scale) / np.float32(q["fc"][0]), q["fc"][1])
    return t


def write(net, q, path):
    """The network in operators that compute with integers."""
    g = Graph("fashion")
    g.input("input", [1, 1, 28, 28])
    for name, (scale, zero) in q.items():
        g.constant(name + ".scale", np.array(scale, np.float32))
        g.constant(name + ".zero", np.array(zero, np.uint8))
    affine = lambda name: [name, name + ".scale", name + ".zero"]
    source = "input"
    for name, kind, k, stride, cin, cout, _ in LAYERS:
        w, scale, b = net[name]
        filters = w[:, :, None, :] if kind == "depthwise" else w
        g.constant(name + ".weight", np.ascontiguousarray(filters.transpose(3, 2, 0, 1)))
        g.constant(name + ".weight.scale", scale)
        g.constant(name + ".weight.zero", np.array(0, np.int8))
        g.constant(name + ".bias", b)
        inputs = affine(source) + [name + ".weight", name + ".weight.scale", name + ".weight.zero", name + ".scale", name + ".zero", name + ".bias"]
        groups = cin if kind == "depthwise" else 1
        g.node("QLinearConv", name, inputs, name, pads=[k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=groups)
        source = name
        if name == "c4":
            g.node("QLinearAdd", "add", affine("c4") + affine("c2") + ["add.scale", "add.zero"], "add", domain="com.microsoft")
            source = "add"
    g.node("QLinearGlobalAveragePool", "gap", affine("c5") + ["gap.scale", "gap.zero"], "gap", domain="com.microsoft", channels_last=0)
    g.node("Flatten", "flatten", ["gap"], "flat", axis=1)
    w, scale, b = net["fc"]
    g.constant("fc.weight", w)
    g.constant("fc.weight.scale", scale)
    g.constant("fc.weight.zero", np.zeros(10, np.int8))
    g.constant("fc.bias", b)
    inputs = ["flat", "gap.scale", "gap.zero", "fc.weight", "fc.weight.scale", "fc.weight.zero", "fc.bias", "fc.scale", "fc.zero"]
    g.node("QGemm", "fc", inputs, "fc", domain="com.microsoft", transB=0)
    g.output("fc", [1, 10])
    g.write(path)


def share(net, q, images, labels):
    """The share of images whose class is right; the first of equal logits counts."""
    right = 0
    for i in range(0, len(images), 500):
        right += int((integer_forward(net, q, images[i : i + 500])["fc"].argmax(axis=1) == labels[i : i + 500]).sum())
    return right


def main():
    data, weights, out = sys.argv[1:4]
    p = dict(np.load(weights))
    low, high = ranges(p, load(data, "train")[0][:CALIBRATION])
    q = {name: activation(name, low, high) for name in low}
    net, source = {}, "input"
    for name, _, _, _, _, _, _ in LAYERS:
        net[name] = quantise_weights(p[name + ".w"], p[name + ".b"], q[source][0])
        source = "add" if name == "c4" else name
    net["fc"] = quantise_weights(p["fc.w"], p["fc.b"], q["gap"][0])
    write(net, q, f"{out}/fashion.onnx")
    images, labels = load(data, "t10k")
    import zstandard

    packed = images[:IMAGES].tobytes() + labels[:IMAGES].tobytes()
    with open(f"{out}/images.zst", "wb") as file:
        file.write(zstandard.ZstdCompressor(level=19).compress(packed))
    about = {
        "float": round(float(accuracy(p, images, labels)), 4),
        "int8": share(net, q, images, labels) / len(images),
        "bundled_images": IMAGES,
        "bundled_right": share(net, q, images[:IMAGES], labels[:IMAGES]),
        "weights_sha256": hashlib.sha256(open(weights, "rb").read()).hexdigest(),
    }
    with open(f"{out}/accuracy.json", "w") as file:
        file.write(json.dumps(about, indent=2) + "\n")
    print(about)


if __name__ == "__main__":
    main()
