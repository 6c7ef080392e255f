"""PyTorch's operators that overwrite what is there read nothing of it; tensors that are no arrays of numbers are refused by name."""
import warnings

import torch

warnings.simplefilter("ignore")
d = "cuda"
x, y = torch.arange(20.0).reshape(4, 5), torch.arange(5.0)
a, b = x.to(d), y.to(d)
empty = lambda *shape: torch.empty(*shape, device=d)
print("mv", torch.equal(torch.mv(a, b).cpu(), x @ y), torch.equal(torch.mv(a, b, out=empty(4)).cpu(), x @ y))
print("addmv", torch.equal(torch.addmv(empty(4), a, b, beta=0).cpu(), x @ y))
print("addmm", torch.equal(torch.addmm(empty(4, 4), a, a.T, beta=0).cpu(), x @ x.T), torch.equal(empty(4, 4).addmm_(a, a.T, beta=0).cpu(), x @ x.T))
print("baddbmm", torch.equal(torch.baddbmm(empty(1, 4, 4), a[None], a.T[None], beta=0, alpha=2)[0].cpu(), 2 * x @ x.T))
print("addr", torch.equal(torch.addr(empty(5, 5), b, b, beta=0).cpu(), torch.outer(y, y)))

F = torch.nn.functional
half = (x / 7).half()
scores = half.to(d).requires_grad_()
wide = F.softmax(scores, -1, dtype=torch.float32)  # as attention in halves does it
wide[:, 0].sum().backward()
back = half.float().requires_grad_()
F.softmax(back, -1)[:, 0].sum().backward()
print("softmax of halves in f32", wide.dtype, torch.allclose(wide.cpu(), half.float().softmax(-1)), scores.grad.dtype, torch.allclose(scores.grad.cpu().float(), back.grad, atol=1e-3))
print("log_softmax", torch.allclose(F.log_softmax(scores, -1, dtype=torch.float32).cpu(), half.float().log_softmax(-1)))
with torch.autocast("cuda", dtype=torch.float16):
    print("autocast", scores.softmax(-1).dtype, F.cross_entropy(scores, torch.arange(4, device=d)).dtype)
image = torch.arange(32.0).reshape(1, 2, 4, 4)
print("halves that only CUDA has", torch.equal(F.avg_pool3d(image.half().to(d), 2).cpu().float(), F.avg_pool3d(image, 2)),
      torch.allclose(F.interpolate(image.bfloat16().to(d), size=(2, 2), mode="bilinear", antialias=True).cpu().float(), F.interpolate(image, size=(2, 2), mode="bilinear", antialias=True), rtol=1e-2))
weight = torch.nn.Embedding(10, 3, sparse=True).to(d)
for name, f in {"to_sparse": a.to_sparse, "sparse gradient": lambda: weight(torch.tensor([1], device=d)).sum().backward(),
                "nested": lambda: torch.nested.nested_tensor([b, b[:2]]).to_padded_tensor(0.0),
                "quantised": lambda: torch.quantize_per_tensor(a, 0.1, 0, torch.qint8)}.items():
    try:
        print(name, f())
    except NotImplementedError as e:
        print(name, "-", e)
