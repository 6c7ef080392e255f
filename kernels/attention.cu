// Attention of heads, y = softmax(q k^T scale) v, and its gradients, without a matrix of scores in memory. With CAUSAL
// the last query sees every key, and each before it one less. A query that sees no key gets zeros. A warp takes a query
// (or, for dk and dv, a key), of which each lane holds every 32nd element, and walks over what it sees.
#include "kernel.cuh"

//! op       attention(q, k, v) -> y
//! forward  attention(q, k, v) -> y, lse
//! backward attention_backward_q(dy, q, k, v, y, lse) -> dq, delta
//! backward attention_backward_kv(dy, q, k, v, lse, delta) -> dk, dv
//! oracle   y = attention(q, k, v)

typedef long long i64;
constexpr int PARTS = 4; // elements of a row that a lane holds: 128 in all

template <typename T> __device__ void load_row(float (&to)[PARTS], const T *from, i64 step, int width)
{
    for (int p = 0, i = threadIdx.x; p < PARTS; p++, i += 32) to[p] = i < width ? float(from[i * step]) : 0.0f;
}

template <typename T> __device__ void store_row(T *to, const float (&from)[PARTS], int width)
{
    for (int p = 0, i = threadIdx.x; p < PARTS; p++, i += 32)
        if (i < width) to[i] = T(from[p]);
}

__device__ inline float dot(const float (&a)[PARTS], const float (&b)[PARTS])
{
    float sum = 0;
    for (int p = 0; p < PARTS; p++) sum += a[p] * b[p];
    return warp_sum(sum);
}

// How many keys query i sees.
__device__ inline int keys_seen(bool causal, int i, int queries, int keys)
{
    return causal ? max(min(i + 1 + keys - queries, keys), 0) : keys;
}

//! kernel attention<T,CAUSAL>
//! type   T f32|f16|bf16
//! config CAUSAL 0 {0, 1}
//! dim    heads 0..65535 = 2, queries 0..2147483647 = 12, keys 0..2147483647 = 17, width 0..128 = 40
//! dim    warps 1..32 = 4
//! arg q   T[heads, queries, width] in normal view dense|rows|offset
//! arg q0  i64 = q.stride0
//! arg q1  i64 = q.stride1
//! arg k   T[heads, keys, width] in normal view dense|rows|offset
//! arg k0  i64 = k.stride0
//! arg k1  i64 = k.stride1
//! arg v   T[heads, keys, width] in normal view dense|rows|offset
//! arg v0  i64 = v.stride0
//! arg v1  i64 = v.stride1
//! arg y   T[heads, queries, width] out once
//! arg lse f32[heads, queries] out once
//! arg queries i32
//! arg keys    i32
//! arg width   i32
//! arg scale   f32 = 0.25
//! launch grid=ceildiv(queries, warps),heads block=32,warps
//! oracle seen = (iota(keys) <= unsqueeze(iota(queries), -1) + (keys - queries)) | (CAUSAL == 0)
//! oracle s = where(seen, einsum("hqd,hkd->hqk", q, k) * scale, -inf); some = max(seen, -1) > 0
//! oracle y = where(unsqueeze(some, -1), einsum("hqk,hkd->hqd", softmax(s, -1), v), 0)
//! oracle lse = where(some, logsumexp(s, -1), -inf)
template <typename T, int CAUSAL>
__global__ void attention(const T *q, i64 q0, i64 q1, const T *k, i64 k0, i64 k1, const T *v, i64 v0, i64 v1, T *y,
                          float *lse, int queries, int keys, int width, float scale)
{
    int head = blockIdx.y, i = blockIdx.x * blockDim.y + threadIdx.y;
    if (i >= queries) return;
    float query[PARTS], key[PARTS], value[PARTS], result[PARTS] = {}, most = -INFINITY, sum = 0;
    load_row(query, q + head * q0 + i * q1, 1, width);
    for (int j = 0; j < keys_seen(CAUSAL, i, queries, keys); j++) {
        load_row(key, k + head * k0 + j * k1, 1, width);
        load_row(value, v + head * v0 + j * v1, 1, width);
        float score = dot(query, key) * scale, more = fmaxf(most, score);
        float keep = expf(most - more), weight = expf(score - more); // what came before is scaled to the new maximum
        sum = sum * keep + weight;
        for (int p = 0; p < PARTS; p++) result[p] = result[p] * keep + weight * value[p];
        most = more;
    }
    for (int p = 0; p < PARTS; p++) result[p] = sum > 0 ? result[p] / sum : 0.0f;
    store_row(y + (head * (i64)queries + i) * width, result, width);
    if (threadIdx.x == 0) lse[head * (i64)queries + i] = most + logf(sum);
}

