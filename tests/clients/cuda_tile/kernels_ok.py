"""cuTile: tiles of two arrays added, and a sum of rows; results as NumPy's."""
import cuda.tile as ct
import cupy as cp
import numpy as np


@ct.kernel
def add(a, b, c, n: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(n,)) + ct.load(b, index=(i,), shape=(n,)))


a, b = (cp.asarray(np.arange(1024, dtype=np.float32)) for _ in range(2))
c = cp.empty(1024, dtype=cp.float32)
ct.launch(cp.cuda.get_current_stream(), (8, 1, 1), add, (a, b, c, 128))
print("add", np.array_equal(c.get(), 2 * np.arange(1024)))
