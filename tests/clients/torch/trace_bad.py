"""lockstep.trace under `run`: an operator of one's own that launches a kernel, and the first NaN, forward and backward."""
import os
import sys
import tempfile
import warnings

place = os.path.join(tempfile.mkdtemp(dir=os.environ.get("T")), "site-packages")  # as if pip had installed it
os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python"), place)
sys.path.insert(0, place)
warnings.filterwarnings("ignore")
import torch
import triton
import triton.language as tl

import lockstep


@triton.jit
def root(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.sqrt(tl.load(x + i, mask=i < n)), mask=i < n)


@torch.library.custom_op("mine::root", mutates_args=())
def mine_root(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    root[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out


x = torch.linspace(0, 4, 1000, device="cuda")
with lockstep.trace() as t:
    y = mine_root(x) + 1
    z = mine_root(x - 1)
call = t.named("mine.root")[0]
print(call.name, call.line, call.kernels, call.inputs[0].shape, call.inputs[0].strides, call.inputs[0].dtype)
print(call.outputs[0].least, call.outputs[0].most, call.outputs[0].nans, call.seconds > 0, call.memory >= 4000)
print(str(t).splitlines()[0])

w = torch.zeros(4, device="cuda", requires_grad=True)
with lockstep.trace() as t:
    (w.sqrt() * w).sum().backward()  # 0 / 0 in the backward pass
print(t.first_nan.name, sum(f.nans for f in t.first_nan.outputs), t.first_nan.backward)
