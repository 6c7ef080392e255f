"""cuBLAS holds machine code alone."""
import cupy as cp

a = cp.ones((8, 8), cp.float32)
try:
    print((a @ a).sum())
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
