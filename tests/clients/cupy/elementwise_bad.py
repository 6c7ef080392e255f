"""An ElementwiseKernel that looks at its neighbour reaches past the end."""
import cupy as cp

difference = cp.ElementwiseKernel("raw float32 x", "float32 y", "y = x[i + 1] - x[i]", "difference")
x = cp.arange(1000, dtype=cp.float32)
y = cp.empty(1000, cp.float32)
difference(x, y)
cp.cuda.Device().synchronize()
