#!/usr/bin/env bash
# Whether executables with protected kernels print on the GPU of this machine what they print as they are. Needs no compiler there.
#
#     bash probes/executables.sh make BEAMLINE DIR SCHEME ...     # anywhere: bundled executables, each recorded and protected by each scheme
#     bash probes/executables.sh run DIR                          # where the GPU and libcudart.so.13 are (LD_LIBRARY_PATH)
#
# SCHEME may have options of `harden` behind it: 'drdv --loads'.
set -euo pipefail
case $1 in
make)
    beamline=$(realpath "$2") dir=$3
    shift 3
    mkdir -p "$dir/original" "$dir/protected"
    for packed in workloads/*/*.app.zst; do
        name=$(basename "$packed" .app.zst)
        zstd -dqf "$packed" -o "$dir/original/$name"
        chmod +x "$dir/original/$name"
        "$beamline" run --record "$dir/recorded.capsule" -- "$dir/original/$name" >/dev/null
        for scheme; do
            # shellcheck disable=SC2086
            "$beamline" harden "$dir/recorded.capsule" --scheme $scheme --runs 0 --out "$dir/protected.capsule" \
                --executable "$dir/original/$name" --executable-out "$dir/protected/$name.${scheme// --/_}" >/dev/null
        done
    done
    rm -f "$dir/recorded.capsule" "$dir/protected.capsule"
    ;;
run)
    dir=$2
    for original in "$dir"/original/*; do
        name=$(basename "$original")
        expected=$("$original" 2>&1; echo "exit $?")
        for protected in "$dir/protected/$name".*; do
            found=$("$protected" 2>&1; echo "exit $?")
            if [ "$found" = "$expected" ]; then echo "$(basename "$protected"): same"; else echo "$(basename "$protected"): $found"; fi
        done
    done
    ;;
*)
    echo "usage: see the head of $0" >&2
    exit 1
    ;;
esac
