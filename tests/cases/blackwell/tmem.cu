// regen: -arch=sm_100a
/* Tensor memory and tcgen05. Each kernel counts what differs from plain arithmetic in wrong[0]: the values are small, so that sums are exact in whatever order. */
#include <cuda_fp16.h>
#include <stdint.h>
__device__ static uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ static uint64_t descriptor(const void *p, int lead, int stride)
{
    return (uint64_t)((at(p) & 0x3ffff) >> 4) | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 46;
}
#define ALLOC(where, n) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(at(&where)), "r"(n) : "memory")
#define DEALLOC(tm, n) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tm), "r"(n))
#define LD(tm, v) asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];" : "=r"(v) : "r"(tm))
#define ST(tm, v) asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(tm), "r"(v))
#define WAIT_LD asm volatile("tcgen05.wait::ld.sync.aligned;")
#define WAIT_ST asm volatile("tcgen05.wait::st.sync.aligned;")
#define COMMIT(bar) asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(&bar)) : "memory")
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
__device__ static void wait(const uint64_t *bar, int parity)
{
    uint32_t done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}

/* Every lane of four warps writes its own number into eight columns; other shapes read them: who holds which cell. */
extern "C" __global__ void shapes(uint32_t *wrong)
{
    __shared__ uint32_t where;
    uint32_t t = threadIdx.x, l = t % 32, q = t / 32, r[8], bad = 0;
    if (q == 0) ALLOC(where, 32);
    __syncthreads();
    uint32_t tm = where + (q * 32 << 16);
    for (uint32_t c = 0; c < 16; c++) ST(tm + c, t << 8 | c);
    WAIT_ST;
    asm volatile("tcgen05.ld.sync.aligned.16x64b.x2.b32 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(tm));
    for (uint32_t k = 0; k < 2; k++) bad += r[k] != ((q * 32 + l / 4 + l % 2 * 8) << 8 | (l / 2 % 2 + 2 * k));
    asm volatile("tcgen05.ld.sync.aligned.16x128b.x2.b32 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(tm + (16 << 16)));
    for (uint32_t k = 0; k < 4; k++) bad += r[k] != ((q * 32 + 16 + l / 4 + k % 2 * 8) << 8 | (l % 4 + k / 2 * 4));
    asm volatile("tcgen05.ld.sync.aligned.16x256b.x2.b32 {%0,%1,%2,%3,%4,%5,%6,%7}, [%8];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "r"(tm));
    for (uint32_t k = 0; k < 8; k++) bad += r[k] != ((q * 32 + l / 4 + k / 2 % 2 * 8) << 8 | (l % 4 * 2 + k % 2 + k / 4 * 8));
    asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%0,%1}, [%2], 5;" : "=r"(r[0]), "=r"(r[1]) : "r"(tm));
    for (uint32_t k = 0; k < 2; k++) bad += r[k] != ((q * 32 + l % 16) << 8 | (k + l / 16 * 5));
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(tm));
    for (uint32_t k = 0; k < 2; k++) bad += r[k] != ((t << 8 | 2 * k) | (t << 8 | (2 * k + 1)) << 16);
    asm volatile("tcgen05.st.sync.aligned.16x64b.x1.unpack::16b.b32 [%0], {%1};" ::"r"(tm + 20), "r"(l << 16 | q));
    WAIT_ST;
    asm volatile("tcgen05.ld.sync.aligned.16x64b.x1.pack::16b.b32 {%0}, [%1];" : "=r"(r[0]) : "r"(tm + 20));
    bad += r[0] != (l << 16 | q);
    WAIT_LD;
    atomicAdd(wrong, bad);
    __syncthreads();
    if (q == 0) {
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
        DEALLOC(where, 32);
    }
}

/* ---- products ---- */

enum { F16, BF16, TF32, E4M3, E5M2, E2M3, E3M2, E2M1, E2M1X, U8, S8 };
__device__ static int bits_of(int t) { return t == TF32 ? 32 : t <= BF16 ? 16 : t == E2M1X ? 4 : 8; }
/* -2 to 2 in each type; signs of 6- and 4-bit types */
__device__ static uint32_t code(int t, int v)
{
    const uint32_t one[] = { 0x3c00, 0x3f80, 0x3f800000, 0x38, 0x3c, 0x08, 0x0c, 2, 2, 1, 1 }, two[] = { 0x4000, 0x4000, 0x40000000, 0x40, 0x40, 0x10, 0x10, 4, 4, 2, 2 };
    const uint32_t sign[] = { 0x8000, 0x8000, 0x80000000, 0x80, 0x80, 0x20, 0x20, 8, 8, 0, 0 };
    uint32_t x = v == 0 ? 0 : abs(v) == 1 ? one[t] : two[t];
    return t == S8 ? (uint8_t)v : x | (v < 0 ? sign[t] : 0);
}
__device__ static int value(int t, int r, int k, int salt) { int v = (r * 7 + k * 3 + r * k + salt) % 5 - 2; return t == U8 ? abs(v) : v; }
/* Element (r, k) of a matrix without swizzle: chunks of 16 bytes, by k or by rows. */
__device__ static void put(char *p, int t, int rows, bool mn, int r, int k, int v)
{
    int bits = bits_of(t), each = 128 / bits, n = t == E2M3 || t == E3M2 ? 6 : t == E2M1 ? 4 : bits;
    int chunk = mn ? r / each * 128 + k % 8 * 16 + k / 8 * (rows / each * 128) : k / each * (rows * 16) + r * 16, in = (mn ? r : k) % each * n;
    for (int b = 0; b < n; b++)
        if (code(t, v) >> b & 1) p[chunk + (in + b) / 8] |= 1 << (in + b) % 8;
}
__device__ static int depth(int t) { return 256 / bits_of(t); }

#define PRODUCT(kind, add) asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, p;}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(add))
#define SCALED(kind) asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::" kind " [%0], %1, %2, %3, [%5], [%6], p;}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(0), "r"(sa), "r"(sb))

/* d = a b twice over; kind as in the manual's order; ta, tb types; layouts of a and b. */
extern "C" __global__ void product(uint32_t *wrong, int kind, int ta, int tb, int half, int m, int n, int a_mn, int b_mn)
{
    __shared__ __align__(128) char sa[128 * 32], sb[128 * 32];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    int t = threadIdx.x, k = depth(ta), bad = 0;
    const int codes[] = { 0, 1, 2, 0, 1, 3, 4, 5, 1, 0, 1 };
    for (int i = t; i < 128 * 32; i += 128) sa[i] = sb[i] = 0;
    __syncthreads();
    for (int r = t; r < m; r += 128) if (!a_mn) for (int j = 0; j < k; j++) put(sa, ta, m, false, r, j, value(ta, r, j, 1));
    for (int r = t; r < n; r += 128) if (!b_mn) for (int j = 0; j < k; j++) put(sb, tb, n, false, r, j, value(tb, r, j, 2));
    if (t == 0 && a_mn) for (int r = 0; r < m; r++) for (int j = 0; j < k; j++) put(sa, ta, m, true, r, j, value(ta, r, j, 1));
    if (t == 0 && b_mn) for (int r = 0; r < n; r++) for (int j = 0; j < k; j++) put(sb, tb, n, true, r, j, value(tb, r, j, 2));
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    if (t < 32) ALLOC(where, 256);
    FENCE;
    __syncthreads();
    uint32_t d = where;
    if (t == 0) {
        uint64_t a = a_mn ? descriptor(sa, m / (128 / bits_of(ta)) * 128, 128) : descriptor(sa, m * 16, 128);
        uint64_t b = b_mn ? descriptor(sb, n / (128 / bits_of(tb)) * 128, 128) : descriptor(sb, n * 16, 128);
        uint32_t idesc = (kind == 3 ? 2u : half ? 0u : 1u) << 4 | codes[ta] << 7 | codes[tb] << 10 | a_mn << 15 | b_mn << 16 | (n >> 3) << 17 | (m >> 4) << 24;
        for (int twice = 0; twice < 2; twice++)
            if (kind == 0) PRODUCT("f16", twice);
            else if (kind == 1) PRODUCT("tf32", twice);
            else if (kind == 2) PRODUCT("f8f6f4", twice);
            else PRODUCT("i8", twice);
        COMMIT(bar);
    }
    wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    int lane = t, row = m == 64 ? lane / 32 * 16 + lane % 16 : lane;
    for (int c = 0; c < n; c++) {
        uint32_t v;
        LD(d + (lane / 32 * 32 << 16) + c, v);
        WAIT_LD;
        if (m == 64 && lane % 32 >= 16) continue;
        int s = 0;
        for (int j = 0; j < k; j++) s += 2 * value(ta, row, j, 1) * value(tb, c, j, 2);
        bad += kind == 3 ? (int)v != s : (half ? __half2float(__ushort_as_half((uint16_t)v)) : __uint_as_float(v)) != (float)s;
    }
    atomicAdd(wrong, bad);
    __syncthreads();
    if (t < 32) DEALLOC(d, 256);
}

/* Block scaling: factors in tensor memory, of row r in lane r % 32 and column r / 32 of every quarter, brought there by tcgen05.cp from 32 rows of 16 bytes. */
extern "C" __global__ void scaled(uint32_t *wrong, int kind, int ta, int tb, int each)
{
    __shared__ __align__(128) char sa[128 * 32], sb[64 * 32], fa[512], fb[512];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    const int m = 128, n = 64;
    int t = threadIdx.x, k = depth(ta), bad = 0, e4m3 = kind == 6 && each == 4;
    const int codes[] = { 0, 1, 2, 0, 1, 3, 4, 5, 1, 0, 1 };
    for (int i = t; i < 128 * 32; i += 128) sa[i] = 0, sb[i / 2] = 0;
    __syncthreads();
    for (int j = 0; j < k; j++) put(sa, ta, m, false, t, j, value(ta, t, j, 1));
    for (int j = 0; j < k && t < n; j++) put(sb, tb, n, false, t, j, value(tb, t, j, 2));
    for (int j = 0; j < 4; j++) { /* 1, 2 or 4 */
        fa[t % 32 * 16 + t / 32 * 4 + j] = e4m3 ? 0x38 + 8 * ((t + j) % 3) : 127 + (t + j) % 3;
        fb[t % 32 * 16 + t / 32 * 4 + j] = e4m3 ? 0x38 + 8 * ((t * 5 + j) % 3) : 127 + (t * 5 + j) % 3;
    }
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    if (t < 32) ALLOC(where, 128);
    FENCE;
    __syncthreads();
    uint32_t d = where, sa_at = d + 64, sb_at = d + 68;
    if (t == 0) {
        uint64_t a = descriptor(sa, m * 16, 128), b = descriptor(sb, n * 16, 128), da = descriptor(fa, 128, 128), db = descriptor(fb, 128, 128);
        uint32_t idesc = (each == 1 ? 1u << 4 | 1u << 29 : 0u) | codes[ta] << 7 | codes[tb] << 10 | (n >> 3) << 17 | (e4m3 ? 0u : 1u << 23) | (m >> 4) << 24, sa = sa_at, sb = sb_at;
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(sa), "l"(da));
        asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(sb), "l"(db));
        if (kind == 4) SCALED("mxf8f6f4.block_scale.scale_vec::1X");
        else if (kind == 5) SCALED("mxf4.block_scale.scale_vec::2X");
        else if (each == 2) SCALED("mxf4nvf4.block_scale.scale_vec::2X");
        else SCALED("mxf4nvf4.block_scale.scale_vec::4X");
        COMMIT(bar);
    }
    wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    for (int c = 0; c < n; c++) {
        uint32_t v;
        LD(d + (t / 32 * 32 << 16) + c, v);
        WAIT_LD;
        int s = 0, byte = each == 1;
        for (int j = 0; j < k; j++) {
            int f = j / (k / each) + byte;
            s += value(ta, t, j, 1) * value(tb, c, j, 2) << (t + f) % 3 << (c * 5 + f) % 3;
        }
        bad += __uint_as_float(v) != (float)s;
    }
    atomicAdd(wrong, bad);
    __syncthreads();
    if (t < 32) DEALLOC(d, 128);
}

