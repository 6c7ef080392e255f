// regen: no
// What tensor copies of pixels (im2col) bring from interleaved maps, and what their stores put where: a line a case, the arguments of cuTensorMapEncodeIm2col and the copy, then for each 16 bytes of shared memory
// (of the tensor, for stores) the number of the 16 bytes that came there.
//   nvcc -O1 -std=c++17 -arch=sm_90 -o im2col_slices tests/facts/im2col_slices.cu && ./im2col_slices
// `im2col_slices FIRST LAST`: only those cases. A process for some cases at a time, since an error stays with its process.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

typedef CUresult encode_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave,
                          CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
enum { ROOM = 64 << 10, TENSOR = 1 << 20, BEFORE = 16 << 10, ANNOUNCED = 1 << 12, DRAWN = 120, PLAIN = 120, LOAD = 0, STORE = 1, REDUCE = 2 };
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
struct job { int mode, rank, c[5], off[3]; };
#define C3 "{%3, %4, %5}"
#define C4 "{%3, %4, %5, %6}"
#define C5 "{%3, %4, %5, %6, %7}"
#define COORDS "r"(j.c[0]), "r"(j.c[1]), "r"(j.c[2]), "r"(j.c[3]), "r"(j.c[4])
#define FROM_TENSOR(n, coords, offsets) asm volatile("cp.async.bulk.tensor." n ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " coords "], [%2], " offsets ";" ::"r"(s), "l"(m), "r"(bar), COORDS, "h"((short)j.off[0]), "h"((short)j.off[1]), "h"((short)j.off[2]) : "memory")
#define TO_TENSOR(n, coords) asm volatile("cp.async.bulk.tensor." n ".global.shared::cta.im2col_no_offs.bulk_group [%1, " coords "], [%0];" ::"r"(s), "l"(m), "r"(bar), COORDS : "memory")
#define ADD_TO_TENSOR(n, coords) asm volatile("cp.reduce.async.bulk.tensor." n ".global.shared::cta.add.im2col_no_offs.bulk_group [%1, " coords "], [%0];" ::"r"(s), "l"(m), "r"(bar), COORDS : "memory")

__global__ void copy(const __grid_constant__ CUtensorMap map, job j, unsigned *out, int *came)
{
    extern __shared__ __align__(1024) unsigned tile[];
    __shared__ unsigned long long full;
    const CUtensorMap *m = &map;
    unsigned s = ADDR(tile), bar = ADDR(&full);
    for (int k = threadIdx.x; k < ROOM / 4; k += blockDim.x) tile[k] = j.mode == LOAD ? 0xffffffffu : 1000000u + k;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(bar) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0 && j.mode != LOAD) {
        if (j.mode == STORE && j.rank == 3) TO_TENSOR("3d", C3);
        else if (j.mode == STORE && j.rank == 4) TO_TENSOR("4d", C4);
        else if (j.mode == STORE) TO_TENSOR("5d", C5);
        else if (j.rank == 3) ADD_TO_TENSOR("3d", C3);
        else if (j.rank == 4) ADD_TO_TENSOR("4d", C4);
        else ADD_TO_TENSOR("5d", C5);
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    } else if (threadIdx.x == 0) {
        // more bytes are announced than can come; after a while the rest is counted down, which says how many came
        int done = 0, rest = 0;
        asm volatile("{ .reg .b64 t; mbarrier.arrive.expect_tx.shared::cta.b64 t, [%0], %1; }" ::"r"(bar), "r"(ANNOUNCED) : "memory");
        if (j.rank == 3) FROM_TENSOR("3d", C3, "{%8}");
        else if (j.rank == 4) FROM_TENSOR("4d", C4, "{%8, %9}");
        else FROM_TENSOR("5d", C5, "{%8, %9, %10}");
        for (long long end = clock64() + 1000000; clock64() < end;) {}
        while (!done && rest < ANNOUNCED) {
            asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(bar) : "memory");
            rest += 16;
            asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
        }
        *came = done ? ANNOUNCED - rest : -1;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < ROOM / 4; k += blockDim.x) out[k] = tile[k];
}

struct setup {
    int type, interleave, swizzle, fill, lower[3], upper[3];
    unsigned channels, pixels;
    cuuint64_t dim[5], pitch[4];
    cuuint32_t step[5];
    job j;
};
static uint64_t seed;
static int drawn(int n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((uint32_t)(seed >> 33) % (uint32_t)n);
}

