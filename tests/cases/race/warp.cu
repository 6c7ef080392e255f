// R4: a vote or shuffle converges the lanes, and orders nothing of what they did to memory.
extern "C" __global__ void vote_bad(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    unsigned all = __ballot_sync(~0u, t < 16);
    out[t] = s[31 - t] + (int)all;
}

extern "C" __global__ void vote_ok(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    unsigned all = __ballot_sync(~0u, t < 16);
    __syncwarp();
    out[t] = s[31 - t] + (int)all;
}

// R6, second half: a store and a load of one warp in different instructions. Old code took the warp to run in step.
extern "C" __global__ void step_bad(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[t ^ 1];
}

extern "C" __global__ void step_ok(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;
    __syncwarp();
    out[t] = s[t ^ 1];
}

// R6, first half: one store, one address, several lanes.
extern "C" __global__ void lanes_bad(int *winner)
{
    winner[threadIdx.x / 8] = threadIdx.x;
}

extern "C" __global__ void lanes_ok(const int *x, int *seen)
{
    if (x[threadIdx.x] > 3) seen[threadIdx.x / 8] = (int)threadIdx.x / 8;
}
