# A captured stream whose temporary arrays are gone before its graph runs: CuPy's pool keeps their memory, and captures have it also under `run`.
import cupy as cp
import numpy as np

a = cp.asarray(np.arange(100.0))
one, two = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
fork, join = cp.cuda.Event(), cp.cuda.Event()
cp.cuda.Device().synchronize()

with one:
    one.begin_capture()
    b = (a + 3) * 7.5
    fork.record(one)
    two.wait_event(fork)
    with two:
        c = 3 * b * b + 1
        join.record(two)
    one.wait_event(join)
    graph = one.end_capture()
    graph.upload()
    graph.launch()
    one.synchronize()
host = (np.arange(100.0) + 3) * 7.5
print("graph:", np.array_equal(c.get(), 3 * host * host + 1))

verbose = cp.cuda.runtime.cudaGraphDebugDotFlagsVerbose
print("text:", "cupy_add" in graph.debug_dot_str(), len(graph.debug_dot_str()) < len(graph.debug_dot_str(verbose)))
