#!/usr/bin/env python3
"""A tutorial of Triton up to its benchmark, under lockstep run:

    lockstep run python3 tests/real/tutorials.py CHECKOUT/python/tutorials/01-vector-add.py 'size = 98432=>size = 4099'

PyTorch's own operators come as machine code, which Lockstep does not run: they are computed on the host and their results copied to the GPU. Triton's
kernels run on the GPU, under every check. OLD=>NEW changes the text, for smaller sizes."""
import importlib.machinery
import importlib.util
import os
import re
import runpy
import sys
import tempfile
import types

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

# These only allocate, copy, or make another view of the same memory.
PLAIN = tuple("aten::" + n for n in ("empty copy_ view detach as_strided _unsafe_view t transpose slice alias unsqueeze squeeze expand permute select "
                                     "_local_scalar_dense new_empty resize_ set_ _reshape_alias split").split())


def on_gpu(x):
    return isinstance(x, torch.Tensor) and x.is_cuda


class OnHost(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name, device = func._schema.name, kwargs.get("device")
        wanted = device is not None and torch.device(device).type == "cuda"
        given = any(map(on_gpu, tree_leaves((args, kwargs))))
        moves = name == "aten::_to_copy" and kwargs.get("dtype") is None
        if name.startswith(PLAIN) or moves or not (wanted or given):
            return func(*args, **kwargs)
        pairs = []

        def down(x):
            if on_gpu(x):
                pairs.append((x, x.cpu()))
                return pairs[-1][1]
            return x

        a, k = tree_map(down, (args, kwargs))
        out = func(*a, **(dict(k, device="cpu") if wanted else k))
        if func._schema.is_mutable:
            for x, host in pairs:
                x.copy_(host)
                if out is host:
                    return x
        stays = name == "aten::_to_copy" and device is not None and not wanted
        return out if stays else tree_map(lambda x: x.to("cuda") if isinstance(x, torch.Tensor) else x, out)


# What a tutorial runs beyond its own text up to the benchmark, by the number in its name.
RUNS = {
    "05": "test_layer_norm(37, 300, torch.float16)",
    "06": "test_op(1, 2, 128, 64, True, False, 'bwd', 'triton-fp16')\ntest_op(1, 2, 128, 64, False, False, 'fwd', 'triton-fp8')",
    "09": "validate(32, 32, 32, torch.float16)\nvalidate(160, 144, 96, torch.float16)\nvalidate(160, 144, 96, torch.float8_e4m3fn)",
    "11": "validate(1024)\nvalidate(5000)",
}


def first_configuration():
    """triton.autotune measures every configuration, which says nothing on a software GPU: the first is taken."""
    import triton
    autotune = triton.autotune
    triton.autotune = lambda configs, *a, **k: autotune(configs[:1], *a, **k)


def main():
    if importlib.util.find_spec("tabulate") is None:  # one tutorial prints a table with it
        m = sys.modules["tabulate"] = types.ModuleType("tabulate")
        m.__spec__ = importlib.machinery.ModuleSpec("tabulate", None)
        m.tabulate = lambda rows, **_: "\n".join(map(str, rows))
    first_configuration()
    path = sys.argv[1]
    text, number = open(path).read(), os.path.basename(path)[:2]
    ends = {"05": r"(?m)^@triton.testing.perf_report",  # there the heading stands before the code
            "09": r"(?m)^if __name__"}
    end = re.search(ends.get(number, r"(?m)^# Benchmark\s*\n# -+|^@triton.testing.perf_report"), text)
    text = (text[:end.start()] if end else text) + "\n" + RUNS.get(number, "") + "\n"
    for old, new in (word.split("=>") for word in sys.argv[2:]):
        if old not in text:
            sys.exit(f"{path} has no `{old}`")
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, os.path.basename(path))
        with open(name, "w") as out:
            out.write(text)
        sys.argv = [path]
        with OnHost():
            runpy.run_path(name, run_name="__main__")


if __name__ == "__main__":
    main()
