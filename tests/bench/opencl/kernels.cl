/* The kernels of ../*.cu in OpenCL C, as close as the language allows: __shared__ is __local, __syncthreads a barrier. */
__kernel void vecadd(__global const float *a, __global const float *b, __global float *c, int n)
{
    int i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

#define MATMUL(T) \
__kernel void matmul##T(__global const float *A, __global const float *B, __global float *C, int n) \
{ \
    __local float as[T][T], bs[T][T]; \
    int tx = get_local_id(0), ty = get_local_id(1), row = get_group_id(1) * T + ty, col = get_group_id(0) * T + tx; \
    float s = 0; \
    for (int k = 0; k < n; k += T) { \
        as[ty][tx] = A[row * n + k + tx]; \
        bs[ty][tx] = B[(k + ty) * n + col]; \
        barrier(CLK_LOCAL_MEM_FENCE); \
        for (int j = 0; j < T; j++) \
            s += as[ty][j] * bs[j][tx]; \
        barrier(CLK_LOCAL_MEM_FENCE); \
    } \
    C[row * n + col] = s; \
}
MATMUL(16)
MATMUL(32)

__kernel void reduce(__global const float *in, __global float *out, int n)
{
    __local float s[256];
    unsigned t = get_local_id(0), i = get_group_id(0) * 256 + t;
    s[t] = i < n ? in[i] : 0.f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (unsigned d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = s[0];
}

__kernel void mandelbrot(__global unsigned *out, int w, int h, int limit)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= w || y >= h)
        return;
    float cx = -2.f + 3.f * x / w, cy = -1.f + 2.f * y / h, zx = 0, zy = 0;
    int k = 0;
    while (k < limit && zx * zx + zy * zy < 4.f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2.f * zx * zy + cy;
        zx = t;
        k++;
    }
    out[y * w + x] = k;
}

/* 32 work-items a row, 8 rows a group; OpenCL 1.2 has no shuffles, so the butterfly goes through local memory. */
__kernel void softmax(__global const float *in, __global float *out, int cols)
{
    __local float x[256];
    int t = get_local_id(0), row = get_group_id(0) * (get_local_size(0) / 32) + t / 32, lane = t % 32;
    __global const float *p = in + row * cols;
    __global float *q = out + row * cols;
    float m = -1e30f, s = 0;
    for (int i = lane; i < cols; i += 32)
        m = fmax(m, p[i]);
    for (int d = 16; d; d >>= 1) {
        x[t] = m;
        barrier(CLK_LOCAL_MEM_FENCE);
        m = fmax(m, x[t ^ d]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = lane; i < cols; i += 32)
        s += native_exp(p[i] - m);
    for (int d = 16; d; d >>= 1) {
        x[t] = s;
        barrier(CLK_LOCAL_MEM_FENCE);
        s += x[t ^ d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float r = 1.f / s;
    for (int i = lane; i < cols; i += 32)
        q[i] = native_exp(p[i] - m) * r;
}
