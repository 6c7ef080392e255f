"""A type whose functions NVRTC compiles: they are linked with code of Numba's at link time."""
from numba import cuda


@cuda.jit
def show():
    a = cuda.bfloat16(0.9375)
    print(a, a)


show[1, 1]()
cuda.synchronize()
