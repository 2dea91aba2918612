#!/usr/bin/env bash
# What protecting a part costs on the GPU of this machine: the instructions of a bundled workload that are worth most by a campaign, within budgets
# of dynamic instructions, in turns with the original, and what is left of the corruptions. Prints one JSON document on a line for each.
#
#     bash probes/selective.sh BEAMLINE SCHEME WORKLOAD ...
set -u
beamline=$1 scheme=$2
shift 2
place=$(mktemp -d)
for name; do
    "$beamline" campaign "$name" --runs 4000 --seed 2 --json --out "$place/$name" > "$place/values" 2> "$place/error" || { tail -1 "$place/error" >&2; continue; }
    for budget in 0.05 0.1 0.2 0.5 1; do
        if "$beamline" harden "$name" --scheme "$scheme" --from "$place/values" --overhead $budget --runs 1000 --gpu --repeat 25 --json \
            --out "$place/$name.capsule" > "$place/said" 2> "$place/error"; then
            python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
print(json.dumps({'workload': d['name'], 'scheme': d['scheme'], 'budget': float(sys.argv[2]), 'chosen': d['choice']['forecast'],
    'measured': d['choice']['measured'], 'before': d['before']['sdc'], 'after': d['after']['sdc'],
    'gpu': {key: d['gpu'][key] for key in ('name', 'same', 'copies', 'ratio')}}))" "$place/said" $budget
        else
            echo "$name $scheme $budget: $(tail -1 "$place/error")" >&2
        fi
    done
done
rm -rf "$place"
