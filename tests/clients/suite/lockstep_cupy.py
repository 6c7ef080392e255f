"""A plugin of pytest for CuPy's own tests: cupy.random asks cuRAND, which is closed, for the data of tests of other things. Here NumPy draws the
numbers, which are copied to the device."""
import cupy
import numpy

SHAPED = ["rand", "randn"]
SIZED = ["random", "random_sample", "uniform", "normal", "standard_normal", "randint"]


def on_host(name):
    draw = getattr(numpy.random, name)

    def drawn(*args, dtype=None, **more):
        args = [a.get() if isinstance(a, cupy.ndarray) else a for a in args]
        if name == "randint" and dtype is not None:
            more["dtype"] = dtype
        value = numpy.asarray(draw(*args, **more))
        return cupy.asarray(value if dtype is None else value.astype(dtype))

    return drawn


for function in SHAPED + SIZED:
    setattr(cupy.random, function, on_host(function))
cupy.random.seed = numpy.random.seed
