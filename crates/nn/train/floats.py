"""Networks of `networks.py` as floats, with numpy alone: what they make of images, and the gradients of their weights.

Tensors lie as (image, row, column, channel), or (image, channel) once they are flat, which happens channel by channel as in ONNX.
With bounds, three batches lie one after the other along the first axis: the images, and the lower and the upper bounds of whatever
images within an interval around them make (interval bound propagation). Every kind of layer without weights keeps the order of
values, so that it does with bounds what it does with images; a layer with weights W makes of a centre and a radius those of W and |W|.
"""

import numpy as np

from networks import WEIGHTED, shapes, weight_shape


def windows(x, k, stride):
    """What each filter position reads: (image, row, column, filter row, filter column, channel)."""
    if k > 1:
        x = np.pad(x, ((0, 0), (k // 2, k // 2), (k // 2, k // 2), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(1, 2))
    return view[:, ::stride, ::stride].transpose(0, 1, 2, 4, 5, 3)


def unwindow(d, shape, k, stride):
    """Adds what `windows` took apart back together."""
    n, h, w, c = shape
    pad = k // 2
    out = np.zeros((n, h + 2 * pad, w + 2 * pad, c), d.dtype)
    rows, columns = d.shape[1:3]
    for r in range(k):
        for s in range(k):
            out[:, r : r + stride * rows : stride, s : s + stride * columns : stride] += d[:, :, :, r, s]
    return out[:, pad : pad + h, pad : pad + w]


def taps(x, layer, rows, columns):
    """For each place in the window of a pool, what lies there: views of (image, row, column, channel)."""
    for r in range(layer.filter):
        for s in range(layer.filter):
            yield x[:, r : r + layer.stride * rows : layer.stride, s : s + layer.stride * columns : layer.stride][:, :rows, :columns]


def maxpool(layer, x):
    """The largest of each window; windows that reach over the edge are left out."""
    rows, columns = ((size - layer.filter) // layer.stride + 1 for size in x.shape[1:3])
    found = list(taps(x, layer, rows, columns))
    y = found[0].copy()
    for tap in found[1:]:
        np.maximum(y, tap, out=y)
    return y


def maxpool_back(layer, x, y, d):
    """The gradient goes to the first of the largest."""
    back, free = np.zeros_like(x), np.ones(y.shape, bool)
    for tap, to in zip(taps(x, layer, *y.shape[1:3]), taps(back, layer, *y.shape[1:3])):
        first = (tap == y) & free
        to += d * first
        free &= ~first
    return back


def moved(layer, reads):
    """What a layer makes that computes nothing: a pool, the channels of all that it reads, or all values in a row."""
    if layer.kind == "maxpool":
        return maxpool(layer, reads[0])
    if layer.kind == "concat":
        return np.concatenate(reads, axis=3)
    return reads[0].transpose(0, 3, 1, 2).reshape(len(reads[0]), -1)


def linear(layer, w, x):
    """The sums of a layer with weights, and the columns that it multiplied."""
    if layer.kind == "dense":
        return x @ w, x
    cols = windows(x, layer.filter, layer.stride)
    if layer.kind == "depthwise":
        cols = np.ascontiguousarray(cols)
        return np.einsum("nyxrsc,rsc->nyxc", cols, w), cols
    cols = cols.reshape(*cols.shape[:3], -1)
    return cols @ w.reshape(-1, layer.channels), cols


def linear_back(layer, w, cols, shape, d, inner):
    """The gradients of the weights and, of an inner layer, of an input of this shape."""
    k, stride = layer.filter, layer.stride
    if layer.kind == "dense":
        return cols.T @ d, d @ w.T
    if layer.kind == "depthwise":
        g = np.einsum("nyxrsc,nyxc->rsc", cols, d)
        return g, unwindow(d[:, :, :, None, None, :] * w, shape, k, stride) if inner else None
    flat = d.reshape(-1, layer.channels)
    g = (cols.reshape(len(flat), -1).T @ flat).reshape(w.shape)
    if not inner:
        return g, None
    if stride > 1:
        return g, unwindow((flat @ w.reshape(-1, layer.channels).T).reshape(*d.shape[:3], *w.shape[:3]), shape, k, stride)
    # A convolution with the filter turned around.
    turned = w[::-1, ::-1].transpose(0, 1, 3, 2).reshape(-1, shape[3])
    return g, (windows(d, k, 1).reshape(-1, len(turned)) @ turned).reshape(shape)


def weighted(layer, p, x, bounds):
    """The output of a layer with weights before Relu, and its columns."""
    w, b = p[layer.name + ".w"], p[layer.name + ".b"]
    if not bounds:
        y, cols = linear(layer, w, x)
        return y + b, [cols]
    n = len(x) // 3
    low, high = x[n : 2 * n], x[2 * n :]
    y, cols = linear(layer, w, np.concatenate([x[:n], (low + high) / 2]))
    radius, more = linear(layer, np.abs(w), (high - low) / 2)
    y += b
    return np.concatenate([y[:n], y[n:] - radius, y[n:] + radius]), [cols, more]


def weighted_back(layer, p, g, cols, shape, d, inner):
    """Puts the gradients of a layer with weights into `g`; the gradient of its input."""
    w, over = p[layer.name + ".w"], tuple(range(d.ndim - 1))
    if len(cols) == 1:
        g[layer.name + ".b"] = d.sum(axis=over)
        g[layer.name + ".w"], back = linear_back(layer, w, cols[0], shape, d, inner)
        return back
    n = len(d) // 3
    low, high = d[n : 2 * n], d[2 * n :]
    d = np.concatenate([d[:n], low + high])
    g[layer.name + ".b"] = d.sum(axis=over)
    of_w, back = linear_back(layer, w, cols[0], (2 * n, *shape[1:]), d, inner)
    of_size, radius = linear_back(layer, np.abs(w), cols[1], (n, *shape[1:]), high - low, inner)
    g[layer.name + ".w"] = of_w + np.sign(w) * of_size
    return np.concatenate([back[:n], (back[n:] - radius) / 2, (back[n:] + radius) / 2]) if inner else None


def initial(layers, rng):
    """Random weights of He's deviation, biases of zero."""
    p, made = {}, shapes(layers)
    for layer in layers:
        if layer.kind in WEIGHTED:
            shape = weight_shape(layer, made)
            fan = np.prod(shape[: 2 if layer.kind == "depthwise" else -1])
            gain = 1 if layer.kind == "dense" and not layer.relu else 2
            p[layer.name + ".w"] = (rng.standard_normal(shape) * np.sqrt(gain / fan)).astype(np.float32)
            p[layer.name + ".b"] = np.zeros(layer.channels, np.float32)
    return p


def forward(layers, p, x, keep=None, bounds=False, inject=None):
    """All tensors by the names of their layers; `keep` takes what the way back needs.

    `inject`, a random generator, replaces one neuron of each convolution's output for each image by a value from -1 to 1.
    """
    t = {"input": x}
    for layer in layers:
        reads = [t[source] for source in layer.inputs]
        x = reads[0]
        if layer.kind in WEIGHTED:
            y, cols = weighted(layer, p, x, bounds)
            if keep is not None:
                keep[layer.name] = cols
        elif layer.kind == "add":
            y = x + reads[1]
        elif layer.kind == "gap":
            y = x.mean(axis=(1, 2), keepdims=True)
        else:
            y = moved(layer, reads)
        if layer.relu:
            y = np.maximum(y, 0)
        if inject is not None and layer.kind in {"conv", "depthwise"}:
            neurons = (np.arange(len(y)), *(inject.integers(size, size=len(y)) for size in y.shape[1:]))
            y[neurons] = inject.uniform(-1, 1, len(y))
            keep[layer.name, "injected"] = neurons
        t[layer.name] = y
    return t


def backward(layers, p, t, keep, d):
    """The gradients of all weights, from that of the last layer."""
    g, ds = {}, {layers[-1].name: d}
    for layer in reversed(layers):
        d, x = ds.pop(layer.name), t[layer.inputs[0]]
        injected = keep.get((layer.name, "injected"))
        if layer.relu:
            d = d * (t[layer.name] > 0)
        elif injected is not None:
            d = d.copy()
        if injected is not None:
            d[injected] = 0
        if layer.kind in WEIGHTED:
            backs = [weighted_back(layer, p, g, keep[layer.name], x.shape, d, layer.inputs[0] != "input")]
        elif layer.kind == "add":
            backs = [d, d]
        elif layer.kind == "maxpool":
            backs = [maxpool_back(layer, x, t[layer.name], d)]
        elif layer.kind == "concat":
            backs = np.split(d, np.cumsum([t[source].shape[3] for source in layer.inputs[:-1]]), axis=3)
        elif layer.kind == "gap":
            backs = [np.broadcast_to(d / (x.shape[1] * x.shape[2]), x.shape)]
        else:
            backs = [d.reshape(len(x), x.shape[3], x.shape[1], x.shape[2]).transpose(0, 2, 3, 1)]
        for source, back in zip(layer.inputs, backs):
            ds[source] = ds[source] + back if source in ds else back
    return g


def cross_entropy(logits, labels):
    """The mean loss of (image, class), and its gradient."""
    n = np.arange(len(logits))
    logits = logits - logits.max(axis=1, keepdims=True)
    e = np.exp(logits)
    sums = e.sum(axis=1, keepdims=True)
    loss = (np.log(sums[:, 0]) - logits[n, labels]).mean()
    soft = e / sums
    soft[n, labels] -= 1
    return loss, (soft / len(n)).astype(logits.dtype)


def gradients(layers, p, x, labels, inject=None, alpha=0.0, eps=0.0):
    """The loss of a batch and its gradients; the loss has the share `alpha` of the worst case within `eps` of the pixels."""
    keep, n, bounds = {}, len(x), alpha > 0 and eps > 0
    if bounds:
        x = np.concatenate([x, x - eps, x + eps])
    t = forward(layers, p, x, keep, bounds, inject)
    logits = t[layers[-1].name]
    loss, d = cross_entropy(logits[:n], labels)
    if bounds:
        # The lower bound of the right class, the upper bounds of all others.
        own = np.arange(logits.shape[1]) == labels[:, None]
        worst, of_worst = cross_entropy(np.where(own, logits[n : 2 * n], logits[2 * n :]), labels)
        loss = (1 - alpha) * loss + alpha * worst
        d = np.concatenate([(1 - alpha) * d, alpha * of_worst * own, alpha * of_worst * ~own])
    return loss, backward(layers, p, t, keep, d)
