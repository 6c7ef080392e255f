// A divisor of zero and a shift by the width of the type: a GPU goes on, with a value that C does not define.
extern "C" __global__ void hazards_bad(const int *x, int *y, int n)
{
    int i = threadIdx.x;
    y[i] = x[i] / (i % 4) + x[i] % (i / 8);
    y[i] += 1 << (n + i);
}
extern "C" __global__ void hazards_wide_bad(const long long *x, unsigned long long *y)
{
    int i = threadIdx.x;
    y[i] = x[i] / x[31 - i] + ((unsigned long long)x[i] >> (40 + i));
}
// Guarded, or chosen after the shift.
extern "C" __global__ void hazards_ok(const int *x, int *y, int n)
{
    int i = threadIdx.x, by = n + i;
    y[i] = (i % 4 ? x[i] / (i % 4) : 0) + (i >= 8 ? x[i] % (i / 8) : 0) + (by < 32 ? 1 << by : 0);
    if (by < 32)
        y[i] += x[i] << by;
}
// What is computed from the shift is chosen, or not.
extern "C" __global__ void hazards_mask(unsigned *y, int n)
{
    int i = threadIdx.x, rest = n - i * 32;
    if (rest > 0) y[i] = rest >= 32 ? ~0u : (1u << (unsigned)rest) - 1u;
}