/* a from tensor memory, weight stationary with M = 32 or 64, lanes that are kept, a sum that is halved before. */
extern "C" __global__ void forms(uint32_t *wrong)
{
    __shared__ __align__(128) char sa[128 * 32], sb[64 * 32];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    int t = threadIdx.x, q = t / 32, bad = 0;
    for (int i = t; i < 128 * 32; i += 128) sa[i] = 0, sb[i / 2] = 0;
    __syncthreads();
    for (int j = 0; j < 16; j++) put(sa, F16, 128, false, t, j, value(F16, t, j, 1));
    for (int j = 0; j < 16 && t < 64; j++) put(sb, F16, 64, false, t, j, value(F16, t, j, 2));
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    if (q == 0) ALLOC(where, 512);
    FENCE;
    __syncthreads();
    uint32_t d = where, mine = d + (q * 32 << 16), a_at = d + 320;
    for (int c = 0; c < 8; c++) ST(mine + 320 + c, code(F16, value(F16, t, 2 * c, 1)) | code(F16, value(F16, t, 2 * c + 1, 1)) << 16);
    for (int c = 0; c < 64; c++) ST(mine + 256 + c, __float_as_uint(8.f));
    WAIT_ST;
    asm volatile("tcgen05.fence::before_thread_sync;");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    if (t == 0) {
        uint64_t a = descriptor(sa, 128 * 16, 128), b = descriptor(sb, 64 * 16, 128);
        uint32_t idesc = 1u << 4 | (64 >> 3) << 17, full = idesc | 128 >> 4 << 24;
        asm volatile("{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;}" ::"r"(d), "r"(a_at), "l"(b), "r"(full));
        asm volatile("{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d + 64), "l"(a), "l"(b), "r"(idesc | 64 >> 4 << 24));
        asm volatile("{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.ws.cta_group::1.kind::f16 [%0], %1, %2, %3, p, %4;}" ::"r"(d + 128), "l"(a), "l"(b), "r"(idesc | 32 >> 4 << 24), "l"(1ull << 39 | 1ull << 40 | 1ull << 48));
        asm volatile("{.reg .pred p; setp.eq.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, {%4, %5, %5, %6}, p, 2;}" ::"r"(d + 256), "l"(a), "l"(b), "r"(full), "r"(1), "r"(0), "r"(0x80000000));
        COMMIT(bar);
    }
    wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    for (int c = 0; c < 64; c++) {
        uint32_t v[4] = { 0 };
        LD(mine + c, v[0]);
        if (c < 32) LD(mine + 64 + c, v[1]);
        if (c < 16) LD(mine + 128 + c, v[2]);
        LD(mine + 256 + c, v[3]);
        WAIT_LD;
        int s[3] = { 0 }, rows[] = { t, t % 64, t % 32 }, columns[] = { c, c + t / 64 * 32, c + q * 16 };
        for (int j = 0; j < 16; j++) for (int x = 0; x < 3; x++) s[x] += columns[x] < 64 ? value(F16, rows[x], j, 1) * value(F16, columns[x], j, 2) : 0;
        bad += __uint_as_float(v[0]) != (float)s[0];
        if (c < 32) bad += __uint_as_float(v[1]) != (float)s[1];
        if (c < 16) bad += __uint_as_float(v[2]) != (c % 4 < 2 ? (float)s[2] : 0.f); /* two columns are used, two are zero, and so on */
        bad += __uint_as_float(v[3]) != (t == 0 || t == 127 ? 8.f : s[0] + 2.f);
    }
    atomicAdd(wrong, bad);
    __syncthreads();
    if (q == 0) DEALLOC(d, 512);
}

/* Two warps that want all columns: the second waits for the first. */
extern "C" __global__ void turns(uint32_t *wrong)
{
    __shared__ uint32_t where[4];
    int q = threadIdx.x / 32;
    ALLOC(where[q], 512);
    __syncwarp();
    uint32_t tm = *(volatile uint32_t *)&where[q];
    __syncwarp();
    atomicAdd(wrong, tm != 0);
    DEALLOC(tm, 512);
}

/* ---- mistakes; how: which ---- */
extern "C" __global__ void mistakes(float *out, int how)
{
    __shared__ __align__(128) char sa[128 * 32], sb[8 * 32];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    int t = threadIdx.x, q = t / 32;
    for (int i = t; i < 128 * 32; i += 128) sa[i] = 0, sb[i / 16] = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    if (q == 0) ALLOC(where, how == 1 ? 33 : 32);
    if (how != 2) FENCE;
    __syncthreads();
    uint32_t d = how == 1 ? 0 : where, mine = d + (q * 32 << 16), v = 0;
    if (t == 0) {
        uint64_t a = descriptor(sa, 128 * 16, how == 3 ? 0x20000 : 128) | (how == 13 ? 1ull << 52 : 0), b = descriptor(sb, 128, 128);
        uint32_t idesc = 1u << 4 | (how == 4 ? 12 : 8) >> 3 << 17 | (how == 4 ? 96 : 128) >> 4 << 24;
        if (how == 14) asm volatile("{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%0], [%0], p;}" ::"r"(d), "l"(a), "l"(b), "r"(1u << 7 | 1u << 10 | 1u << 17 | 1u << 23 | 8u << 24 | 1u << 31));
        else asm volatile("{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(how == 5 ? d + 28 : d), "l"(a), "l"(b), "r"(idesc));
        if (how != 6) COMMIT(bar);
    }
    if (how == 10) sa[t * 16] = 1;
    if (how != 6 && how != 7) wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    if (how != 1) LD(how == 8 ? d + 1 : mine + 1, v);
    WAIT_LD;
    out[t] = __uint_as_float(v);
    __syncthreads();
    if (q == 0 && how != 9 && how != 1) DEALLOC(d, how == 11 ? 64 : 32);
    if (how == 12) {
        __syncthreads();
        LD(mine, v);
        WAIT_LD;
        out[t] = __uint_as_float(v);
    }
}

/* ---- a sparse a ---- */

/* A type in an instruction descriptor. */
__device__ static uint32_t type_code(int t) { return 0x10154310210ull >> 4 * t & 15; }
/* Where the stored elements of a chunk stand: four bits, such as have a meaning. */
__device__ static uint32_t meta(int t, int r, int chunk)
{
    const uint32_t codes[] = { 4, 8, 12, 9, 13, 14, 6 };
    return t == TF32 ? ((r + chunk) % 2 ? 14 : 4) : codes[(r * 3 + chunk * 2 + r * chunk) % 7];
}
/* The k that stored element j of row r has. */
__device__ static int place(int t, int r, int j)
{
    int unit = t == E2M1X ? 2 : 1, stored = t == TF32 ? 1 : 2 * unit, chunk = j / stored, in = j % stored;
    uint32_t bits = meta(t, r, chunk);
    return t == TF32 ? 2 * chunk + (bits & 3) / 2 : 4 * unit * chunk + (bits >> 2 * (in / unit) & 3) * unit + in % unit;
}
/* Metadata of lane l for column c of the metadata; `rows`: the row of the CTA that a lane has. */
__device__ static uint32_t meta_word(int t, int l, int c, int m, bool ws, bool half)
{
    uint32_t word = 0;
    for (int i = 0; i < 8; i++) {
        bool wide = t <= TF32;
        int lane = wide ? l / 16 * 16 + l % 8 + i / 4 * 8 : l, chunk = wide ? l / 8 % 2 * 4 + i % 4 : c * 8 + i;
        int row = half ? lane / 32 * 16 + lane % 16 : ws ? lane % m : lane;
        word |= meta(t, row, chunk) << 4 * i;
    }
    return word;
}
#define SP(words) asm volatile("{.reg .pred p; setp.ne.u32 p, %5, 0; tcgen05.mma." words " [%0], %1, %2, [%3], %4, p;}" ::"r"(d), "l"(a), "l"(b), "r"(e), "r"(idesc), "r"(twice))
#define SP_TMEM(words) asm volatile("{.reg .pred p; setp.ne.u32 p, %5, 0; tcgen05.mma." words " [%0], [%1], %2, [%3], %4, p;}" ::"r"(d), "r"(a_at), "l"(b), "r"(e), "r"(idesc), "r"(twice))
#define SP_SCALED(words) asm volatile("{.reg .pred p; setp.ne.u32 p, %5, 0; tcgen05.mma.sp.cta_group::1." words " [%0], %1, %2, [%3], %4, [%6], [%7], p;}" ::"r"(d), "l"(a), "l"(b), "r"(e), "r"(idesc), "r"(twice), "r"(d + 132), "r"(d + 136))

/* d = a b twice over, a sparse: kinds and types as above; `where`: 1 weight stationary, 2 a from tensor memory; `each`: factors of a row, of block scaling. */
extern "C" __global__ void sparse(uint32_t *wrong, int kind, int ta, int tb, int m, int n, int selector, int how, int each)
{
    __shared__ __align__(128) char sa[128 * 32], sb[128 * 64], fa[512], fb[512];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    int t = threadIdx.x, kept = depth(ta), k = 2 * kept, bad = 0, e4m3 = kind == 6 && each == 4;
    bool ws = how == 1, half = m == 64 && !ws;
    for (int i = t; i < 128 * 64; i += 128) sa[i / 2] = 0, sb[i] = 0;
    __syncthreads();
    for (int j = 0; j < kept && t < m; j++) put(sa, ta, m, false, t, j, value(ta, t, j, 1));
    for (int j = 0; j < k && t < n; j++) put(sb, tb, n, false, t, j, value(tb, t, j, 2));
    for (int j = 0; j < 4; j++) {
        fa[t % 32 * 16 + t / 32 * 4 + j] = e4m3 ? 0x38 + 8 * ((t + j) % 3) : 127 + (t + j) % 3;
        fb[t % 32 * 16 + t / 32 * 4 + j] = e4m3 ? 0x38 + 8 * ((t * 5 + j) % 3) : 127 + (t * 5 + j) % 3;
    }
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    if (t < 32) ALLOC(where, 256);
    FENCE;
    __syncthreads();
    uint32_t d = where, mine = d + (t / 32 * 32 << 16), e = d + 128, a_at = d + 144;
    for (int c = 0; c < 2; c++) ST(mine + 128 + (ta <= TF32 ? selector : c), meta_word(ta, t, c, m, ws, half));
    for (int c = 0; c < 8; c++) /* a as it lies in shared memory, whole words of it */
        ST(mine + 144 + c, *(uint32_t *)(sa + c / 4 * (m * 16) + (half ? t / 32 * 16 + t % 16 : t % m) * 16 + c % 4 * 4));
    WAIT_ST;
    asm volatile("tcgen05.fence::before_thread_sync;");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;");
    if (t == 0) {
        uint64_t a = descriptor(sa, m * 16, 128), b = descriptor(sb, n * 16, 128), da = descriptor(fa, 128, 128), db = descriptor(fb, 128, 128);
        uint32_t idesc = selector | 1u << 2 | type_code(ta) << 7 | type_code(tb) << 10 | (n >> 3) << 17 | (m >> 4) << 24;
        if (kind < 4) idesc |= (kind == 3 ? 2u : 1u) << 4;
        else idesc |= (each == 1 ? 1u << 4 | 1u << 29 : 0u) | (e4m3 ? 0u : 1u << 23);
        if (kind >= 4) {
            asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d + 132), "l"(da));
            asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(d + 136), "l"(db));
        }
        for (int twice = 0; twice < 2; twice++)
            if (kind == 0 && how == 2) SP_TMEM("sp.cta_group::1.kind::f16");
            else if (kind == 2 && how == 2) SP_TMEM("sp.cta_group::1.kind::f8f6f4");
            else if (kind == 0 && ws) SP("ws.sp.cta_group::1.kind::f16");
            else if (kind == 3 && ws) SP("ws.sp.cta_group::1.kind::i8");
            else if (kind == 0) SP("sp.cta_group::1.kind::f16");
            else if (kind == 1) SP("sp.cta_group::1.kind::tf32");
            else if (kind == 2) SP("sp.cta_group::1.kind::f8f6f4");
            else if (kind == 3) SP("sp.cta_group::1.kind::i8");
            else if (kind == 4) SP_SCALED("kind::mxf8f6f4.block_scale.scale_vec::1X");
            else if (kind == 5) SP_SCALED("kind::mxf4.block_scale.scale_vec::2X");
            else SP_SCALED("kind::mxf4nvf4.block_scale.scale_vec::4X");
        COMMIT(bar);
    }
    wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    int parts = ws ? 128 / m : 1, row = half ? t / 32 * 16 + t % 16 : t % m;
    for (int c = 0; c < n / parts; c++) {
        uint32_t v;
        LD(mine + c, v);
        WAIT_LD;
        if (half && t % 32 >= 16) continue;
        int s = 0, column = c + t / m * (n / parts) * (parts > 1);
        for (int j = 0; j < kept; j++) {
            int at = place(ta, row, j), f = each ? at / (k / each) + (each == 1) : 0;
            int x = 2 * value(ta, row, j, 1) * value(tb, column, at, 2);
            s += each ? x << (row + f) % 3 << (column * 5 + f) % 3 : x;
        }
        bad += kind == 3 ? (int)v != s : __uint_as_float(v) != (float)s;
    }
    atomicAdd(wrong, bad);
    __syncthreads();
    if (t < 32) DEALLOC(d, 256);
}

