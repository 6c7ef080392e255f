// Right in many ways: orders of summation, split sums, one-pass algorithms, fast math where the contract says so.

//! kernel sum_backwards
//! dim rows 1..40, cols 1..1024
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = sum(x, -1)
extern "C" __global__ void sum_backwards(const float *x, float *y, int cols)
{
    float sum = 0;
    for (int i = cols; i-- > 0;) sum += x[blockIdx.x * cols + i];
    y[blockIdx.x] = sum;
}

//! kernel sum_tree
//! dim rows 1..40, cols 1..1024
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=128
//! oracle y = sum(x, -1)
//! accumulate f32 tree 128
extern "C" __global__ void sum_tree(const float *x, float *y, int cols)
{
    __shared__ float part[128];
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 128) sum += x[blockIdx.x * cols + i];
    part[threadIdx.x] = sum;
    for (int d = 64; d; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

//! kernel split_k
//! dim m 1..24, n 1..24, k 1..512
//! arg a f32[m, k] in
//! arg b f32[k, n] in
//! arg c f32[m, n] inout zeros
//! arg m i32
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(n, 8),ceildiv(m, 8),4 block=8,8
//! oracle c = c + a @ b
extern "C" __global__ void split_k(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = blockIdx.z; i < k; i += 4) sum = fmaf(a[row * k + i], b[i * n + col], sum);
    atomicAdd(&c[row * n + col], sum);
}

//! kernel welford
//! dim rows 1..40, cols 1..512
//! arg x f32[rows, cols] in normal
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = var(x, -1)
extern "C" __global__ void welford(const float *x, float *y, int cols)
{
    float mean = 0, square = 0;
    for (int i = 0; i < cols; i++) {
        float v = x[blockIdx.x * cols + i], d = v - mean;
        mean += d / (i + 1);
        square += d * (v - mean);
    }
    y[blockIdx.x] = square / cols;
}

//! kernel online_softmax
//! dim rows 1..40, cols 1..512
//! arg x f32[rows, cols] in normal(0, 4)
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = softmax(x, -1)
extern "C" __global__ void online_softmax(const float *x, float *y, int cols)
{
    const float *p = x + blockIdx.x * cols;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < cols; i++) {
        float next = fmaxf(most, p[i]);
        sum = sum * expf(most - next) + expf(p[i] - next);
        most = next;
    }
    for (int i = 0; i < cols; i++) y[blockIdx.x * cols + i] = expf(p[i] - most) / sum;
}

//! kernel fast_silu
//! dim n 1..2000
//! arg x f32[n] in normal(0, 4)
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = silu(x)
//! accumulate f32 fast
extern "C" __global__ void fast_silu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __fdividef(x[i], 1 + __expf(-x[i]));
}
