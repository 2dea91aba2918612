"""Quantises a trained network to INT8 and writes what the crate has of it: the network as ONNX, and what is known of it.

    python3 quantise.py DATA fashion.npz ../networks/fashion

Activations are affine for each tensor, from the least and largest value over training images, with the zero point 0 after Relu;
tensors that a layer joins, and what it makes of them, have one scale, which spans the largest of their ranges; a pool keeps the
scale of what it reads. Weights are symmetric for each filter, -127 to 127; biases have 32 bits at the product of both scales. From
the weights on the result is exact: the same file gives the same network. The test images are written with `fashion` alone, as all
networks share them. It needs numpy, and the package `zstandard` for the images.
"""

import hashlib
import json
import sys

from pathlib import Path

import numpy as np

from floats import forward, moved, windows
from networks import WEIGHTED, network, shapes
from onnx_file import Graph, filters
from train import accuracy, load, pixels

CALIBRATION, IMAGES = 2000, 1000


def ranges(layers, p, images):
    """The least and the largest value of each tensor."""
    low, high = {}, {}
    for i in range(0, len(images), 500):
        for name, t in forward(layers, p, pixels(images[i : i + 500])).items():
            low[name] = min(low.get(name, 0.0), float(t.min()))
            high[name] = max(high.get(name, 0.0), float(t.max()))
    return low, high


def activations(layers, low, high):
    """Scale and zero point of each tensor; zero is a value that it can have."""
    q = {"input": (np.float32(1) / np.float32(255), 0)}
    for joined in (layer for layer in layers if layer.kind == "concat"):
        together = [*joined.inputs, joined.name]
        low |= dict.fromkeys(together, min(low[name] for name in together))
        high |= dict.fromkeys(together, max(high[name] for name in together))
    for name, kind, inputs, *_ in layers:
        scale = np.float32((high[name] - low[name]) / 255)
        keeps = kind in {"maxpool", "flatten"}
        q[name] = q[inputs[0]] if keeps else (scale, int(np.clip(np.rint(-low[name] / scale), 0, 255)))
    return q


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


def sums(layer, w, x):
    """Accumulators without biases; 64 bits of floating point hold these integers exactly."""
    w = w.astype(np.float64)
    if layer.kind == "dense":
        return x @ w
    cols = windows(x, layer.filter, layer.stride)
    if layer.kind == "depthwise":
        return np.einsum("nyxrsc,rsc->nyxc", cols, w)
    return cols.reshape(*cols.shape[:3], -1) @ w.reshape(-1, layer.channels)


def integer_forward(layers, net, q, images):
    """All tensors of images as bytes, by integers alone."""
    t = {"input": images[:, :, :, None]}
    for layer in layers:
        name, kind = layer.name, layer.kind
        reads = [t[source] for source in layer.inputs]
        x, (sx, zx), (sy, zy) = reads[0], q[layer.inputs[0]], q[name]
        if kind in WEIGHTED:
            w, scale, b = net[name]
            # The padding of x - zx is zero.
            acc = sums(layer, w, x.astype(np.float64) - zx)
            t[name] = requantise((acc + b).astype(np.int32), (np.float32(sx) * scale) / np.float32(sy), zy)
        elif kind == "add":
            t[name] = add(*reads, *(q[source] for source in layer.inputs), q[name])
        elif kind == "gap":
            n = x.shape[1] * x.shape[2]
            total = x.astype(np.int32).sum(axis=(1, 2), keepdims=True)
            t[name] = requantise(total - n * zx, np.float32(sx) / (np.float32(sy) * np.float32(n)), zy)
        else:
            t[name] = moved(layer, reads)
    return t


