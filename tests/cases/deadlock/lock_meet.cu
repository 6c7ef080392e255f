// Two locks at once, by threads that nothing makes meet: a deadlock on a GPU once in a while, and here by handing the turn over behind a lock.
__device__ void take(int *lock)
{
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
}
__device__ void leave(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}
__device__ void transfer(int *lock, int *balance, int from, int to, bool ordered)
{
    int first = ordered ? min(from, to) : from, second = ordered ? max(from, to) : to;
    take(&lock[first]);
    take(&lock[second]);
    balance[from]--;
    balance[to]++;
    leave(&lock[second]);
    leave(&lock[first]);
}
// Each block has its own pair of accounts, the last one's is the first one's turned round.
extern "C" __global__ void accounts(int *lock, int *balance, int ordered)
{
    if (threadIdx.x == 0) transfer(lock, balance, blockIdx.x, (blockIdx.x + 1) % gridDim.x, ordered);
}
// The same by the warps of one block, with locks in shared memory.
extern "C" __global__ void warps(int *balance, int ordered)
{
    __shared__ int lock[32];
    int warps = blockDim.x / 32, warp = threadIdx.x / 32;
    if (threadIdx.x < 32) lock[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) transfer(lock, balance, warp, (warp + 1) % warps, ordered);
}
