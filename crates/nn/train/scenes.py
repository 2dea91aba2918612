"""Trains the object detector `scenes` on scenes of Fashion-MNIST with numpy alone, as floats, and keeps it as `scenes.npz`.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=1000000000 MALLOC_TRIM_THRESHOLD_=2000000000
    python3 scenes.py DATA/usr/share/datasets/fashion-mnist ../networks/scenes/scenes.npz --threads 4
    python3 scenes_files.py DATA/usr/share/datasets/fashion-mnist ../networks/scenes/scenes.npz ../networks/scenes

DATA is made as `train.py` says. A scene has 64x64 grey pixels: one to four garments, each of 28x28 or of 14x14 pixels, whose
boxes do not overlap, before black with a few dim specks. Training scenes are of training images, test scenes of test images. A
scene depends on its number and the seed alone, so the number of threads, which are processes here, changes only how sums round.
The settings of MALLOC keep memory between steps, which saves a third of the time; `--check` checks the gradients instead.

Tensors lie as (scene, row, column, channel), filters as (row, column, channel, filter). Of the 8x8 cells of the output, the one
that holds the centre of an object is responsible for it. Its 15 channels are the objectness; the offset of the object's centre
from the cell's centre, downwards and to the right, in units of 8 pixels; ln(height / 20) and ln(width / 20); and ten classes.
"""

import argparse
import math
import multiprocessing
import time

import numpy as np

from floats import unwindow, windows
from train import load

SIDE, CELLS, CELL, UNIT, SPECKS = 64, 8, 8, 20, 48
BATCH, EPOCH, TESTS = 64, 25600, 1000  # scenes
POSITIVE, BOX = 2, 4  # weights of the loss: objectness where an object is, boxes

# Name, filter, stride, channels in, channels out, whether Relu follows.
LAYERS = [
    ("c1", 3, 2, 1, 8, True),
    ("c2", 3, 2, 8, 24, True),
    ("c3", 3, 1, 24, 32, True),
    ("c4", 3, 2, 32, 40, True),
    ("c5", 3, 1, 40, 40, True),
    ("c6", 3, 1, 40, 48, True),
    ("head", 1, 1, 48, 15, False),
]


