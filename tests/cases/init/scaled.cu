// Products and quotients by powers of two are shifts: of a value that nobody wrote they compute, as any other factor does. Fields and bytes only move.
extern "C" __global__ void doubled(const int *x, int *y)
{
    y[threadIdx.x] = x[threadIdx.x] * 2;
}

extern "C" __global__ void eighth(const unsigned long long *x, unsigned long long *y)
{
    y[threadIdx.x] = x[threadIdx.x] / 8;
}

extern "C" __global__ void nibbles(const unsigned *x, unsigned *y)           // a field of what nobody wrote, in another place
{
    y[threadIdx.x] = (x[threadIdx.x] & 15) << 4 | 1;
}
