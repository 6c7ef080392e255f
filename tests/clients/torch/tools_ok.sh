# The profiler prints the times of its beginning and its end.
TORCH_USE_CUDA_DSA=1 CUDA_LAUNCH_BLOCKING=1 "$lockstep" run --threads 1 "$python" -W ignore _tools.py > "$T/said" 2>&1; rc=$?
grep -v ^USDT "$T/said"
exit $rc
