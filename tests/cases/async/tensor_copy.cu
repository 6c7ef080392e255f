// regen: no
// Tensor copies of many maps and coordinates: a hash a case, to be the same on a GPU (the .out was recorded on an H200).
// `tensor_copy show FIRST LAST` prints the first bytes of cases, too.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <vector>
typedef unsigned long long u64;
typedef CUresult tiled_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult im2col_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
enum { ROOM = 48 << 10, TENSOR = 1 << 20, TILE = 0, IM2COL = 1, STORE = 2, REDUCE = 3 };
struct job { int mode, rank, c[5], off[3], op; unsigned bytes; };
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define C1 "{%3}"
#define C2 "{%3, %4}"
#define C3 "{%3, %4, %5}"
#define C4 "{%3, %4, %5, %6}"
#define C5 "{%3, %4, %5, %6, %7}"
#define COORDS "r"(j.c[0]), "r"(j.c[1]), "r"(j.c[2]), "r"(j.c[3]), "r"(j.c[4])
#define LOAD(n, mode, coords, more) asm volatile("cp.async.bulk.tensor." n ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], [%1, " coords "], [%2]" more ";" ::"r"(to), "l"(m), "r"(bar), COORDS, "h"((unsigned short)j.off[0]), "h"((unsigned short)j.off[1]), "h"((unsigned short)j.off[2]) : "memory")
#define STORE_(n, coords) asm volatile("cp.async.bulk.tensor." n ".global.shared::cta.tile.bulk_group [%1, " coords "], [%0];" ::"r"(to), "l"(m), "r"(bar), COORDS : "memory")
#define RED_(n, op, coords) asm volatile("cp.reduce.async.bulk.tensor." n ".global.shared::cta." op ".tile.bulk_group [%1, " coords "], [%0];" ::"r"(to), "l"(m), "r"(bar), COORDS : "memory")
#define EACH_RANK(X) switch (j.rank) { case 1: X("1d", C1); break; case 2: X("2d", C2); break; case 3: X("3d", C3); break; case 4: X("4d", C4); break; case 5: X("5d", C5); break; }
__global__ void copy(const __grid_constant__ CUtensorMap map, job j, uint32_t *out)
{
    extern __shared__ __align__(1024) uint32_t tile[];
    __shared__ u64 full;
    unsigned bar = ADDR(&full), to = ADDR(tile);
    const CUtensorMap *m = &map;
    for (int k = threadIdx.x; k < ROOM / 4; k += blockDim.x) tile[k] = j.mode >= STORE ? 0x3c003f80u + 0x10003u * k : 0xeeeeeeeeu;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (j.mode >= STORE) {
        if (threadIdx.x == 0) {
            if (j.mode == STORE) {
                EACH_RANK(STORE_)
            } else if (j.op == 0) {
#define RED_ADD(n, c) RED_(n, "add", c)
                EACH_RANK(RED_ADD)
            } else if (j.op == 1) {
#define RED_MIN(n, c) RED_(n, "min", c)
                EACH_RANK(RED_MIN)
            } else if (j.op == 2) {
#define RED_MAX(n, c) RED_(n, "max", c)
                EACH_RANK(RED_MAX)
            } else {
#define RED_XOR(n, c) RED_(n, "xor", c)
                EACH_RANK(RED_XOR)
            }
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        }
        return;
    }
    if (threadIdx.x == 0) {
        u64 state;
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(bar), "r"(j.bytes) : "memory");
        if (j.mode == TILE) {
#define LOAD_TILE(n, c) LOAD(n, "tile", c, "")
            EACH_RANK(LOAD_TILE)
        } else if (j.rank == 3)
            LOAD("3d", "im2col", C3, ", {%8}");
        else if (j.rank == 4)
            LOAD("4d", "im2col", C4, ", {%8, %9}");
        else
            LOAD("5d", "im2col", C5, ", {%8, %9, %10}");
    }
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(bar) : "memory");
    for (int k = threadIdx.x; k < ROOM / 4; k += blockDim.x) out[k] = tile[k];
}

