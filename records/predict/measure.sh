#!/bin/sh
# Predicts the rates of every bundled workload and measures them, and prints the tables of records/predict.md.
# In the root of the repository: records/predict/measure.sh target/release/beamline DIR [RUNS]
set -eu
mkdir -p "$2"
for workload in workloads/*/; do
    name=$(basename "$workload")
    if [ ! -s "$2/$name.json" ]; then
        "$1" predict "$name" --against "${3:-1000}" --json --out "$2/campaigns" > "$2/$name.tmp"
        mv "$2/$name.tmp" "$2/$name.json"
    fi
done
exec python3 "$(dirname "$0")/tables.py" "$2"
