"""Tables of the rows that probes/protection.sh wrote: how often each scheme takes as long as the original, for records/protection.md.

    python3 records/protection/tables.py records/protection
"""

import json
import math
import pathlib
import statistics
import sys

SCHEMES = [
    ("drdv", "DRDV", "69 %"),
    ("fastsig-drdv", "FastSig-DRDV", "39 %"),
    ("sriv", "SRIV", "over 100 % for each program"),
    ("fastsig-sriv", "FastSig-SRIV", "49 %"),
    ("tld", "TLD", "–"),
    ("tld-sig", "TLD-Sig", "–"),
    ("hw-notify", "HW-Notify (of DRDV, a proxy)", "37 % (35 %)"),
    ("hw-notify-sriv", "HW-Notify (of SRIV, a proxy)", "46 % (44 %)"),
    ("hw-sig", "HW-Sig (of DRDV, a proxy)", "33 %"),
    ("hw-sig-sriv", "HW-Sig (of SRIV, a proxy)", "33 %"),
]


LOADS = [(scheme, title) for scheme, title, _ in SCHEMES[:4]]


def rows(folder, scheme, of=""):
    found = {}
    for line in (folder / f"{scheme.replace('-', '_')}_h100.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "gpu" in row:
            found[row["name"].removesuffix("-" + scheme + of)] = row
    return found


def spills_more(row):
    return any(it["after"]["local_bytes"] > it["before"]["local_bytes"] for it in row["gpu"]["kernels"])


def main(folder):
    all_rows = {scheme: rows(folder, scheme) for scheme, _, _ in SCHEMES}
    ratio = lambda scheme, name: all_rows[scheme][name]["gpu"]["ratio"]
    print("| scheme | the same bits on the GPU | times as long: geometric mean | median | least | most | PTX instructions, times as many "
          "| spills more | overhead in the thesis (mean) |")
    print("|---|---|---:|---:|---|---|---:|---:|---|")
    for scheme, title, thesis in SCHEMES:
        them = all_rows[scheme]
        times = {name: ratio(scheme, name)["median"] for name in them}
        mean = math.exp(statistics.mean(map(math.log, times.values())))
        least, most = min(times, key=times.get), max(times, key=times.get)
        growth = math.exp(statistics.mean(
            math.log(row["coverage"]["instructions"]["all"] / row["coverage"]["before"]) for row in them.values()))
        same = sum(row["gpu"]["same"] == row["gpu"]["copies"] for row in them.values())
        spilling = sum(map(spills_more, them.values()))
        print(f"| {title} | {same} of {len(them)} | {mean:.2f} | {statistics.median(times.values()):.2f} | {times[least]:.2f} ({least}) "
              f"| {times[most]:.2f} ({most}) | {growth:.2f} | {spilling} of {len(them)} | {thesis} |")
    print("\n| with loads twice | the same bits on the GPU | geometric mean | without | most | loads twice, static | once |")
    print("|---|---|---:|---:|---|---:|---:|")
    for scheme, title in LOADS:
        them = rows(folder / "loads", scheme, "-loads")
        times = {name: row["gpu"]["ratio"]["median"] for name, row in them.items()}
        mean = lambda times: math.exp(statistics.mean(map(math.log, times)))
        most = max(times, key=times.get)
        same = sum(row["gpu"]["same"] == row["gpu"]["copies"] for row in them.values())
        loads = [sum(row["coverage"]["loads"][of] for row in them.values()) for of in ("twice", "once")]
        without = mean(row["gpu"]["ratio"]["median"] for row in all_rows[scheme].values())
        print(f"| {title} | {same} of {len(them)} | {mean(times.values()):.2f} | {without:.2f} | {times[most]:.2f} ({most}) | {loads[0]} | {loads[1]} |")
    four = [scheme for scheme, _, _ in SCHEMES[:4]]
    names = sorted(all_rows[four[0]])
    best = {name: min(four, key=lambda scheme: ratio(scheme, name)["median"]) for name in names}
    mean = lambda of: math.exp(statistics.mean(math.log(of(name)) for name in names))
    print(f"\nthe best of the four for each workload: {mean(lambda name: ratio(best[name], name)['median']):.3f}; FastSig-DRDV for all: "
          f"{mean(lambda name: ratio('fastsig-drdv', name)['median']):.3f}; best of: "
          + ", ".join(f"{scheme} {sum(it == scheme for it in best.values())}" for scheme in four))
    both = [name for name in names if name in all_rows["tld-sig"]]
    fastsig = lambda name, end: min(ratio(scheme, name)[end] for scheme in ("fastsig-drdv", "fastsig-sriv"))
    faster = sum(fastsig(name, "median") < ratio("tld-sig", name)["median"] for name in both)
    apart = sum(fastsig(name, "high") < ratio("tld-sig", name)["low"] for name in both)
    slower = [name for name in both if ratio("tld-sig", name)["high"] < fastsig(name, "low")]
    drdv = [name for name in both if ratio("tld", name)["high"] < ratio("drdv", name)["low"]]
    print(f"a FastSig scheme is faster than TLD-Sig in {faster} of {len(both)}, bounds apart in {apart}; TLD-Sig is in {len(slower)} "
          f"({', '.join(slower)}); TLD is faster than DRDV in {len(drdv)} ({', '.join(drdv)})\n")
    print("| workload | before, µs | DRDV (95 %) | FastSig-DRDV | SRIV | FastSig-SRIV |\n|---|---:|---|---|---|---|")
    for name in sorted(names, key=lambda name: ratio("fastsig-drdv", name)["median"]):
        before = sum(it["before"]["seconds"]["median"] for it in all_rows["drdv"][name]["gpu"]["kernels"])
        cells = (ratio(scheme, name) for scheme in four)
        print(f"| {name} | {before * 1e6:.1f} | "
              + " | ".join(f"{it['median']:.2f} ({it['low']:.2f}–{it['high']:.2f})" for it in cells) + " |")


main(pathlib.Path(sys.argv[1]))
