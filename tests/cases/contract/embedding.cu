// Rows of a table picked by index. The table has rows of 16-byte multiples, read as float4.
//! kernel embedding
//! dim    vocab 1..50000, tokens 1..4096, width 4..1024 step 4
//! arg table  f32[vocab, width] in iota align 16
//! arg ids    i64[tokens] in index(vocab)
//! arg y      f32[tokens, width] out once align 16
//! arg quads  i32 = width / 4
//! launch grid=tokens block=min(width / 4, 256)
__global__ void embedding(const float *table, const long long *ids, float *y, int quads)
{
    const float4 *from = (const float4 *)table + ids[blockIdx.x] * quads;
    float4 *to = (float4 *)y + (size_t)blockIdx.x * quads;
    for (int i = threadIdx.x; i < quads; i += blockDim.x)
        to[i] = from[i];
}
