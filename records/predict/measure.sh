#!/bin/sh
# Predicts the rates of every bundled workload and measures them, and prints the tables of records/predict.md.
# In the root of the repository: records/predict/measure.sh target/release/beamline DIR [RUNS [SECONDS]]
# A workload that takes longer than SECONDS is left out, and said to be.
set -eu
mkdir -p "$2"
for workload in workloads/*/; do
    name=$(basename "$workload")
    if [ -s "$2/$name.json" ] || [ -e "$2/$name.tmp" ]; then continue; fi
    if timeout "${4:-600}" "$1" predict "$name" --against "${3:-1000}" --json --out "$2/campaigns" > "$2/$name.tmp"; then
        mv "$2/$name.tmp" "$2/$name.json"
    else
        echo "left out: $name" >&2
    fi
done
exec python3 "$(dirname "$0")/tables.py" "$2"
