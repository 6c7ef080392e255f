// regen: no
// The 64 bits of a cache policy: createpolicy.fractional, .range and .cvt, in all their forms. The manual calls them opaque; programs compare them with constants all the same (CUTLASS, libcu++).
//   nvcc -O1 -arch=sm_90 -o createpolicy tests/facts/createpolicy.cu && ./createpolicy; createpolicy.answers has what an H200 printed, with and without "lanes"
// A line a policy: the form, its operands, the bits. `createpolicy lanes`: the operands differ from lane to lane of one warp, which shows whether a policy is one value of a warp.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

struct ask {
    int kind, form; // 0 fractional, 1 range, 2 cvt; 0 to 11: primary * 3 + secondary
    float fraction;
    uint64_t at; // the address of a range, the argument of cvt
    unsigned primary, total;
    uint64_t bits;
};

static const char *const PRIMARY[] = {"last", "normal", "first", "unchanged"}, *const SECONDARY[] = {"-", "first", "unchanged"};

#define ONE(k, p, s)                                                                                                                             \
    case k:                                                                                                                                      \
        if (range) asm volatile("createpolicy.range.global.L2::evict_" p s ".b64 %0, [%1], %2, %3;" : "=l"(d) : "l"(at), "r"(primary), "r"(total)); \
        else asm volatile("createpolicy.fractional.L2::evict_" p s ".b64 %0, %1;" : "=l"(d) : "f"(fraction));                                     \
        break;
#define THREE(k, p) ONE(k, p, "") ONE(k + 1, p, ".L2::evict_first") ONE(k + 2, p, ".L2::evict_unchanged")

__global__ void answer(ask *asks, int n, bool lanes)
{
    int i = lanes ? blockIdx.x * 32 + threadIdx.x : blockIdx.x;
    if (i >= n) return;
    ask *a = asks + i;
    bool range = a->kind == 1;
    float fraction = a->fraction;
    uint64_t at = a->at, d = 0;
    unsigned primary = a->primary, total = a->total;
    if (a->kind == 2) asm volatile("createpolicy.cvt.L2.b64 %0, %1;" : "=l"(d) : "l"(at));
    else switch (a->form) { THREE(0, "last") THREE(3, "normal") THREE(6, "first") THREE(9, "unchanged") }
    a->bits = d;
}

// with no fraction, with constants, and with an address that has an offset
__global__ void constants(uint64_t *out, uint64_t at)
{
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0;" : "=l"(out[0]));
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 0.5;" : "=l"(out[1]));
    asm volatile("createpolicy.fractional.L2::evict_normal.L2::evict_first.b64 %0, 0.0625;" : "=l"(out[2]));
    asm volatile("createpolicy.range.L2::evict_last.b64 %0, [%1 + 8192], 4096, 65536;" : "=l"(out[3]) : "l"(at));
    asm volatile("createpolicy.range.global.L2::evict_first.L2::evict_unchanged.b64 %0, [%1], 1048576, 1048577;" : "=l"(out[4]) : "l"(at));
}

static void fractions(std::vector<ask> &v)
{
    std::vector<float> f = {-1.0f, -0.5f, -0.0f, 1e-40f, 1.0001f, 1.5f, 2.0f, 17.0f, 300.0f, 1e10f, -1e10f, INFINITY, -INFINITY, NAN};
    for (int k = 0; k <= 64; k++) f.push_back(k / 64.0f);
    for (int k = 1; k <= 16; k++)
        for (int step = -2; step <= 2; step++) {
            float x = k / 15.99f;
            for (int s = 0; s < (step < 0 ? -step : step); s++) x = nextafterf(x, step < 0 ? 0.0f : 2.0f);
            f.push_back(x);
        }
    for (float x : f) v.push_back(ask{0, 0, x});
    for (int form = 1; form < 12; form++)
        for (float x : {0.25f, 1.0f}) v.push_back(ask{0, form, x});
}

static void ranges(std::vector<ask> &v)
{
    const uint64_t at[] = {0, 0x7f3a12345678, 0xfffffffffffff001};
    for (int k = 0; k < 33; k++)
        for (int off : {-129, -128, -64, -3, -1, 0, 1, 2, 3, 64, 129, 300}) {
            uint64_t total = (1ull << k) + off;
            if ((int64_t)total < 0 || total >> 32) continue;
            v.push_back(ask{1, 0, 0, at[1], (unsigned)total / 3, (unsigned)total});
        }
    for (unsigned total : {0u, 1u, 4096u, 100000u, 1u << 20, 3u << 20, 1u << 30, 0xffffffffu})
        for (unsigned primary : {0u, 1u, 4095u, 4096u, 65537u, 1u << 19, 1u << 20, 0x80000000u, 0xffffffffu})
            for (uint64_t a : at) v.push_back(ask{1, 1, 0, a, primary, total});
    for (int form = 0; form < 12; form++)
        for (unsigned total : {0u, 1u << 18}) v.push_back(ask{1, form, 0, at[1], 1u << 16, total});
}

int main(int count, char **words)
{
    bool lanes = count > 1 && !strcmp(words[1], "lanes");
    std::vector<ask> v;
    fractions(v);
    ranges(v);
    for (uint64_t x : {0ull, 1ull, 2ull, 3ull, 0x10f0000000000000ull, 0x12f0000000000000ull, 0x14f0000000000000ull, 0xffffffffffffffffull}) v.push_back(ask{2, 0, 0, x});
    ask *d;
    int n = (int)v.size();
    cudaMalloc(&d, n * sizeof *d);
    cudaMemcpy(d, v.data(), n * sizeof *d, cudaMemcpyHostToDevice);
    answer<<<lanes ? (n + 31) / 32 : n, lanes ? 32 : 1>>>(d, n, lanes);
    cudaMemcpy(v.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost);
    for (const ask &a : v) {
        unsigned f;
        memcpy(&f, &a.fraction, 4);
        if (a.kind == 0) printf("fractional %s %s %08x (%g) ", PRIMARY[a.form / 3], SECONDARY[a.form % 3], f, a.fraction);
        else if (a.kind == 1) printf("range %s %s %llx %u %u ", PRIMARY[a.form / 3], SECONDARY[a.form % 3], (unsigned long long)a.at, a.primary, a.total);
        else printf("cvt %llx ", (unsigned long long)a.at);
        printf("%016llx\n", (unsigned long long)a.bits);
    }
    uint64_t *c, h[5];
    cudaMalloc(&c, sizeof h);
    constants<<<1, 1>>>(c, 0x7f3a12345678);
    cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 5; k++) printf("constant %d %016llx\n", k, (unsigned long long)h[k]);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(e));
    cudaFree(d), cudaFree(c);
    return e != cudaSuccess;
}
