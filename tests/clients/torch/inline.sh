# Operators written in the script itself, by torch.utils.cpp_extension.load_inline: a right one, and five mistakes of its kernel and its launch. The first run compiles.
root=${CUDA_HOME:-/usr/local/cuda}
[ -x "$root/bin/nvcc" ] || { echo "there is no CUDA toolkit in $root, and torch.utils.cpp_extension builds with one"; exit 77; }
command -v g++ > /dev/null || { echo "g++ is not here"; exit 77; }
export CUDA_HOME=$root PATH=$root/bin:$PATH TORCH_CUDA_ARCH_LIST=9.0 CCACHE_DISABLE=1
# ninja takes no colon in a name, and $T has one.
made=$(mktemp -d); trap 'rm -rf "$made"' EXIT
for kind in ok barrier row rows stream threads; do
    echo "== $kind"
    "$lockstep" run --threads 1 "$python" _inline.py $kind "$made" > "$T/out.$kind" 2>&1; rc=$?
    grep -vE '^(1 launch|Emitting|Building|Loading|If this is not desired)' "$T/out.$kind" | sed "s,$made/,,"
    echo "rc $rc"
done
