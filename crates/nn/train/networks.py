"""The networks as data: lists of layers, which every other script reads.

A layer has a name, a kind, the names of what it reads, and, where its kind has them, rows (and columns) of its filter, its stride,
how many channels it makes, and whether Relu follows. Padding of a convolution is half its filter on all sides; that of a pool is 0.
A name that begins with that of a network has the layers of that network: `fashion-vgg-robust` has those of `fashion-vgg`.
"""

from collections import namedtuple

INPUT = (28, 28, 1)
KINDS = {"conv", "depthwise", "add", "maxpool", "concat", "gap", "flatten", "dense"}
WEIGHTED = {"conv", "depthwise", "dense"}

Layer = namedtuple("Layer", "name kind inputs filter stride channels relu", defaults=(1, 1, None, False))


def stack(source, *layers):
    """Layers of which each reads the one before, the first of them `source`: (name, kind, further fields)."""
    made = []
    for name, kind, *rest in layers:
        made.append(Layer(name, kind, (source,), *rest))
        source = name
    return made


def fire(name, source, squeeze, expand):
    """A fire module: a 1x1 convolution, then one of 1x1 and one of 3x3 side by side, whose channels are joined."""
    return [
        Layer(name + ".squeeze", "conv", (source,), 1, 1, squeeze, True),
        Layer(name + ".expand1", "conv", (name + ".squeeze",), 1, 1, expand, True),
        Layer(name + ".expand3", "conv", (name + ".squeeze",), 3, 1, expand, True),
        Layer(name, "concat", (name + ".expand1", name + ".expand3")),
    ]


NETWORKS = {
    "fashion": [
        *stack(
            "input",
            ("c1", "conv", 3, 1, 8, True),
            ("c2", "conv", 3, 2, 16, True),
            ("c3", "conv", 3, 1, 16, True),
            ("c4", "conv", 3, 1, 16, False),
        ),
        Layer("add", "add", ("c4", "c2"), relu=True),
        *stack(
            "add",
            ("dw", "depthwise", 3, 2, 16, True),
            ("pw", "conv", 1, 1, 32, True),
            ("c5", "conv", 3, 1, 32, True),
            ("gap", "gap"),
            ("flat", "flatten"),
            ("fc", "dense", 1, 1, 10),
        ),
    ],
    "fashion-vgg": stack(
        "input",
        ("c1", "conv", 3, 1, 8, True),
        ("p1", "maxpool", 2, 2),
        ("c2", "conv", 3, 1, 16, True),
        ("p2", "maxpool", 2, 2),
        ("c3", "conv", 3, 1, 32, True),
        ("c4", "conv", 3, 1, 32, True),
        ("p3", "maxpool", 2, 2),
        ("flat", "flatten"),
        ("fc1", "dense", 1, 1, 64, True),
        ("fc2", "dense", 1, 1, 10),
    ),
    "fashion-fire": [
        *stack("input", ("c1", "conv", 3, 1, 8, True), ("p1", "maxpool", 2, 2)),
        *fire("f1", "p1", 8, 16),
        *fire("f2", "f1", 8, 16),
        Layer("p2", "maxpool", ("f2",), 2, 2),
        *fire("f3", "p2", 16, 32),
        *stack("f3", ("c2", "conv", 1, 1, 10), ("gap", "gap"), ("flat", "flatten")),
    ],
}


def network(name):
    """The layers of a network, or of the one whose name this name begins with."""
    return NETWORKS[max((known for known in NETWORKS if name.startswith(known)), key=len)]


def shapes(layers):
    """What each layer makes of an image: (row, column, channel), or (channel,) once it is flat."""
    made = {"input": INPUT}
    for layer in layers:
        assert layer.kind in KINDS, layer
        first = made[layer.inputs[0]]
        if layer.kind in {"conv", "depthwise", "maxpool"}:
            pad = 0 if layer.kind == "maxpool" else layer.filter // 2
            along = lambda size: (size + 2 * pad - layer.filter) // layer.stride + 1
            made[layer.name] = (along(first[0]), along(first[1]), layer.channels or first[2])
        elif layer.kind == "concat":
            made[layer.name] = (*first[:2], sum(made[source][2] for source in layer.inputs))
        elif layer.kind == "gap":
            made[layer.name] = (1, 1, first[2])
        elif layer.kind == "flatten":
            made[layer.name] = (first[0] * first[1] * first[2],)
        else:
            made[layer.name] = (layer.channels,) if layer.kind == "dense" else first
    return made


def weight_shape(layer, made):
    """(row, column, channel, filter), (row, column, channel) if depthwise, (channel, output) if dense."""
    channels = made[layer.inputs[0]][-1]
    if layer.kind == "dense":
        return channels, layer.channels
    window = (layer.filter, layer.filter, channels)
    return window if layer.kind == "depthwise" else (*window, layer.channels)


def sizes(layers):
    """How many multiplications and parameters a network has."""
    made = shapes(layers)
    macs = parameters = 0
    for layer in layers:
        if layer.kind in WEIGHTED:
            weights = 1
            for size in weight_shape(layer, made):
                weights *= size
            rows_columns = 1 if layer.kind == "dense" else made[layer.name][0] * made[layer.name][1]
            macs += weights * rows_columns
            parameters += weights + layer.channels
    return macs, parameters
