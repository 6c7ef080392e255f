// regen: -arch=sm_120a
/* mma.sync with types of 8, 6 and 4 bits, with and without block scaling, and matrices of 8-bit elements between shared memory and registers. Each kernel counts
 * what differs from plain arithmetic in wrong[0]: the values are small, so that sums are exact in whatever order. */
#include <stdint.h>
enum { E4M3, E5M2, E2M3, E3M2, E2M1, E2M1X };
/* -2 to 2 in each type, as it lies in a byte; of the last, in four bits */
__device__ static uint32_t code(int t, int v)
{
    const uint32_t one[] = { 0x38, 0x3c, 0x08, 0x0c, 2 << 2, 2 }, two[] = { 0x40, 0x40, 0x10, 0x10, 4 << 2, 4 }, sign[] = { 0x80, 0x80, 0x20, 0x20, 0x20, 8 };
    return (v == 0 ? 0 : abs(v) == 1 ? one[t] : two[t]) | (v < 0 ? sign[t] : 0);
}
__device__ static int value(int r, int k, int salt) { return (r * 7 + k * 3 + r * k + salt) % 5 - 2; }
/* Register i of lane l of a (rows 16) or b (8 columns): neighbours of k. */
__device__ static uint32_t fragment(int t, bool b, int i, int l)
{
    int each = t == E2M1X ? 8 : 4, row = b ? l / 4 : i % 2 * 8 + l / 4, first = (b ? i : i / 2) * 4 * each + l % 4 * each;
    uint32_t x = 0;
    for (int e = 0; e < each; e++) x |= code(t, value(row, first + e, b ? 2 : 1)) << 32 / each * e;
    return x;
}
#define OPERANDS "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13}"
#define ARGUMENTS "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(1.f), "f"(2.f), "f"(3.f), "f"(4.f)
#define PLAIN(t, words) if (ta == t) asm volatile("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32." words ".f32 " OPERANDS ";" : ARGUMENTS)
#define SCALED(shape, words) asm volatile("mma.sync.aligned." shape ".row.col.kind::" words " " OPERANDS ", %14, {%15,%16}, %17, {%18,%19};" : ARGUMENTS, "r"(sa), "h"(byte), "h"(thread), "r"(sb), "h"(byte), "h"(other))

/* A pair of types by ta; `scales` factors of a row, taken from `byte` and `thread` on; 0: none. e4m3: factors are ue4m3. */
extern "C" __global__ void kinds(uint32_t *wrong, int ta, int tb, int scales, int e4m3, unsigned short byte, unsigned short thread, unsigned short other)
{
    int l = threadIdx.x, bad = 0, k = ta == E2M1X ? 64 : 32;
    uint32_t a[4], b[2], sa = 0, sb = 0;
    float d[4] = { 0 };
    for (int i = 0; i < 4; i++) a[i] = fragment(ta, false, i, l);
    for (int i = 0; i < 2; i++) b[i] = fragment(tb, true, i, l);
    for (int j = 0; j < 4; j++) { /* 1, 2 or 4; lanes that are not chosen have others */
        int row = l % 2 * 8 + l / 4, fa = l % 4 / 2 == thread ? (row + j) % 3 : 2, fb = l % 4 == other ? (l / 4 * 5 + j) % 3 : 1;
        sa |= (e4m3 ? 0x38u + 8 * fa : 127u + fa) << 8 * j;
        sb |= (e4m3 ? 0x38u + 8 * fb : 127u + fb) << 8 * j;
    }
    if (scales == 0) {
        PLAIN(E4M3, "e4m3.e2m1");
        PLAIN(E5M2, "e5m2.e3m2");
        PLAIN(E2M3, "e2m3.e2m3");
        PLAIN(E3M2, "e3m2.e4m3");
        PLAIN(E2M1, "e2m1.e2m1");
    } else if (scales == 1)
        SCALED("m16n8k32", "mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e2m1.f32.ue8m0");
    else if (scales == 2 && other == 2)
        SCALED("m16n8k64", "mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0");
    else if (scales == 2)
        SCALED("m16n8k64", "mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0");
    else
        SCALED("m16n8k64", "mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3");
    for (int i = 0; i < 4; i++) {
        int row = l / 4 + i / 2 * 8, col = l % 4 * 2 + i % 2, s = i + 1;
        for (int j = 0; j < k; j++) {
            int f = scales ? j / (k / scales) + byte : 0, p = value(row, j, 1) * value(col, j, 2);
            s += scales ? p << (row + f) % 3 << (col * 5 + f) % 3 : p;
        }
        bad += d[i] != (float)s;
    }
    atomicAdd(wrong, bad);
}

