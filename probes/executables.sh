#!/usr/bin/env bash
# Whether executables with protected kernels print on the GPU of this machine what they print as they are. Needs no compiler there.
#
#     bash probes/executables.sh make BEAMLINE DIR SCHEME ...     # anywhere: bundled executables, each recorded and protected by each scheme
#     bash probes/executables.sh run DIR                          # where the GPU and libcudart.so.13 are (LD_LIBRARY_PATH)
#     bash probes/executables.sh time DIR [TURNS]                 # there: milliseconds of whole processes, in turns, one row for each turn
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
time)
    dir=$2 turns=${3:-11}
    taken() {
        local start
        start=$(date +%s%N)
        "$1" >/dev/null 2>&1
        echo $((($(date +%s%N) - start) / 1000))
    }
    echo "application,scheme,turn,original_us,protected_us"
    for original in "$dir"/original/*; do
        name=$(basename "$original")
        for protected in "$dir/protected/$name".*; do
            # The first run of each compiles its kernels, which the driver then keeps.
            taken "$original" >/dev/null
            taken "$protected" >/dev/null
            for ((turn = 1; turn <= turns; turn++)); do
                echo "$name,${protected##*.},$turn,$(taken "$original"),$(taken "$protected")"
            done
        done
    done
    ;;
*)
    echo "usage: see the head of $0" >&2
    exit 1
    ;;
esac
