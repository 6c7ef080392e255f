"""What nobody wrote may be computed with, where the results are masked before anything depends on them."""
import torch

d, positions, width = "cuda", 16, 8
torch.manual_seed(0)
keys, values = torch.empty(2, positions, width, device=d), torch.zeros(2, positions, width, device=d)
for t in range(3):  # a cache that is filled step by step
    q, k, v = (torch.randn(2, 1, width, device=d) for _ in range(3))
    keys[:, t:t + 1], values[:, t:t + 1] = k, v
    scores = q @ keys.transpose(-2, -1) / width ** 0.5
    scores = scores.masked_fill(torch.arange(positions, device=d) > t, float("-inf"))
    y = scores.softmax(-1) @ values
print(f"{y.sum().item():.4f}")

x = torch.empty(4, 8, device=d)
x[:, :5] = 1
tail = torch.arange(8, device=d) >= 5
y = x * 2 + 1
y.masked_fill_(tail, 0)
print(y.sum().item(), torch.where(tail, 0, -x).sum().item(), torch.cat([x, x], 1)[:, :5].sum().item())
print(x.half()[:, :5].float().sum().item(), x.tril(-1)[1:, :3].sum().item(), x.t().contiguous()[:5].sum().item())
print(torch.index_select(x, 1, torch.tensor([4, 0], device=d)).sum().item())
