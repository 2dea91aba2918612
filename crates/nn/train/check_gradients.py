"""Checks the gradients of every kind of layer against differences of the loss, in 64 bits, with numpy alone.

    python3 check_gradients.py

For each kind a small network has a layer of it between others; weights that the loss depends on through it are moved a little. It
prints the largest error, relative to the larger of both numbers: as it is, with injected neurons, and with the worst case within an
interval. It ends with an error if one of them is above 1e-5.
"""

import numpy as np

from floats import gradients, initial
from networks import INPUT, NETWORKS, Layer, stack

STEPS, WEIGHTS, BOUND = (1e-6, 1e-7), 8, 1e-5
HEAD = (("flat", "flatten"), ("fc", "dense", 1, 1, 10))
FIRST = Layer("a", "conv", ("input",), 3, 4, 4, True)
CASES = {
    "conv": [FIRST, *stack("a", ("x", "conv", 3, 1, 5), *HEAD)],
    "conv, stride 2": [FIRST, *stack("a", ("x", "conv", 3, 2, 5, True), *HEAD)],
    "conv, 1x1": [FIRST, *stack("a", ("x", "conv", 1, 1, 5, True), *HEAD)],
    "depthwise": [FIRST, *stack("a", ("x", "depthwise", 3, 2, 4, True), *HEAD)],
    "add": [FIRST, *stack("a", ("b", "conv", 3, 1, 4)), Layer("x", "add", ("b", "a"), relu=True), *stack("x", *HEAD)],
    "maxpool": [FIRST, *stack("a", ("x", "maxpool", 2, 2), *HEAD)],
    "concat": [FIRST, *stack("a", ("b", "conv", 1, 1, 3, True)), Layer("x", "concat", ("b", "a", "b")), *stack("x", *HEAD)],
    "gap": [FIRST, *stack("a", ("x", "gap"), *HEAD)],
    "flatten": [FIRST, *stack("a", *HEAD)],
    "dense": stack("input", ("flat", "flatten"), ("x", "dense", 1, 1, 7, True), ("fc", "dense", 1, 1, 10)),
    **NETWORKS,
}
MODES = {"plain": {}, "injected": {"inject": True}, "interval": {"alpha": 0.3, "eps": 0.02}}


def error(layers, mode):
    """The largest relative error over some weights and biases of each layer."""
    rng = np.random.default_rng(1)
    p = {key: value.astype(np.float64) + rng.normal(0, 0.05, value.shape) for key, value in initial(layers, rng).items()}
    x, labels = rng.random((3, *INPUT)), rng.integers(10, size=3)

    def run():
        """The loss and the gradients, with the same neurons injected each time."""
        inject = np.random.default_rng(2) if "inject" in mode else None
        return gradients(layers, p, x, labels, **{**mode, "inject": inject})

    (loss, g), worst = run(), 0.0
    # Below this size, differences of losses are rounding.
    least = 1e-3 * max(1.0, loss)
    for key, value in p.items():
        flat = value.reshape(-1)
        for at in rng.integers(flat.size, size=WEIGHTS):
            kept, found, errors = flat[at], g[key].reshape(-1)[at], []
            # The larger step may cross a kink of Relu or of a pool, the smaller one is rounded more.
            for step in STEPS:
                flat[at] = kept + step
                above = run()[0]
                flat[at] = kept - step
                expected = (above - run()[0]) / (2 * step)
                errors.append(abs(expected - found) / max(abs(expected), abs(found), least))
            flat[at] = kept
            worst = max(worst, min(errors))
    return worst


def main():
    largest = 0.0
    for name, layers in CASES.items():
        errors = {mode: error(layers, settings) for mode, settings in MODES.items()}
        largest = max(largest, *errors.values())
        print(f"{name:16}" + "".join(f"  {mode} {value:.1e}" for mode, value in errors.items()), flush=True)
    print(f"largest {largest:.1e}")
    assert largest < BOUND


if __name__ == "__main__":
    main()
