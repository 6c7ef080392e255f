// Results that depend on the order of blocks and warps, without a race: tickets from an atomic counter.
extern "C" __global__ void tickets(int *next, int *out)
{
    int mine = atomicAdd(next, 1);
    out[mine] = blockIdx.x * blockDim.x + threadIdx.x;
}

// The sum is the same in every order.
extern "C" __global__ void total(int *sum, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, i);
    out[i] = i;
}

// A sum of floats is not, by a rounding.
extern "C" __global__ void rounded(float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, 1.f / (1 + i));
}

__device__ static void put(unsigned *p, unsigned v) { asm volatile("st.release.gpu.u32 [%0], %1;" :: "l"(p), "r"(v) : "memory"); }
__device__ static unsigned get(unsigned *p)
{
    unsigned v;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

// A ring of two slots from block 0 to block 1. The producer never asks whether a slot is free: when it runs to its end first, nobody notices.
extern "C" __global__ void ring(int *slot, unsigned *head, int *out, int n)
{
    if (threadIdx.x) return;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        if (blockIdx.x == 0) {
            slot[i % 2] = i;
            put(head, i + 1);
        } else {
            while (get(head) <= i) ;
            out[i] = slot[i % 2];
        }
}

extern "C" __global__ void ring_asked(int *slot, unsigned *head, unsigned *tail, int *out, int n)
{
    if (threadIdx.x) return;
#pragma unroll 1
    for (int i = 0; i < n; i++)
        if (blockIdx.x == 0) {
            while (get(tail) + 2 <= i) ;
            slot[i % 2] = i;
            put(head, i + 1);
        } else {
            while (get(head) <= i) ;
            out[i] = slot[i % 2];
            put(tail, i + 1);
        }
}

// A lock that block 0 takes without a fence behind it: no harm while block 0 is the first to take it.
extern "C" __global__ void half_locked(int *lock, int *count)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) ;
    if (blockIdx.x) __threadfence();
    *count += 1;
    __threadfence();
    atomicExch(lock, 0);
}
