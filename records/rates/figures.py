"""The tables of ../rates.md, from rows.csv.xz: python3 records/rates/figures.py"""

import csv
import lzma
import math
import pathlib
from collections import Counter, defaultdict

WORDS = {"m": "masked", "s": "SDC", "c": "crash", "h": "hang"}
SPECIAL = ("blackscholes", "montecarlo")  # kernels with ex2.approx


def cause(workload, before, now, as_written):
    if "h" in (before, now):
        return "hangs"
    if as_written != now:
        return "contraction"
    if "c" in (before, now):
        return "addresses"
    return "special functions" if workload in SPECIAL else "stores that meet"


def interval(k, n, z=1.959964):
    p = k / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return f"{100 * p:.1f} ({100 * (middle - half):.1f}–{100 * (middle + half):.1f})"


rates, changed, moves = defaultdict(Counter), defaultdict(Counter), Counter()
with lzma.open(pathlib.Path(__file__).parent / "rows.csv.xz", "rt") as rows:
    for row in csv.DictReader(rows):
        workload, before, now = row["workload"], row["before"], row["now"]
        rates[workload]["before " + before] += 1
        rates[workload]["now " + now] += 1
        rates[workload]["all"] += 1
        if before != now:
            changed[workload][cause(workload, before, now, row["as_written"])] += 1
            moves[before, now] += 1

print("| workload | " + " | ".join(f"{WORDS[o]}, before | now" for o in WORDS) + " |")
for workload, found in rates.items():
    cells = [interval(found[f"{when} {o}"], found["all"]) for o in WORDS for when in ("before", "now")]
    print(f"| {workload} | " + " | ".join(cells) + " |")
causes = ["addresses", "hangs", "contraction", "special functions", "stores that meet"]
total = Counter()
print("\n| workload | " + " | ".join(causes) + " | all, % |")
for workload, found in rates.items():
    own = changed[workload]
    total.update(own)
    share = 100 * own.total() / found["all"]
    print(f"| {workload} | " + " | ".join(str(own[c] or "") for c in causes) + f" | {share:.1f} |")
runs = sum(found["all"] for found in rates.values())
print(f"| all | " + " | ".join(str(total[c]) for c in causes) + f" | {100 * total.total() / runs:.1f} |")
print()
for (before, now), count in moves.most_common():
    print(f"{WORDS[before]} that is {WORDS[now]} now: {count} ({100 * count / moves.total():.1f} % of what changed)")
