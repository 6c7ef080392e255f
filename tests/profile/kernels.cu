// regen: no
// Kernels whose counters are compared with Nsight Compute's (tests/profile-against-ncu): one for each way in which the rules of sectors and of
// passes can differ, and kernels as people write them. Each is launched once, by main.
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x
#define KERNEL extern "C" __global__ void

// ---- global memory: strides, widths, offsets, masks ----
KERNEL g_copy4(const float *x, float *y) { INDEX; y[i] = x[i] + 1; }
KERNEL g_copy1(const char *x, char *y) { INDEX; y[i] = x[i] + 1; }
KERNEL g_copy2(const short *x, short *y) { INDEX; y[i] = x[i] + 1; }
KERNEL g_copy8(const float2 *x, float2 *y) { INDEX; float2 v = x[i]; v.x += 1; y[i] = v; }
KERNEL g_copy16(const float4 *x, float4 *y) { INDEX; float4 v = x[i]; v.x += 1; y[i] = v; }
KERNEL g_offset(const float *x, float *y) { INDEX; y[i] = x[i + 3] + 1; }
KERNEL g_offset8(const float2 *x, float2 *y) { INDEX; float2 v = x[i + 1]; v.x += 1; y[i + 3] = v; }
KERNEL g_stride2(const float *x, float *y) { INDEX; y[i] = x[i * 2] + 1; }
KERNEL g_stride3(const float *x, float *y) { INDEX; y[i * 3] = x[i] + 1; }
KERNEL g_stride32(const float *x, float *y) { INDEX; y[i] = x[i * 32] + 1; }
KERNEL g_stride16x8(const double *x, double *y) { INDEX; y[i] = x[i * 4] + 1; }
KERNEL g_stride4v(const float4 *x, float4 *y) { INDEX; float4 v = x[i * 2]; v.x += 1; y[i] = v; }
KERNEL g_same(const float *x, float *y) { INDEX; y[i] = x[blockIdx.x] + 1; }
KERNEL g_same8(const double *x, double *y) { INDEX; y[i] = x[blockIdx.x] + 1; }
KERNEL g_same16(const float4 *x, float *y) { INDEX; float4 v = x[blockIdx.x]; y[i] = v.x + v.y + v.z + v.w; }
KERNEL g_pairs8(const double *x, double *y) { INDEX; y[i] = x[i / 2] + 1; }
KERNEL g_pairs16(const float4 *x, float *y) { INDEX; float4 v = x[i / 2]; y[i] = v.x + v.y + v.z + v.w; }
KERNEL g_ends16(const float4 *x, float *y) { INDEX; float4 v = x[i]; y[i] = v.x + v.w; } // ptxas: two loads of 4 bytes
KERNEL g_fold16(const float4 *x, float *y) { INDEX; float4 v = x[blockIdx.x * 8 + threadIdx.x % 8]; y[i] = v.x + v.y + v.z + v.w; }
KERNEL g_back(const float *x, float *y) { INDEX; y[i] = x[8191 - i] + 1; }
KERNEL g_half(const float *x, float *y) { INDEX; if (threadIdx.x % 2) y[i] = x[i] + 1; }
KERNEL g_some(const float *x, float *y) { INDEX; if (threadIdx.x % 32 < 5) y[i] = x[i] + 1; }
KERNEL g_mixed(const float *x, float *y) { INDEX; y[(i * 37) & 8191] = x[(i * 101) & 8191] + 1; }
KERNEL g_tail(const float *x, float *y, int n) { INDEX; if (i < n) y[i] = x[i] + 1; }
KERNEL g_struct(const float3 *x, float3 *y) { INDEX; float3 v = x[i]; v.x += 1; y[i] = v; }

