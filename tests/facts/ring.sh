#!/usr/bin/env bash
# ring.sh [BUILD] [OUT]: what only a GPU can say of ring kernels (docs/ring.md): the validation suite, the life cycle tests, and the figures, on the first GPU.
# Needs a build (make all unit) and a GPU with its driver; no toolkit. Takes some minutes. Writes OUT/ring-*.json (default: the current folder). Not yet run.
build=${1:-build} out=${2:-.} bad=0
export CUDA_MODULE_LOADING=EAGER TOP
TOP=$(cd "$(dirname "$0")/../.." && pwd)
"$build/lockstep" ring --validate --on gpu --messages 1000000 --json "$out/ring-validate.json" || bad=1
"$build/unit/test_ring" 10000 gpu || bad=1
"$build/lockstep" ring --bench --on gpu --messages 100000 --json "$out/ring-bench.json" || bad=1
"$build/lockstep" ring --bench --on gpu --messages 100000 --idle 1000 --json "$out/ring-bench-idle.json" || bad=1
own() { # KERNEL GRID BLOCK ELEMENTS EACH
    "$build/lockstep" launch "$TOP/tests/cases/ring/own.ptx:$1" --grid "$2" --block "$3" "out=u32[$4]=zeros" "u32:$5" --on gpu --expect out=ones > /dev/null || { echo "$1: not as expected"; bad=1; }
}
own spsc_global 2 1 1000 1000
own spsc_one 2 1 1000 1000
own mpsc_global 4 1 3000 1000
own mpmc_global 4 1 2000 1000
own shared_rings 1 288 500 100
own cluster_ring 3 1 2000 1000
exit $bad
