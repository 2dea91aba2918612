"""Makes the folder of a network out of trained weights: ONNX files in INT8 and FP32, what is known of them, and a README.

    python3 bundle.py DATA OUT/fashion-vgg-s1.npz ../networks/fashion-vgg

`OUT` is what `train_all.py` wrote, with `trainings.jsonl`; the name of the network is that of the folder. It then compares all logits
of 1,000 test images with those that ONNX Runtime computes, prints how many bytes and classes differ, and ends with an error if one
does. It needs `numpy`, the package `onnxruntime` and an x86 processor.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime

from networks import network, sizes
from quantise import IMAGES, integer_forward, quantised
from train import load

HERE = Path(__file__).parent
README = """# {name}

{about}

| file | what it is |
|---|---|
| `{name}.npz` | weights as floats, made by `train/train_all.py` as `{training}` ({epochs} epochs, seed {seed}; numpy alone, so another BLAS gives other bits) |
| `{name}.onnx` | the network in INT8, made of them by `train/quantise.py`, which is exact |
| `{name}-fp32.onnx` | the network in FP32, made of the same weights by `train/float_file.py`, which rounds nothing |
| `accuracy.json` | shares of right images: as floats and in INT8 over all 10,000 test images, and how many of the 1,000 |

The 1,000 images are those of `../fashion/images.zst`, whose README says where they are from. `train/bundle.py` makes this folder and
holds the logits of all of them against ONNX Runtime.
"""
BUILT = {
    "fashion-vgg": "A plain stack: 3x3 convolutions with Relu, 2x2 max pools, a hidden dense layer and one that classifies.",
    "fashion-fire": "Fire modules as in SqueezeNet: a 1x1 convolution, then 1x1 and 3x3 ones side by side whose channels are joined; a 1x1 "
    "convolution\nmakes the classes, and their averages over all positions are the logits.",
}


def about(name, training):
    """Sentences on the layers, their size, and how they were trained."""
    macs, parameters = sizes(network(name))
    built = BUILT[max((known for known in BUILT if name.startswith(known)), key=len)]
    text = f"{built}\nIt has {parameters:,} parameters and {macs:,} multiplications."
    if training["inject"]:
        text += (
            " While it was trained, one random neuron of each convolution's output\nwas replaced, for each image, by a value"
            " uniform from -1 to 1; the gradient does not pass through it."
        )
    if training["alpha"]:
        text += (
            " It was trained by interval bound propagation: the loss has the\nshare "
            f"{training['alpha']} of the worst case of all images whose pixels (from 0 to 1) differ by at most {training['eps']}."
        )
    return text


def differing(name, data, folder):
    """How many bytes of the logits of test images, and how many classes, are not those of ONNX Runtime."""
    layers, p = network(name), dict(np.load(folder / f"{name}.npz"))
    images = load(data, "t10k")[0][:IMAGES]
    # Without VNNI, products of u8 and s8 saturate at 16 bits unless weights are made u8 first.
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), options)
    expected = np.concatenate([session.run(None, {"input": image[None, None]})[0] for image in images])
    found = integer_forward(layers, *quantised(layers, p, data), images)[layers[-1].name]
    return int((found != expected).sum()), int((found.argmax(axis=1) != expected.argmax(axis=1)).sum())


def main():
    data, weights, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]).resolve()
    name = folder.name
    lines = [json.loads(line) for line in open(weights.parent / "trainings.jsonl")]
    training = [line for line in lines if line["name"] == weights.stem][-1]
    folder.mkdir(exist_ok=True)
    kept = folder / f"{name}.npz"
    shutil.copyfile(weights, kept)
    subprocess.run([sys.executable, HERE / "quantise.py", data, kept, folder], check=True)
    subprocess.run([sys.executable, HERE / "float_file.py", kept, folder / f"{name}-fp32.onnx"], check=True)
    fields = {"name": name, "training": weights.stem, "about": about(name, training)}
    (folder / "README.md").write_text(README.format(**fields, epochs=training["epochs"], seed=training["seed"]))
    bytes_, classes = differing(name, data, folder)
    print(f"{name}: {bytes_} bytes of logits and {classes} classes of {IMAGES} images differ from ONNX Runtime")
    sys.exit(bytes_ + classes > 0)


if __name__ == "__main__":
    main()
