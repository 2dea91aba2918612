"""Trains the network `fashion` on Fashion-MNIST with numpy alone, as floats, and keeps it as `fashion.npz`.

    apt-get download dataset-fashion-mnist && dpkg -x dataset-fashion-mnist*.deb DATA
    python3 fashion.py DATA/usr/share/datasets/fashion-mnist fashion.npz --epochs 8
    python3 quantise.py DATA/usr/share/datasets/fashion-mnist fashion.npz ../networks/fashion

Tensors lie as (image, row, column, channel); filters as (row, column, channel, filter), those of the depthwise layer as
(row, column, channel). Padding is 1 on all sides of 3x3 filters. Another BLAS gives other bits, about the same accuracy.
"""

import argparse
import gzip
import time

import numpy as np

# Name, kind, filter, stride, channels in, channels out, whether Relu follows.
LAYERS = [
    ("c1", "conv", 3, 1, 1, 8, True),
    ("c2", "conv", 3, 2, 8, 16, True),
    ("c3", "conv", 3, 1, 16, 16, True),
    ("c4", "conv", 3, 1, 16, 16, False),  # the output of c2 is added, then Relu
    ("dw", "depthwise", 3, 2, 16, 16, True),
    ("pw", "conv", 1, 1, 16, 32, True),
    ("c5", "conv", 3, 1, 32, 32, True),
]


def idx(path):
    """An IDX file of bytes, as the data set has them."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    dims = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * len(dims)).reshape(dims)


def load(folder, part):
    """Images as bytes (image, row, column), and their labels."""
    return idx(f"{folder}/{part}-images-idx3-ubyte.gz"), idx(f"{folder}/{part}-labels-idx1-ubyte.gz")


def windows(x, k, stride):
    """What each filter position reads: (image, row, column, filter row, filter column, channel)."""
    if k > 1:
        x = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(1, 2))
    return view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def unwindow(d, shape, k, stride):
    """Adds what `windows` took apart back together."""
    n, h, w, c = shape
    pad = k // 2
    out = np.zeros((n, h + 2 * pad, w + 2 * pad, c), np.float32)
    rows, columns = d.shape[1:3]
    for r in range(k):
        for s in range(k):
            out[:, r : r + stride * rows : stride, s : s + stride * columns : stride] += d[:, :, :, r, s]
    return out[:, pad : pad + h, pad : pad + w]


def initial(rng):
    """Random weights of He's deviation, biases of zero."""
    p = {}
    for name, kind, k, _, cin, cout, _ in LAYERS:
        shape = (k, k, cin) if kind == "depthwise" else (k, k, cin, cout)
        fan = k * k * (1 if kind == "depthwise" else cin)
        p[name + ".w"] = (rng.standard_normal(shape) * np.sqrt(2 / fan)).astype(np.float32)
        p[name + ".b"] = np.zeros(cout, np.float32)
    p["fc.w"] = (rng.standard_normal((32, 10)) * np.sqrt(1 / 32)).astype(np.float32)
    p["fc.b"] = np.zeros(10, np.float32)
    return p


def forward(p, x, keep=None):
    """All tensors by the names of their layers; `keep` takes what the way back needs."""
    t = {"input": x}
    h = x
    for name, kind, k, stride, cin, cout, relu in LAYERS:
        cols = windows(h, k, stride)
        if kind == "depthwise":
            cols = np.ascontiguousarray(cols)
            y = np.einsum("nyxrsc,rsc->nyxc", cols, p[name + ".w"]) + p[name + ".b"]
        else:
            cols = cols.reshape(*cols.shape[:3], -1)
            y = cols @ p[name + ".w"].reshape(-1, cout) + p[name + ".b"]
        if keep is not None:
            keep[name] = (cols, h.shape)
        t[name] = np.maximum(y, 0) if relu else y
        h = t[name]
        if name == "c4":
            t["add"] = h = np.maximum(y + t["c2"], 0)
    t["gap"] = h.mean(axis=(1, 2))
    t["fc"] = t["gap"] @ p["fc.w"] + p["fc.b"]
    return t


