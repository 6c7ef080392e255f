#!/usr/bin/env bash
# modern.sh [BUILD]: programs of today's kinds on a GPU and under `lockstep run`: dynamic parallelism, products by mma.sync and wgmma, attention, a stencil on textures, clusters, tensor maps.
# Each is compiled once, for sm_90a and as PTX; what it prints on the GPU must be what it prints here, byte for byte. BITS makes the programs print a hash of their results.
# Needs nvcc and a GPU of sm_90 (BUILD/lockstep: make all). NAMES='gemm stencil' for some. 90 s with 16 processors. Exit 0: all the same; 1: differences; 4: no nvcc, or no GPU.
here=$(cd "$(dirname "$0")" && pwd) build=$(cd "${1:-build}" && pwd) || exit 2
nvcc=${NVCC:-$(command -v nvcc || ls -d /usr/local/cuda*/bin/nvcc 2> /dev/null | sort | tail -n 1)}
[ -n "$nvcc" ] || { echo "modern.sh needs nvcc: install the CUDA toolkit, or set NVCC to its path" >&2; exit 4; }
nvidia-smi -L > /dev/null 2>&1 || { echo "modern.sh needs a GPU" >&2; exit 4; }
made=$(mktemp -d) && trap 'rm -rf "$made"' EXIT
export BITS=1 made here build nvcc

compile() # file: its program, and a line "name program" for each that is to be right
{
    local name; name=$(basename "$1" .cu)
    local flags=; case $name in dynamic | modern_grids) flags="-rdc=true -lcudadevrt" ;; streams) flags=-lcuda ;; esac
    # shellcheck disable=SC2086
    "$nvcc" -w -lineinfo -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' -I "$here/../cases/programs" -o "$made/$name" "$1" $flags > "$made/$name.log" 2>&1 ||
        { echo "$name: does not compile: $(head -n 2 "$made/$name.log")"; return 1; }
    "$made/$name" | grep -E '_(ok|ask)$' | sed "s/^/$name /" >> "$made/list"
}
one() # name program
{
    local to=$made/$1.$2 theirs ours
    timeout 20 "$made/$1" "$2" > "$to.gpu" 2>&1 < /dev/null; theirs=$?
    timeout 100 "$build/lockstep" run --quiet "$made/$1" "$2" > "$to.here" 2> "$to.said" < /dev/null; ours=$?
    # 1 is the exit code of a program with findings: some ask for launches that are refused
    if [ $theirs = 0 ] && [ $ours -le 1 ] && cmp -s "$to.gpu" "$to.here"; then echo "same: $1 $2"; return; fi
    echo "DIFFERS: $1 $2: exit $theirs on the GPU, $ours here"
    diff -a "$to.gpu" "$to.here" | head -n 60 | sed 's/^/    /'
    head -n 3 "$to.said" | sed 's/^/    here: /'
}
export -f compile one

for name in ${NAMES:-dynamic modern_grids modern_maps gemm matmul attention stencil clusters graphs streams language}; do
    case $name in modern_*) echo "$here/$name.cu" ;; *) echo "$here/../cases/programs/$name.cu" ;; esac
done | xargs -P "$(nproc)" -I{} bash -c 'compile {}' | tee "$made/failed"
xargs -P "$(nproc)" -L 1 bash -c 'one "$0" "$1"' < "$made/list" | tee "$made/all"
same=$(grep -c '^same' "$made/all") differ=$(grep -c '^DIFFERS' "$made/all")
echo "modern: $same programs print the same, $differ do not, $(wc -l < "$made/failed") files do not compile"
[ "$differ" = 0 ] && [ ! -s "$made/failed" ]
