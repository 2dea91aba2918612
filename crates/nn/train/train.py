"""Trains a network of `networks.py` on Fashion-MNIST with numpy alone, as floats, and keeps it as an `.npz` file.

    apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist*.deb DATA
    python3 train.py fashion DATA/usr/share/datasets/fashion-mnist fashion.npz --epochs 8
    python3 quantise.py DATA/usr/share/datasets/fashion-mnist fashion.npz ../networks/fashion

`--inject` replaces neurons by random values while it trains, and `--alpha` and `--eps` (pixels are from 0 to 1) train for the worst
case within an interval around each image; both leave initial weights, the order of images and the rates as they are. Another BLAS
gives other bits, about the same accuracy.
"""

import argparse
import gzip
import time

import numpy as np

from floats import forward, gradients, initial
from networks import network

BATCH = 64


def idx(path):
    """An IDX file of bytes, as the data set has them."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    dims = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def load(folder, part):
    """Images as bytes (image, row, column), and their labels."""
    return idx(f"{folder}/{part}-images-idx3-ubyte.gz"), idx(f"{folder}/{part}-labels-idx1-ubyte.gz")


def pixels(images):
    """Bytes (image, row, column) as numbers from 0 to 1 (image, row, column, channel)."""
    return images[:, :, :, None].astype(np.float32) / np.float32(255)


def accuracy(layers, p, images, labels):
    """The share of images whose class is right."""
    right = 0
    for i in range(0, len(images), 500):
        logits = forward(layers, p, pixels(images[i : i + 500]))[layers[-1].name]
        right += (logits.argmax(axis=1) == labels[i : i + 500]).sum()
    return right / len(images)


def train(name, data, epochs=8, seed=1, inject=False, alpha=0.0, eps=0.0, batches=None):
    """Weights, and the seconds and the accuracy of each epoch; each epoch may end after some batches."""
    layers = network(name)
    images, labels = load(data, "train")
    tests = load(data, "t10k")
    rng = np.random.default_rng(seed)
    p = initial(layers, rng)
    faults = np.random.default_rng([seed, 1]) if inject else None
    m = {k: np.zeros_like(v) for k, v in p.items()}
    v = {k: np.zeros_like(v) for k, v in p.items()}
    batches = batches or len(images) // BATCH
    steps, step, found = epochs * batches, 0, []
    for epoch in range(epochs):
        start = time.time()
        order = rng.permutation(len(images))
        total = 0.0
        for i in range(0, batches * BATCH, BATCH):
            chosen = order[i : i + BATCH]
            x = pixels(images[chosen])
            mirrored = rng.random(BATCH) < 0.5
            x[mirrored] = x[mirrored, :, ::-1]
            # The worst case comes in from 30 % of all steps on, and has its full weight and interval from 90 % on.
            ramp = min(max((step / steps - 0.3) / 0.6, 0.0), 1.0)
            loss, g = gradients(layers, p, x, labels[chosen], faults, alpha * ramp, eps * ramp)
            total += loss
            step += 1
            # Adam; the rate rises over the first steps and falls as a cosine.
            rate = 3e-3 * min(1, step / 200) * (0.5 + 0.5 * np.cos(np.pi * step / steps))
            for key in p:
                m[key] += 0.1 * (g[key] - m[key])
                v[key] += 0.001 * (g[key] ** 2 - v[key])
                fix = np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                p[key] -= (rate * fix * m[key] / (np.sqrt(v[key]) + 1e-8)).astype(np.float32)
        found.append((time.time() - start, float(accuracy(layers, p, *tests))))
        print(f"{name}: epoch {epoch + 1}: loss {total / batches:.4f}, test {found[-1][1]:.4f}, {found[-1][0]:.1f} s", flush=True)
    return p, found


def main():
    args = argparse.ArgumentParser()
    args.add_argument("name")
    args.add_argument("data")
    args.add_argument("out")
    args.add_argument("--epochs", type=int, default=8)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--inject", action="store_true")
    args.add_argument("--alpha", type=float, default=0.0)
    args.add_argument("--eps", type=float, default=0.0)
    args.add_argument("--batches", type=int)
    args = vars(args.parse_args())
    out = args.pop("out")
    np.savez(out, **train(**args)[0])


if __name__ == "__main__":
    main()