/* ---- a pair of CTAs ---- */

#define PAIR(words) asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::2.kind::" words " [%0], %1, %2, %3, p;}" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(twice))
#define PAIR_SP(words) asm volatile("{.reg .pred p; setp.ne.u32 p, %5, 0; tcgen05.mma.sp.cta_group::2.kind::" words " [%0], %1, %2, [%3], %4, p;}" ::"r"(d), "l"(a), "l"(b), "r"(d + 128), "r"(idesc), "r"(twice))

/* d = a b twice over by two CTAs: each has half of the rows of a and d, and half of the columns of b in its shared memory. One thread of the first starts both products, and tells both CTAs when they are done. */
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair(uint32_t *wrong, int ta, int m, int n, int sparse)
{
    __shared__ __align__(128) char sa[128 * 32], sb[64 * 64];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    int t = threadIdx.x, rank = blockIdx.x % 2, rows = m / 2, columns = n / 2, kept = depth(ta), k = sparse ? 2 * kept : kept, bad = 0;
    bool half = sparse && m == 128;
    for (int i = t; i < 64 * 64; i += 128) sa[i] = 0, sb[i] = 0;
    __syncthreads();
    for (int j = 0; j < kept && t < rows; j++) put(sa, ta, rows, false, t, j, value(ta, rank * rows + t, j, 1));
    for (int j = 0; j < k && t < columns; j++) put(sb, ta, columns, false, t, j, value(ta, rank * columns + t, j, 2));
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at(&bar)) : "memory");
    if (t < 32) asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 256;" ::"r"(at(&where)) : "memory");
    FENCE;
    __syncthreads();
    uint32_t d = where, mine = d + (t / 32 * 32 << 16);
    for (int c = 0; c < 2 && sparse; c++) ST(mine + 128 + c, meta_word(ta, t, c, rows, false, half));
    WAIT_ST;
    asm volatile("tcgen05.fence::before_thread_sync; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; tcgen05.fence::after_thread_sync;" ::: "memory");
    if (t == 0 && rank == 0) {
        uint64_t a = descriptor(sa, rows * 16, 128), b = descriptor(sb, columns * 16, 128);
        uint32_t idesc = (sparse ? 1u << 2 : 0) | 1u << 4 | type_code(ta) << 7 | type_code(ta) << 10 | (n >> 3) << 17 | (m >> 4) << 24;
        for (int twice = 0; twice < 2; twice++)
            if (sparse && ta == F16) PAIR_SP("f16");
            else if (sparse) PAIR_SP("f8f6f4");
            else if (ta == F16) PAIR("f16");
            else PAIR("f8f6f4");
        asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(at(&bar)), "h"((short)3) : "memory");
    }
    wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    int parts = m == 128 && !sparse ? 2 : 1, row = half ? t / 32 * 16 + t % 16 : t % rows;
    for (int c = 0; c < n / parts; c++) {
        uint32_t v;
        LD(mine + c, v);
        WAIT_LD;
        if (half && t % 32 >= 16) continue;
        int s = 0, column = c + (parts > 1 ? t / 64 * (n / 2) : 0);
        for (int j = 0; j < kept; j++) s += 2 * value(ta, rank * rows + row, j, 1) * value(ta, column, sparse ? place(ta, row, j) : j, 2);
        bad += __uint_as_float(v) != (float)s;
    }
    atomicAdd(wrong, bad);
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (t < 32) asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 256;" ::"r"(d));
}