def write(name, layers, net, q, path):
    """The network in operators that compute with integers."""
    g = Graph(name)
    g.input("input", [1, 1, 28, 28])
    flat = {layer.name: layer.inputs[0] for layer in layers if layer.kind == "flatten"}
    for tensor, (scale, zero) in q.items():
        if tensor not in flat:
            g.constant(tensor + ".scale", np.array(scale, np.float32))
            g.constant(tensor + ".zero", np.array(zero, np.uint8))
    meaning = lambda tensor: [flat.get(tensor, tensor) + ".scale", flat.get(tensor, tensor) + ".zero"]
    affine = lambda tensor: [tensor, *meaning(tensor)]
    own = {"domain": "com.microsoft"}
    for layer in layers:
        name, kind, k = layer.name, layer.kind, layer.filter
        inputs = [part for source in layer.inputs for part in affine(source)]
        window = {"strides": [layer.stride] * 2, "kernel_shape": [k, k]}
        if kind in WEIGHTED:
            w, scale, b = net[name]
            g.constant(name + ".weight", w if kind == "dense" else filters(kind, w))
            g.constant(name + ".weight.scale", scale)
            g.constant(name + ".weight.zero", np.zeros(len(scale) if kind == "dense" else (), np.int8))
            g.constant(name + ".bias", b)
            inputs += [name + ".weight", name + ".weight.scale", name + ".weight.zero"]
        if kind == "dense":
            g.node("QGemm", name, inputs + [name + ".bias", *meaning(name)], name, transB=0, **own)
        elif kind in WEIGHTED:
            groups = layer.channels if kind == "depthwise" else 1
            g.node("QLinearConv", name, inputs + [*meaning(name), name + ".bias"], name, pads=[k // 2] * 4, **window, group=groups)
        elif kind == "add":
            g.node("QLinearAdd", name, inputs + meaning(name), name, **own)
        elif kind == "concat":
            g.node("QLinearConcat", name, meaning(name) + inputs, name, axis=1, **own)
        elif kind == "maxpool":
            g.node("MaxPool", name, [layer.inputs[0]], name, **window)
        elif kind == "gap":
            g.node("QLinearGlobalAveragePool", name, inputs + meaning(name), name, channels_last=0, **own)
        else:
            g.node("Flatten", kind, [layer.inputs[0]], name, axis=1)
    g.output(layers[-1].name, [1, *shapes(layers)[layers[-1].name]])
    g.write(path)


def right(layers, net, q, images, labels):
    """How many images have the class that is right; the first of equal logits counts."""
    found = 0
    for i in range(0, len(images), 500):
        logits = integer_forward(layers, net, q, images[i : i + 500])[layers[-1].name]
        found += int((logits.argmax(axis=1) == labels[i : i + 500]).sum())
    return found


def quantised(layers, p, data):
    """Bytes, scales and biases of each layer with weights, and scale and zero point of each tensor."""
    q = activations(layers, *ranges(layers, p, load(data, "train")[0][:CALIBRATION]))
    weighted = [layer for layer in layers if layer.kind in WEIGHTED]
    return {it.name: quantise_weights(p[it.name + ".w"], p[it.name + ".b"], q[it.inputs[0]][0]) for it in weighted}, q


def main():
    data, weights, out = sys.argv[1:4]
    name = Path(weights).stem
    layers, p = network(name), dict(np.load(weights))
    net, q = quantised(layers, p, data)
    write(name, layers, net, q, f"{out}/{name}.onnx")
    images, labels = load(data, "t10k")
    if name == "fashion":
        import zstandard

        packed = images[:IMAGES].tobytes() + labels[:IMAGES].tobytes()
        with open(f"{out}/images.zst", "wb") as file:
            file.write(zstandard.ZstdCompressor(level=19).compress(packed))
    about = {
        "float": round(float(accuracy(layers, p, images, labels)), 4),
        "int8": right(layers, net, q, images, labels) / len(images),
        "bundled_images": IMAGES,
        "bundled_right": right(layers, net, q, images[:IMAGES], labels[:IMAGES]),
        "weights_sha256": hashlib.sha256(open(weights, "rb").read()).hexdigest(),
    }
    with open(f"{out}/accuracy.json", "w") as file:
        file.write(json.dumps(about, indent=2) + "\n")
    print(about)


if __name__ == "__main__":
    main()
