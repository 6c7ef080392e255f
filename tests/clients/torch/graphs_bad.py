"""Graphs of PyTorch's own operators: a result that another stream does not wait for, memory that nobody writes, a tensor that is dropped before its graph runs, an index that becomes wrong."""
import torch

torch.cuda.init()
side = torch.cuda.Stream()


def captured(function):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


x = torch.ones(1000, device="cuda")
graph, y = captured(lambda: x * 2)
graph.replay()
torch.cuda.synchronize()
graph.replay()
with torch.cuda.stream(side):
    z = y + 1
torch.cuda.synchronize()

empty, w = captured(lambda: torch.empty(1000, device="cuda") + 1)
empty.replay()
torch.cuda.synchronize()

gone = torch.ones(1000, device="cuda")
late, u = captured(lambda: gone * 2)
del gone
torch.cuda.synchronize()
late.replay()
torch.cuda.synchronize()

try:
    captured(x.nonzero)
except RuntimeError as error:
    print(error)
torch.cuda.synchronize()
place = torch.zeros(1, dtype=torch.long, device="cuda")
chosen, v = captured(lambda: x[place])
place.fill_(1000)
chosen.replay()
try:
    torch.cuda.synchronize()
except RuntimeError as error:
    print(str(error).splitlines()[0])
