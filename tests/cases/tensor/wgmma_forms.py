#!/usr/bin/env python3
"""Writes wgmma.ptx.xz and wgmma.case: wgmma in every type, dense and sparse, a from registers and from shared memory, in every layout.

A kernel fills 48 KB of shared memory with words of `in`, cut and set by two masks, so that a launch chooses which values meet, and its registers
with the words behind them. Descriptors are parameters, but for the address: the same kernel reads the memory in all layouts. tests/both compares
the result with a GPU, byte for byte."""
import lzma
from forms import BITS, MASKS, vector

SHARED = 49152
HEAD = f'''// made by wgmma_forms.py
.version 9.0
.target sm_90a
.address_size 64

.shared .align 1024 .b8 s[{SHARED}];

'''
SWIZZLES = {0: 0, 32: 3, 64: 2, 128: 1}


def descriptor(width, lead, stride, base=0, start=0):
    return start >> 4 | lead >> 4 << 16 | stride >> 4 << 32 | base << 49 | SWIZZLES[width] << 62


def kernel(name, n, k, d, a, b, more='', shared=True, sparse=None, scale='%q', tail=''):
    nd = n // 2 if d != 'f16' else n // 4
    t = [f'.visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 keep, .param .u32 set, .param .u64 da, .param .u64 db, .param .u32 add)\n{{']
    t.append(f'  .reg .b32 %d<{nd}>, %a<4>, %x<16>; .reg .b64 %p<8>; .reg .pred %q, %l;')
    t.append('  ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; ld.param.u32 %x0, [keep]; ld.param.u32 %x1, [set];')
    t.append('  ld.param.u64 %p2, [da]; ld.param.u64 %p3, [db]; ld.param.u32 %x2, [add]; setp.ne.u32 %q, %x2, 0;')
    t.append('  mov.u32 %x3, %tid.x; mov.u32 %x4, s; shl.b32 %x5, %x3, 4; add.u32 %x6, %x4, %x5; cvt.u64.u32 %p4, %x5; add.u64 %p4, %p4, %p0;')
    t.append(f'  mov.u32 %x7, 0;\n$fill:')
    t.append('  ld.global.v4.b32 {%x8, %x9, %x10, %x11}, [%p4];')
    for i in range(8, 12):
        t.append(f'  and.b32 %x{i}, %x{i}, %x0; or.b32 %x{i}, %x{i}, %x1;')
    t.append('  st.shared.v4.b32 [%x6], {%x8, %x9, %x10, %x11}; add.u32 %x6, %x6, 2048; add.u64 %p4, %p4, 2048;')
    t.append(f'  add.u32 %x7, %x7, 2048; setp.lt.u32 %l, %x7, {SHARED}; @%l bra $fill;')
    t.append('  fence.proxy.async; bar.sync 0;')
    words = 5 + nd
    t.append(f'  mul.wide.u32 %p4, %x3, {words * 4}; add.u64 %p4, %p4, %p0; add.u64 %p4, %p4, {SHARED};')
    for i in range(4):
        t.append(f'  ld.global.b32 %a{i}, [%p4+{4 * i}]; and.b32 %a{i}, %a{i}, %x0; or.b32 %a{i}, %a{i}, %x1;')
    for i in range(nd):
        t.append(f'  ld.global.b32 %d{i}, [%p4+{20 + 4 * i}];')
    meta = ''
    if sparse is not None:
        # a legal nibble from each random one: for pairs the lower position first, for tf32 0100 or 1110
        t.append('  ld.global.b32 %x8, [%p4+16]; mov.u32 %x9, 0;')
        table = 0xe4e4e4e4e4e4e4e4 if a == 'tf32' else 0x48cd9e48cd9e4e48
        for i in range(8):
            t.append(f'  bfe.u32 %x10, %x8, {4 * i}, 4; shl.b32 %x10, %x10, 2; mov.b64 %p5, {table:#x}; shr.u64 %p5, %p5, %x10; cvt.u32.u64 %x10, %p5; bfi.b32 %x9, %x10, %x9, {4 * i}, 4;')
        meta = f', %x9, {sparse}'
    t.append('  and.b32 %x4, %x4, 0x3ffff; shr.u32 %x4, %x4, 4; cvt.u64.u32 %p5, %x4; add.u64 %p2, %p2, %p5; add.u64 %p3, %p3, %p5;')
    pre, post = (more, '') if 'popc' not in more else ('', more)
    op = f'wgmma.mma_async{".sp" if sparse is not None else ""}.sync.aligned.m64n{n}k{k}{pre}.{d}.{a}.{b}{post}'
    t.append('  wgmma.fence.sync.aligned;')
    t.append(f'  {op} {vector("d", nd)}, {"%p2" if shared else vector("a", 4)}, %p3{meta}, {scale}{tail};')
    t.append('  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;')
    t.append(f'  mul.wide.u32 %p4, %x3, {nd * 4}; add.u64 %p1, %p1, %p4;')
    for i in range(nd):
        t.append(f'  st.global.b32 [%p1+{4 * i}], %d{i};')
    t.append('  ret;\n}')
    return '\n'.join(t), SHARED // 4 + 128 * words, 128 * nd


def launch(name, words, out, masks, da, db, add, seed):
    return (f'run: launch $T/wgmma.ptx:{name} --device h200 --grid 1 --block 128 u32[{words}]=rand:0:4294967295 u32[{out}]=zeros u32:{masks[0]:#x} u32:{masks[1]:#x} '
            f'u64:{da:#x} u64:{db:#x} u32:{add} --seed {seed} --no-check values,async --quiet --print 1:0:4')


