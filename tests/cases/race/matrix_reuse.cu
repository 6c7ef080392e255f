// Lanes of a warp that share a tile around ldmatrix and stmatrix, without and with __syncwarp().
__device__ void ld(unsigned (&r)[4], const unsigned *p)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(p);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(s) : "memory");
}
__device__ void st(unsigned *p, unsigned v)
{
    unsigned s = (unsigned)__cvta_generic_to_shared(p);
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" : : "r"(s), "r"(v) : "memory");
}
// A tile that is read by ldmatrix and then overwritten, twice, by one warp.
template <bool SYNC> __device__ void tiles(const unsigned *x, unsigned *y)
{
    __shared__ __align__(16) unsigned tile[128];
    unsigned sum = 0, r[4];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++) tile[i * 32 + threadIdx.x] = x[k * 128 + i * 32 + threadIdx.x];
        if (SYNC) __syncwarp();
        ld(r, tile + 4 * threadIdx.x);
        if (SYNC) __syncwarp();
        sum += r[0] + r[1] + r[2] + r[3];
    }
    y[threadIdx.x] = sum;
}
extern "C" __global__ void reuse_bad(const unsigned *x, unsigned *y) { tiles<false>(x, y); }
extern "C" __global__ void reuse_ok(const unsigned *x, unsigned *y) { tiles<true>(x, y); }
// What stmatrix stored is read by other lanes.
template <bool SYNC> __device__ void turned(const unsigned *x, unsigned *y)
{
    __shared__ __align__(16) unsigned tile[32];
    st(tile + 4 * (threadIdx.x % 8), x[threadIdx.x]);
    if (SYNC) __syncwarp();
    y[threadIdx.x] = tile[31 - threadIdx.x];
}
extern "C" __global__ void stored_bad(const unsigned *x, unsigned *y) { turned<false>(x, y); }
extern "C" __global__ void stored_ok(const unsigned *x, unsigned *y) { turned<true>(x, y); }