// A tensor of 8 (16) channels a slice: 6 wide, 5 high, 3 deep as the rank has them, 4 slices, 3 images; slices lie behind the dimensions of pixels, as interleaved boxes have them.
static setup plain(int rank, int interleave)
{
    static const int sizes[] = { 6, 5, 3 };
    setup s = {};
    cuuint64_t pitch = interleave == 2 ? 32 : 16;
    s.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    s.interleave = interleave;
    s.swizzle = interleave == 2;
    s.channels = interleave == 2 ? 16 : 8;
    s.pixels = 12;
    s.j.rank = rank;
    for (int k = 0; k < rank; k++) {
        s.dim[k] = k < rank - 2 ? sizes[k] : k == rank - 2 ? 4 : 3;
        if (k < rank - 1) s.pitch[k] = pitch *= s.dim[k];
    }
    for (unsigned &k : s.step) k = 1;
    return s;
}
static setup asked(int n)
{
    int interleave = 1 + n % 2, rank = 3 + n / 2 % 3;
    setup s = plain(rank, interleave);
    seed = 4711 + 977u * n;
    for (int k = 0; k < 4; k++) drawn(2);
    n /= 6;
    // the first ones change one thing each; the last ones are drawn
    if (n == 0) return s;
    if (n == 1) s.j.c[rank - 2] = 2;
    else if (n == 2) s.j.c[rank - 1] = 1;
    else if (n == 3) s.j.c[0] = 2;
    else if (n == 4) s.j.c[1] = 1;
    else if (n == 5) s.j.c[rank - 2] = -1;
    else if (n == 6) s.j.c[rank - 2] = 4;
    else if (n == 7) s.lower[0] = -1, s.j.c[0] = -1;
    else if (n == 8) s.upper[0] = -2;
    else if (n == 9 && rank > 3) s.lower[1] = -1, s.upper[1] = -1, s.j.c[1] = -1;
    else if (n == 10) s.j.off[0] = 1, s.j.off[1] = 2, s.j.off[2] = 1;
    else if (n == 11) s.step[0] = 2;
    else if (n == 12) s.step[1] = 2;
    else if (n == 13) s.step[2] = 3;
    else if (n == 14) s.channels *= 2;
    else if (n == 15) s.channels *= 4;
    else if (n == 16) s.pixels = 40;
    else if (n == 17) s.swizzle = 0;
    else if (n == 18) s.swizzle = 1;
    else if (n == 19) s.swizzle = 2;
    else if (n == 20) s.swizzle = 3;
    else if (n == 21) s.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, s.fill = 1, s.j.c[0] = 4, s.upper[0] = 2;
    else if (n == 22) s.type = CU_TENSOR_MAP_DATA_TYPE_UINT8, s.channels *= 2;
    else if (n == 23) s.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, s.channels /= 2;
    else if (n == 24) s.type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    else if (n == 25) s.dim[rank - 2] = 32; // channels instead of slices
    else if (n == 26) std::swap(s.dim[0], s.dim[rank - 2]), s.pitch[0] = 64 * interleave;
    else if (n < 30) s.j.mode = STORE, s.j.c[rank - 2] = n - 27, s.pixels = n == 29 ? 40 : 12, s.swizzle = n == 28 ? 1 : s.swizzle;
    else if (n == 30) s.j.mode = STORE, s.j.c[0] = 1, s.upper[0] = -1;
    else if (n == 31) s.j.mode = STORE, s.lower[0] = -1, s.step[0] = 2;
    else if (n == 32) s.j.mode = STORE, s.j.c[0] = 3, s.upper[0] = 2;
    else if (n == 33) s.j.mode = STORE, s.channels *= 2;
    else if (n < 36) s.j.mode = REDUCE, s.type = CU_TENSOR_MAP_DATA_TYPE_UINT32, s.channels /= 2, s.j.c[rank - 2] = n - 34, s.upper[0] = -(n % 2);
    else if (n < 40) { // without slices: channels come first
        s = plain(rank, 0);
        for (int k = rank - 1; k; k--) s.dim[k] = k == rank - 1 ? 3 : s.dim[k - 1];
        s.dim[0] = 20, s.channels = 16, s.pixels = n == 36 ? 12 : 40, s.swizzle = n == 37 ? 1 : 0;
        cuuint64_t pitch = 48;
        for (int k = 1; k < rank; k++) s.pitch[k - 1] = pitch, pitch *= s.dim[k];
        s.j.mode = n == 39 ? REDUCE : STORE, s.type = n == 39 ? CU_TENSOR_MAP_DATA_TYPE_UINT32 : CU_TENSOR_MAP_DATA_TYPE_UINT16;
        if (n == 38) s.upper[0] = -1, s.step[1] = 2, s.j.c[0] = 8;
    } else if (n >= 60) { // drawn, without slices: channels that end within 16 bytes, steps of every dimension
        static const int types[] = { 0, 1, 2, 4, 6, 7 }, each[] = { 1, 2, 4, 4, 8, 8, 2, 4 };
        s = plain(rank, 0);
        s.type = types[drawn(6)];
        s.fill = s.type >= 6 ? drawn(2) : 0;
        int unit = 16 / each[s.type], chunks = 1 + drawn(4);
        s.swizzle = drawn(2) ? 0 : chunks > 4 ? 3 : chunks > 2 ? 2 + drawn(2) : 1 + drawn(3);
        s.channels = (unsigned)(unit * chunks);
        s.pixels = 1 + drawn(60);
        s.j.mode = drawn(3) ? LOAD : STORE;
        cuuint64_t pitch = 0;
        for (int k = 0; k < rank; k++) {
            s.dim[k] = k == 0 ? 1 + drawn(6 * unit) : k < rank - 1 ? 4 + drawn(6) : 2 + drawn(4);
            if (k < rank - 1) s.pitch[k] = pitch = k ? pitch * s.dim[k] + (drawn(3) ? 0 : 32) : (s.dim[0] * each[s.type] + 15) / 16 * 16 + 16 * drawn(3);
            s.step[k] = drawn(3) ? 1 : 1 + drawn(3);
        }
        s.j.c[0] = unit * drawn(3);
        s.j.c[rank - 1] = drawn((int)s.dim[rank - 1]);
        for (int k = 0; k < rank - 2; k++) {
            s.lower[k] = s.j.mode ? drawn(2) : drawn(4) - 2, s.upper[k] = s.j.mode ? -drawn(2) : drawn(4) - 2, s.j.off[k] = s.j.mode ? 0 : drawn(4);
            int last = (int)s.dim[k + 1] - 1 + s.upper[k];
            s.j.c[k + 1] = s.lower[k] + drawn(std::max(1, last - s.lower[k] + 1));
        }
    } else {
        static const int types[] = { 0, 1, 2, 4, 6, 7 };
        s.type = types[drawn(6)];
        s.fill = s.type >= 6 ? drawn(2) : 0;
        int each[] = { 1, 2, 4, 4, 8, 8, 2, 4 }, slice = interleave * 16 / each[s.type];
        s.channels = (unsigned)slice * (drawn(4) ? 1 : 1 + drawn(3));
        s.swizzle = drawn(3) ? interleave == 2 : drawn(4);
        s.pixels = 1 + drawn(60);
        s.j.mode = drawn(3) ? LOAD : STORE;
        cuuint64_t pitch = (unsigned)interleave * 16;
        for (int k = 0; k < rank; k++) {
            s.dim[k] = 1 + drawn(k < rank - 2 ? 8 : 4) + (k < rank - 2 ? 3 : 0);
            if (k < rank - 1) s.pitch[k] = pitch = pitch * s.dim[k] + (drawn(3) ? 0 : 32);
            s.step[k] = drawn(3) ? 1 : 1 + drawn(3);
            s.j.c[k] = drawn((int)s.dim[k] + (s.j.mode ? 0 : 1));
        }
        for (int k = 0; k < rank - 2; k++) {
            s.lower[k] = drawn(5) - 2, s.upper[k] = drawn(5) - 3, s.j.off[k] = drawn(4);
            int first = s.j.mode ? std::max(s.lower[k], 0) : s.lower[k], last = (int)s.dim[k] - 1 + s.upper[k];
            s.j.c[k] = first + drawn(std::max(1, last - first + 1));
        }
    }
    return s;
}
enum { CASES = 40 * 6 + DRAWN + PLAIN };

