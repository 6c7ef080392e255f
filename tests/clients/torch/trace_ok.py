"""lockstep.trace under `run` looks at tensors from outside: what is only allocated so far, or written in part, is no uninitialised output, and no NaN."""
import os
import sys
import tempfile
import warnings

place = os.path.join(tempfile.mkdtemp(dir=os.environ.get("T")), "site-packages")  # as if pip had installed it
os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python"), place)
sys.path.insert(0, place)
warnings.filterwarnings("ignore")
import torch

import lockstep

with lockstep.trace() as t:
    a = torch.empty(4, 8, device="cuda")
    b = torch.empty_like(a)
    a[:, :4].fill_(2)
    c = a.t()  # half of it is written
    b.normal_(generator=torch.Generator("cuda").manual_seed(1))
    d = torch.empty(8, device="cuda").copy_(b[0])
    a.zero_()
    e = (a + b).sum()
    f = torch.full((3,), float("inf"), device="cuda")
print("first NaN:", t.first_nan)
for call in t.calls:
    if any(x.undefined for x in [*call.inputs, *call.outputs]):
        print(call.name, [x.undefined for x in call.inputs], [x.undefined for x in call.outputs])
part = t.named("aten.t.")[0].outputs[0]
print("half:", part.shape, part.undefined, part.least, part.most)
print("inf:", t.named("aten.full")[0].outputs[0].infinities if t.named("aten.full") else t.named("fill_")[-1].outputs[0].infinities)
print(float(e) == float(b.sum()), torch.equal(d, b[0]))
