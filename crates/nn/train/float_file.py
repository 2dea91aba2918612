"""Writes `fashion.npz` as an ONNX file of floating point: the same layers as `quantise.py` writes in INT8, nothing rounded.

    python3 float_file.py ../networks/fashion/fashion.npz ../networks/fashion/fashion-fp32.onnx

It needs numpy alone, and the same weights give the same file.
"""

import sys

import numpy as np

from fashion import LAYERS
from onnx_file import Graph


def main():
    weights, out = sys.argv[1:3]
    p = dict(np.load(weights))
    g = Graph("fashion")
    g.input("input", [1, 1, 28, 28], "float32")
    source = "input"
    for name, kind, k, stride, cin, _, relu in LAYERS:
        w = p[name + ".w"]
        filters = w[:, :, None, :] if kind == "depthwise" else w
        g.constant(name + ".weight", np.ascontiguousarray(filters.transpose(3, 2, 0, 1)))
        g.constant(name + ".bias", p[name + ".b"])
        groups = cin if kind == "depthwise" else 1
        made = name + ".sum" if relu else name
        g.node("Conv", name, [source, name + ".weight", name + ".bias"], made, pads=[k // 2] * 4, strides=[stride] * 2, kernel_shape=[k, k], group=groups)
        if relu:
            g.node("Relu", name + ".relu", [made], name)
        source = name
        if name == "c4":
            g.node("Add", "add", ["c4", "c2"], "add.sum")
            g.node("Relu", "add.relu", ["add.sum"], "add")
            source = "add"
    g.node("GlobalAveragePool", "gap", [source], "gap")
    g.node("Flatten", "flatten", ["gap"], "flat", axis=1)
    g.constant("fc.weight", p["fc.w"])
    g.constant("fc.bias", p["fc.b"])
    g.node("Gemm", "fc", ["flat", "fc.weight", "fc.bias"], "fc", transB=0)
    g.output("fc", [1, 10], "float32")
    g.write(out)


if __name__ == "__main__":
    main()
