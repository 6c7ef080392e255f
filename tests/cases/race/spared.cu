// Updates whose load a condition may spare: where it does, the stores race all the same.
extern "C" __global__ void spared_bad(float *a, const float *in, int n, int pass)
{
    int j = threadIdx.x;
    float best = in[blockIdx.x * n + j];
    if (pass == 0 || a[j] > best) a[j] = best; // <-- race
}
// The first two lines are alike: in the first pass both race, each with itself.
extern "C" __global__ void twice_bad(float *a, float *b, const float *in, int n, int pass)
{
    int j = threadIdx.x;
    float best = in[blockIdx.x * n + j];
    if (pass == 0 || a[j] > best) a[j] = best; // <-- race
    if (pass == 0 || b[j] > best) b[j] = best; // <-- race
}
// Every block has elements of its own.
extern "C" __global__ void spared_ok(float *a, const float *in, int n, int pass)
{
    int j = blockIdx.x * n + threadIdx.x;
    float best = in[j];
    if (pass == 0 || a[j] > best) a[j] = best;
}
