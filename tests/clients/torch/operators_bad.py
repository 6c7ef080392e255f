"""With a factor that is not 0, what nobody filled is read."""
import torch

d = "cuda"
x = torch.ones(4, 5, device=d)
torch.addmv(torch.empty(4, device=d), x, x[0])
torch.baddbmm(torch.empty(1, 4, 4, device=d), x[None], x.T[None], beta=0.5)