// With p = exp(s - lse) and delta = sum(dy y): dq = sum over keys of p (dy v - delta) scale k.
//! kernel attention_backward_q<T,CAUSAL>
//! type   T f32|f16|bf16
//! config CAUSAL 0 {0, 1}
//! dim    heads 0..65535 = 2, queries 0..2147483647 = 12, keys 0..2147483647 = 17, width 0..128 = 40
//! dim    warps 1..32 = 4
//! arg dy  T[heads, queries, width] in normal view dense|rows|offset|broadcast
//! arg d0  i64 = dy.stride0
//! arg d1  i64 = dy.stride1
//! arg d2  i64 = dy.stride2
//! arg q   T[heads, queries, width] in uniform(-2, 2)
//! arg k   T[heads, keys, width] in uniform(-2, 2)
//! arg v   T[heads, keys, width] in normal
//! arg y   T[heads, queries, width] in normal
//! arg lse f32[heads, queries] in uniform(2, 4)
//! arg dq  T[heads, queries, width] out once
//! arg delta f32[heads, queries] out once
//! arg queries i32
//! arg keys    i32
//! arg width   i32
//! arg scale   f32 = 0.25
//! launch grid=ceildiv(queries, warps),heads block=32,warps
//! oracle seen = (iota(keys) <= unsqueeze(iota(queries), -1) + (keys - queries)) | (CAUSAL == 0)
//! oracle p = where(seen, exp(einsum("hqd,hkd->hqk", q, k) * scale - unsqueeze(lse, -1)), 0); delta = sum(dy * y, -1)
//! oracle dq = einsum("hqk,hkd->hqd", p * (einsum("hqd,hkd->hqk", dy, v) - unsqueeze(delta, -1)) * scale, k)
template <typename T, int CAUSAL>
__global__ void attention_backward_q(const T *dy, i64 d0, i64 d1, i64 d2, const T *q, const T *k, const T *v,
                                     const T *y, const float *lse, T *dq, float *delta, int queries, int keys,
                                     int width, float scale)
{
    int head = blockIdx.y, i = blockIdx.x * blockDim.y + threadIdx.y;
    if (i >= queries) return;
    i64 row = head * (i64)queries + i;
    float query[PARTS], slope[PARTS], key[PARTS], value[PARTS], out[PARTS], result[PARTS] = {};
    load_row(query, q + row * width, 1, width);
    load_row(slope, dy + head * d0 + i * d1, d2, width);
    load_row(out, y + row * width, 1, width);
    float mean = dot(slope, out);
    for (int j = 0; j < keys_seen(CAUSAL, i, queries, keys); j++) {
        load_row(key, k + (head * (i64)keys + j) * width, 1, width);
        load_row(value, v + (head * (i64)keys + j) * width, 1, width);
        float weight = expf(dot(query, key) * scale - lse[row]) * (dot(slope, value) - mean) * scale;
        for (int p = 0; p < PARTS; p++) result[p] += weight * key[p];
    }
    store_row(dq + row * width, result, width);
    if (threadIdx.x == 0) delta[row] = mean;
}

//! kernel attention_backward_kv<T,CAUSAL>
//! type   T f32|f16|bf16
//! config CAUSAL 0 {0, 1}
//! dim    heads 0..65535 = 2, queries 0..2147483647 = 12, keys 0..2147483647 = 17, width 0..128 = 40
//! dim    warps 1..32 = 4
//! arg dy  T[heads, queries, width] in normal view dense|rows|offset|broadcast
//! arg d0  i64 = dy.stride0
//! arg d1  i64 = dy.stride1
//! arg d2  i64 = dy.stride2
//! arg q   T[heads, queries, width] in uniform(-2, 2)
//! arg k   T[heads, keys, width] in uniform(-2, 2)
//! arg v   T[heads, keys, width] in normal
//! arg lse f32[heads, queries] in uniform(2, 4)
//! arg delta f32[heads, queries] in normal
//! arg dk  T[heads, keys, width] out once
//! arg dv  T[heads, keys, width] out once
//! arg queries i32
//! arg keys    i32
//! arg width   i32
//! arg scale   f32 = 0.25
//! launch grid=ceildiv(keys, warps),heads block=32,warps
//! oracle seen = (iota(keys) <= unsqueeze(iota(queries), -1) + (keys - queries)) | (CAUSAL == 0)
//! oracle p = where(seen, exp(einsum("hqd,hkd->hqk", q, k) * scale - unsqueeze(lse, -1)), 0)
//! oracle w = p * (einsum("hqd,hkd->hqk", dy, v) - unsqueeze(delta, -1)) * scale
//! oracle dk = einsum("hqk,hqd->hkd", w, q); dv = einsum("hqk,hqd->hkd", p, dy)
template <typename T, int CAUSAL>
__global__ void attention_backward_kv(const T *dy, i64 d0, i64 d1, i64 d2, const T *q, const T *k, const T *v,
                                      const float *lse, const float *delta, T *dk, T *dv, int queries, int keys,
                                      int width, float scale)
{
    int head = blockIdx.y, j = blockIdx.x * blockDim.y + threadIdx.y;
    if (j >= keys) return;
    i64 place = (head * (i64)keys + j) * width;
    float query[PARTS], slope[PARTS], key[PARTS], value[PARTS], to_key[PARTS] = {}, to_value[PARTS] = {};
    load_row(key, k + place, 1, width);
    load_row(value, v + place, 1, width);
    for (int i = 0; i < queries; i++) {
        if (j >= keys_seen(CAUSAL, i, queries, keys)) continue;
        i64 row = head * (i64)queries + i;
        load_row(query, q + row * width, 1, width);
        load_row(slope, dy + head * d0 + i * d1, d2, width);
        float weight = expf(dot(query, key) * scale - lse[row]);
        float change = weight * (dot(slope, value) - delta[row]) * scale;
        for (int p = 0; p < PARTS; p++) {
            to_key[p] += change * query[p];
            to_value[p] += weight * slope[p];
        }
    }
    store_row(dk + place, to_key, width);
    store_row(dv + place, to_value, width);
}
