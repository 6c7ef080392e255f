"""The same, with order, values, and record_stream."""
import torch

side = torch.cuda.Stream()
x = torch.ones(1000, device="cuda")
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    y = x * 2
    z = torch.empty(1000, device="cuda")
    z[::2], z[1::2] = 1, 2
torch.cuda.current_stream().wait_stream(side)
print((y + z + 1).sum().item())
w = torch.ones(1000, device="cuda")
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    v = w.sum()
w.record_stream(side)
del w
torch.cuda.synchronize()
print(v.item())
