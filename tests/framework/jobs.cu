// The kernels of tests/framework: what the CUDA tests of a managed framework launch.
// regen: -arch=sm_80 -std=c++17
#include <cooperative_groups.h>

// ---- vectors ----
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
template <class T> __global__ void add(const T *a, const T *b, T *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
template __global__ void add<float>(const float *, const float *, float *, int);
template __global__ void add<int>(const int *, const int *, int *, int);
template __global__ void add<double>(const double *, const double *, double *, int);
template __global__ void add<long long>(const long long *, const long long *, long long *, int);
template <class T, int N> __global__ void repeat(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < N; k++) x[i] += x[i];
}
template __global__ void repeat<int, 3>(int *, int);
template __global__ void repeat<float, 2>(float *, int);
namespace math {
__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
namespace deep {
__global__ void negate(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = -x[i];
}
} // namespace deep
} // namespace math
__global__ void pick(int *x) { *x = 1; }
__global__ void pick(float *x) { *x = 2; }
extern "C" __global__ void increment(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
extern "C" __global__ void multiply(int *x, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}
extern "C" __global__ void add_vectors4(const float4 *a, const float4 *b, float4 *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}
extern "C" __global__ void strided(const int *from, int *to, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i * stride];
}
extern "C" __global__ void indices(int *x, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
        k = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < width && j < height) x[(k * height + j) * width + i] = i + 100 * j + 10000 * k;
}
extern "C" __global__ void nothing() {}

// ---- arguments ----
struct vec3 {
    float x, y, z;
};
struct mixed {
    char a;
    double b;
    short c;
};
struct big {
    int n[200];
};
extern "C" __global__ void scalars(signed char a, unsigned char b, short c, unsigned short d, int e, unsigned f, long long g,
                                   unsigned long long h, float i, double j, double *out)
{
    double all[] = { (double)a, (double)b, (double)c, (double)d, (double)e, (double)f, (double)g, (double)h, (double)i, j };
    if (threadIdx.x < 10) out[threadIdx.x] = all[threadIdx.x];
}
__global__ void translate(vec3 *p, vec3 by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += by.x;
    p[i].y += by.y;
    p[i].z += by.z;
}
extern "C" __global__ void layout(mixed m, double *out)
{
    out[0] = m.a;
    out[1] = m.b;
    out[2] = m.c;
}
extern "C" __global__ void large(big b, int *out)
{
    if (threadIdx.x < 200) out[threadIdx.x] = b.n[threadIdx.x];
}
extern "C" __global__ void flags(bool yes, int *out) { *out = yes ? 1 : 2; }
extern "C" __global__ void optional(const int *maybe, int *out) { *out = maybe ? *maybe : -1; }

