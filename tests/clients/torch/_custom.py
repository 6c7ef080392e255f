"""A custom operator of torch.utils.cpp_extension, on a stream of its own: `_custom.py ok`, `bad` for the kernel without a bounds check, or `strides` for a tensor that is not contiguous."""
import os
import sys

import torch
from torch.utils.cpp_extension import load

load("lockstep_case", ["_scale.cpp", "_scale.cu"], build_directory=os.environ["T"], is_python_module=False)
image = torch.arange(1000, dtype=torch.float32).to("cuda")
brighter = torch.empty(1000, device="cuda")
if sys.argv[1] == "strides":
    image, brighter = image.view(20, 50).t(), brighter.view(50, 20)
stream = torch.cuda.Stream()
stream.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(stream):
    torch.ops.lockstep_case.scale(image, brighter, 3.0, sys.argv[1] != "bad")
stream.synchronize()
print(torch.equal(brighter.cpu(), 3 * image.cpu()))