def scene(images, labels, rng, mirror):
    """Pixels as bytes (row, column), and (class, top, left, bottom, right) of each object; bottom and right are exclusive."""
    pixels = np.zeros((SIDE, SIDE), np.uint8)
    pixels.reshape(-1)[rng.integers(0, SIDE * SIDE, SPECKS)] = rng.integers(1, 31, SPECKS)
    objects = []
    for _ in range(rng.integers(1, 5)):
        i = rng.integers(len(images))
        garment = images[i]
        if mirror and rng.random() < 0.5:
            garment = garment[:, ::-1]
        if rng.random() < 0.5:
            quads = garment.reshape(14, 2, 14, 2).sum(axis=(1, 3), dtype=np.uint16)
            garment = ((quads + 2) // 4).astype(np.uint8)
        size = len(garment)
        # An object for which no free place is found is left out; the first always has one.
        for top, left in rng.integers(0, SIDE - size + 1, (20, 2)).tolist():
            if all(top >= b or left >= r or top + size <= t or left + size <= l for _, t, l, b, r in objects):
                place = pixels[top : top + size, left : left + size]
                np.maximum(place, garment, out=place)
                objects.append((int(labels[i]), top, left, top + size, left + size))
                break
    return pixels, objects


def scenes(images, labels, seed, numbers, mirror=False):
    """The scenes of these numbers: pixels as bytes (scene, row, column), and a list of the objects of each."""
    made = [scene(images, labels, np.random.default_rng([seed, n]), mirror) for n in numbers]
    return np.stack([pixels for pixels, _ in made]), [objects for _, objects in made]


def test_scenes(folder, count):
    """The first test scenes, which are always the same."""
    return scenes(*load(folder, "t10k"), 0, range(count))


def targets(truth):
    """Responsible cells as indices (scene, row, column), the box code (object, 4) and the class (object) of each."""
    at, boxes, classes = [], [], []
    for n, objects in enumerate(truth):
        for label, top, left, bottom, right in objects:
            y, x = (top + bottom) / 2, (left + right) / 2
            row, column = int(y // CELL), int(x // CELL)
            at.append((n, row, column))
            offset = [(y - CELL * row) / CELL - 0.5, (x - CELL * column) / CELL - 0.5]
            boxes.append(offset + [math.log((bottom - top) / UNIT), math.log((right - left) / UNIT)])
            classes.append(label)
    return tuple(np.array(at).T), np.array(boxes, np.float32), np.array(classes)


def floats(pixels):
    """The network's input (scene, row, column, 1), from 0 to 1."""
    return pixels[..., None].astype(np.float32) / np.float32(255)


def initial(rng):
    """Random weights of He's deviation, biases of zero; objects are rare at first."""
    p = {}
    for name, k, _, cin, cout, relu in LAYERS:
        deviation = np.sqrt((2 if relu else 1) / (k * k * cin))
        p[name + ".w"] = (rng.standard_normal((k, k, cin, cout)) * deviation).astype(np.float32)
        p[name + ".b"] = np.zeros(cout, np.float32)
    p["head.b"][0] = -3
    return p


def forward(p, x, keep=None):
    """All tensors by the names of their layers; `keep` takes what the way back needs."""
    t = {"input": x}
    h = x
    for name, k, stride, _, cout, relu in LAYERS:
        cols = windows(h, k, stride)
        cols = cols.reshape(*cols.shape[:3], -1)
        if keep is not None:
            keep[name] = (cols, h.shape)
        h = cols @ p[name + ".w"].reshape(-1, cout) + p[name + ".b"]
        t[name] = h = np.maximum(h, 0) if relu else h
    return t


def loss_of(y, truth):
    """The loss of outputs (scene, row, column, 15), summed over scenes, and its gradient of the same shape."""
    at, boxes, classes = targets(truth)
    d = np.zeros_like(y)
    # Cross entropy of the objectness, over all cells.
    is_object = np.zeros(y.shape[:3], y.dtype)
    is_object[at] = 1
    weight = 1 + (POSITIVE - 1) * is_object
    z = y[..., 0]
    loss = (weight * (np.logaddexp(0, z) - z * is_object)).sum()
    d[..., 0] = weight * (1 / (1 + np.exp(-z)) - is_object)
    # Squares of the box code and cross entropy of the class, at responsible cells.
    chosen = y[at]
    error = chosen[:, 1:5] - boxes
    loss += BOX * (error**2).sum()
    e = np.exp(chosen[:, 5:] - chosen[:, 5:].max(axis=1, keepdims=True))
    soft = e / e.sum(axis=1, keepdims=True)
    each = np.arange(len(classes))
    loss -= np.log(soft[each, classes] + 1e-12).sum()
    soft[each, classes] -= 1
    d[at + (slice(1, None),)] = np.concatenate([2 * BOX * error, soft], axis=1)
    return loss, d


def gradients(p, x, truth):
    """The loss of scenes and its gradients, both summed over them."""
    keep = {}
    t = forward(p, x, keep)
    loss, d = loss_of(t["head"], truth)
    g = {}
    for name, k, stride, cin, cout, relu in reversed(LAYERS):
        if relu:
            d = d * (t[name] > 0)
        cols, shape = keep[name]
        flat = d.reshape(-1, cout)
        w = p[name + ".w"]
        g[name + ".b"] = flat.sum(axis=0)
        g[name + ".w"] = (cols.reshape(-1, cols.shape[-1]).T @ flat).reshape(w.shape)
        if name != "c1":
            d = unwindow((flat @ w.reshape(-1, cout).T).reshape(*d.shape[:3], k, k, cin), shape, k, stride)
    return loss, g


def decode(y):
    """
    The detections of one output (row, column, 15): (objectness, class, top, left, bottom, right), in the order of their
    objectness, the lower cell first where it is equal. One that overlaps a kept one by more than half is dropped.
    """
    kept = []
    flat = y.reshape(-1, 15).astype(np.float64)
    for i in np.argsort(-flat[:, 0], kind="stable").tolist():
        score, down, across, height, width = flat[i, :5].tolist()
        if not score > 0:
            break
        y0, x0 = CELL * (i // CELLS + 0.5 + down), CELL * (i % CELLS + 0.5 + across)
        h, w = UNIT * math.exp(height), UNIT * math.exp(width)
        box = (y0 - h / 2, x0 - w / 2, y0 + h / 2, x0 + w / 2)
        if not any(overlap(box, other[2:], strict=True) for other in kept):
            kept.append((score, int(flat[i, 5:].argmax()), *box))
    return kept


def overlap(a, b, strict=False):
    """Whether the intersection of two boxes is at least half of their union; more than half if `strict`."""
    height, width = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(height, 0) * max(width, 0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both
    return 2 * both > union if strict else 2 * both >= union


def right(detections, objects):
    """How many detections are right: each, in their order, takes the first free object of its class that it overlaps by half."""
    free = list(objects)
    for _, label, *box in detections:
        found = next((o for o in free if o[0] == label and overlap(box, o[1:])), None)
        if found:
            free.remove(found)
    return len(objects) - len(free)


def scores(outputs, truth):
    """Precision, recall and F1 over all scenes, and how many scenes have every object and no other detection."""
    found = hits = whole = 0
    for y, objects in zip(outputs, truth):
        detections = decode(y)
        n = right(detections, objects)
        found, hits, whole = found + len(detections), hits + n, whole + (n == len(detections) == len(objects))
    known = sum(len(objects) for objects in truth)
    return {"precision": hits / max(found, 1), "recall": hits / known, "f1": 2 * hits / (found + known), "whole": whole}


def outputs(p, pixels):
    """The outputs of all scenes as floats (scene, row, column, 15)."""
    return np.concatenate([forward(p, floats(pixels[i : i + 100]))["head"] for i in range(0, len(pixels), 100)])


def check(images, labels):
    """The largest relative error of some gradients of each tensor, against central differences of 64 bits."""
    rng = np.random.default_rng(0)
    # Without biases, sums over black pixels would lie where Relu has no derivative.
    p = {k: v + 0.1 * rng.standard_normal(v.shape) * k.endswith(".b") for k, v in initial(rng).items()}
    pixels, truth = scenes(images, labels, 1, range(8))
    x = floats(pixels).astype(np.float64)
    _, g = gradients(p, x, truth)
    worst = 0.0
    for key in p:
        flat = p[key].reshape(-1)
        size = np.abs(g[key]).max()
        for i in rng.choice(flat.size, min(8, flat.size), replace=False):
            old, losses = flat[i], []
            for flat[i] in (old + 1e-6, old - 1e-6):
                losses.append(loss_of(forward(p, x)["head"], truth)[0])
            flat[i] = old
            expected, made = (losses[0] - losses[1]) / 2e-6, g[key].reshape(-1)[i]
            worst = max(worst, abs(expected - made) / max(abs(expected), 1e-3 * size))
    return worst


def part(job):
    """What a process does of one step: the loss and the gradients of some training scenes."""
    p, seed, numbers = job
    pixels, truth = scenes(*DATA, seed, numbers, mirror=True)
    return gradients(p, floats(pixels), truth)


def train(args, pool):
    """The weights after all steps, which are kept after each epoch."""
    test_pixels, test_truth = test_scenes(args.data, TESTS)
    p = initial(np.random.default_rng(args.seed))
    m = {k: np.zeros_like(v) for k, v in p.items()}
    v = {k: np.zeros_like(v) for k, v in p.items()}
    each = EPOCH // BATCH
    steps = args.epochs * each
    start = time.time()
    total = 0.0
    for step in range(1, steps + 1):
        numbers = range((step - 1) * BATCH, step * BATCH)
        made = pool.map(part, [(p, args.seed, numbers[i :: args.threads]) for i in range(args.threads)])
        total += sum(loss for loss, _ in made) / BATCH
        # Adam; the rate rises over the first steps and falls as a cosine.
        rate = 3e-3 * min(1, step / 200) * (0.5 + 0.5 * np.cos(np.pi * step / steps))
        fix = np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        for key in p:
            g = sum(g[key] for _, g in made) / np.float32(BATCH)
            m[key] += 0.1 * (g - m[key])
            v[key] += 0.001 * (g**2 - v[key])
            p[key] -= (rate * fix * m[key] / (np.sqrt(v[key]) + 1e-8)).astype(np.float32)
        if step % each == 0:
            np.savez(args.out, **p)
            s = scores(outputs(p, test_pixels), test_truth)
            about = ", ".join(f"{k} {x:.4g}" for k, x in s.items())
            print(f"epoch {step // each}: loss {total / each:.4f}, {about}, {time.time() - start:.0f} s", flush=True)
            total = 0.0


def main():
    global DATA
    args = argparse.ArgumentParser()
    args.add_argument("data")
    args.add_argument("out")
    args.add_argument("--epochs", type=int, default=20)
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--threads", type=int, default=4)
    args.add_argument("--check", action="store_true", help="check the gradients instead")
    args = args.parse_args()
    DATA = load(args.data, "train")
    if args.check:
        print(f"largest relative error of gradients: {check(*DATA):.1e}")
        return
    # The processes share the images.
    with multiprocessing.get_context("fork").Pool(args.threads) as pool:
        train(args, pool)


if __name__ == "__main__":
    main()
