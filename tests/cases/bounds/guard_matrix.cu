// A product of matrices without the guard of its two indices: rows behind the end of a read into b, columns beyond a row
// of b and c. One guard is missing, and one finding names it. guard_matrix_ok has it.
extern "C" __global__ void guard_matrix_bad(const float *a, const float *b, float *c, int n)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + q];
    c[r * n + q] = s; // <-- bounds
}
extern "C" __global__ void guard_matrix_ok(const float *a, const float *b, float *c, int n)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n || q >= n) return;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[r * n + k] * b[k * n + q];
    c[r * n + q] = s;
}
