#!/usr/bin/env bash
# What protection costs on the GPU of this machine: each bundled workload, hardened by each scheme, in turns with the original.
# Prints one JSON document on a line for each; a workload that cannot be run there has the reason instead.
#
#     bash probes/protection.sh BEAMLINE SCHEME [WORKLOAD ...]
#
# SCHEME may have options of `harden` behind it: 'drdv --loads'.
set -u
beamline=$1 scheme=$2
shift 2
[ $# -gt 0 ] || set -- $(cd workloads && ls -d */ | tr -d /)
place=$(mktemp -d)
for name; do
    # shellcheck disable=SC2086
    if "$beamline" harden "$name" --scheme $scheme --runs 0 --gpu --repeat 25 --json --out "$place/$name.capsule" \
        > "$place/said" 2> "$place/error"; then
        tr -d '\n' < "$place/said" | sed 's/  */ /g'
        echo
    else
        printf '{"name": "%s", "scheme": "%s", "failed": "%s"}\n' "$name" "$scheme" "$(tail -1 "$place/error" | tr '"\\' "''")"
    fi
done
rm -rf "$place"
