// A loop over an unsigned index that never falls below 0: it goes over all addresses, 2^32 of them. It is stopped after a while.
#pragma nv_diag_suppress 186
extern "C" __global__ void runaway_bad(int *x, int n)
{
#pragma unroll 1
    for (unsigned i = n - 1; i >= 0; i--) x[i] = i;
}
extern "C" __global__ void runaway_ok(int *x, int n)
{
#pragma unroll 1
    for (unsigned i = n; i-- > 0;) x[i] = i;
}
