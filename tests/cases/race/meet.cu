// Threads that meet at one counter: each adds to it, waits until enough have, and reads it. With thousands of threads
// the counter's sector has thousands of recorded accesses.

// Every thread waits for all of them: the last read is ordered after all updates.
extern "C" __global__ void all(unsigned *c, int *out)
{
    __threadfence();
    atomicAdd(c, 1);
    while (*(volatile unsigned *)c < gridDim.x * blockDim.x) { }
    __threadfence();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *c;
}

// The condition counts blocks and the threads are counted: the read races with the updates of threads that come later.
extern "C" __global__ void few(unsigned *c, int *out)
{
    __threadfence();
    atomicAdd(c, 1);
    while (*(volatile unsigned *)c < gridDim.x) { }
    __threadfence();
    out[blockIdx.x * blockDim.x + threadIdx.x] = *c; // <-- race
}
