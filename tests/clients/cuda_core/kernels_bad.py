"""A kernel of cuda.core without a guard."""
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

CODE = r"""
extern "C" __global__ void fill(float *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}"""

device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program(CODE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("fill")
out = device.allocate(4000, stream=stream)
launch(stream, LaunchConfig(grid=4, block=256), kernel, out)
stream.sync()
out.close(stream)
stream.sync()
