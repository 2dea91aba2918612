#!/usr/bin/env bash
# Searches the inputs of the kernels of records/search.md by the proxy: all searchers at equal budgets, then random search with five
# times the inputs, then PEPPA-X with five times the inputs, then all searchers at equal times.
# usage: measure.sh BEAMLINE DIR SECONDS SIDE_BY_SIDE [KERNEL ...]
# Each search has 200 inputs, or as many as the variable `budget` says, or 10 seconds; answers have 1067 runs, or as many as `final` says; the variable
# `kinds` chooses some of proxy, five, five_peppa and seconds.
# DIR holds one document for each search, and what is known of inputs. What is there is not made again, and a search that takes longer
# than SECONDS goes on where it was when the command is given again.
set -euo pipefail
export beamline=$1 dir=$2 limit=$3
side_by_side=$4
shift 4
mkdir -p "$dir"
search() {
    local workload=$1 kernel=$2 name=$1_$2
    local kind words inputs
    for kind in ${kinds:-proxy five five_peppa seconds}; do
        inputs=${budget:-200}
        [ -s "$dir/${name}_$kind.json" ] && continue
        case $kind in
        proxy) words='all' ;;
        five) words='druto --times 5' ;;
        five_peppa) words='peppa-x --times 5' ;;
        seconds) words='all --seconds 10' inputs=100000 ;;
        esac
        # shellcheck disable=SC2086
        if timeout "$limit" "$beamline" search "$workload" --kernel "$kernel" --objective proxy --budget "$inputs" --final-runs "${final:-1067}" --repeat 10 \
            --faults 50 --seed 0 --jobs 2 --searcher $words --out "$dir/$name" --json >"$dir/$name.part" 2>"$dir/$name.err"; then
            mv "$dir/$name.part" "$dir/${name}_$kind.json"
        else
            echo "${name}_$kind: no answer within $limit s, or an error: $(tail -1 "$dir/$name.err")"
            return
        fi
    done
}
export -f search
# The cheapest first.
kernels='pathfinder advance_rows
blackscholes price
conv2d convolve
mvt mvt_kernel2
gemm gemm
jmeint jmeint_kernel
nw align_tiles
particlefilter find_index
sobel edges
hotspot advance
fft radix4
bfs settle
backprop adjust
backprop forward
bfs expand'
# With kernels named: those.
chosen=$(for kernel in "$@"; do grep " $kernel\$" <<<"$kernels"; done)
xargs -P "$side_by_side" -I{} bash -c 'search {}' <<<"${chosen:-$kernels}"
