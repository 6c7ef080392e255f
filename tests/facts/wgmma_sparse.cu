// regen: no
// Which bytes of shared memory a sparse wgmma takes for b, in every layout: a has one 1 in each row, and the words of shared memory are numbered, so each element of d is the number of a place.
// The manual leaves open where the second 32 bytes of a column lie in the 32-byte swizzle.
//   nvcc -O1 -std=c++17 -arch=sm_90a -o wgmma_sparse tests/facts/wgmma_sparse.cu && ./wgmma_sparse
// `wgmma_sparse 32`: only that swizzle. A line a product: the layout, then for each column its elements along k, in units of their size from the start of shared memory; "+15" are fifteen more, one behind the other.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

enum { NUMBERED = 61440, ROOM = NUMBERED + 4096, N = 32 };
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define D "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}"
#define OUT "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define A_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

// form: 0 f16 sparse, 1 f16 sparse, b by its columns, 2 f16 dense, 3 tf32 sparse; a in registers, or in shared memory behind the numbered words (K-major, not swizzled)
__global__ void product(int form, bool a_shared, unsigned meta, uint64_t b_layout, float *out)
{
    extern __shared__ __align__(1024) unsigned char s[];
    int t = threadIdx.x, lane = t % 32;
    bool wide = form == 3;
    int most = wide ? 8 : 16; // elements of a along k, without its zeros
    if (wide)
        for (int k = t; k < NUMBERED / 4; k += 128) ((unsigned *)s)[k] = (unsigned)(k + 0x1000) << 13;
    else
        for (int k = t; k < NUMBERED / 2; k += 128) ((unsigned short *)s)[k] = (unsigned short)(k + 1);
    for (int k = t; k < 64 * 32 / 4; k += 128) ((unsigned *)(s + NUMBERED))[k] = 0;
    __syncthreads();
    if (t < 64) {
        unsigned p = t % most, at = NUMBERED + t / 8 * 256 + t % 8 * 16;
        if (wide) *(float *)(s + at + p / 4 * 128 + p % 4 * 4) = 1.0f;
        else *(unsigned short *)(s + at + p / 8 * 128 + p % 8 * 2) = 0x3c00;
    }
    unsigned a[4];
    for (int r = 0; r < 4; r++) {
        int row = lane / 4 + r % 2 * 8, col = wide ? lane % 4 + r / 2 * 4 : lane % 4 * 2 + r / 2 * 8, p = row % most;
        a[r] = wide ? (p == col ? 0x3f800000u : 0) : p == col ? 0x3c00u : p == col + 1 ? 0x3c000000u : 0;
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[16] = {};
    uint64_t base = ADDR(s) >> 4, b = b_layout + base, da = (uint64_t)(base + NUMBERED / 16) | (uint64_t)8 << 16 | (uint64_t)16 << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if (form == 0 && a_shared)
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.f16.f16 " D ", %16, %17, %18, 0, 1, 1, 1, 0, 0;" : OUT : "l"(da), "l"(b), "r"(meta));
    else if (form == 0)
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.f16.f16 " D ", {%16, %17, %18, %19}, %20, %21, 0, 1, 1, 1, 0;" : OUT : A_REGISTERS, "l"(b), "r"(meta));
    else if (form == 1 && a_shared)
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.f16.f16 " D ", %16, %17, %18, 0, 1, 1, 1, 0, 1;" : OUT : "l"(da), "l"(b), "r"(meta));
    else if (form == 1)
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k32.f32.f16.f16 " D ", {%16, %17, %18, %19}, %20, %21, 0, 1, 1, 1, 1;" : OUT : A_REGISTERS, "l"(b), "r"(meta));
    else if (form == 2 && a_shared)
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " D ", %16, %17, 1, 1, 1, 0, 0;" : OUT : "l"(da), "l"(b));
    else if (form == 2)
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 " D ", {%16, %17, %18, %19}, %20, 1, 1, 1, 0;" : OUT : A_REGISTERS, "l"(b));
    else if (a_shared)
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k16.f32.tf32.tf32 " D ", %16, %17, %18, 0, 1, 1, 1;" : OUT : "l"(da), "l"(b), "r"(meta));
    else
        asm volatile("wgmma.mma_async.sp.sync.aligned.m64n32k16.f32.tf32.tf32 " D ", {%16, %17, %18, %19}, %20, %21, 0, 1, 1, 1;" : OUT : A_REGISTERS, "l"(b), "r"(meta));
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int r = 0; r < 16; r++) {
        int row = t / 32 * 16 + lane / 4 + r / 2 % 2 * 8, col = r / 4 * 8 + lane % 4 * 2 + r % 2;
        out[row * N + col] = d[r];
    }
}