// ---- shared memory ----
template <int STRIDE> __device__ void shared_words(float *y)
{
    __shared__ float s[1024 * 2];
    for (int k = threadIdx.x; k < 2048; k += blockDim.x) s[k] = k;
    __syncthreads();
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x * STRIDE % 2048];
}
KERNEL s_stride1(float *y) { shared_words<1>(y); }
KERNEL s_stride2(float *y) { shared_words<2>(y); }
KERNEL s_stride3(float *y) { shared_words<3>(y); }
KERNEL s_stride32(float *y) { shared_words<32>(y); }
KERNEL s_same(float *y) { shared_words<0>(y); }
template <class T, class F> __device__ void shared_wide(float *y, F at)
{
    __shared__ T s[512];
    float *w = (float *)s;
    for (int k = threadIdx.x; k < 512 * (int)sizeof(T) / 4; k += blockDim.x) w[k] = k;
    __syncthreads();
    T v = s[at(threadIdx.x) & 511];
    float sum = 0;
    for (int k = 0; k < (int)sizeof(T) / 4; k++) sum += ((float *)&v)[k]; /* of what is not used, ptxas loads nothing */
    y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
KERNEL s_wide8(float *y) { shared_wide<float2>(y, [](int t) { return t; }); }
KERNEL s_wide8_stride2(float *y) { shared_wide<float2>(y, [](int t) { return t * 2; }); }
KERNEL s_wide8_pairs(float *y) { shared_wide<float2>(y, [](int t) { return t / 2; }); }
KERNEL s_wide8_folded(float *y) { shared_wide<float2>(y, [](int t) { return t % 16; }); }
KERNEL s_wide8_same(float *y) { shared_wide<float2>(y, [](int t) { return t / 32; }); }
KERNEL s_wide16(float *y) { shared_wide<float4>(y, [](int t) { return t; }); }
KERNEL s_wide16_stride2(float *y) { shared_wide<float4>(y, [](int t) { return t * 2; }); }
KERNEL s_wide16_pairs(float *y) { shared_wide<float4>(y, [](int t) { return t / 2; }); }
KERNEL s_wide16_fours(float *y) { shared_wide<float4>(y, [](int t) { return t / 4; }); }
KERNEL s_wide16_folded(float *y) { shared_wide<float4>(y, [](int t) { return t % 8; }); }
KERNEL s_wide16_same(float *y) { shared_wide<float4>(y, [](int t) { return t / 32; }); }
KERNEL s_store8(const float2 *x, float *y)
{
    __shared__ float2 s[256];
    INDEX;
    s[threadIdx.x ^ 3] = x[i];
    __syncthreads();
    y[i] = s[threadIdx.x].x;
}
KERNEL s_store16(const float4 *x, float *y)
{
    __shared__ float4 s[512];
    INDEX;
    s[threadIdx.x * 2] = x[i];
    __syncthreads();
    y[i] = s[(threadIdx.x ^ 1) * 2].x;
}
KERNEL s_bytes(const char *x, char *y)
{
    __shared__ char s[1024];
    INDEX;
    s[threadIdx.x * 4 + 1] = x[i];
    __syncthreads();
    y[i] = s[(threadIdx.x ^ 1) * 4 + 1];
}

// ---- kernels as people write them ----
KERNEL transpose_plain(const float *x, float *y, int n)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[c * n + r + k] = x[(r + k) * n + c];
}
template <int PAD> __device__ void transpose_tile(const float *x, float *y, int n)
{
    __shared__ float t[32][32 + PAD];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) t[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(r + k) * n + c] = t[threadIdx.x][threadIdx.y + k];
}
KERNEL transpose_conflicts(const float *x, float *y, int n) { transpose_tile<0>(x, y, n); }
KERNEL transpose_padded(const float *x, float *y, int n) { transpose_tile<1>(x, y, n); }
KERNEL reduce_tree(const float *x, float *y)
{
    __shared__ float s[256];
    INDEX;
    s[threadIdx.x] = x[i];
    __syncthreads();
    for (int k = 128; k > 0; k >>= 1) {
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) y[blockIdx.x] = s[0];
}
KERNEL reduce_shuffle(const float *x, float *y)
{
    INDEX;
    float v = x[i];
    for (int k = 16; k > 0; k >>= 1) v += __shfl_down_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
KERNEL histogram_global(const unsigned *x, unsigned *y) { INDEX; atomicAdd(&y[x[i] & 255], 1u); }
KERNEL histogram_shared(const unsigned *x, unsigned *y)
{
    __shared__ unsigned s[256];
    INDEX;
    s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[x[i] & 255], 1u);
    __syncthreads();
    atomicAdd(&y[threadIdx.x], s[threadIdx.x]);
}
KERNEL matmul_plain(const float *a, const float *b, float *c, int n)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
KERNEL matmul_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[16][16], tb[16][16];
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += ta[threadIdx.y][k] * tb[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = s;
}
KERNEL softmax_rows(const float *x, float *y, int n)
{
    __shared__ float s[32];
    const float *row = x + blockIdx.x * n;
    float most = -1e30f, sum = 0;
    for (int k = threadIdx.x; k < n; k += 32) most = fmaxf(most, row[k]);
    for (int k = 16; k > 0; k >>= 1) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    for (int k = threadIdx.x; k < n; k += 32) sum += __expf(row[k] - most);
    s[threadIdx.x] = sum;
    __syncwarp();
    sum = 0;
    for (int k = 0; k < 32; k++) sum += s[k];
    for (int k = threadIdx.x; k < n; k += 32) y[blockIdx.x * n + k] = __expf(row[k] - most) / sum;
}
KERNEL stencil_shared(const float *x, float *y)
{
    __shared__ float s[258];
    INDEX;
    s[threadIdx.x + 1] = x[i + 1];
    if (threadIdx.x == 0) s[0] = x[i];
    if (threadIdx.x == 255) s[257] = x[i + 2];
    __syncthreads();
    y[i] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}
