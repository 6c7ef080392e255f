// An index below 0 counts from the end, as in Python, which Numba compiles as a mask of the sign. The guard of two
// dimensions is missing, or not: the products are of 50 by 30 and of 30 by 40 elements.
__device__ long from_end(long i, long n) { return i + ((i >> 63) & n); }

__device__ void product(const float *a, const float *b, float *c, long rows, long inner, long columns, long i, long j)
{
    double s = 0;
    for (long k = 0; k < inner; k++)
        s += a[from_end(i, rows) * inner + from_end(k, inner)] * b[from_end(k, inner) * columns + from_end(j, columns)];
    c[from_end(i, rows) * columns + from_end(j, columns)] = s; // outside, where nothing guards it
}

extern "C" __global__ void from_end_bad(const float *a, const float *b, float *c, long rows, long inner, long columns,
                                        long first)
{
    long i = first + (long)blockIdx.x * blockDim.x + threadIdx.x, j = first + (long)blockIdx.y * blockDim.y + threadIdx.y;
    product(a, b, c, rows, inner, columns, i, j);
}

extern "C" __global__ void from_end_ok(const float *a, const float *b, float *c, long rows, long inner, long columns,
                                       long first)
{
    long i = first + (long)blockIdx.x * blockDim.x + threadIdx.x, j = first + (long)blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < columns) product(a, b, c, rows, inner, columns, i, j);
}