/* ---- mistakes with metadata; how: 0 no meaning, but zeros, 1 no meaning, 2 an odd column, 3 never written, 4 the descriptor is one of a dense a ---- */
extern "C" __global__ void sparse_mistakes(float *out, int how)
{
    __shared__ __align__(128) char sa[128 * 32], sb[8 * 64];
    __shared__ __align__(8) uint64_t bar;
    __shared__ uint32_t where;
    int t = threadIdx.x, q = t / 32;
    for (int i = t; i < 128 * 32; i += 128) sa[i] = 0, sb[i / 8] = 0;
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    if (q == 0) ALLOC(where, 32);
    FENCE;
    __syncthreads();
    uint32_t d = where, mine = d + (q * 32 << 16), v = 0;
    if (how == 1 && t == 5) sa[t * 16 + 13] = 0x3c; /* 1.0: the first element of chunk 3 of row 5 */
    if (how != 3) ST(mine + 16, how <= 1 && t == 5 ? 0x44445444u : 0x44444444u);
    FENCE;
    if (how != 3) ST(mine + 17, 0x44444444u);
    WAIT_ST;
    __syncthreads();
    if (t == 0) {
        uint64_t a = descriptor(sa, 128 * 16, 128), b = descriptor(sb, 128, 128);
        uint32_t idesc = (how == 4 ? 0 : 1u << 2) | 1u << 4 | 8 >> 3 << 17 | 128 >> 4 << 24;
        asm volatile("{.reg .pred p; setp.ne.u32 p, 0, 0; tcgen05.mma.sp.cta_group::1.kind::f16 [%0], %1, %2, [%3], %4, p;}" ::"r"(d), "l"(a), "l"(b), "r"(how == 2 ? d + 17 : d + 16), "r"(idesc));
        COMMIT(bar);
    }
    wait(&bar, 0);
    asm volatile("tcgen05.fence::after_thread_sync;");
    LD(mine + 1, v);
    WAIT_LD;
    out[t] = __uint_as_float(v);
    __syncthreads();
    if (q == 0) DEALLOC(d, 32);
}
