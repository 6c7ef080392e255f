/* cp.async with a cache policy: it stands behind the bytes that are given, or in their place, and is none of them. */
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define POLICY(p) asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(p))

/* A quarter of the threads each: with a policy; with the bytes that are given, and a policy; .ca of 8 bytes with one; without. */
extern "C" __global__ void hinted(const uint4 *in, uint4 *out, int given)
{
    __shared__ uint4 s[32];
    unsigned long long p;
    unsigned to = ADDR(&s[threadIdx.x]);
    const uint4 *from = in + threadIdx.x;
    POLICY(p);
    switch (threadIdx.x / 8) {
    case 0: asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "l"(p) : "memory"); break;
    case 1: asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(to), "l"(from), "r"(given), "l"(p) : "memory"); break;
    case 2:
        asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "l"(p) : "memory");
        asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0+8], [%1+8], 8, %2, %3;" ::"r"(to), "l"(from), "r"(given), "l"(p) : "memory");
        break;
    default: asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(given) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}

/* Two warps copy to the same bytes, and the fence makes no flag of it: .cg is where a copy reads. */
template <bool apart> static __device__ void both(const uint4 *in, uint4 *out)
{
    __shared__ uint4 s[64];
    unsigned t = threadIdx.x, at = apart ? t : t % 32;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ADDR(&s[at])), "l"(in + t) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __threadfence();
    __syncthreads();
    out[t] = s[at];
}
extern "C" __global__ void both_bad(const uint4 *in, uint4 *out) { both<false>(in, out); } // <-- async_overwrite
extern "C" __global__ void both_ok(const uint4 *in, uint4 *out) { both<true>(in, out); }