// ---- matrices: C is m by n, A m by k, B k by n ----
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}
struct matrix {
    float *data;
    int rows, cols, pitch; // pitch: elements
};
__global__ void matmul_structs(matrix a, matrix b, matrix c)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= c.rows || col >= c.cols) return;
    float sum = 0;
    for (int i = 0; i < a.cols; i++) sum += a.data[row * a.pitch + i] * b.data[i * b.pitch + col];
    c.data[row * c.pitch + col] = sum;
}
__global__ void matmul_long(const float *a, const float *b, float *c, long long m, long long n, long long k)
{
    long long col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (long long i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}
__global__ void matmul_rows(const float *const *a, const float *const *b, float *const *c, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row][i] * b[i][col];
    c[row][col] = sum;
}
extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float as[16][17], bs[16][17];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int t = 0; t < k; t += 16) {
        as[y][x] = row < m && t + x < k ? a[row * k + t + x] : 0;
        bs[y][x] = col < n && t + y < k ? b[(t + y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[y][i] * bs[i][x];
        __syncthreads();
    }
    if (row < m && col < n) c[row * n + col] = sum;
}
extern "C" __global__ void matmul_dynamic(const float *a, const float *b, float *c, int m, int n, int k)
{
    extern __shared__ float tile[]; // a row of A for each row of the block
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float *mine = tile + threadIdx.y * k;
    for (int i = threadIdx.x; i < k; i += blockDim.x) mine[i] = row < m ? a[row * k + i] : 0;
    __syncthreads();
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += mine[i] * b[i * n + col];
    c[row * n + col] = sum;
}
template <class T> __global__ void transpose(const T *from, T *to, int rows, int cols)
{
    __shared__ T tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = from[y * cols + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < cols) to[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
template __global__ void transpose<float>(const float *, float *, int, int);
template __global__ void transpose<short>(const short *, short *, int, int);

// ---- reductions ----
extern "C" __global__ void sum_atomic(const int *x, int *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}
extern "C" __global__ void sum_shared(const int *x, int *sums, int n) // a sum for each block of 256
{
    __shared__ int part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (!threadIdx.x) sums[blockIdx.x] = part[0];
}
extern "C" __global__ void sum_shuffle(const float *x, float *sum, int n) // blocks of whole warps
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int step = 16; step; step /= 2) v += __shfl_down_sync(~0u, v, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}
extern "C" __global__ void extremes(const int *x, int *least, int *most, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(least, x[i]);
    atomicMax(most, x[i]);
}
extern "C" __global__ void count_positive(const int *x, unsigned *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mask = __ballot_sync(~0u, i < n && x[i] > 0);
    if (threadIdx.x % 32 == 0) atomicAdd(count, (unsigned)__popc(mask));
}
extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n)
{
    __shared__ unsigned mine[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        if (mine[b]) atomicAdd(&bins[b], mine[b]);
}
extern "C" __global__ void scan(int *x, int n) // one block, n at most its threads
{
    __shared__ int a[1024];
    int i = threadIdx.x;
    a[i] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int v = i >= step ? a[i - step] : 0;
        __syncthreads();
        a[i] += v;
        __syncthreads();
    }
    if (i < n) x[i] = a[i];
}
extern "C" __global__ void sum_double(const double *x, double *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(sum, x[i]);
}
extern "C" __global__ void sort(int *x) // bitonic, one block of as many threads as there are elements
{
    for (unsigned k = 2; k <= blockDim.x; k *= 2)
        for (unsigned j = k / 2; j; j /= 2) {
            unsigned i = threadIdx.x, other = i ^ j;
            __syncthreads();
            if (other > i && (x[i] > x[other]) == ((i & k) == 0)) {
                int t = x[i];
                x[i] = x[other];
                x[other] = t;
            }
        }
}
extern "C" __global__ void grid_sum(const int *x, int *part, int *sum, int n) // cooperative
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int mine = 0;
    for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) mine += x[i];
    part[grid.thread_rank()] = mine;
    grid.sync();
    if (grid.thread_rank()) return;
    int all = 0;
    for (int i = 0; i < (int)grid.size(); i++) all += part[i];
    *sum = all;
}

// ---- variables ----
__constant__ float coefficient[4];
extern "C" __global__ void polynomial(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = coefficient[0] + x[i] * (coefficient[1] + x[i] * (coefficient[2] + x[i] * coefficient[3]));
}
__device__ int counter;
__device__ int table[16] = { 1, 4, 9 };
namespace state {
__device__ double level = 2.5;
}
extern "C" __global__ void count() { atomicAdd(&counter, 1); }
extern "C" __global__ void look_up(int *out) { out[threadIdx.x] = table[threadIdx.x]; }
extern "C" __global__ void level_read(double *out) { *out = state::level; }

// ---- stencils and images ----
extern "C" __global__ void stencil(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i ? x[i - 1] : 0, right = i + 1 < n ? x[i + 1] : 0;
    y[i] = (left + x[i] + right) / 4;
}
extern "C" __global__ void blur(const float *x, float *y, int width, int height)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= width || j >= height) return;
    float sum = 0;
    for (int dj = -1; dj <= 1; dj++)
        for (int di = -1; di <= 1; di++)
            if (i + di >= 0 && i + di < width && j + dj >= 0 && j + dj < height) sum += x[(j + dj) * width + i + di];
    y[j * width + i] = sum;
}
extern "C" __global__ void busy(int *x, int turns) // takes its time
{
    int v = *x;
    for (int i = 0; i < turns; i++) v = v * 5 + 1;
    *x = v;
}
extern "C" __global__ __launch_bounds__(128, 2) void bounded(int *x) { x[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void much_shared(int *out)
{
    extern __shared__ int words[];
    words[threadIdx.x * 100] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[(blockDim.x - 1 - threadIdx.x) * 100];
}