// The number of the element that has this value; -1: none.
static int number(float v, bool wide)
{
    unsigned bits;
    memcpy(&bits, &v, 4);
    if (wide) return bits & 0x1fff || bits >> 13 < 0x1000 ? -1 : (int)(bits >> 13) - 0x1000;
    if (v == 0) return -1;
    int e = (int)(bits >> 23) - 127 + 15;
    if (e >= 1) return bits & 0x1fff ? -1 : (e << 10 | (int)(bits >> 13 & 0x3ff)) - 1;
    return (int)(v * 16777216.0f) - 1; // a subnormal f16
}

static float *device;
static void ask(int form, bool a_shared, int width, int start, int lead, int stride, int base)
{
    static const char *const forms[] = { "sparse f16", "sparse f16, b by columns", "dense f16", "sparse tf32" };
    static float d[2][64 * N];
    uint64_t layout = (uint64_t)(start >> 4) | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)base << 49 | (uint64_t)(width == 32 ? 3 : width == 64 ? 2 : width == 128 ? 1 : 0) << 62;
    bool wide = form == 3, dense = form == 2;
    int most = wide ? 8 : 16, k = dense ? 16 : 2 * most, other = 0;
    for (int half = 0; half < 2; half++) {
        product<<<1, 128, ROOM>>>(form, a_shared, half ? 0xeeeeeeeeu : 0x44444444u, layout, device);
        cudaError_t e = cudaMemcpy(d[half], device, sizeof d[half], cudaMemcpyDeviceToHost);
        if (e) { printf("%s\n", cudaGetErrorName(e)); return; }
        for (int row = most; row < 64; row++)
            for (int n = 0; n < N; n++) other += memcmp(&d[half][row * N + n], &d[half][row % most * N + n], 4) != 0;
    }
    printf("%s, a in %s, swizzle %d, start %d, lead %d, stride %d, base %d%s:", forms[form], a_shared ? "shared" : "registers", width, start, lead, stride, base, other ? " (rows differ)" : "");
    for (int n = 0; n < N; n++) {
        int last = -2, more = 0;
        printf(" [");
        for (int j = 0; j < k; j++) {
            // without its zeros a row has two of four elements, of tf32 one of two
            int half = dense ? 0 : wide ? j % 2 : j / 2 % 2, p = dense ? j : wide ? j / 2 : j / 4 * 2 + j % 2, at = number(d[half][p * N + n], wide);
            if (at == last + 1 && j) more++;
            else {
                if (more) printf("+%d", more);
                printf("%s%d", j ? " " : "", at);
                more = 0;
            }
            last = at;
        }
        if (more) printf("+%d", more);
        printf("]");
    }
    printf("\n");
}

int main(int count, char **word)
{
    cudaMalloc(&device, 64 * N * 4);
    cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM);
    static const int leads[] = { 16, 0, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4112 }, strides[] = { 256, 128, 512, 1024, 2048, 272, 304, 16 };
    for (int width : { 32, 64, 128, 0 }) {
        if (count > 1 && width != atoi(word[1])) continue;
        for (int lead : leads) ask(0, false, width, 0, lead, 256, 0);
        for (int stride : strides) ask(0, false, width, 0, 512, stride, 0);
        for (int stride : strides) ask(0, true, width, 0, 16, stride, 0);
        for (int start = 16; start < 512; start += 16) ask(0, false, width, start, 1024, 512, 0);
        for (int base = 1; base < 8; base++) ask(0, base % 2, width, 128 * base, 1024, 512, base), ask(0, base % 2, width, 16 * base, 2048, 256, base);
        for (int lead : leads) ask(3, lead % 64 != 0, width, 0, lead, 256, 0);
        for (int start = 16; start < 256; start += 48) ask(3, false, width, start, 1024, 512, start / 16 % 8);
        for (int lead : { 16, 128, 256, 512, 1024 })
            for (int stride : { 128, 256, 512, 1024, 2048 }) ask(1, stride == 512, width, 0, lead, stride, 0);
        for (int start = 16; start < 256; start += 48) ask(1, false, width, start, 1024, 512, start / 16 % 8);
        for (int stride : strides) ask(2, stride == 512, width, 0, 512, stride, 0);
    }
    cudaFree(device);
    return 0;
}
