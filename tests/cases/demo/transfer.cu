// Moves money between two accounts, each with its lock. Block 0 moves from a to b, block 1 from b to a: each takes the
// lock of its own account first, and then waits for the one that the other block holds.
__device__ void lock(int *l)
{
    while (atomicCAS(l, 0, 1) != 0) {}
    __threadfence();
}
__device__ void unlock(int *l)
{
    __threadfence();
    atomicExch(l, 0);
}

__global__ void transfer(int *locks, int *balance, int amount)
{
    int from = blockIdx.x, to = 1 - from;
    lock(&locks[from]);
    lock(&locks[to]);
    balance[from] -= amount;
    balance[to] += amount;
    unlock(&locks[to]);
    unlock(&locks[from]);
}
