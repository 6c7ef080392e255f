// regen: -arch=sm_90a
// tensormap.replace changes words of a map, tensormap.cp_fenceproxy copies it, fence.proxy.tensormap orders both with who uses it. Arrows mark the lines that a report must name.
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define SET(f, v) asm volatile("tensormap.replace.tile." f ".shared::cta.b1024.b32 [%0], %1;" ::"r"(at), "n"(v) : "memory")
#define SET_AT(f, n, v) asm volatile("tensormap.replace.tile." f ".shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(at), "n"(n), "r"(v) : "memory")

extern "C" __global__ void changes(const unsigned *in, unsigned *out, int n)
{
    __shared__ __align__(128) unsigned map[32];
    unsigned at = ADDR(map);
    map[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(0x123456789ab0ull) : "memory");
        asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"r"(at), "r"(n) : "memory");
        asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 1, %1;" ::"r"(at), "l"(0x1234567890ull) : "memory");
        SET_AT("box_dim", 0, 32);
        SET_AT("box_dim", 2, 77);
        SET_AT("global_dim", 3, n);
        SET_AT("element_stride", 4, n);
        SET("elemtype", 11);
        SET("interleave_layout", 1);
        SET("swizzle_mode", 2);
        SET("fill_mode", 1);
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(out), "r"(at) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(out) : "memory");
    // in global memory, by the address of any space
    if (threadIdx.x == 1) asm volatile("tensormap.replace.tile.global_dim.b1024.b32 [%0], 0, %1;" ::"l"(out), "r"(1000) : "memory");
    asm volatile("fence.proxy.tensormap::generic.release.cta;" ::: "memory");
}

// The map lies behind the end of the array.
extern "C" __global__ void past_end(unsigned *out, int n)
{
    if (threadIdx.x == 0)
        asm volatile("tensormap.replace.tile.global_dim.global.b1024.b32 [%0], 2, %1;" ::"l"(out + 24), "r"(n) : "memory"); // <-- bounds
}
