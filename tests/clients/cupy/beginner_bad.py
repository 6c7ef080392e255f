"""What goes wrong with RawKernel: arrays of another type, dynamic shared memory that was not asked for, an array that is gone, a view whose rows are
farther apart, an address of NumPy's, two streams that share an array."""
import cupy as cp
import numpy as np

module = cp.RawModule(code=r"""
extern "C" {
__global__ void twice(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
__global__ void total(const float *x, float *y)
{
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    for (int k = blockDim.x / 2; k; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (!t) *y = s[0];
}
__global__ void raised(float *x, float v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += v;
}
__global__ void rows(const float *a, float *out, int rows, int cols)
{
    int r = threadIdx.x;
    float s = 0;
    for (int c = 0; c < cols; c++) s += a[r * cols + c];
    out[r] = s;
}
}""")
twice, total, raised, rows = (module.get_function(n) for n in ("twice", "total", "raised", "rows"))
floats = cp.ones(1000, dtype=cp.float32)
result = cp.zeros(1000, dtype=cp.float32)
twice((4,), (256,), (floats, result, 1000))
total((1,), (256,), (floats, result))
matrix = cp.ones((64, 100), dtype=cp.float32)
sums = cp.zeros(64, dtype=cp.float32)
rows((1,), (64,), (matrix[:, 50:], sums, 64, 100))


def address():
    gone = cp.ones(1000, dtype=cp.float32)
    return gone.data.ptr


raised((4,), (256,), (address(), cp.float32(1), 1000))
host = np.ones(1000, dtype=np.float32)
raised((4,), (256,), (host.ctypes.data, cp.float32(1), 1000))
a, b = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
cp.cuda.Device().synchronize()
with a:
    raised((4,), (256,), (floats, cp.float32(1), 1000))
with b:
    raised((4,), (256,), (floats, cp.float32(1), 1000))
cp.cuda.Device().synchronize()
