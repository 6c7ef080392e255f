// A buffer of one element, handed from block to block three times. The reader must say that it is done before the writer writes again: without that no order of
// the blocks as a whole shows the race, only one in which the writer is stopped between two of its rounds.
__device__ int load(int *p) { int v; asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
__device__ void store(int *p, int v) { asm volatile("st.release.gpu.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }

extern "C" __global__ void reuse_bad(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    for (int k = 0; k < 3; k++)
        if (blockIdx.x == 0) {
            *data = k;
            store(flag, k + 1);
        } else {
            while (load(flag) < k + 1) ;
            out[k] = *data;
        }
}

extern "C" __global__ void reuse_ok(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    for (int k = 0; k < 3; k++)
        if (blockIdx.x == 0) {
            while (load(flag) != 2 * k) ;
            *data = k;
            store(flag, 2 * k + 1);
        } else {
            while (load(flag) != 2 * k + 1) ;
            out[k] = *data;
            store(flag, 2 * k + 2);
        }
}
