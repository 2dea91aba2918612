"""Writes a trained network as an ONNX file of floating point: the same layers as `quantise.py` writes in INT8, nothing rounded.

    python3 float_file.py ../networks/fashion/fashion.npz ../networks/fashion/fashion-fp32.onnx

The name of the network is that of the file of weights. It needs numpy alone, and the same weights give the same file.
"""

import sys
from pathlib import Path

import numpy as np

from networks import WEIGHTED, network, shapes
from onnx_file import Graph, filters

OPERATORS = {
    "conv": "Conv",
    "depthwise": "Conv",
    "add": "Add",
    "maxpool": "MaxPool",
    "concat": "Concat",
    "gap": "GlobalAveragePool",
    "flatten": "Flatten",
    "dense": "Gemm",
}


def main():
    weights, out = sys.argv[1:3]
    layers, p = network(Path(weights).stem), dict(np.load(weights))
    g = Graph(Path(weights).stem)
    g.input("input", [1, 1, 28, 28], "float32")
    for name, kind, inputs, k, stride, channels, relu in layers:
        inputs = list(inputs)
        window = {"strides": [stride] * 2, "kernel_shape": [k, k]}
        if kind in WEIGHTED:
            w = p[name + ".w"]
            g.constant(name + ".weight", w if kind == "dense" else filters(kind, w))
            g.constant(name + ".bias", p[name + ".b"])
            inputs += [name + ".weight", name + ".bias"]
        attributes = {
            "conv": {"pads": [k // 2] * 4, **window, "group": channels if kind == "depthwise" else 1},
            "maxpool": window,
            "concat": {"axis": 1},
            "flatten": {"axis": 1},
            "dense": {"transB": 0},
        }
        attributes["depthwise"] = attributes["conv"]
        made = name + ".sum" if relu else name
        g.node(OPERATORS[kind], kind if kind == "flatten" else name, inputs, made, **attributes.get(kind, {}))
        if relu:
            g.node("Relu", name + ".relu", [made], name)
    g.output(layers[-1].name, [1, *shapes(layers)[layers[-1].name]], "float32")
    g.write(out)


if __name__ == "__main__":
    main()
