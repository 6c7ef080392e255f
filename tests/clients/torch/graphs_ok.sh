# Graphs of CUDA. PyTorch's allocator of cudaMallocAsync warns whenever a tensor that a graph has made goes, with the time and an address.
"$lockstep" run --threads 1 "$python" -W ignore _graphs.py > "$T/said" 2>&1; rc=$?
grep -v -e CUDAMallocAsyncAllocator -e '^This is technically allowed' "$T/said"
exit $rc
