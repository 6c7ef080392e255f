"""cuda.core: programs compiled to cubins, PTX and LTO code, linked, launched; buffers, streams, events."""
import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, Program, ProgramOptions, launch

CODE = r"""
template <typename T> __global__ void add(const T *a, const T *b, T *out, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}"""

device = Device()
device.set_current()
stream = device.create_stream()
arch = f"sm_{device.arch}"


def array(values):
    """A buffer of the device with these values, and a view of the host's own."""
    pinned = LegacyPinnedMemoryResource().allocate(values.nbytes)
    view = np.from_dlpack(pinned).view(values.dtype)
    view[:] = values
    buffer = device.allocate(values.nbytes, stream=stream)
    buffer.copy_from(pinned, stream=stream)
    return buffer, pinned, view


n = 1000
a, pa, va = array(np.arange(n, dtype=np.float32))
b, pb, vb = array(np.ones(n, dtype=np.float32))
out, po, vo = array(np.zeros(n, dtype=np.float32))
config = LaunchConfig(grid=4, block=256)


program = Program(CODE, code_type="c++", options=ProgramOptions(std="c++17", arch=arch))
module = program.compile("cubin", name_expressions=("add<float>",))
launch(stream, config, module.get_kernel("add<float>"), a, b, out, np.uint64(n))
out.copy_to(po, stream=stream)
stream.sync()
print("cubin", np.array_equal(vo, va + vb))

PART = {
    "first": r'extern "C" __device__ float twice(float); extern "C" __global__ void k(const float *a, float *out, size_t n)'
    r" { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) out[i] = twice(a[i]); }",
    "second": r'extern "C" __device__ float twice(float x) { return 2 * x; }',
}
for name, options, link in (
    ("ptx", ProgramOptions(arch=arch, relocatable_device_code=True), LinkerOptions(arch=arch)),
    ("cubin", ProgramOptions(arch=arch, relocatable_device_code=True), LinkerOptions(arch=arch)),
    ("ltoir", ProgramOptions(arch=arch, link_time_optimization=True), LinkerOptions(arch=arch, link_time_optimization=True)),
):
    parts = [Program(code, "c++", options).compile(name) for code in PART.values()]
    kernel = Linker(*parts, options=link).link("cubin").get_kernel("k")
    launch(stream, config, kernel, a, out, np.uint64(n))
    out.copy_to(po, stream=stream)
    stream.sync()
    print("linked", name, np.array_equal(vo, 2 * va))

begin, end = stream.record(options=EventOptions(timing_enabled=True)), stream.record(options=EventOptions(timing_enabled=True))
end.sync()
print("events", end - begin >= 0)
