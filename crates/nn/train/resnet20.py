"""Makes ResNet20 for CIFAR-10 as an ONNX file of INT8, with images, out of published weights; it trains nothing.

    python3 resnet20.py resnet20.th cifar10-test-jpeg.zip OUT

The weights are those of Y. Idelbayev (github.com/akamaster/pytorch_resnet_cifar10), the archive has a folder of JPEG files for each class.
`OUT` gets `resnet20.onnx` (the form QDQ, by ONNX Runtime's own quantiser), `images` and `labels` (IDX): 1,000 images, a hundred of each
class; a hundred others calibrate the scales. The pixels are normalised by a convolution of one tap, and the shortcuts that leave out
every other row and column and add empty channels are convolutions of one tap, too; BatchNormalization is folded into weights.
It needs the packages `numpy`, `onnx`, `onnxruntime` and `pillow`.
"""

import io
import sys
import zipfile

import numpy as np
from PIL import Image

from published import Floats, published, write

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
RELU = ["Relu"]


def weights(path):
    """The tensors of the file, by name."""
    with open(path, "rb") as file:
        return {name.removeprefix("module."): tensor for name, tensor in published(file)["state_dict"].items()}


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


def network(p):
    """The network as floats."""
    net = Floats(p, 1e-5)
    source = net.normalise(MEAN, DEVIATION)
    source = net.conv("conv1", source, *net.folded("conv1", "bn1"), clamp=RELU)
    channels = 16
    for stage in (1, 2, 3):
        for block in (0, 1, 2):
            at = f"layer{stage}.{block}"
            stride = 2 if stage > 1 and block == 0 else 1
            made = net.conv(at + ".conv1", source, *net.folded(at + ".conv1", at + ".bn1"), stride, clamp=RELU)
            made = net.conv(at + ".conv2", made, *net.folded(at + ".conv2", at + ".bn2"))
            if stride == 2:
                w = np.zeros((2 * channels, channels, 1, 1))
                w[channels // 2 + np.arange(channels), np.arange(channels)] = 1
                source = net.conv(at + ".shortcut", source, w, np.zeros(2 * channels), 2)
                channels *= 2
            net.node("Add", at + ".add", [made, source], at + ".sum")
            source = net.clamp(at, *RELU)
    net.classify(source, "linear")
    return net.model("resnet20", 32, 10)


def main():
    path, archive, out = sys.argv[1:4]
    write(out, network(weights(path)), images(archive, 100, 10)[0], *images(archive, 0, 100))


if __name__ == "__main__":
    main()
