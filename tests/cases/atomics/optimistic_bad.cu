// A plain load beside atomics that no compare-and-swap verifies, and a compare-and-swap beside a plain store.
extern "C" __global__ void peek(int *count, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(count, 1);    // <-- race
    out[i] = *count;    // <-- race
}
extern "C" __global__ void reset(int *count, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, old = *count, seen;
    do { seen = old; old = atomicCAS(count, seen, seen + 1); } while (old != seen);
    if (i == 0) *count = 0;    // <-- race
    out[i] = old;
}
