// Arrays of a thread that an index known only at run time keeps in memory.
extern "C" __global__ void sort8(const int *in, int *out)
{
    int v[8], t = threadIdx.x;
    for (int i = 0; i < 8; i++)
        v[i] = in[t * 8 + i];
#pragma unroll 1
    for (int i = 1; i < 8; i++) {
        int x = v[i], j = i;
#pragma unroll 1
        for (; j > 0 && v[j - 1] > x; j--)
            v[j] = v[j - 1];
        v[j] = x;
    }
    for (int i = 0; i < 8; i++)
        out[t * 8 + i] = v[i];
}

extern "C" __global__ void walk(int *out, int n)
{
    unsigned char next[32];
    int t = threadIdx.x, at = 0, sum = 0;
    for (int i = 0; i < 32; i++)
        next[i] = (i * 5 + t) % 32;
    for (int i = 0; i < n; i++)
        sum += at, at = next[at];
    out[t] = sum;
}
