"""Arguments of raw kernels: wrong ones, and right ones that look like them."""
import sys

import cupy as cp

CODE = r"""
// void scale(double *x) is another one
extern "C" __global__ void scale(const float* __restrict__ x, float f, int n) { }
extern "C" __global__ void rows(const float *x, int pitch, long long many, unsigned char *bytes) { }
template <class T> __global__ void any(T *x) { }
"""
scale = cp.RawKernel(CODE, "scale")
rows = cp.RawModule(CODE).get_function("rows")
singles, doubles, words = cp.ndarray((32, 64), "float32"), cp.ndarray((1000,), "float64"), cp.ndarray((100,), "int32")
transposed = cp.ndarray((64, 32), "float32", (4, 256), singles)
stepped = cp.ndarray((32, 32), "float32", (256, 8), singles)
half = 0.5
one = (1,)

if sys.argv[1] == "bad":
    scale(one, one, (doubles, half, 1000))
    scale(one, one, (singles, 2, 2.5))
    scale(one, one, (words, 0.0, 2**40))
    scale(one, one, (transposed, 0.0, 2048))
    rows(one, one, (stepped, 32, 1024, doubles))
else:
    for k in range(3):
        print(scale(one, one, (singles, 0.0, 2048)))
    print(scale(one, one, (cp.ndarray((10,), "complex64"), 0.0, -1)))
    print(scale(one, one, (cp.ndarray((4096,), "uint8"), 0.0, 4294967295)))  # bytes may be anything
    print(scale(one, one, (cp.ndarray((8, 8), "float32", (4, 32)), 0.0, 64)))  # made in Fortran's order
    print(rows(one, one, (cp.ndarray((32, 32), "float32", (400, 4), singles), 100, 1024, doubles)))  # the pitch is given
    print(cp.RawKernel(CODE, "any")(one, one, (doubles,)), cp.RawKernel(None, "gone")(one, one, (doubles,)))
    print(scale(one, one, (doubles,)), isinstance(rows, cp.RawKernel), rows.name)
