#!/usr/bin/env python3
"""Writes mma.ptx, mma_sparse.ptx and their cases: a kernel for every form of mma.sync that the manual has.

Each lane takes its registers from `in`, four times as many words as it needs would be; the words are cut and set by two masks, so that a launch
chooses which values meet: any bits, numbers near one, small ones, large ones. The result goes to `out`. tests/both compares it with a GPU."""

BITS = dict(f16=16, bf16=16, tf32=32, e4m3=8, e5m2=8, f32=32, f64=64, s8=8, u8=8, s4=4, u4=4, b1=1, s32=32)
# per type of a: masks (and, or) that keep values finite, and those of all bits
MASKS = dict(f16=[(0xbfffbfff, 0x20002000), (0x83ff83ff, 0), (0xffffffff, 0), (0xefffefff, 0x60006000)],
             bf16=[(0x83ff83ff, 0x3c003c00), (0x807f807f, 0), (0xffffffff, 0), (0x80ff80ff, 0x7e007e00)],
             tf32=[(0x83ffffff, 0x3c000000), (0x807fffff, 0), (0xffffffff, 0), (0x80ffffff, 0x7e000000)],
             e4m3=[(0xbfbfbfbf, 0), (0x87878787, 0), (0xffffffff, 0)], e5m2=[(0xbfbfbfbf, 0), (0x83838383, 0), (0xffffffff, 0)],
             f64=[(0x801fffff, 0x3fe00000), (0xffffffff, 0)])


def forms():
    for k in (8, 16):
        for c in ('f16', 'f32'):
            yield 16, k, c, 'f16', 'f16', c, ''
        yield 16, k, 'f32', 'bf16', 'bf16', 'f32', ''
    for k in (4, 8):
        yield 16, k, 'f32', 'tf32', 'tf32', 'f32', ''
    for k in (16, 32):
        for a in ('e4m3', 'e5m2'):
            for b in ('e4m3', 'e5m2'):
                for c in ('f16', 'f32'):
                    yield 16, k, c, a, b, c, ''
    for m, k in ((8, 4), (16, 4), (16, 8), (16, 16)):
        for rnd in ('', '.rz', '.rm', '.rp'):
            yield m, k, 'f64', 'f64', 'f64', 'f64', rnd
    for types, shapes in ((('s8', 'u8'), ((8, 16), (16, 16), (16, 32))), (('s4', 'u4'), ((8, 32), (16, 32), (16, 64)))):
        for m, k in shapes:
            for a in types:
                for b in types:
                    for sat in ('', '.satfinite'):
                        yield m, k, 's32', a, b, 's32', sat
    for m, k in ((8, 128), (16, 128), (16, 256)):
        for op in ('.xor.popc', '.and.popc'):
            yield m, k, 's32', 'b1', 'b1', 's32', op
    for al in ('row', 'col'):
        for bl in ('row', 'col'):
            for c, d in (('f16', 'f16'), ('f32', 'f32'), ('f16', 'f32')):
                yield 8, 4, d, 'f16', 'f16', c, al + '.' + bl


