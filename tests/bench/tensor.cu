// regen: -arch=sm_90
// What one product of the tensor cores takes: a chain of mma.sync m16n8k16 by one warp.
#include <cstdint>

template <bool BF16> __device__ void product(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    if (BF16)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <bool BF16> __device__ void chain(const uint32_t *in, float *out, int n)
{
    uint32_t a[4], b[2];
    float d[4] = {};
    // signs and fractions at random: 0.5 to 2 in bf16, 1.75 and more in f16
    for (int k = 0; k < 4; k++) a[k] = (in[threadIdx.x * 6 + k] & 0x80ff80ff) | 0x3f003f00;
    for (int k = 0; k < 2; k++) b[k] = (in[threadIdx.x * 6 + 4 + k] & 0x80ff80ff) | 0x3f003f00;
    for (int k = 0; k < n; k++) product<BF16>(d, a, b);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

extern "C" __global__ void mma_bf16(const uint32_t *in, float *out, int n) { chain<true>(in, out, n); }
extern "C" __global__ void mma_f16(const uint32_t *in, float *out, int n) { chain<false>(in, out, n); }
