// Indices of 32 bits that wrap on their way to an address, and some that do not, or not so that it matters.
extern "C" __global__ void product(const unsigned char *x, unsigned char *y, int row, int pitch)
{
    y[threadIdx.x] = x[row * pitch + (int)threadIdx.x];
}
extern "C" __global__ void gathered(const float *table, const int *ids, float *y, int cols)
{
    int c = threadIdx.x;
    y[blockIdx.x * cols + c] = table[ids[blockIdx.x] * cols + c];
}
extern "C" __global__ void strided(unsigned char *x, int n, int step)
{
    for (int i = threadIdx.x, k = 0; k < n; i += step, k++)
        x[i] = 1;
}
// The bucket of a hash is cut to the table: `and`, `rem`, shifts and `xor` mean that the wrap was meant.
extern "C" __global__ void hashed(int *table, const int *keys, int n)
{
    int h = keys[threadIdx.x] * 1103515245 + 12345;
    table[h & 63] = 1;
    table[(unsigned)h % 64] = 1;
    table[h * 31 >> 26 & 63] = 1;
}
// Guarded: who wraps does not get there.
extern "C" __global__ void guarded(int *x, int row, int stride, int n)
{
    int i = (row + threadIdx.x) * stride;
    if (i >= 0 && i < n && threadIdx.x == 0)
        x[i] = 1;
}
// What wraps on the way and comes back means what it says.
extern "C" __global__ void there_and_back(int *x, int big)
{
    asm volatile("{ .reg .b32 a; .reg .b64 p; add.s32 a, %0, 2147483647; sub.s32 a, a, 2147483647; cvt.s64.s32 p, a; shl.b64 p, p, 2; add.s64 p, p, %1; st.global.u32 [p], 1; }" ::"r"(big + (int)threadIdx.x),
                 "l"(x));
}
