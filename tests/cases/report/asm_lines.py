# What asm_lines.ptx is compiled of; nobody runs it.
@triton.jit
def both(x, out):
    i = tl.arange(0, 64)
    v = tl.load(x + i) + tl.sum(i)
    tl.store(out + i, v)
