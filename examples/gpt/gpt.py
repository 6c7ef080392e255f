"""A small GPT, trained a few steps, with PyTorch's operators and with ours in their place.

    python gpt.py                       # losses with PyTorch's operators
    python gpt.py --ours                # the same with lockstep.ops (layernorm, gelu) in their place; losses agree
    python gpt.py --bug scale           # an operator with this mistake in its place: lockstep.bisect names it
    python gpt.py --all                 # each of the ten mistakes in turn
    lockstep run python gpt.py --device cuda [...]      # the same on "cuda" tensors, without a GPU

docs/custom-ops.md goes through it step by step."""
import argparse
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, WIDTH, HEADS, CONTEXT, BATCH = 65, 48, 4, 16, 4  # a width that is no power of two


class Attend(nn.Module):
    """softmax(mask(q k' / sqrt(head size))) v; q, k, v: batch, head, time, head size."""

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        hidden = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(1)
        return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


class BiasGelu(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return F.gelu(x + self.bias)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.attend, self.out = nn.Linear(WIDTH, 3 * WIDTH), Attend(), nn.Linear(WIDTH, WIDTH)
        self.up, self.gelu, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), BiasGelu(4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, HEADS, c // HEADS).transpose(1, 2) for z in self.qkv(self.norm1(x)).split(c, -1))
        x = x + self.out(self.attend(q, k, v).transpose(1, 2).reshape(b, t, c))
        return x + self.down(self.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks, self.norm, self.head = nn.ModuleList(Block() for _ in range(2)), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        x = self.token(ids) + self.place(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def model(device):
    torch.manual_seed(0)
    made = Gpt()
    for p in made.parameters():  # biases and scales that are no zeros and ones, so that mistakes with them show
        nn.init.normal_(p, 1.0 if p.dim() == 1 and p is not None and p.std() == 0 and p.mean() == 1 else 0.0, 0.2)
    return made.to(device)


def data(device):
    torch.manual_seed(1)
    ids = torch.randint(0, VOCABULARY, (BATCH, CONTEXT + 1))
    return ids[:, :-1].contiguous().to(device), ids[:, 1:].contiguous().to(device)


def train(m, ids, targets, steps=5):
    optimizer, losses = torch.optim.AdamW(m.parameters(), lr=1e-3), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.cross_entropy(m(ids).flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# ---- ours ----


def swap_ours(m):
    """LayerNorm and GELU by the kernels of lockstep.ops, forward and backward."""
    from lockstep import ops

    for module in m.modules():
        if isinstance(module, nn.LayerNorm):
            module.forward = lambda x, n=module: ops.layernorm(x.reshape(-1, WIDTH), n.weight, n.bias).view(x.shape)
        elif isinstance(module, BiasGelu):
            module.forward = lambda x, g=module: ops.gelu((x + g.bias).flatten()).view(x.shape)


# ---- the ten mistakes: an operator as its author wrote it, with the place where it is put ----


class TransposedWeight(nn.Linear):
    """Takes the weight for one of the other order, as a kernel that indexes w[k * n + j] does."""

    def __init__(self, old):
        super().__init__(old.in_features, old.out_features)

    def forward(self, x):
        return F.linear(x, self.weight.t().reshape(self.weight.shape), self.bias)


class WidthForHeadSize(Attend):
    """Divides by the root of n_embd, not of the head size."""

    def __init__(self, old):
        super().__init__()

    def forward(self, q, k, v):
        return super().forward(q * (q.shape[-1] / WIDTH) ** 0.5, k, v)


class FlatBias(BiasGelu):
    """Takes the expanded bias for an array as large as x, and reads it flat: element i of a bias of n."""

    def __init__(self, old):
        super().__init__(old.bias.numel())

    def forward(self, x):
        flat = self.bias.repeat_interleave(x.numel() // self.bias.numel())
        return F.gelu(x + flat.view(x.shape))


class PowersOfTwo(nn.LayerNorm):
    """A tree of halves over a row that is no power of two leaves the rest out."""

    def __init__(self, old):
        super().__init__(old.normalized_shape)

    def forward(self, x):
        part = x[..., : 1 << (x.shape[-1].bit_length() - 1)]
        mean, var = part.sum(-1, True) / x.shape[-1], (part * part).sum(-1, True) / x.shape[-1]
        return (x - mean) * (var - mean * mean + self.eps).rsqrt() * self.weight + self.bias


class NotContiguous(Attend):
    """Takes q, which is a view with its heads in between, for one that is dense."""

    def __init__(self, old):
        super().__init__()

    def forward(self, q, k, v):
        dense = q.transpose(1, 2).reshape(q.shape)  # the elements in the order that they lie in
        return super().forward(dense, k, v)


class Eps(nn.LayerNorm):
    def __init__(self, old):
        super().__init__(old.normalized_shape, eps=1e-2)


class MaskOffByOne(Attend):
    """Sees the next token."""

    def __init__(self, old):
        super().__init__()

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        hidden = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool, device=q.device).triu(2)
        return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


class Scale(nn.Linear):
    """A factor that belongs to another version of the layer."""

    def __init__(self, old):
        super().__init__(old.in_features, old.out_features)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias) * 0.5


class _NotReduced(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, bias):
        ctx.save_for_backward(x, bias)
        return F.gelu(x + bias)

    @staticmethod
    def backward(ctx, dy):
        x, bias = ctx.saved_tensors
        with torch.enable_grad():
            z = (x + bias).detach().requires_grad_()
            (dz,) = torch.autograd.grad(F.gelu(z), z, dy)
        return dz, dz.flatten(0, -2)[-1]  # every row stores where their sum is to be


class NotReduced(BiasGelu):
    def __init__(self, old):
        super().__init__(old.bias.numel())

    def forward(self, x):
        return _NotReduced.apply(x, self.bias)


class _Stale(torch.autograd.Function):
    kept = {}

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight, bias)
        return F.layer_norm(x, x.shape[-1:], weight, bias)

    @staticmethod
    def backward(ctx, dy):
        x, weight, bias = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            grads = torch.autograd.grad(F.layer_norm(x, x.shape[-1:], weight, bias), (x, weight, bias), dy)
        kept = _Stale.kept.setdefault(weight.data_ptr(), grads[1])  # a buffer that is filled once
        return grads[0], kept.clone(), grads[2]


class Stale(nn.LayerNorm):
    def __init__(self, old):
        super().__init__(old.normalized_shape)

    def forward(self, x):
        return _Stale.apply(x, self.weight, self.bias)


BUGS = {  # where it is put, what is put there, what the answer says
    "transposed_weight": ("blocks.0.out", TransposedWeight, "transposed weight"),
    "width_for_head_size": ("blocks.1.attend", WidthForHeadSize, "scale"),
    "flat_bias": ("blocks.0.gelu", FlatBias, "expanded read flat"),
    "powers_of_two": ("blocks.0.norm2", PowersOfTwo, "reduction"),
    "not_contiguous": ("blocks.0.attend", NotContiguous, "missing contiguous"),
    "eps": ("blocks.1.norm1", Eps, "eps: 0.01"),
    "mask_off_by_one": ("blocks.1.attend", MaskOffByOne, "mask off by one"),
    "scale": ("blocks.1.down", Scale, "scale"),
    "not_reduced": ("blocks.1.gelu", NotReduced, "not reduced"),
    "stale": ("norm", Stale, "stale"),
}


class Right(nn.LayerNorm):
    """One without a mistake, beside the one that is looked for."""

    def __init__(self, old):
        super().__init__(old.normalized_shape)


def bisect(name, device):
    """Puts the operator with this mistake, and others that are right, into the model. The answer of lockstep.bisect."""
    import lockstep

    place, wrong, _ = BUGS[name]
    ids, targets = data(device)
    replacements = {"blocks.0.norm1": Right, place: wrong, "blocks.1.norm2": Right}
    return lockstep.bisect(model(device), replacements, (ids,), loss=lambda out: F.cross_entropy(out.flatten(0, 1), targets.flatten()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--bug", choices=BUGS)
    parser.add_argument("--all", action="store_true")
    o = parser.parse_args()
    if o.all or o.bug:
        bad = 0
        for name in BUGS if o.all else [o.bug]:
            answer = bisect(name, o.device)
            named = [v.names for v in answer.guilty]
            bad += named != [(BUGS[name][0],)] or BUGS[name][2] not in str(answer.first)
            print(f"== {name}\n{answer}" if o.bug else f"{name}: {answer.first}")
        return bad
    m = model(o.device)
    if o.ours:
        swap_ours(m)
    for step, loss in enumerate(train(m, *data(o.device))):
        print(step, f"{loss:.5f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
