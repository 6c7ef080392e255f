"""torch.profiler with the GPU's activities, ranges of NVTX, and what TORCH_USE_CUDA_DSA is for: indices out of range."""
import torch
from torch.profiler import ProfilerActivity, profile, record_function

model, x = torch.nn.Linear(64, 64).cuda(), torch.randn(8, 64, device="cuda")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as p:
    with record_function("mine"):
        model(x).relu().sum().backward()
    torch.cuda.synchronize()
names = [e.key for e in p.key_averages()]
print("profile", "mine" in names, "aten::addmm" in names, "aten::relu" in names)
with profile(activities=[ProfilerActivity.CUDA], schedule=torch.profiler.schedule(wait=1, warmup=1, active=1), on_trace_ready=lambda p: print("ready")) as p:
    for _ in range(4):
        model(x)
        p.step()
with torch.autograd.profiler.emit_nvtx():
    model(x)


def refused(name, function):
    try:
        function()
    except (IndexError, RuntimeError) as error:
        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")


far = torch.tensor([99], device="cuda")
refused("x[far]", lambda: x[far])
refused("embedding", lambda: torch.nn.functional.embedding(far, x))
refused("cross_entropy", lambda: torch.nn.functional.cross_entropy(x[:1], far))
refused("gather", lambda: x[0].gather(0, far))
refused("index_add_", lambda: x.index_add_(0, far, x[:1]))
