"""Of the rows that probes/selective.sh wrote: for each workload the fastest choice that leaves at most half of the corruptions.

    python3 records/protection/selective.py records/protection/selective/*.jsonl
"""

import json
import sys

rows = [json.loads(line) for path in sys.argv[1:] for line in open(path)]
assert all(row["gpu"]["same"] == row["gpu"]["copies"] for row in rows)
best = {}
for row in rows:
    name = row["workload"].removesuffix("-" + row["scheme"])
    best.setdefault(name, None)
    if row["measured"]["coverage"] >= 0.5:
        best[name] = min(best[name] or row, row, key=lambda it: it["gpu"]["ratio"]["median"])
print("| workload | scheme | budget | more instructions | SDC × instructions left, of before | times as long |\n|---|---|---:|---:|---|---|")
for name, row in best.items():
    if row is None:
        print(f"| {name} | – | – | – | more than half by every choice | – |")
        continue
    left, ratio = row["measured"], row["gpu"]["ratio"]
    print(f"| {name} | {row['scheme']} | {row['budget']:.0%} | {left['overhead']:.0%} | {1 - left['coverage']:.2f} "
          f"({1 - left['high']:.2f} to {1 - left['low']:.2f}) | {ratio['median']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f}) |".replace("%", " %"))
