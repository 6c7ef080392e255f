"""Clocks around PyTorch's own operators that nobody waits for."""
import time

import torch

x = torch.ones(64, 64, device="cuda", requires_grad=True)


def forward():
    start = time.perf_counter()
    y = x @ x
    return y, time.perf_counter() - start


def backward(y):
    torch.cuda.synchronize()
    start = time.perf_counter()
    y.sum().backward()
    return time.perf_counter() - start


print(backward(x @ x) < 60, forward()[1] < 60)
