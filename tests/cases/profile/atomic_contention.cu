// All threads of a warp add to one counter. In the twin, each adds to one of its own, and nobody waits.
extern "C" __global__ void atomic_bad(const unsigned *__restrict__ x, unsigned *count)
{
    unsigned v = x[blockIdx.x * 128 + threadIdx.x];
    atomicAdd(&count[v % 2], v); // <-- atomic_contention
}

extern "C" __global__ void atomic_ok(const unsigned *__restrict__ x, unsigned *count)
{
    unsigned v = x[blockIdx.x * 128 + threadIdx.x];
    atomicAdd(&count[blockIdx.x * 128 + threadIdx.x], v);
}
