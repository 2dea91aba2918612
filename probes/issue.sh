#!/usr/bin/env bash
# How many instructions a multiprocessor issues in a cycle, for every bundled workload or those named, on the GPU of this machine.
# Needs nvcc and ncu. Prints rows: workload, kernel, launches, instructions issued, cycles with a warp resident, both summed
# over multiprocessors and launches. `cargo xtask issue` makes profiles/issue/h200.toml from them.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
metrics=sm__inst_issued.sum,sm__cycles_active.sum
echo "workload,kernel,launches,issued,cycles"
for name in ${@:-$(ls workloads)}; do
    dir=workloads/$name
    # The PTX of the capsules, assembled for this GPU.
    nvcc -O3 -gencode arch=compute_80,code=sm_90 -o "$work/$name" "$dir/$name.cu"
    ncu --clock-control none --metrics "$metrics" --csv --page raw --print-units base --log-file "$work/$name.csv" "$work/$name" >"$work/$name.out"
    grep -q PASS "$work/$name.out" || echo "$name does not pass" >&2
    python3 - "$name" "$work/$name.csv" <<'PY'
import csv, re, sys
name, path = sys.argv[1:]
rows = list(csv.DictReader(line for line in open(path) if line.startswith('"')))
kernels = {}
for row in rows[1:]:  # the first row holds units
    kernel = re.split(r"[(<]", row["Kernel Name"].removeprefix("void "))[0]
    number = lambda key: int(float(row[key].replace(",", "")))
    it = kernels.setdefault(kernel, [0, 0, 0])
    it[0] += 1
    it[1] += number("sm__inst_issued.sum")
    it[2] += number("sm__cycles_active.sum")
for kernel, values in kernels.items():
    print(",".join([name, kernel, *map(str, values)]))
PY
done
