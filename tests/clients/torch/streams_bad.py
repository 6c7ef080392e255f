"""PyTorch's own operators, unordered in two streams, on memory that nobody wrote, and on a tensor that goes too early."""
import torch

side = torch.cuda.Stream()
x = torch.ones(1000, device="cuda")
with torch.cuda.stream(side):
    y = x * 2
torch.cuda.synchronize()

z = torch.empty(1000, device="cuda")
print((z + 1).shape)

w = torch.ones(1000, device="cuda")
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    v = w.sum()
del w
torch.cuda.synchronize()
try:
    torch.ops.aten._efficient_attention_forward(*[torch.ones(1, 8, 1, 8, device="cuda")] * 3, None, None, None, None, None, 0.0, 0)
except NotImplementedError as error:
    print(error)
try:
    x + torch.ones(1000)
except RuntimeError as error:
    print(error)
try:
    x[torch.tensor([1000], device="cuda")]
except IndexError as error:
    print(error)
