"""Tables of the documents that `beamline predict --against` wrote into a folder."""

import json
import pathlib
import random
import sys


def wilson(count, landed):
    z, rate = 1.959964, count / landed
    centre, spread = rate + z * z / (2 * landed), z * (rate * (1 - rate) / landed + z * z / (4 * landed * landed)) ** 0.5
    return (centre - spread) / (1 + z * z / landed), (centre + spread) / (1 + z * z / landed)


def ranks(values):
    order, found, at = sorted(range(len(values)), key=values.__getitem__), [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for place in order[at:end]:
            found[place] = (at + end - 1) / 2
        at = end
    return found


def spearman(pairs):
    one, other = (ranks(list(values)) for values in zip(*pairs))
    mean = (len(one) - 1) / 2
    product = lambda a, b: sum((x - mean) * (y - mean) for x, y in zip(a, b))
    both = (product(one, one) * product(other, other)) ** 0.5
    return product(one, other) / both if both else None


def between(values, measure, draws=2000):
    """Bounds at 95 % by the bootstrap over the rows."""
    draw = random.Random(0)
    found = sorted(measure([draw.choice(values) for _ in values]) for _ in range(draws))
    return found[draws // 40], found[-1 - draws // 40]


points = lambda share: f"{share * 100:.1f}"
mean = lambda values: sum(values) / len(values)
rows, least = [], 100
for file in sorted(pathlib.Path(sys.argv[1]).glob("*.json")):
    document = json.loads(file.read_text())
    for kernel in document["kernels"]:
        ends = kernel["measured"]
        if ends["landed"] >= least:
            rows.append((document["capsule"], kernel, ends))
print("| workload | kernel | runs | predicted SDC | measured SDC | error, points | predicted DUE | measured DUE | instructions |", end="")
print(" their mean error | with the kernel's rate for each | Spearman |\n|---|---|" + "---:|" * 10)
for name, kernel, ends in rows:
    low, high = wilson(ends["sdc"], ends["landed"])
    hit = sum(1 for it in kernel["instructions"] if it["measured"] and it["measured"]["landed"])
    rank = kernel["spearman"]
    cells = [
        name, f"`{kernel['kernel']}`", f"{ends['landed']:,}", points(kernel["sdc"]),
        f"{points(ends['sdc'] / ends['landed'])} ({points(low)} to {points(high)})", points(kernel["absolute_error"]),
        points(kernel["due"]), points(ends["due"] / ends["landed"]), str(hit), points(kernel["mean_absolute_error"]),
        points(kernel["mean_absolute_error_of_the_rate"]),
        f"{rank['value']:.2f} ({rank['low']:.2f} to {rank['high']:.2f})" if rank else "–",
    ]
    print("| " + " | ".join(cells) + " |")
print()
for title, key in [("SDC", "sdc"), ("DUE", "due")]:
    pairs = [(kernel[key], ends[key] / ends["landed"]) for _, kernel, ends in rows]
    errors = [abs(predicted - rate) for predicted, rate in pairs]
    bias = mean([predicted - rate for predicted, rate in pairs])
    low, high = between(errors, mean)
    baseline = mean([abs(mean([rate for _, rate in pairs]) - rate) for _, rate in pairs])
    print(f"{title}: over {len(rows)} kernels with {least} runs or more, the mean absolute error is {points(mean(errors))} points", end="")
    print(f" ({points(low)} to {points(high)}), predicted less measured {points(bias)} on average;", end="")
    print(f" the mean of the measured rates for every kernel has {points(baseline)}.", end="")
    low, high = between(pairs, lambda drawn: spearman(drawn) or 0.0)
    print(f" Rank correlation over kernels: {spearman(pairs):.2f} ({low:.2f} to {high:.2f}).")
better = sum(1 for _, kernel, _ in rows if kernel["mean_absolute_error"] < kernel["mean_absolute_error_of_the_rate"])
known = [kernel["spearman"]["value"] for _, kernel, _ in rows if kernel["spearman"]]
print(f"Over instructions, the prediction errs less than the kernel's measured rate in {better} of {len(rows)} kernels; ", end="")
print(f"the median rank correlation is {sorted(known)[len(known) // 2]:.2f} over {len(known)} kernels.")
