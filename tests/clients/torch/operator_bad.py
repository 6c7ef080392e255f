"""An operator of PyTorch's own: its kernels are machine code without PTX. One message says so, and PyTorch's exception follows."""
import torch

x = torch.empty(1000, device="cuda")
try:
    y = x + x
except torch.AcceleratorError as error:
    print(str(error).splitlines()[0])
try:
    torch.empty(8, 8, device="cuda") @ torch.empty(8, 8, device="cuda")
except RuntimeError as error:
    print(str(error).splitlines()[0])