/* a sparse: of each four of a row (of 4-bit types: four pairs) the first and the third are stored. */
extern "C" __global__ void sparse(uint32_t *wrong)
{
    int l = threadIdx.x, bad = 0;
    uint32_t a[4], b[4], meta = 0x88888888;
    float d[4];
    for (int i = 0; i < 4; i++) a[i] = fragment(E4M3, false, i, l);
    for (int i = 0; i < 4; i++) b[i] = fragment(E4M3, true, i, l);
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%12,%12,%12}, %13, 0;"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(0.f), "r"(meta));
    for (int i = 0; i < 4; i++) {
        int row = l / 4 + i / 2 * 8, col = l % 4 * 2 + i % 2, s = 0;
        for (int j = 0; j < 32; j++) s += value(row, j, 1) * value(col, j / 2 * 4 + j % 2 * 2, 2);
        bad += d[i] != (float)s;
    }
    for (int i = 0; i < 4; i++) a[i] = fragment(E2M1X, false, i, l);
    for (int i = 0; i < 4; i++) b[i] = fragment(E2M1X, true, i, l);
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%12,%12,%12}, %13, 0, %14, {0,0}, %14, {0,0};"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "f"(0.f), "r"(meta), "r"(0x7f80));
    for (int i = 0; i < 4; i++) {
        int row = l / 4 + i / 2 * 8, col = l % 4 * 2 + i % 2, s = 0;
        for (int j = 0; j < 64; j++) s += value(row, j, 1) * value(col, j / 4 * 8 + j % 4 / 2 * 4 + j % 2, 2) << (j < 32 ? 2 : 0);
        bad += d[i] != (float)s;
    }
    atomicAdd(wrong, bad);
}

/* Rows of 16 bytes: 8-bit elements by columns and back; 6- and 4-bit elements become bytes. */
extern "C" __global__ void matrices(uint32_t *wrong)
{
    __shared__ __align__(128) uint8_t m[32][16], out[16][16], six[8][16], four[16][16];
    uint32_t l = threadIdx.x, r[4], bad = 0;
    for (int c = 0; c < 16; c++) m[l][c] = l * 16 + c, out[l % 16][c] = 0, six[l % 8][c] = 0, four[l % 16][c] = 0;
    __syncwarp();
    if (l < 8) for (int c = 0; c < 16; c++) for (int b = 0; b < 6; b++) if ((l * 7 + c) >> b & 1) six[l][(6 * c + b) / 8] |= 1 << (6 * c + b) % 8;
    if (l < 16) for (int c = 0; c < 16; c++) four[l][c / 2] |= (l + c) % 16 << c % 2 * 4;
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((uint32_t)__cvta_generic_to_shared(m[l])));
    for (uint32_t k = 0; k < 4; k++) for (uint32_t e = 0; e < 4; e++)
        bad += (r[k] >> 8 * e & 255) != (uint8_t)((k / 2 * 16 + 4 * (l % 4) + k % 2 * 2 + e % 2) * 16 + l / 4 + e / 2 * 8);
    asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%1];" : "=r"(r[0]) : "r"((uint32_t)__cvta_generic_to_shared(six[l % 8])));
    for (uint32_t e = 0; e < 4; e++) bad += (r[0] >> 8 * e & 255) != (l / 4 * 7 + l % 4 * 4 + e) % 64;
    asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"((uint32_t)__cvta_generic_to_shared(four[l % 16])));
    for (uint32_t k = 0; k < 2; k++) for (uint32_t e = 0; e < 4; e++) bad += (r[k] >> 8 * e & 255) != (8 * k + l / 4 + l % 4 * 4 + e) % 16;
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b4x16_p64 {%0,%1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"((uint32_t)__cvta_generic_to_shared(four[l % 16])));
    for (uint32_t k = 0; k < 2; k++) for (uint32_t e = 0; e < 4; e++) bad += (r[k] >> 8 * e & 255) != (4 * (l % 4) + 2 * k + e % 2 + l / 4 + e / 2 * 8) % 16;
    for (uint32_t k = 0; k < 2; k++) {
        r[k] = 0;
        for (uint32_t e = 0; e < 4; e++) r[k] |= ((8 * k + 2 * (l % 4) + e % 2) * 16 + l / 4 + e / 2 * 8) << 8 * e;
    }
    asm volatile("stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%0], {%1,%2};" ::"r"((uint32_t)__cvta_generic_to_shared(out[l % 16])), "r"(r[0]), "r"(r[1]) : "memory");
    __syncwarp();
    for (int c = 0; c < 16; c++) bad += out[l % 16][c] != l % 16 * 16 + c;
    atomicAdd(wrong, bad);
}
