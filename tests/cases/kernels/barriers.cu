// bar with numbers and counts: two producer warps and two consumer warps of one block, sync and arrive.
__device__ static void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(n) : "memory"); }
__device__ static void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" :: "r"(id), "r"(n) : "memory"); }

extern "C" __global__ void named(int *out, int rounds)      // barrier 1: full, barrier 2: empty; 128 threads
{
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t < 64) {
        for (int r = 0; r < rounds; r++) {
            if (r > 0)
                bar_sync(2, 128);
            box[t] = r * 100 + t;
            bar_arrive(1, 128);
        }
    } else {
        for (int r = 0; r < rounds; r++) {
            bar_sync(1, 128);
            out[r * 64 + t - 64] = box[127 - t];
            if (r + 1 < rounds)
                bar_arrive(2, 128);
        }
    }
}

extern "C" __global__ void per_warp(int *out)               // each pair of warps has a barrier of its own
{
    __shared__ int s[256];
    int t = threadIdx.x, pair = t / 64;
    for (int i = 0; i <= pair; i++) {
        s[t] = t + i;
        bar_sync(pair + 1, 64);
        int v = s[t ^ 32];
        bar_sync(pair + 1, 64);
        out[t] = v;
    }
}

extern "C" __global__ void reduced(const int *in, int *out) // barriers that carry a value
{
    int t = threadIdx.x, x = in[t];
    int n = __syncthreads_count(x % 3 == 0), all = __syncthreads_and(x < 1000), any = __syncthreads_or(x == 77);
    out[t] = n * 100 + (all != 0) * 10 + (any != 0);
}