def gradients(p, x, labels):
    """The mean loss of a batch and its gradients."""
    keep = {}
    t = forward(p, x, keep)
    n = len(x)
    e = np.exp(t["fc"] - t["fc"].max(axis=1, keepdims=True))
    soft = e / e.sum(axis=1, keepdims=True)
    loss = -np.log(soft[np.arange(n), labels] + 1e-12).mean()
    soft[np.arange(n), labels] -= 1
    d = (soft / n).astype(np.float32)
    g = {"fc.w": t["gap"].T @ d, "fc.b": d.sum(axis=0)}
    last = t["c5"].shape
    d = np.broadcast_to((d @ p["fc.w"].T / (last[1] * last[2]))[:, None, None], last)
    skip = None
    for name, kind, k, stride, cin, cout, relu in reversed(LAYERS):
        if name == "c4":
            d = d * (t["add"] > 0)
            skip = d
        if name == "c2":
            d = d + skip
        if relu:
            d = d * (t[name] > 0)
        cols, shape = keep[name]
        g[name + ".b"] = d.sum(axis=(0, 1, 2))
        w = p[name + ".w"]
        if kind == "depthwise":
            g[name + ".w"] = np.einsum("nyxrsc,nyxc->rsc", cols, d)
            back = d[:, :, :, None, None, :] * w
        else:
            flat = d.reshape(-1, cout)
            g[name + ".w"] = (cols.reshape(-1, cols.shape[-1]).T @ flat).reshape(w.shape)
            back = (flat @ w.reshape(-1, cout).T).reshape(*d.shape[:3], k, k, cin) if name != "c1" else None
        if name != "c1":
            d = unwindow(back, shape, k, stride)
    return loss, g


def accuracy(p, images, labels):
    """The share of images whose class is right."""
    right = 0
    for i in range(0, len(images), 500):
        x = images[i : i + 500, :, :, None].astype(np.float32) / np.float32(255)
        right += (forward(p, x)["fc"].argmax(axis=1) == labels[i : i + 500]).sum()
    return right / len(images)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("data")
    args.add_argument("out")
    args.add_argument("--epochs", type=int, default=8)
    args.add_argument("--seed", type=int, default=1)
    args = args.parse_args()
    images, labels = load(args.data, "train")
    test_images, test_labels = load(args.data, "t10k")
    rng = np.random.default_rng(args.seed)
    p = initial(rng)
    m = {k: np.zeros_like(v) for k, v in p.items()}
    v = {k: np.zeros_like(v) for k, v in p.items()}
    batch, step = 64, 0
    steps = args.epochs * (len(images) // batch)
    for epoch in range(args.epochs):
        start = time.time()
        order = rng.permutation(len(images))
        total = 0.0
        for i in range(0, len(images) - batch + 1, batch):
            chosen = order[i : i + batch]
            x = images[chosen, :, :, None].astype(np.float32) / np.float32(255)
            mirrored = rng.random(batch) < 0.5
            x[mirrored] = x[mirrored, :, ::-1]
            loss, g = gradients(p, x, labels[chosen])
            total += loss
            step += 1
            # Adam; the rate rises over the first steps and falls as a cosine.
            rate = 3e-3 * min(1, step / 200) * (0.5 + 0.5 * np.cos(np.pi * step / steps))
            for key in p:
                m[key] += 0.1 * (g[key] - m[key])
                v[key] += 0.001 * (g[key] ** 2 - v[key])
                fix = np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                p[key] -= (rate * fix * m[key] / (np.sqrt(v[key]) + 1e-8)).astype(np.float32)
        share = accuracy(p, test_images, test_labels)
        print(f"epoch {epoch + 1}: loss {total / (len(images) // batch):.4f}, test {share:.4f}, {time.time() - start:.0f} s", flush=True)
        np.savez(args.out, **p)


if __name__ == "__main__":
    main()
