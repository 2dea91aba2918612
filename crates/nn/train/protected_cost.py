"""Measures the time that protection costs in ONNX Runtime on this machine's CPU, as CSV.

    python3 protected_cost.py BEAMLINE > ../../../records/filr/cpu_cost.csv

Networks with and without duplicated filters run in turn, one image at a time on one thread. The overhead is the median of the ratios of neighbours
less 1, with its interval of at least 95 % by order statistics. It needs the packages `numpy` and `onnxruntime`.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

NETWORKS = ["fashion", "fashion-vgg", "fashion-fire"]
SAMPLES, INFERENCES = 101, 100


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])


def seconds(run, image):
    name = run.get_inputs()[0].name
    start = time.perf_counter()
    for _ in range(INFERENCES):
        run.run(None, {name: image})
    return (time.perf_counter() - start) / INFERENCES


def main():
    beamline, networks = sys.argv[1], Path(__file__).parent.parent / "networks"
    print("network,protection,coverage,macs_overhead,plain_us,protected_us,overhead_median,overhead_low,overhead_high")
    for network in NETWORKS:
        plain = session(networks / network / f"{network}.onnx")
        shape, kind = plain.get_inputs()[0].shape, plain.get_inputs()[0].type
        image = np.random.default_rng(1).integers(0, 256, shape).astype(np.uint8 if "uint8" in kind else np.float32)
        for protection, target in [("flr", 0.5), ("flr", 0.9), ("flr", 0.99), ("filr", 1.0)]:
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "protected.onnx"
                said = subprocess.run(
                    [beamline, "nn", protection, network, "--target", str(target), "--protected", str(path), "--json"],
                    check=True, capture_output=True, text=True).stdout
                protected = session(path)
            macs = overhead(json.loads(said), protection, target)
            pairs = [(seconds(plain, image), seconds(protected, image)) for _ in range(SAMPLES + 5)][5:]
            ratios = sorted(after / before - 1 for before, after in pairs)
            low, high = SAMPLES // 2 - 10, SAMPLES // 2 + 10
            times = [np.median([pair[which] for pair in pairs]) * 1e6 for which in (0, 1)]
            row = [f"{macs:.6f}", *(f"{it:.2f}" for it in times), *(f"{ratios[it]:.5f}" for it in (SAMPLES // 2, low, high))]
            print(network, protection, target, *row, sep=",", flush=True)


def overhead(found, protection, target):
    """The overhead in multiplications of the feature maps that are made twice."""
    macs = {number: it["macs"] for number, it in enumerate(found["maps"])}
    if protection == "filr":
        chosen = next(it for it in found["filr"] if it["reading"] == "fault_free")["combination"]["maps"]
    else:
        curve = next(it for it in found["flr"] if it["by"] == "loss")
        count = next(point["maps"] for point in curve["points"] if point["coverage"] >= target)
        chosen = curve["order"][:count]
    return sum(macs[it] for it in chosen) / sum(macs.values())


if __name__ == "__main__":
    main()
