"""Trains all networks, each in a process of its own with one thread, with numpy alone.

    python3 train_all.py DATA/usr/share/datasets/fashion-mnist OUT --processes 16

`OUT` gets an `.npz` file for each training (one that exists is not made again), what each printed, and `trainings.jsonl`: a line for
each, with its name, network, seed, settings, seconds of training and the share of the 10,000 test images that are right as floats.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# The largest runs are begun first.
ROBUST = [(f"fashion-vgg-robust-a{a}-e{e}", {"alpha": a, "eps": e}) for a in (0.025, 0.1, 0.25) for e in (0.02, 0.1)]
SEEDS = range(1, 6)
TRAININGS = [
    *ROBUST,
    ("fashion-fire", {}),
    *((f"fashion-vgg-injected-s{seed}", {"seed": seed, "inject": True}) for seed in SEEDS),
    *((f"fashion-vgg-s{seed}", {"seed": seed}) for seed in SEEDS),
]
# Large arrays are taken again rather than handed back to the system and cleared: about a third less time with glibc.
SETTINGS = {
    **dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1"),
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
    "MALLOC_TOP_PAD_": str(1 << 28),
}


def one(data, out, name, settings):
    """A training in this process: its weights are kept, its line is printed last."""
    import numpy as np

    from train import train

    start = time.time()
    p, epochs = train(name, data, **settings)
    np.savez(f"{out}/{name}.part.npz", **p)
    os.replace(f"{out}/{name}.part.npz", f"{out}/{name}.npz")
    line = {"name": name, "seed": 1, "inject": False, "alpha": 0.0, "eps": 0.0, **settings, "epochs": len(epochs)}
    line.pop("batches")
    line |= {"seconds": round(sum(epoch[0] for epoch in epochs), 1), "all_seconds": round(time.time() - start, 1)}
    line |= {"float": epochs[-1][1], "each_epoch": [epoch[1] for epoch in epochs]}
    print(json.dumps(line))


def main():
    args = argparse.ArgumentParser()
    args.add_argument("data")
    args.add_argument("out", type=Path)
    args.add_argument("--processes", type=int, default=os.cpu_count())
    args.add_argument("--epochs", type=int, default=6)
    args.add_argument("--batches", type=int, help="how many batches an epoch has, for a trial")
    args.add_argument("--only", default="", help="what the names begin with")
    args.add_argument("--one", help=argparse.SUPPRESS)
    args = args.parse_args()
    if args.one:
        return one(args.data, args.out, *json.loads(args.one))
    args.out.mkdir(parents=True, exist_ok=True)

    def run(training):
        name, settings = training
        if (args.out / f"{name}.npz").exists():
            return print(f"{name}: exists", flush=True)
        task = json.dumps([name, {**settings, "epochs": args.epochs, "batches": args.batches}])
        command = [sys.executable, __file__, args.data, str(args.out), "--one", task]
        with open(args.out / f"{name}.log", "w+") as log:
            code = subprocess.run(command, env={**os.environ, **SETTINGS}, stdout=log, stderr=subprocess.STDOUT).returncode
            log.seek(0)
            last = log.read().strip().split("\n")[-1]
        print(f"{name}: exit {code}: {last}", flush=True)
        if code == 0:
            with open(args.out / "trainings.jsonl", "a") as lines:
                lines.write(last + "\n")
        return code

    with ThreadPoolExecutor(args.processes) as pool:
        codes = list(pool.map(run, (training for training in TRAININGS if training[0].startswith(args.only))))
    sys.exit(any(codes))


if __name__ == "__main__":
    main()
