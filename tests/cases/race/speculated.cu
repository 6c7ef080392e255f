// R8: the compiler loads s[5] for everybody and selects afterwards; only who takes the value reads it.
extern "C" __global__ void speculated(float *out, int n)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 32) s[t] = (float)t;
    float v = (t >= 32 && n > 1000) ? s[5] : 2.f;
    out[t] = v;
}

// The same across blocks: a neighbour's flag in global memory, looked at under a condition that the launch decides.
extern "C" __global__ void across(float *out, float *mail, int look)
{
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) mail[b] = (float)b + 1.f;
    float theirs = mail[b ^ 1];
    out[b * blockDim.x + t] = look > 3 ? theirs : 0.5f;
}
