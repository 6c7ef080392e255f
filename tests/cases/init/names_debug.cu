// regen: -arch=sm_90 -G
// With -G debug information says which variable a register holds.

// Two variables without a value, of which one is used.
extern "C" __global__ void debug_one_of_two(const int *in, int *out)
{
    int low, high;
    if (in[threadIdx.x] > 20) low = in[0];
    if (in[threadIdx.x] > 10) high = in[1];
    if (in[threadIdx.x] > 10) out[threadIdx.x] = high;
    else out[threadIdx.x] = low + 1;
}
// The undefined value is another variable's: whose it was cannot be told from the register.
extern "C" __global__ void debug_copied(const int *in, int *out)
{
    int from, to;
    if (in[threadIdx.x] > 20) to = in[0];
    else to = from;
    out[threadIdx.x] = to + 1;
}
// The good twin.
extern "C" __global__ void debug_ok(const int *in, int *out)
{
    int low, high;
    low = in[0];
    if (in[threadIdx.x] > 10) high = in[1];
    if (in[threadIdx.x] > 10) out[threadIdx.x] = high;
    else out[threadIdx.x] = low;
}
