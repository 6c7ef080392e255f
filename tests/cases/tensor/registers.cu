// regen: -arch=sm_90a
/* setmaxnreg: producers give registers away, consumers take them; by all warps of a warpgroup, and not. */
#define GIVE(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";")
#define TAKE(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";")

extern "C" __global__ void __launch_bounds__(256,1) roles_ok(int *out)
{
    if (threadIdx.x < 128) {
        GIVE(40);
        out[threadIdx.x] = 1;
        return;
    }
    TAKE(232);
    out[threadIdx.x] = 2;
}
/* Two roles in one warpgroup, which give the same number away at places of their own. */
extern "C" __global__ void __launch_bounds__(256,1) places_ok(int *out)
{
    int role = threadIdx.x / 64;
    if (role == 0) {
        GIVE(40);
        out[threadIdx.x] = 1;
    } else if (role == 1) {
        GIVE(40);
        out[threadIdx.x] = 2;
    } else {
        TAKE(232);
        out[threadIdx.x] = 3;
    }
}
/* One warp of the warpgroup alone. */
extern "C" __global__ void __launch_bounds__(256,1) alone_bad(int *out)
{
    if (threadIdx.x < 32) GIVE(40); // <-- setmaxnreg_divergent
    out[threadIdx.x] = 1;
}
/* Roles by warps, not by warpgroups. */
extern "C" __global__ void __launch_bounds__(256,1) roles_bad(int *out)
{
    if (threadIdx.x / 32 % 4 == 3)
        GIVE(40);
    else
        TAKE(200);
    out[threadIdx.x] = 1;
}
/* Not all lanes of a warp. */
extern "C" __global__ void __launch_bounds__(128,1) lanes_bad(int *out)
{
    if (threadIdx.x % 32 < 16) GIVE(40); // <-- aligned_divergent
    out[threadIdx.x] = 1;
}
/* A producer and two consumers of 168 registers each: 24 + 240 + 240 are as many, 56 + 240 + 240 are more. */
template <bool gives_enough> static __device__ void short_of(int *out)
{
    if (threadIdx.x < 128) {
        if (gives_enough) GIVE(24); else GIVE(56);
        out[threadIdx.x] = 1;
        return;
    }
    TAKE(240); // wrong: setmaxnreg_short
    out[threadIdx.x] = 2;
}
extern "C" __global__ void __launch_bounds__(384,1) short_ok(int *out) { short_of<true>(out); }
extern "C" __global__ void __launch_bounds__(384,1) short_bad(int *out) { short_of<false>(out); }
