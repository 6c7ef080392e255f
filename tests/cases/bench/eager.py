# Functions that are timed beside the kernel of ../times/near.cu: y = 2 x.
import torch


def twice(x):
    return x * 2


def thrice(x):
    return x * 3


def half(x):
    y = x * 2
    return torch.Tensor(y.v, y.shape, torch.float16)
