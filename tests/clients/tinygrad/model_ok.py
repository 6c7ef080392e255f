# lockstep run --quiet
"""A small network on the CUDA backend: its forward pass, and steps of training that lower the loss."""
import numpy as np
from tinygrad import Context, Tensor, TinyJit, nn

Tensor.manual_seed(1)
a = Tensor.arange(1000).float()
print("sum", (a * 2 + 1).sum().item())
m = Tensor.rand(48, 40).realize()
print("product", np.allclose((m @ m.T).numpy(), m.numpy() @ m.numpy().T, atol=1e-3))


class Net:
    def __init__(self):
        self.c1 = nn.Conv2d(1, 4, 3)
        self.norm = nn.LayerNorm(4 * 9)
        self.l1 = nn.Linear(4 * 9, 10)

    def __call__(self, x):
        x = self.c1(x).relu().max_pool2d(2)
        return self.l1(self.norm(x.flatten(1)))


net = Net()
optimizer = nn.optim.Adam(nn.state.get_parameters(net), lr=0.02)
x, y = Tensor.rand(16, 1, 8, 8).realize(), Tensor(np.arange(16) % 10)


@TinyJit
def step():
    optimizer.zero_grad()
    loss = net(x).sparse_categorical_crossentropy(y).backward()
    optimizer.step()
    return loss.realize()


with Context(TRAINING=1):
    losses = [step().item() for _ in range(6)]
print("trained", losses[-1] < losses[0], net(x).numpy().shape)
q, k, v = (Tensor.rand(2, 16, 8) for _ in range(3))
print("attention", q.scaled_dot_product_attention(k, v).numpy().shape)
print("sort", Tensor([3, 1, 2]).sort()[0].tolist(), Tensor.arange(10).cumsum().tolist()[-1])
