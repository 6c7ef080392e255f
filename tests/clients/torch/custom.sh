# A custom operator, built by torch.utils.cpp_extension with the nvcc that PATH has under `lockstep run`: nothing in its build asks for PTX.
root=${CUDA_HOME:-/usr/local/cuda}
[ -x "$root/bin/nvcc" ] || { echo "there is no CUDA toolkit in $root, and torch.utils.cpp_extension builds with one"; exit 77; }
command -v g++ > /dev/null || { echo "g++ is not here"; exit 77; }
export CUDA_HOME=$root PATH=$root/bin:$PATH TORCH_CUDA_ARCH_LIST=9.0 CCACHE_DISABLE=1
for kind in ok bad strides; do
    echo "== $kind"
    "$lockstep" run --threads 1 "$python" _custom.py $kind > "$T/out.$kind" 2>&1; rc=$?
    grep -vE '^(1 launch|Emitting|Building|Loading|If this is not desired)' "$T/out.$kind"
    echo "rc $rc"
done
