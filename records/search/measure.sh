#!/usr/bin/env bash
# Searches the inputs of the kernels of records/search.md by the proxy, and once more with five times the inputs for random search.
# usage: measure.sh BEAMLINE DIR SECONDS SIDE_BY_SIDE
# Each search has 100 inputs, or as many as the variable `budget` says.
# DIR holds one document for each search; those that are there are not made again, and those that take longer than SECONDS are named.
set -euo pipefail
export beamline=$1 dir=$2 limit=$3
side_by_side=$4
mkdir -p "$dir"
search() {
    local workload=$1 kernel=$2 name=$3
    shift 3
    [ -s "$dir/$name.json" ] && return
    if timeout "$limit" "$beamline" search "$workload" --kernel "$kernel" --objective proxy --budget "${budget:-100}" --repeat 10 --faults 50 \
        --seed 0 --jobs 2 "$@" --out "$dir/$name" --json >"$dir/$name.part" 2>"$dir/$name.err"; then
        mv "$dir/$name.part" "$dir/$name.json"
        rm -rf "${dir:?}/$name"
    else
        echo "$name: no answer within $limit s, or an error: $(tail -1 "$dir/$name.err")"
    fi
}
export -f search
# The cheapest first.
kernels='pathfinder advance_rows
blackscholes price
conv2d convolve
mvt mvt_kernel1
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
searches() {
    while read -r workload kernel; do
        echo "search $workload $kernel ${workload}_${kernel}_proxy --searcher all"
        echo "search $workload $kernel ${workload}_${kernel}_five --searcher druto --times 5"
    done <<<"$kernels"
}
searches | xargs -P "$side_by_side" -I{} bash -c '{}'
