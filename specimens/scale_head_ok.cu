// Attention scaled by the size of a head.
//! kernel attention
//! dim keys 1..128, size 1..64 = 16, heads 1..16 = 4
//! arg q f32[keys, size] in normal
//! arg k f32[keys, size] in normal
//! arg v f32[keys, size] in normal
//! arg o f32[keys, size] out once
//! arg keys i32
//! arg size i32
//! arg width i32 = heads * size
//! launch grid=ceildiv(keys, 64) block=64
//! oracle o = softmax(q @ T(k) * (1/sqrt(size)), -1) @ v
extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *o, int keys, int size, int width)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= keys) return;
    float most = -INFINITY, sum = 0, out[64];
    for (int d = 0; d < size; d++) out[d] = 0;
    for (int key = 0; key < keys; key++) {
        float dot = 0;
        for (int d = 0; d < size; d++) dot += q[query * size + d] * k[key * size + d];
        dot *= rsqrtf((float)size);
        float next = fmaxf(most, dot), p = expf(dot - next), old = expf(most - next);
        sum = sum * old + p;
        for (int d = 0; d < size; d++) out[d] = out[d] * old + p * v[key * size + d];
        most = next;
    }
    for (int d = 0; d < size; d++) o[query * size + d] = out[d] / sum;
}
