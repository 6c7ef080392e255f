"""A small GPT, trained a few steps, with PyTorch's operators and with ours in their place.

    python gpt.py                       # losses with PyTorch's operators
    python gpt.py --ours                # the same with lockstep.ops (layernorm, attention, gelu) in their place; losses agree
    python gpt.py --bug scale           # an operator with this mistake in its place: lockstep.bisect names it
    python gpt.py --all                 # each of the ten mistakes in turn
    lockstep run python gpt.py --device cuda [...]      # the same on "cuda" tensors, without a GPU

docs/lab/custom-ops.md goes through it step by step."""
import argparse
import glob
import os
import shutil
import sys
import tempfile

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
        self.norm1, self.normq, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.attend, self.out = nn.Linear(WIDTH, 3 * WIDTH), Attend(), nn.Linear(WIDTH, WIDTH)
        self.up, self.gelu, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), BiasGelu(4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).split(c, -1)  # views: each has rows of c in rows of 3 c
        q, k, v = (z.view(b, t, HEADS, c // HEADS).transpose(1, 2) for z in (self.normq(q), k, v))
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
    """LayerNorm, attention and GELU by the kernels of lockstep.ops, forward and backward."""
    for module in m.modules():
        ours = {nn.LayerNorm: OurNorm, Attend: OurAttend, BiasGelu: OurGelu}.get(type(module))
        if ours is None:
            continue
        new = ours(module)
        new._parameters = module._parameters
        module.forward = new.forward


# ---- the ten mistakes: an operator as its author wrote it, with the place where it is put ----
#
# Nine are kernels: a copy of one of kernels/ with a line that its author got wrong. The tenth is a mistake of the code around
# a kernel. What is put in the place of a module is a class that is made from the module, and shares its parameters.

PLANTED = {  # the file of the library of kernels, the line, and what is in its place
    "transposed_weight": ("matmul.cu", "product(a + blockIdx.z * a0, a1, a2, b + blockIdx.z * b0, b1, b2, y + blockIdx.z * (i64)m * n, m, n, k);",
                          "product(a + blockIdx.z * a0, a1, a2, b + blockIdx.z * b0, b2, b1, y + blockIdx.z * (i64)m * n, m, n, k);"),
    "width_for_head_size": ("attention.cu", "float score = dot(query, key) * scale, more = fmaxf(most, score);",
                            "float score = dot(query, key) * rsqrtf(48.0f), more = fmaxf(most, score);"),
    "flat_bias": ("broadcast.cu", "b += i0 * b0 + i1 * b1 + i2 * b2;", "b += (i64)blockIdx.x * n3, b3 = 1;"),
    "powers_of_two": ("matmul.cu", "for (int first = 0; first < depth; first += TILE) {", "for (int first = 0; first + TILE <= depth; first += TILE) {"),
    "not_contiguous": ("layernorm.cu", "x += blockIdx.x * ldx;", "x += blockIdx.x * (long long)cols;"),
    "eps": ("layernorm.cu", "rstd = rsqrtf(of_row.squares / cols + eps);", "rstd = rsqrtf(of_row.squares / cols + 1e-2f);"),
    "mask_off_by_one": ("attention.cu", "return causal ? max(min(i + 1 + keys - queries, keys), 0) : keys;",
                        "return causal ? max(min(i + 2 + keys - queries, keys), 0) : keys;"),
    "scale": ("gelu.cu", "return x * below(x);", "return 0.5f * x * below(x);"),
    "not_reduced": ("layernorm.cu", "blockIdx.y * columns.rows + columns.row, rows, gridDim.y * columns.rows, add,",
                    "blockIdx.y * columns.rows + columns.row, min(rows, 8), gridDim.y * columns.rows, add,"),
}


def planted(name):
    """The ops of a copy of a kernel's file with the wrong line in it, in a folder of their own."""
    from lockstep import _library, ops

    file, right, wrong = PLANTED[name]
    source = _library.kernels_path()
    folder = os.path.join(tempfile.gettempdir(), f"lockstep-gpt-{os.getuid()}", name)
    os.makedirs(folder, exist_ok=True)
    for header in glob.glob(os.path.join(source, "*.cuh")):
        shutil.copy(header, folder)
    text = open(os.path.join(source, file)).read()
    assert right in text, f"{file} has changed: {right}"
    path = os.path.join(folder, file)
    text = text.replace(right, wrong, 1)
    if not os.path.exists(path) or open(path).read() != text:
        open(path, "w").write(text)
    return ops.load(path, f"gpt_{name}")


class OurNorm(nn.LayerNorm):
    """layernorm.cu on rows; x may be a part of wider rows."""

    mistake = None  # of PLANTED; None: the library's own

    def __init__(self, old):
        super().__init__(old.normalized_shape)

    def forward(self, x):
        return op(self.mistake, "layernorm")(x.reshape(-1, x.shape[-1]), self.weight, self.bias).view(x.shape)


class OurAttend(Attend):
    """attention.cu on the heads of a batch, with a mask that hides what comes later."""

    mistake = None

    def __init__(self, old):
        super().__init__()

    def forward(self, q, k, v):
        heads = [t.reshape(-1, *t.shape[-2:]) for t in (q, k, v)]
        return op(self.mistake, "attention")(*heads, CAUSAL=1, scale=q.shape[-1] ** -0.5).view(q.shape)


class OurLinear(nn.Linear):
    """matmul.cu and the bias."""

    mistake = None

    def __init__(self, old):
        super().__init__(old.in_features, old.out_features)

    def forward(self, x):
        y = op(self.mistake, "matmul")(x.reshape(1, -1, self.in_features), self.weight.t().contiguous()[None])
        return y.view(*x.shape[:-1], self.out_features) + self.bias


class OurGelu(BiasGelu):
    """gelu.cu, of a sum that PyTorch does."""

    mistake = None

    def __init__(self, old):
        super().__init__(old.bias.numel())

    def forward(self, x):
        return op(self.mistake, "gelu")((x + self.bias).flatten()).view(x.shape)


class OurBiasGelu(BiasGelu):
    """broadcast.cu adds the bias, which is expanded and so has strides of 0; then PyTorch's GELU."""

    mistake = None

    def __init__(self, old):
        super().__init__(old.bias.numel())

    def forward(self, x):
        four = x.reshape(1, 1, -1, x.shape[-1])
        return F.gelu(op(self.mistake, "add")(four, self.bias.expand_as(four)).view(x.shape))


def op(mistake, name):
    from lockstep import ops

    return planted(mistake)[name] if mistake else getattr(ops, name)


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
    """A wrapper that keeps the gradient of the weights of the first time."""

    def __init__(self, old):
        super().__init__(old.normalized_shape)

    def forward(self, x):
        return _Stale.apply(x, self.weight, self.bias)


BUGS = {  # where it is put, what is put there, what the answer says
    "transposed_weight": ("blocks.0.out", OurLinear, "transposed weight"),
    "width_for_head_size": ("blocks.1.attend", OurAttend, "scale"),
    "flat_bias": ("blocks.0.gelu", OurBiasGelu, "expanded read flat"),
    "powers_of_two": ("blocks.1.out", OurLinear, "reduction"),
    "not_contiguous": ("blocks.0.normq", OurNorm, "missing contiguous"),
    "eps": ("blocks.1.norm1", OurNorm, "eps: 0.01"),
    "mask_off_by_one": ("blocks.1.attend", OurAttend, "mask off by one"),
    "scale": ("blocks.1.gelu", OurGelu, "scale"),
    "not_reduced": ("blocks.1.norm2", OurNorm, "not reduced"),
    "stale": ("norm", Stale, "stale"),
}


def wrong(name):
    """The class with this mistake."""
    _, ours, _ = BUGS[name]
    return type(ours.__name__ + "_" + name, (ours,), {"mistake": name}) if name in PLANTED else ours


class Right(nn.LayerNorm):
    """One without a mistake, beside the one that is looked for."""

    def __init__(self, old):
        super().__init__(old.normalized_shape)


def bisect(name, device):
    """Puts the operator with this mistake, and others that are right, into the model. The answer of lockstep.bisect."""
    import lockstep

    place = BUGS[name][0]
    ids, targets = data(device)
    replacements = {"blocks.0.norm1": Right, place: wrong(name), "blocks.1.normq": OurNorm}
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