static uint64_t seed;
static uint32_t rnd(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}
static uint64_t hash(const void *p, size_t n)
{
    const unsigned char *b = (const unsigned char *)p;
    uint64_t h = 14695981039346656037u;
    for (size_t k = 0; k < n; k++) h = (h ^ b[k]) * 1099511628211u;
    return h;
}
static const int size_of[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
struct setup {
    int type, interleave, swizzle, fill, lower[3], upper[3], channels, pixels;
    cuuint64_t dim[5], stride[5];
    cuuint32_t box[5], step[5];
    job j;
};
static setup draw(int n)
{
    setup s = {};
    seed = 12345 + 977u * n;
    for (int k = 0; k < 4; k++) rnd(2);
    job &j = s.j;
    j.mode = n % 8 < 4 ? TILE : n % 8 < 6 ? IM2COL : n % 8 == 6 ? STORE : REDUCE;
    j.rank = j.mode == IM2COL ? 3 + rnd(3) : 1 + rnd(5);
    s.type = rnd(13);
    if (j.mode == REDUCE) {
        static const int types[] = { 2, 3, 4, 6, 7, 9, 5 };
        s.type = types[rnd(7)];
        j.op = s.type == 7 ? 0 : rnd(4);
        if (j.op == 3 && s.type != 2 && s.type != 4) j.op = 0;
        if (j.op == 3 && s.type > 4) j.op = 0;
    }
    int b = size_of[s.type], unit = std::max(16 / b, 1);
    s.interleave = j.rank >= 3 && n % 16 >= 10 && j.mode == TILE ? 1 + rnd(2) : 0;
    s.swizzle = s.interleave == 2 ? 1 : s.interleave ? 0 : rnd(4);
    s.fill = s.type >= 6 ? rnd(2) : 0;
    uint32_t most = s.swizzle ? (16u << s.swizzle) / b : 256;
    cuuint64_t pitch = 1;
    static const int room[] = { 200, 20, 9, 5, 4 };
    for (int k = 0; k < 5; k++) {
        s.dim[k] = 1 + rnd(room[k]);
        if (j.mode >= STORE && k == 0) s.dim[0] = 8 + rnd(100);
        pitch = k ? pitch * s.dim[k] + (rnd(3) ? 0 : 32) : (s.dim[0] * b + 31) / 32 * 32 + 32 * rnd(2);
        s.stride[k] = pitch;
        s.box[k] = 1 + rnd(k ? 6 : 8);
        s.step[k] = rnd(4) ? 1 : 1 + rnd(3);
        j.c[k] = (int)rnd((uint32_t)s.dim[k] + 6) - 3;
    }
    s.box[0] = std::min(s.box[0] * unit, most / unit * unit);
    if (s.interleave) s.box[0] = (s.interleave == 1 ? 16 : 32) / b;
    rnd(2);
    j.c[0] = j.c[0] / unit * unit; // bytes of a row are a multiple of 16
    if (j.mode >= STORE)
        for (int k = 0; k < 5; k++) s.step[k] = rnd(6) ? 1 : s.step[k];
    uint64_t total = b;
    for (int k = 0; k < j.rank; k++) {
        int step = k ? s.step[k] : 1;
        total *= (s.box[k] + step - 1) / step;
    }
    while (j.mode != IM2COL && total > ROOM) {
        int k = j.rank - 1;
        while (s.box[k] == 1) k--;
        s.box[k]--;
        if (k == 0) s.box[0] = s.box[0] / unit * unit;
        total = b;
        for (k = 0; k < j.rank; k++) total *= (s.box[k] + (k ? s.step[k] : 1) - 1) / (k ? s.step[k] : 1);
    }
    if (j.mode == IM2COL) {
        for (int k = 0; k < j.rank - 2; k++) {
            s.lower[k] = (int)rnd(4) - 2;
            s.upper[k] = (int)rnd(4) - 2;
            s.dim[k + 1] += 4;
            j.off[k] = rnd(3);
            int first = s.lower[k], last = (int)s.dim[k + 1] - 1 + s.upper[k];
            j.c[k + 1] = first + (int)rnd((uint32_t)std::max(1, last - first + 1));
        }
        pitch = s.stride[0];
        for (int k = 1; k < 5; k++) s.stride[k] = pitch *= s.dim[k];
        s.channels = std::min(unit * (1 + (int)rnd(4)), (int)most / unit * unit);
        s.pixels = 1 + rnd(60);
        s.interleave = 0;
        j.c[j.rank - 1] = rnd((uint32_t)s.dim[j.rank - 1] + 1);
        total = (uint64_t)s.channels * s.pixels * b;
    }
    j.bytes = (unsigned)total;
    return s;
}

int main(int argc, char **argv)
{
    bool show = argc > 3 && (!strcmp(argv[1], "show") || !strcmp(argv[1], "interleaved")), only = show && argv[1][0] == 'i';
    int first = argc > 2 ? atoi(argv[2]) : 0, last = show ? atoi(argv[3]) : 45;
    void *tiled = nullptr, *im2col = nullptr;
    cudaDriverEntryPointQueryResult q;
    cudaFree(0);
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &tiled, 12000, cudaEnableDefault, &q);
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &im2col, 12000, cudaEnableDefault, &q);
    cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM + 1024);
    char *tensor;
    uint32_t *out;
    cudaMalloc(&tensor, TENSOR);
    cudaMalloc(&out, ROOM);
    std::vector<uint32_t> host(TENSOR / 4), back(TENSOR / 4);
    for (size_t k = 0; k < host.size(); k++) {
        uint64_t z = k * 0x9e3779b97f4a7c15u + 99;
        z ^= z >> 29, z *= 0xbf58476d1ce4e5b9u, z ^= z >> 32;
        host[k] = (uint32_t)z;
        if (z >> 60 == 0) host[k] &= 0x807fffffu;
        if (z >> 60 == 1) host[k] |= 0x7f800000u;
        if (z >> 60 == 2) host[k] = (host[k] & ~0x1fffu) | 0x1000u; // a tie, when it is rounded to tf32
    }
    for (int n = first; n < last; n++) {
        setup s = draw(n);
        if (only ? !s.interleave : s.interleave) continue;
        bool negative = false; // an H200 stops at a store with a negative coordinate
        for (int k = 0; k < s.j.rank; k++) negative |= s.j.c[k] < 0;
        if (s.j.mode >= STORE && negative) continue;
        alignas(64) CUtensorMap m;
        CUresult e = s.j.mode == IM2COL
                         ? ((im2col_t *)im2col)(&m, (CUtensorMapDataType)s.type, s.j.rank, tensor + 4096, s.dim, s.stride, s.lower, s.upper, s.channels, s.pixels, s.step, (CUtensorMapInterleave)s.interleave, (CUtensorMapSwizzle)s.swizzle, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)s.fill)
                         : ((tiled_t *)tiled)(&m, (CUtensorMapDataType)s.type, s.j.rank, tensor + 4096, s.dim, s.stride, s.box, s.step, (CUtensorMapInterleave)s.interleave, (CUtensorMapSwizzle)s.swizzle, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)s.fill);
        if (show)
            printf("mode %d type %d rank %d interleave %d swizzle %d fill %d dim %llu %llu %llu %llu %llu stride %llu %llu %llu %llu box %u %u %u %u %u step %u %u %u %u %u c %d %d %d %d %d lower %d %d %d upper %d %d %d off %d %d %d channels %d pixels %d op %d bytes %u\n",
                   s.j.mode, s.type, s.j.rank, s.interleave, s.swizzle, s.fill, (u64)s.dim[0], (u64)s.dim[1], (u64)s.dim[2], (u64)s.dim[3], (u64)s.dim[4], (u64)s.stride[0], (u64)s.stride[1], (u64)s.stride[2], (u64)s.stride[3],
                   s.box[0], s.box[1], s.box[2], s.box[3], s.box[4], s.step[0], s.step[1], s.step[2], s.step[3], s.step[4], s.j.c[0], s.j.c[1], s.j.c[2], s.j.c[3], s.j.c[4],
                   s.lower[0], s.lower[1], s.lower[2], s.upper[0], s.upper[1], s.upper[2], s.j.off[0], s.j.off[1], s.j.off[2], s.channels, s.pixels, s.j.op, s.j.bytes);
        if (e) {
            printf("%d: encode %d\n", n, (int)e);
            continue;
        }
        cudaMemcpy(tensor, host.data(), TENSOR, cudaMemcpyHostToDevice);
        cudaMemset(out, 0, ROOM);
        copy<<<1, 128, ROOM + 1024>>>(m, s.j, out);
        cudaError_t r = cudaDeviceSynchronize();
        if (r) {
            printf("%d: %s\n", n, cudaGetErrorString(r));
            return 1;
        }
        bool load = s.j.mode < STORE;
        size_t bytes = load ? ROOM : TENSOR;
        cudaMemcpy(back.data(), load ? (void *)out : (void *)tensor, bytes, cudaMemcpyDeviceToHost);
        printf("%d: %016llx\n", n, (u64)hash(back.data(), bytes));
        if (show) {
            const unsigned char *p = (const unsigned char *)back.data(), *was = (const unsigned char *)host.data();
            if (load) /* for each 4 bytes: where in the tensor they come from */
                for (unsigned k = 0; k < std::min(s.j.bytes + 32, 512u); k += 4) {
                    size_t at = 0;
                    while (at < TENSOR - 4 && memcmp(was + at, p + k, 4)) at++;
                    uint32_t v;
                    memcpy(&v, p + k, 4);
                    if (s.type >= 10 || v == 0 || v == 0xeeeeeeeeu || at >= TENSOR - 4) printf(" %08x", v);
                    else printf(" +%zd", (ssize_t)at - 4096);
                }
            else
                for (size_t k = 0, shown = 0; k < TENSOR / 4 && shown < 100; k++)
                    if (back[k] != host[k]) printf(" +%zd:%08x", (ssize_t)k * 4 - 4096, back[k]), shown++;
            printf("\n");
        }
    }
    cudaFree(tensor);
    cudaFree(out);
    return 0;
}
