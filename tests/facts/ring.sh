#!/usr/bin/env bash
# ring.sh [BUILD] [OUT] [PART]: what only a GPU can say of ring kernels (docs/reference/ring.md), on the first GPU: `validate`, the validation suite with 10^9 messages; `bench`,
# the figures; `life`, the life cycle tests and the rings of a kernel's own; `latency`, what the parts of a ring cost, and `forms`, forms of a message side by side (ring_latency.cu, ring_forms.cu; both need nvcc). PART is one of
# them; without it the first three. Needs a build (make all unit) and a GPU with its driver; no toolkit. Each part takes about a minute, and is ended after LIMIT seconds (120). Writes OUT/ring-*.json and ring-bench.svg (default: the current folder).
build=${1:-build} out=${2:-.} part=${3:-validate bench life} bad=0
export CUDA_MODULE_LOADING=EAGER TOP
TOP=$(cd "$(dirname "$0")/../.." && pwd)
limited() { timeout -k 5 "${LIMIT:-120}" "$@" || { echo "exit $?: $*"; bad=1; }; }
own() { # KERNEL GRID BLOCK ELEMENTS EACH
    limited "$build/lockstep" launch "$TOP/tests/cases/ring/own.ptx:$1" --grid "$2" --block "$3" "out=u32[$4]=zeros" "u32:$5" --on gpu --expect out=ones > /dev/null
}
for p in $part; do
    case $p in
    validate) limited "$build/lockstep" ring --verbose --validate --on gpu --messages 1000000000 --json "$out/ring-validate.json" ;;
    bench) limited "$build/lockstep" ring --verbose --bench --on gpu --deadline 8 --messages 10000 --matrix 12 --json "$out/ring-bench.json" --svg "$out/ring-bench.svg" ;;
    life)
        limited "$build/unit/test_ring" 10000 gpu
        own spsc_global 2 1 1000 1000
        own spsc_one 2 1 1000 1000
        own mpsc_global 4 1 3000 1000
        own mpmc_global 4 1 2000 1000
        own shared_rings 1 288 500 100
        own cluster_rings 4 1 2500 500
        own pipe_block 1 64 1000 1000
        own pipe_cluster 2 32 1000 1000
        ;;
    latency | forms)
        nvcc=${NVCC:-$(command -v nvcc || ls -d /usr/local/cuda*/bin/nvcc 2> /dev/null | sort | tail -n 1)} made=$(mktemp -d)
        "${nvcc:?ring.sh: $p needs nvcc}" -O3 -std=c++17 -arch=sm_90 -w -I"$TOP/include" -o "$made/ring_$p" "$TOP/tests/facts/ring_$p.cu" && limited "$made/ring_$p" ${TRIPS:+"$TRIPS"}
        rm -rf "$made"
        ;;
    *) echo "ring.sh: no part $p" >&2; bad=1 ;;
    esac
done
exit $bad