def of_type(a, sparse=False):
    """Elements along k, and what follows scale-d for a in shared memory and in registers."""
    k = 256 // BITS[a] * (2 if sparse else 1)
    signs = ', {sa}, {sb}' if a not in ('s8', 'u8', 'b1') else ''
    turns = a in ('f16', 'bf16')
    return k, signs, turns


TYPES = [('f32', 'f16', 'f16', ''), ('f16', 'f16', 'f16', ''), ('f32', 'bf16', 'bf16', ''), ('f32', 'tf32', 'tf32', '')]
TYPES += [(d, a, b, '') for d in ('f32', 'f16') for a in ('e4m3', 'e5m2') for b in ('e4m3', 'e5m2')]
TYPES += [('s32', a, b, s) for a in ('s8', 'u8') for b in ('s8', 'u8') for s in ('', '.satfinite')]
SHAPES = [8, 24, 40, 64, 72, 96, 128, 136, 176, 208, 248, 256]


def rows():
    seed = 0
    for number, (d, a, b, more) in enumerate(TYPES + [('s32', 'b1', 'b1', '.and.popc')]):
        for sparse in (None, 0) if a != 'b1' else (None,):
            k, signs, turns = of_type(a, sparse is not None)
            for shared in (True, False):
                n = SHAPES[(number * 5 + shared * 3 + (sparse is not None) * 7) % len(SHAPES)]
                if d == 's32' and n > 32 and n % 16:
                    n += 8
                sa, sb = [(1, 1), (-1, 1), (1, -1), (-1, -1)][seed % 4]
                tail = signs.format(sa=sa, sb=sb) + (', 0' * (1 + shared) if turns else '')
                sel = sparse if sparse is None or BITS[a] == 8 else seed % 2
                name = f'{"sp_" if sparse is not None else ""}{d}_{a}_{b}{more.replace(".", "_")}_n{n}_{"s" if shared else "r"}'
                text, words, out = kernel(name, n, k, d, a, b, more, shared, sel, tail=tail)
                wide = n * k * BITS[b] // 8 > 24576
                yield text, [launch(name, words, out, m, descriptor(0, 128, 256, start=0), descriptor(0, 128, 256 if not wide else 128, start=8192), int(j != 1), seed + j)
                             for j, m in enumerate(MASKS.get(a, [(0xffffffff, 0)] * 2)[:3 if shared and sparse is None else 1])]
                seed += 1
    # layouts: (width, lead, stride) of a and b, K-major and MN-major
    by_k = [(0, 128, 256), (0, 2048, 144), (32, 16, 256), (64, 16, 512), (128, 16, 1024), (128, 0, 1040)]
    by_mn = [(0, 1024, 128), (0, 144, 2048), (32, 512, 2048), (64, 1024, 4096), (128, 2048, 8192), (128, 4096, 1024)]
    for a in ('f16', 'bf16'):
        for ta, tb in ((0, 0), (0, 1), (1, 0), (1, 1)):
            name = f'turn_{a}_{ta}{tb}'
            text, words, out = kernel(name, 64, 16, 'f32', a, a, tail=f', 1, 1, {ta}, {tb}')
            runs = []
            for j in range(6):
                x, y = (by_mn if ta else by_k)[j], (by_mn if tb else by_k)[(j + 2) % 6 if a == 'bf16' else j]
                runs.append(launch(name, words, out, MASKS[a][0], descriptor(*x), descriptor(*y, start=16384), 1, j))
            # advanced along k inside the pattern, and patterns that do not begin at their multiple
            for j, (start, base) in enumerate(((32, 0), (64, 0), (1024 + 128, 1), (256 + 96, 2), (640, 5), (128, 0), (896, 3))):
                x, y = (by_mn if ta else by_k)[2 + j % 3 if j > 4 else 4], (by_mn if tb else by_k)[4]
                runs.append(launch(name, words, out, MASKS[a][0], descriptor(*x, base=base, start=start), descriptor(*y, base=base, start=16384 + start), 1, 100 + j))
            yield text, runs
    for a, sparse in (('tf32', None), ('s8', None), ('e4m3', 0), ('f16', 0), ('b1', None)):
        k, signs, turns = of_type(a, sparse is not None)
        d = 's32' if a in ('s8', 'b1') else 'f32'
        name = f'wide_{a}{"_sp" if sparse is not None else ""}'
        text, words, out = kernel(name, 96, k, d, a, a, '.and.popc' if a == 'b1' else '', sparse=sparse, tail=signs.format(sa=1, sb=1) + (', 0, 0' if turns else ''))
        mask = MASKS.get(a, [(0xffffffff, 0)])[0]
        yield text, [launch(name, words, out, mask, descriptor(*x), descriptor(*x, start=16384), 1, j) for j, x in enumerate(by_k)]


if __name__ == '__main__':
    text, runs = HEAD, []
    for kernel_text, launches in rows():
        text += kernel_text + '\n\n'
        runs += launches
    with open('wgmma.case', 'w') as c:
        c.write('# wgmma in every type, dense and sparse, in every layout of shared memory. Bits as an H200 has them.\nneeds: xz\nsh: xz -dc wgmma.ptx.xz > $T/wgmma.ptx\n')
        c.write('\n'.join(runs) + '\n')
    with open('wgmma.ptx.xz', 'wb') as p:
        p.write(lzma.compress(text.encode(), preset=9))
