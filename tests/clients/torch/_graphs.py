"""torch.cuda.graph, make_graphed_callables and the graphs of torch.compile: what PyTorch's operators and Triton's kernels compute in graphs is what they compute otherwise."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def train(graphed):
    """A whole step of training in a graph, as the notes of PyTorch have it."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(32, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    data = [(torch.randn(8, 32), torch.randn(8, 4)) for _ in range(6)]
    x, y = torch.zeros(8, 32, device="cuda"), torch.zeros(8, 4, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    if graphed:
        graph = torch.cuda.CUDAGraph()
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
    losses = []
    for a, b in data:
        x.copy_(a)
        y.copy_(b)
        if graphed:
            graph.replay()
            losses.append(loss.item())
        else:
            losses.append(step().item())
    return losses


def callable_of_graphs():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).cuda()
    x = torch.randn(4, 8, device="cuda")
    want = torch.autograd.grad(model(x).sum(), list(model.parameters()))
    graphed = torch.cuda.make_graphed_callables(model, (torch.randn(4, 8, device="cuda"),))
    return all(torch.equal(a, b) for a, b in zip(want, torch.autograd.grad(graphed(x).sum(), list(model.parameters()))))


def random_numbers():
    """Those of each replay are others, and the seed decides."""
    ones, graph = torch.ones(1000, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        dropped = F.dropout(ones)
        normal = torch.randn(5, device="cuda")
    got = []
    for seed in (3, None, 3):
        if seed:
            torch.cuda.manual_seed(seed)
        graph.replay()
        got.append((dropped.clone(), normal.clone()))
    same = all(torch.equal(a, b) for a, b in zip(got[0], got[2]))
    return same, not torch.equal(got[0][0], got[1][0]), 400 < got[0][0].count_nonzero().item() < 600


def two_graphs():
    """Streams that fork inside, and a second graph in the memory of the first."""
    pool, side, x = torch.cuda.graph_pool_handle(), torch.cuda.Stream(), torch.zeros(10, device="cuda")
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first, pool=pool):
        y = x * 2
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            z = x + 1
        torch.cuda.current_stream().wait_stream(side)
        y = y + z
    with torch.cuda.graph(second, pool=pool):
        w = y * 10
    x.fill_(5)
    first.replay()
    second.replay()
    return y[0].item(), w[0].item()


if __name__ == "__main__":
    torch.set_num_threads(1)
    print("whole step", train(False) == train(True))
    print("make_graphed_callables", callable_of_graphs())
    print("random numbers", *random_numbers())
    print("two graphs", *two_graphs())
    torch.cuda.synchronize()
