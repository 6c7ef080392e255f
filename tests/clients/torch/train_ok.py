"""Models trained on "cuda" tensors without a GPU: losses and weights are those of the CPU."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset


class Last(nn.Module):
    """The last step of a recurrent net."""

    def __init__(self, kind):
        super().__init__()
        self.rnn, self.out = kind(16, 24, batch_first=True), nn.Linear(24, 4)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(50, 32), nn.Linear(32, 50)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)

    def forward(self, x):
        return self.out(self.layer(self.embed(x))).flatten(0, 1)


def dense():
    return nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))


def net():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(8, 8, 3, groups=8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4))


def train(device, make, shape, optimizer, **options):
    torch.manual_seed(0)
    model = make()
    x = torch.randint(0, 50, shape) if make is Attention else torch.randn(shape)
    y = torch.randint(0, 4, (shape[0] * (shape[1] if make is Attention else 1),))
    model, x, y = model.to(device), x.to(device), y.to(device)
    optimizer, losses = optimizer(model.parameters(), lr=0.01, **options), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return [t.detach().cpu() for t in (*losses, *model.parameters(), *model.buffers())]


def both(name, *args, **options):
    pairs = zip(train("cpu", *args, **options), train("cuda", *args, **options))
    print(name, "as on the CPU" if all(torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in pairs) else "DIFFERS")


def mixed():
    """Workers, pinned memory, autocast, a scaler, checkpointing, dropout."""
    torch.manual_seed(0)
    model = nn.Sequential(dense(), nn.Dropout(0.1)).cuda()
    optimizer, scaler = torch.optim.AdamW(model.parameters(), lr=0.01), torch.amp.GradScaler("cuda")
    data = TensorDataset(torch.randn(64, 16), torch.randint(0, 4, (64,)))
    losses = []
    for x, y in DataLoader(data, batch_size=16, num_workers=2, pin_memory=True):
        x, y = x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            h = checkpoint(model, x, use_reentrant=False)
            loss = F.cross_entropy(h, y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return h.dtype, losses


if __name__ == "__main__":
    torch.set_num_threads(1)  # with more, products of halves are added up in the order that threads come
    for name in ("SGD", "Adam", "AdamW", "RMSprop"):
        both(name, dense, (64, 16), getattr(torch.optim, name))
    both("Adam, fused", dense, (64, 16), torch.optim.Adam, fused=True)
    both("SGD, foreach", dense, (64, 16), torch.optim.SGD, foreach=True)
    both("convolutions", net, (8, 3, 16, 16), torch.optim.SGD)
    both("LSTM", lambda: Last(nn.LSTM), (5, 7, 16), torch.optim.SGD)
    both("GRU", lambda: Last(nn.GRU), (5, 7, 16), torch.optim.SGD)
    both("attention", Attention, (3, 9), torch.optim.Adam)
    first, second = mixed(), mixed()
    print("mixed precision", first[0], "repeats" if first == second else "DIFFERS", first[1][-1] < 2)
    a = torch.rand(5, device="cuda")
    state = torch.cuda.get_rng_state()
    b = torch.rand(5, device="cuda")
    torch.cuda.set_rng_state(state)
    print("random numbers", torch.equal(b, torch.rand(5, device="cuda")), not torch.equal(a, b))
    x = torch.ones(1 << 20, device="cuda")
    print("memory", torch.cuda.memory_allocated() >= x.nbytes, torch.cuda.max_memory_allocated() >= x.nbytes)
