// A gather by an index that is mixed: each lane reads a sector of its own. The twin's index is sorted.
extern "C" __global__ void gather_bad(const float *__restrict__ x, float *__restrict__ y)
{
    unsigned i = blockIdx.x * 128 + threadIdx.x;
    y[i] = x[(i * 40503u ^ i >> 3) % 65536]; // <-- uncoalesced_access
}

extern "C" __global__ void gather_ok(const float *__restrict__ x, float *__restrict__ y)
{
    unsigned i = blockIdx.x * 128 + threadIdx.x;
    y[i] = x[(i + i / 1024 * 64) % 65536];
}