KERNEL local_array(const int *x, int *y)
{
    INDEX;
    int v[32];
    for (int k = 0; k < 32; k++) v[k] = k * i;
    int at = x[i] & 31;
    v[at] += 5;
    y[i] = v[(at + 7) & 31] + v[at];
}
KERNEL copy_async(const float4 *x, float4 *y)
{
    __shared__ float4 s[128];
    INDEX;
    __pipeline_memcpy_async(&s[threadIdx.x], &x[i], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[i] = s[threadIdx.x ^ 1];
}
KERNEL wmma_product(const half *a, const half *b, float *c)
{
    using namespace nvcuda;
    __shared__ half sa[256], sb[256];
    for (int k = threadIdx.x; k < 256; k += 32) {
        sa[k] = a[blockIdx.x * 256 + k];
        sb[k] = b[blockIdx.x * 256 + k];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, sa, 16);
    wmma::load_matrix_sync(fb, sb, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c + blockIdx.x * 256, fc, 16, wmma::mem_row_major);
}
KERNEL ldmatrix_rows(const half *x, unsigned *y)
{
    __shared__ half s[32 * 8 * 4];
    for (int k = threadIdx.x; k < 1024; k += 32) s[k] = x[k];
    __syncwarp();
    unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 8), v[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at));
    unsigned far = (unsigned)__cvta_generic_to_shared(s + threadIdx.x % 8 * 128), u;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(u) : "r"(far));
    y[threadIdx.x] = v[0] + v[1] + v[2] + v[3] + u;
}
KERNEL wgmma_product(const half *a, const half *b, float *c)
{
#if defined __CUDA_ARCH_FEAT_SM90_ALL
    __shared__ alignas(128) half sa[64 * 16], sb[8 * 16];
    for (int k = threadIdx.x; k < 64 * 16; k += 128) sa[k] = a[k];
    for (int k = threadIdx.x; k < 8 * 16; k += 128) sb[k] = b[k];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long pa = (unsigned long long)__cvta_generic_to_shared(sa), pb = (unsigned long long)__cvta_generic_to_shared(sb);
    unsigned long long da = (pa & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32, db = (pb & 0x3ffff) >> 4 | 8ull << 16 | 16ull << 32;
    float d[4] = { 0, 0, 0, 0 };
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 0, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(da), "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int k = 0; k < 4; k++) c[threadIdx.x * 4 + k] = d[k];
#endif
}

// ---- launching ----
static char *in, *out;
template <class... P, class... A> static void go(void (*k)(P...), dim3 grid, dim3 block, A... a)
{
    cudaMemset(out, 0, 1 << 22);
    k<<<grid, block>>>((P)a...);
    cudaError_t e = cudaDeviceSynchronize();
    if (e) printf("%s\n", cudaGetErrorString(e));
}
void cub_kernels(const unsigned *x, unsigned *y);

int main()
{
    enum { BYTES = 1 << 22 };
    cudaMalloc(&in, BYTES);
    cudaMalloc(&out, BYTES);
    unsigned *h = new unsigned[BYTES / 4];
    for (unsigned k = 0; k < BYTES / 4; k++) h[k] = k * 2654435761u >> 8 & 0x3fff;
    cudaMemcpy(in, h, BYTES, cudaMemcpyHostToDevice);
#define G(k) go(k, 32, 256, in, out)
    G(g_copy4); G(g_copy1); G(g_copy2); G(g_copy8); G(g_copy16); G(g_offset); G(g_offset8); G(g_stride2); G(g_stride3); G(g_stride32); G(g_stride16x8);
    G(g_stride4v); G(g_same); G(g_same8); G(g_same16); G(g_pairs8); G(g_pairs16); G(g_fold16); G(g_ends16); G(g_back); G(g_half); G(g_some); G(g_mixed); G(g_struct);
    go(g_tail, 33, 256, in, out, 8200);
#define S(k) go(k, 8, 128, out)
    S(s_stride1); S(s_stride2); S(s_stride3); S(s_stride32); S(s_same); S(s_wide8); S(s_wide8_stride2); S(s_wide8_pairs); S(s_wide8_folded); S(s_wide8_same);
    S(s_wide16); S(s_wide16_stride2); S(s_wide16_pairs); S(s_wide16_fours); S(s_wide16_folded); S(s_wide16_same);
    go(s_store8, 8, 256, in, out); go(s_store16, 8, 256, in, out); go(s_bytes, 8, 256, in, out);
    go(transpose_plain, dim3(8, 8), dim3(32, 8), in, out, 256); go(transpose_conflicts, dim3(8, 8), dim3(32, 8), in, out, 256);
    go(transpose_padded, dim3(8, 8), dim3(32, 8), in, out, 256);
    G(reduce_tree); G(reduce_shuffle); G(histogram_global); G(histogram_shared); G(local_array);
    go(matmul_plain, dim3(4, 4), dim3(16, 16), in, in + 65536, out, 64); go(matmul_tiled, dim3(4, 4), dim3(16, 16), in, in + 65536, out, 64);
    go(softmax_rows, 64, 32, in, out, 256); go(stencil_shared, 32, 256, in, out); go(copy_async, 32, 128, in, out);
    go(wmma_product, 8, 32, in, in + 65536, out); go(ldmatrix_rows, 1, 32, in, out); go(wgmma_product, 1, 128, in, in + 65536, out);
    cub_kernels((unsigned *)in, (unsigned *)out);
    puts("done");
}
