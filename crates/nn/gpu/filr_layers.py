"""Writes the convolutions of bundled networks, with the filters that FLR makes twice, for `filr_cost.cu`.

    python3 filr_layers.py BEAMLINE [--injections N] [--documents FOLDER] > filr_layers.txt

`BEAMLINE` is the program. It runs `beamline nn filr NETWORK --json`, or reads `FOLDER/NETWORK.json`, where there is one. Strides, pads
and what a convolution reads are those of the ONNX file. It needs no package.
"""

import argparse
import json
import pathlib
import subprocess

NETWORKS = ("fashion", "fashion-vgg", "fashion-fire")
TARGETS = (0.5, 0.9, 0.99)
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "networks"

HEAD = """\
# Made by filr_layers.py, with {} injections into each feature map.
# block NETWORK COVERAGE duplicated-maps all-maps macs-overhead coverage-reached
# conv NAME in-channels height width out-channels kernel-h kernel-w stride-h stride-w pad-h pad-w groups duplicates macs channels
# Coverage: that of FLR by the change of the cross entropy, or the cheapest combination of FILR. Macs: of one inference, without duplicates.
# Channels: those that are made twice."""


def varint(raw, at):
    value = shift = 0
    while True:
        byte = raw[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(raw):
    """The fields of a message of protocol buffers, by number."""
    at = 0
    while at < len(raw):
        key, at = varint(raw, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(raw, at)
        else:
            size, at = varint(raw, at) if kind == 2 else ({1: 8, 5: 4}[kind], at)
            value, at = raw[at : at + size], at + size
        yield key >> 3, value


def all_of(raw, number):
    return [value for key, value in fields(raw) if key == number]


def numbers(attribute):
    """The whole numbers of an attribute, packed or not, or its one."""
    found = []
    for value in all_of(attribute, 8) + all_of(attribute, 3):
        at = 0
        if isinstance(value, int):
            found.append(value)
            continue
        while at < len(value):
            one, at = varint(value, at)
            found.append(one)
    return found


def nodes(path):
    """The operators of an ONNX file: name, type, what it reads, what it makes, attributes."""
    (graph,) = all_of(path.read_bytes(), 7)
    for node in all_of(graph, 1):
        text = lambda number: [value.decode() for value in all_of(node, number)]
        attributes = {all_of(a, 1)[0].decode(): numbers(a) for a in all_of(node, 5)}
        yield text(3)[0], text(4)[0], text(1), text(2)[0], attributes


def convolutions(network, info):
    """Name, and what `filr_cost.cu` reads of each convolution, in the order in which they run."""
    layers = {layer["name"]: layer for layer in info["layers"]}
    found, shapes = {}, {}
    for name, kind, inputs, output, attributes in nodes(FOLDER / network / f"{network}.onnx"):
        if name not in layers:
            continue
        layer = layers[name]
        rows, columns, channels = shapes[output] = layer["shape"]
        if kind != "QLinearConv":
            continue
        # What no operator made is the image.
        height, width, before = shapes.get(inputs[0], (28, 28, 1))
        (kh, kw), groups = attributes["kernel_shape"], attributes.get("group", [1])[0]
        (sh, sw), (top, left, bottom, right) = attributes.get("strides", (1, 1)), attributes.get("pads", (0, 0, 0, 0))
        assert attributes.get("dilations", [1, 1]) == [1, 1]
        assert rows == (height + top + bottom - kh) // sh + 1 and columns == (width + left + right - kw) // sw + 1, name
        assert (top, left) == (bottom, right), f"{name}: pads differ"
        assert layer["macs"] == rows * columns * channels * kh * kw * before // groups, name
        found[name] = (before, height, width, channels, kh, kw, sh, sw, top, left, groups), layer["macs"]
    return found


def block(network, coverage, document, chosen, reached, convs):
    maps = document["maps"]
    twice = sum(maps[number]["macs"] for number in chosen)
    overhead = twice / sum(row["macs"] for row in maps)
    yield f"block {network} {coverage} {len(chosen)} {len(maps)} {overhead:.6f} {reached:.6f}"
    for name, (shape, macs) in convs.items():
        channels = sorted(maps[number]["channel"] for number in chosen if maps[number]["layer"] == name)
        of = ",".join(map(str, channels)) or "-"
        yield " ".join(map(str, ("conv", name, *shape, len(channels), macs, of)))


def blocks(network, document, convs):
    assert {row["layer"] for row in document["maps"]} == set(convs), "feature maps of other layers"
    (curve,) = [curve for curve in document["flr"] if curve["by"] == "loss"]
    for target in TARGETS:
        point = next((point for point in curve["points"] if point["coverage"] >= target), None)
        if point is None:
            yield f"# {network}: no injection changed the class"
            return
        made = list(block(network, target, document, curve["order"][: point["maps"]], point["coverage"], convs))
        assert abs(float(made[0].split()[5]) - point["overhead"]) < 1e-6
        yield from made
    (best,) = [sweep["combination"] for sweep in document["filr"] if sweep["reading"] == "fault_free"]
    if best and best["maps"]:
        yield (
            f"# The combination of FILR: {best['coverage_by_reruns']:.4f} of its coverage is by reruns of {best['reruns']:.4f} of"
            " inferences, which are not timed."
        )
        yield from block(network, "filr", document, best["maps"], best["coverage"], convs)
    else:
        yield f"# {network}: FILR makes no feature map twice"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("beamline")
    parser.add_argument("--injections", type=int, default=2048)
    parser.add_argument("--documents", type=pathlib.Path)
    args = parser.parse_args()

    def run(*words):
        return json.loads(subprocess.run([args.beamline, "nn", *words, "--json"], check=True, stdout=subprocess.PIPE).stdout)

    print(HEAD.format(args.injections))
    for network in NETWORKS:
        kept = args.documents and args.documents / f"{network}.json"
        if kept and kept.exists():
            document = json.loads(kept.read_text())
        else:
            document = run("filr", network, "--injections", str(args.injections))
        assert document["format"] == "beamline.filr/1" and document["injections"]["per_map"] == args.injections
        for line in blocks(network, document, convolutions(network, run("info", network))):
            print(line)


main()