def sparse():
    for a, ks in (('f16', (16, 32)), ('bf16', (16, 32)), ('tf32', (8, 16)), ('s8', (32, 64)), ('u8', (32, 64)), ('s4', (64, 128)), ('u4', (64, 128)),
                  ('e4m3', (64,)), ('e5m2', (64,))):
        for k in ks:
            lanes = 16 * k // (4 if a != 'tf32' else 2) // (2 if BITS[a] == 4 else 1) * 4 // 8 // 32  # how many of four lanes bring metadata
            for sel in range(4 // lanes):
                for c in (('f32', 'f16') if a == 'f16' else ('f32',) if a in ('bf16', 'tf32', 'e4m3', 'e5m2') else ('s32',)):
                    for b in ((a,) if a not in ('s8', 'e4m3', 'u4') else (a, dict(s8='u8', e4m3='e5m2', u4='s4')[a])):
                        for sat in (('', '.satfinite') if c == 's32' and sel == 0 else ('',)):
                            yield k, c, a, b, sat, sel


def regs(elements, t):
    return elements * BITS[t] // 32 // (64 if t == 'f64' else 32)


def vector(name, n):
    return '{' + ', '.join(f'%{name}{i}' for i in range(n)) + '}'


def kernel(name, opcode, n, wide, tail='', meta=None):
    """n: registers of d, a, b, c."""
    reg, ty, size = ('rd', 'b64', 8) if wide else ('r', 'b32', 4)
    t = [f'.visible .entry {name}(.param .u64 in, .param .u64 out, .param .u32 keep, .param .u32 set)\n{{']
    for v, c in zip('dabc', n):
        t.append(f'  .reg .{ty} %{v}<{c}>;')
    t.append('  .reg .b32 %x<8>; .reg .b64 %p<8>;')
    t.append('  ld.param.u64 %p0, [in]; ld.param.u64 %p1, [out]; ld.param.u32 %x0, [keep]; ld.param.u32 %x1, [set];')
    t.append('  mov.u32 %x2, %ctaid.x; mov.u32 %x3, %tid.x; shl.b32 %x2, %x2, 5; or.b32 %x2, %x2, %x3;')
    words = sum(n[1:]) + (meta is not None)
    t.append(f'  mul.wide.u32 %p2, %x2, {words * size}; add.u64 %p0, %p0, %p2; mul.wide.u32 %p3, %x2, {n[0] * size}; add.u64 %p1, %p1, %p3;')
    at = 0
    for v, c in zip('abc', n[1:]):
        for i in range(c):
            if wide:
                t.append(f'  ld.global.v2.b32 {{%x4, %x5}}, [%p0+{at}]; and.b32 %x5, %x5, %x0; or.b32 %x5, %x5, %x1; mov.b64 %{v}{i}, {{%x4, %x5}};')
            elif v == 'c':
                t.append(f'  ld.global.b32 %{v}{i}, [%p0+{at}];')
            else:
                t.append(f'  ld.global.b32 %{v}{i}, [%p0+{at}]; and.b32 %{v}{i}, %{v}{i}, %x0; or.b32 %{v}{i}, %{v}{i}, %x1;')
            at += size
    if meta:
        # a legal nibble from each random one: for pairs the lower position first, for tf32 0100 or 1110
        t.append(f'  ld.global.b32 %x4, [%p0+{at}]; mov.u32 %x6, 0;')
        table = 0xe4e4e4e4e4e4e4e4 if meta == 'tf32' else 0x48cd9e48cd9e4e48
        for i in range(8):
            t.append(f'  bfe.u32 %x5, %x4, {4 * i}, 4; shl.b32 %x5, %x5, 2; mov.b64 %p4, {table:#x}; shr.u64 %p4, %p4, %x5; cvt.u32.u64 %x5, %p4; bfi.b32 %x6, %x5, %x6, {4 * i}, 4;')
        tail = f', %x6, {tail}'
    t.append(f'  {opcode} {vector("d", n[0])}, {vector("a", n[1])}, {vector("b", n[2])}, {vector("c", n[3])}{tail};')
    for i in range(n[0]):
        t.append(f'  st.global.{ty} [%p1+{i * size}], %d{i};')
    t.append('  ret;\n}')
    return '\n'.join(t), words, size


HEAD = '// made by forms.py\n.version 9.0\n.target sm_90\n.address_size 64\n\n'
CTAS = 16


def launches(file, name, words, size, nd, a):
    u = 'u64' if size == 8 else 'u32'
    for seed, (keep, put) in enumerate(MASKS.get(a, [(0xffffffff, 0)])):
        yield (f'run: launch {file}:{name} --grid {CTAS} --block 32 {u}[{CTAS * 32 * words}]=rand:0:{2 ** (8 * size) - 1} {u}[{CTAS * 32 * nd}]=zeros u32:{keep:#x} u32:{put:#x} '
               f'--seed {seed + 1} --no-check values --quiet --print 1:0:4')


def write(file, head, rows):
    with open(file + '.ptx', 'w') as p, open(file + '.case', 'w') as c:
        p.write(HEAD)
        c.write(head)
        for text, runs in rows:
            p.write(text + '\n\n')
            c.write('\n'.join(runs) + '\n')


def dense_rows():
    for m, k, d, a, b, c, more in forms():
        pairs = m == 8 and k == 4 and a == 'f16'
        n = [2 if v in 'ab' and pairs else regs(e * (4 if pairs and v in 'cd' else 1), t)
             for v, e, t in (('d', m * 8, d), ('a', m * k, a), ('b', 8 * k, b), ('c', m * 8, c))]
        layout = more if pairs else 'row.col'
        mods = '' if pairs else more
        last = mods if 'popc' in mods else ''
        first = '' if last else mods
        name = f'm{m}k{k}_{d}_{a}_{b}_{c}' + (more and '_' + more.strip('.').replace('.', '_'))
        text, words, size = kernel(name, f'mma.sync.aligned.m{m}n8k{k}.{layout}{first}.{d}.{a}.{b}.{c}{last}', n, a == 'f64')
        yield text, list(launches('mma.ptx', name, words, size, n[0], a))


def sparse_rows():
    for k, c, a, b, sat, sel in sparse():
        n = [regs(128, c), regs(8 * k, a), regs(8 * k, b), regs(128, c)]
        for way in ('sp', 'sp::ordered_metadata'):
            name = f'{"o" if way != "sp" else "s"}_k{k}_{c}_{a}_{b}{sat.replace(".", "_")}_{sel}'
            text, words, size = kernel(name, f'mma.{way}.sync.aligned.m16n8k{k}.row.col{sat}.{c}.{a}.{b}.{c}', n, False, str(sel), 'tf32' if a == 'tf32' else 'pair')
            yield text, list(launches('mma_sparse.ptx', name, words, size, n[0], a))[:2]


if __name__ == '__main__':
    write('mma', '# Every dense form of mma.sync: shapes, types, roundings, layouts. Bits as an H200 has them.\n', dense_rows())
    write('mma_sparse', '# Every form of mma.sp that an H200 has, with metadata from every lane that can bring them.\n', sparse_rows())