static void one(int n, encode_t *encode, unsigned *tensor, unsigned *out, int *came)
{
    setup s = asked(n);
    alignas(64) CUtensorMap m;
    static unsigned was[TENSOR / 4], got[TENSOR / 4], tile[ROOM / 4];
    int rank = s.j.rank, bytes = -1;
    CUresult r = encode(&m, (CUtensorMapDataType)s.type, rank, (char *)tensor + BEFORE, s.dim, s.pitch, s.lower, s.upper, s.channels, s.pixels, s.step, (CUtensorMapInterleave)s.interleave, (CUtensorMapSwizzle)s.swizzle,
                        CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)s.fill);
    printf("%d: %s type %d interleave %d swizzle %d fill %d rank %d dim", n, s.j.mode == LOAD ? "load" : s.j.mode == STORE ? "store" : "add", s.type, s.interleave, s.swizzle, s.fill, rank);
    for (int k = 0; k < rank; k++) printf(" %d", (int)s.dim[k]);
    printf(" pitch");
    for (int k = 0; k < rank - 1; k++) printf(" %d", (int)s.pitch[k]);
    printf(" step");
    for (int k = 0; k < rank; k++) printf(" %u", s.step[k]);
    printf(" lower");
    for (int k = 0; k < rank - 2; k++) printf(" %d", s.lower[k]);
    printf(" upper");
    for (int k = 0; k < rank - 2; k++) printf(" %d", s.upper[k]);
    printf(" channels %u pixels %u at", s.channels, s.pixels);
    for (int k = 0; k < rank; k++) printf(" %d", s.j.c[k]);
    printf(" off");
    for (int k = 0; k < rank - 2; k++) printf(" %d", s.j.off[k]);
    if (r) { printf(": encode %d\n", (int)r); return; }
    for (unsigned k = 0; k < TENSOR / 4; k++) was[k] = s.j.mode == LOAD ? 1 + k : 0;
    cudaMemcpy(tensor, was, TENSOR, cudaMemcpyHostToDevice);
    cudaMemset(came, 0xff, 4);
    copy<<<1, 128, ROOM>>>(m, s.j, out, came);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) { printf(": %s\n", cudaGetErrorName(e)); fflush(stdout); _exit(1); }
    cudaMemcpy(got, tensor, TENSOR, cudaMemcpyDeviceToHost);
    cudaMemcpy(tile, out, ROOM, cudaMemcpyDeviceToHost);
    cudaMemcpy(&bytes, came, 4, cudaMemcpyDeviceToHost);
    if (s.j.mode == LOAD) { // 16 bytes of shared memory: which of the tensor's from its address on
        int last = 0;
        for (int k = 0; k < ROOM / 4; k++) if (tile[k] != 0xffffffffu) last = k + 1;
        printf(": %d bytes came, %d written:", bytes, last * 4);
        for (int k = 0; k < last; k += 4) {
            const unsigned *v = tile + k;
            bool in_order = v[1] == v[0] + 1 && v[2] == v[0] + 2 && v[3] == v[0] + 3, same = v[1] == v[0] && v[2] == v[0] && v[3] == v[0];
            if (same && v[0] == 0) printf(" z");
            else if (same && v[0] == 0xffffffffu) printf(" -");
            else if (same) printf(" %x", v[0]);
            else if (in_order && v[0] % 4 == 1) printf(" %d", (int)(v[0] / 4) - BEFORE / 16);
            else printf(" (%x %x %x %x)", v[0], v[1], v[2], v[3]);
        }
    } else // 16 bytes of the tensor that changed: what of shared memory they have
        for (int k = 0; k < TENSOR / 4; k += 4) {
            const unsigned *v = got + k;
            if (!v[0] && !v[1] && !v[2] && !v[3]) continue;
            bool in_order = v[1] == v[0] + 1 && v[2] == v[0] + 2 && v[3] == v[0] + 3;
            if (in_order && v[0] % 4 == 0) printf(" %d<%d", k / 4 - BEFORE / 16, (int)(v[0] - 1000000) / 4);
            else printf(" %d<(%x %x %x %x)", k / 4 - BEFORE / 16, v[0], v[1], v[2], v[3]);
        }
    printf("\n");
}

// Cases from `first` on, until one has an error: its process ends there.
static void some(int first, int last)
{
    encode_t *encode;
    unsigned *tensor, *out;
    int *came;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void **)&encode, 12000, cudaEnableDefault, &found);
    cudaMalloc(&tensor, TENSOR), cudaMalloc(&out, ROOM), cudaMalloc(&came, 4);
    cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM);
    for (int n = first; n < last; n++) {
        one(n, encode, tensor, out, came);
        fflush(stdout);
        if (write(3, &n, sizeof n) < 0) _exit(2);
    }
    cudaFree(tensor), cudaFree(out), cudaFree(came);
}
int main(int count, char **word)
{
    int next = count > 2 ? atoi(word[1]) : 0, last = count > 2 ? atoi(word[2]) : CASES;
    while (next < last) {
        int said[2], n;
        fflush(stdout);
        if (pipe(said)) return 2;
        pid_t child = fork();
        if (!child) {
            dup2(said[1], 3);
            some(next, last);
            _exit(0);
        }
        close(said[1]);
        while (read(said[0], &n, sizeof n) == sizeof n) next = n + 1;
        close(said[0]);
        int how;
        waitpid(child, &how, 0);
        if (how) next++; // the case that had the error is not asked again
    }
    return 0;
}
