// Many occurrences of few causes: one line of the report for each, not one for each thread.
extern "C" __global__ void grouped_bad(const float *x, float *out, int stride)     // 512 rows of 8-byte vectors
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float2 v = *(const float2 *)(x + r * stride);
    out[r] = v.x + v.y;                     // the last rows are not there
    out[r + 8] = v.x;                       // nor is what lies 8 behind
}
