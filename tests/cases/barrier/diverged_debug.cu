// regen: -arch=sm_80 -std=c++17 -G
// Three barriers a round, with a loop of one lane between the first two, and calls that leave the lanes of its warp time to part. Every thread comes to every
// barrier, so every read finds what was stored. NVIDIA's code for sm_90 does not keep to that with -G: docs/measured/truth.md says why.
__device__ __noinline__ int step(int v)
{
    return v;
}

extern "C" __global__ void apart(int *wrong, int rounds, int loops, volatile int *zero)
{
    __shared__ volatile int s[96];
    int i = threadIdx.x, n = 0;
    for (int k = 0; k < rounds; k++) {
        s[i] = k;
        step(k);
        __barrier_sync(0);
        step(k);
        if (i == 0)
            for (int j = 0; j < loops; j++) s[95] += *zero;
        step(k);
        __barrier_sync(0);
        step(k);
        n += s[95 - i] != k;
        step(k);
        __barrier_sync(0);
        step(k);
    }
    wrong[i] = n;
}
