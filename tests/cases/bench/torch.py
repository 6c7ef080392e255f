# Stands in for PyTorch where there is none: what src/cli/bench/timed.py asks of it, for dense arrays of f32 in the host's memory, with the host's clock for events.
import array, contextlib, math, os, struct, time

__version__ = "0.stand-in"
float32, float64, float16, bfloat16, int32 = "torch.float32", "torch.float64", "torch.float16", "torch.bfloat16", "torch.int32"


class Tensor:
    def __init__(self, values, shape, dtype=float32):
        self.v, self.shape, self.dtype = list(values), list(shape), dtype

    def cuda(self):
        return self

    def double(self):
        return Tensor(self.v, self.shape, float64)

    def element_size(self):
        return {float32: 4, float64: 8, float16: 2, bfloat16: 2, int32: 4}[self.dtype]

    def numel(self):
        return len(self.v)

    def reshape(self, shape):
        return Tensor(self.v, shape, self.dtype)

    def __mul__(self, k):
        return Tensor([struct.unpack("f", struct.pack("f", x * k))[0] for x in self.v], self.shape, self.dtype)

    def __sub__(self, other):
        return Tensor([a - b for a, b in zip(self.v, other.v)], self.shape, self.dtype)

    def __and__(self, other):
        return Tensor([a and b for a, b in zip(self.v, other.v)], self.shape)

    def __eq__(self, other):
        return Tensor([a == b for a, b in zip(self.v, other.v)], self.shape)

    def __getitem__(self, mask):
        return Tensor([a for a, m in zip(self.v, mask.v) if m], [1], self.dtype)

    def all(self):
        return all(self.v)


def empty(n, dtype=float32, device=None):
    return Tensor([0.0] * (n if device is None else 0), [n], dtype)


Tensor.fill_ = lambda self, value: self


def from_file(path, shared, size, dtype):
    a = array.array("f" if dtype == float32 else "i")
    with open(path, "rb") as f:
        a.frombytes(f.read())
    return Tensor(a[:size], [size], dtype)


def as_strided(t, dim, stride, offset):
    return Tensor(t.v[offset:], dim, t.dtype)


def isfinite(t):
    return Tensor([math.isfinite(x) for x in t.v], t.shape)


class linalg:
    vector_norm = staticmethod(lambda t: math.sqrt(sum(x * x for x in t.v)))


no_grad = contextlib.nullcontext


class cuda:
    class Event:
        def __init__(self, enable_timing):
            self.t = 0

        def record(self):
            self.t = time.perf_counter()

        def synchronize(self):
            pass

        def elapsed_time(self, other):
            return (other.t - self.t) * 1e3

    class Stream:
        def wait_stream(self, other):
            pass

    class CUDAGraph:
        def replay(self):
            raise RuntimeError("no graphs here")

    current_stream = staticmethod(lambda: cuda.Stream())
    stream = staticmethod(lambda s: contextlib.nullcontext())
    synchronize = staticmethod(lambda: None)
    empty_cache = staticmethod(lambda: None)
    is_available = staticmethod(lambda: not os.environ.get("NO_CUDA"))
    get_device_name = staticmethod(lambda i: "NVIDIA H200")

    @staticmethod
    def graph(g):
        raise RuntimeError("no graphs here")
