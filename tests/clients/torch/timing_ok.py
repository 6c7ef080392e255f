"""Clocks around PyTorch's own operators, with a wait before the second read, or without work between."""
import time

import torch

x = torch.ones(64, 64, device="cuda")


def waited():
    start = time.perf_counter()
    y = x @ x
    torch.cuda.synchronize()
    return y, time.perf_counter() - start


def asked():
    """The host waits for a number, or for a copy."""
    start = time.perf_counter()
    first = (x @ x).sum().item()
    middle = time.perf_counter()
    last = (x * 2).cpu()
    return first, last, middle - start, time.perf_counter() - middle


def nothing():
    start = time.perf_counter()
    y, z = x.t(), torch.empty(5, device="cuda")
    return y, z, time.perf_counter() - start


def epochs():
    start = time.time()
    for _ in range(3):
        y = x * 2
    print(y.mean().item())
    return time.time() - start


waited(), asked(), nothing(), epochs()
begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
begin.record()
y = x @ x
end.record()
end.synchronize()
print(begin.elapsed_time(end) >= 0)
