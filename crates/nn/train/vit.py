"""Trains a small vision transformer on Fashion-MNIST with torch and exports it to ONNX in FP32, as the folder of a bundled network.

    apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist*.deb DATA
    python3 vit.py DATA/usr/share/datasets/fashion-mnist ../networks/fashion-vit --epochs 6

It needs the packages `numpy`, `torch`, `onnx` and `onnxruntime`. The exporter is the classic one (`dynamo=False`) with opset 17. Another
machine or version of torch gives other bits, about the same accuracy. With `--weights FILE` it trains nothing, and exports these.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from torch import nn

from train import BATCH, load

IMAGES = 1000
STEP = 7
# Operators that move elements; a layer moves them where a product needs that.
MOVING = ("Constant", "Identity", "Shape", "Slice", "Concat", "Reshape", "Transpose", "Split", "Squeeze")
README = """# fashion-vit

A vision transformer: patches of 4x4 pixels become 49 tokens of {dim} numbers, to which a learned position is added; two blocks of
attention with 4 heads and of two dense layers with GELU between them, each behind a LayerNormalization, are added to what they read; the
average of all tokens is classified. It has {parameters:,} parameters.

| file | what it is |
|---|---|
| `fashion-vit-fp32.onnx` | the network in FP32, trained and exported by `train/vit.py` ({epochs} epochs, seed {seed}, torch {torch}, opset 17) |
| `onnxruntime-fp32.zst` | what ONNX Runtime {ort} makes of the 1,000 images: of two images each {step}th element of the tensor of each layer of Beamline, as stored, then the logits of all; FP32, zstd |
| `accuracy.json` | the share of right images over all 10,000 test images, and how many of the 1,000 |

The 1,000 images are those of `../fashion/images.zst`, whose README says where they are from. The network has no form in INT8.
"""


class Attention(nn.Module):
    """Attention of all tokens to all tokens, in heads."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).reshape(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        shares = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.out((shares @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    """Attention and two dense layers, each added to what it reads."""

    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.dense = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.dense(self.norm2(x))


class Vit(nn.Module):
    """Patches, tokens, blocks, the average of all tokens, classes."""

    def __init__(self, dim=64, heads=4, blocks=2):
        super().__init__()
        self.patches = nn.Conv2d(1, dim, 4, stride=4)
        self.positions = nn.Parameter(0.02 * torch.randn(1, 49, dim))
        self.blocks = nn.Sequential(*(Block(dim, heads) for _ in range(blocks)))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


def pixels(images):
    """Bytes (image, row, column) as numbers from 0 to 1 (image, channel, row, column)."""
    return torch.from_numpy(images[:, None].astype(np.float32) / np.float32(255))


def right(model, images, labels):
    """Which images it classifies right."""
    with torch.no_grad():
        classes = torch.cat([model(pixels(images[i : i + 500])).argmax(dim=1) for i in range(0, len(images), 500)])
    return classes.numpy() == labels


def train(data, epochs, seed):
    """A trained network."""
    # One thread adds in one order, and is faster than several for products this small.
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    images, labels = load(data, "train")
    tests = load(data, "t10k")
    rng = np.random.default_rng(seed)
    model = Vit()
    steps = epochs * (len(images) // BATCH)
    adam = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.02)
    # The rate rises over the first steps and falls as a cosine.
    rate = torch.optim.lr_scheduler.LambdaLR(adam, lambda s: min(1, (s + 1) / 300) * (0.5 + 0.5 * np.cos(np.pi * s / steps)))
    for epoch in range(epochs):
        start, total = time.time(), 0.0
        order = rng.permutation(len(images))
        for i in range(0, len(images) // BATCH * BATCH, BATCH):
            chosen = order[i : i + BATCH]
            x = pixels(images[chosen])
            mirrored = torch.from_numpy(rng.random(BATCH) < 0.5)
            x[mirrored] = x[mirrored].flip(-1)
            loss = nn.functional.cross_entropy(model(x), torch.from_numpy(labels[chosen].astype(np.int64)))
            adam.zero_grad()
            loss.backward()
            adam.step()
            rate.step()
            total += loss.item()
        share = right(model, *tests).mean()
        print(f"epoch {epoch + 1}: loss {total / (len(images) // BATCH):.4f}, test {share:.4f}, {time.time() - start:.1f} s", flush=True)
    return model


def layers(graph):
    """The tensors that layers of Beamline make, in their order: constants that are added to a product belong to it, and a constant
    factor to the layer before it."""
    constants = {tensor.name for tensor in graph.initializer} | {n.output[0] for n in graph.node if n.op_type == "Constant"}
    readers = {name: node for node in graph.node for name in node.input}
    names = []
    for node in graph.node:
        made = node.output[0]
        reader = readers.get(made, node)
        if (node.op_type, reader.op_type) in (("MatMul", "Add"), ("Mul", "Mul")) and constants & set(reader.input):
            continue
        if node.name.endswith("/MatMul_1"):
            names.append(made.replace("MatMul_1", "Squeeze_2"))
        if node.op_type not in MOVING or node.name.endswith(("/Transpose_1", "/Reshape_1")):
            names.append(made)
    return names


def vectors(file, images):
    """Tensors of two images and the logits of all, as ONNX Runtime makes them."""
    x = [pixels(image[None]).numpy() for image in images]
    plain = onnxruntime.InferenceSession(str(file))
    logits = np.concatenate([plain.run(None, {"input": image})[0] for image in x])
    model = onnx.load(file)
    names = layers(model.graph)
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name != "logits")
    every = onnxruntime.InferenceSession(model.SerializeToString())
    tensors = [t for image in x[:2] for t in every.run(names, {"input": image})]
    # The convolution alone makes rows and columns, which are stored position by position.
    stored = [t.transpose(0, 2, 3, 1) if t.shape == (1, 64, 7, 7) else t for t in tensors]
    return logits, b"".join(t.reshape(-1)[::STEP].astype("<f4").tobytes() for t in stored) + logits.astype("<f4").tobytes()


def main():
    args = argparse.ArgumentParser()
    args.add_argument("data")
    args.add_argument("folder", type=Path)
    args.add_argument("--epochs", type=int, default=6)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--weights")
    args = args.parse_args()
    folder = args.folder
    folder.mkdir(exist_ok=True, parents=True)
    if args.weights:
        model = Vit()
        model.load_state_dict(torch.load(args.weights))
    else:
        model = train(args.data, args.epochs, args.seed)
        torch.save(model.state_dict(), folder / "fashion-vit.pt")
    model.eval()
    file = folder / "fashion-vit-fp32.onnx"
    torch.onnx.export(
        model, torch.zeros(1, 1, 28, 28), file, input_names=["input"], output_names=["logits"], opset_version=17, dynamo=False
    )
    images, labels = load(args.data, "t10k")
    found = right(model, images, labels)
    logits, written = vectors(file, images[:IMAGES])
    (folder / "onnxruntime-fp32").write_bytes(written)
    same = int((logits.argmax(axis=1) == labels[:IMAGES]).sum())
    accuracy = {"float": round(float(found.mean()), 4), "float_of_1000": same}
    (folder / "accuracy.json").write_text(json.dumps(accuracy) + "\n")
    fields = {"dim": model.head.in_features, "parameters": sum(p.numel() for p in model.parameters()), "torch": torch.__version__}
    fields |= {"epochs": args.epochs, "seed": args.seed, "ort": onnxruntime.__version__, "step": STEP}
    (folder / "README.md").write_text(README.format(**fields))
    print(f"{accuracy}; compress {folder / 'onnxruntime-fp32'} with zstd -19 --rm")


if __name__ == "__main__":
    main()
