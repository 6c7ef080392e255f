// Indices as people get them wrong: on planes and cubes, by pitch, by step, at the edges. What the report is to name: the axis, the formula, the number that would be right.
// Launched with a smaller grid or larger arrays, each is right.

#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
#define Z (blockIdx.z * blockDim.z + threadIdx.z)

extern "C" __global__ void guard_x(const float *in, float *out, int w, int h)
{
    int x = X, y = Y; if (x <= w && y < h) out[y * w + x] = 2 * in[y * w + x];
}

extern "C" __global__ void guard_y(const float *in, float *out, int w)
{
    int x = X, y = Y; if (x < w) out[y * w + x] = 2 * in[y * w + x];
}

extern "C" __global__ void guard_z(const float *in, float *out, int nx, int ny, int nz)
{
    int x = X, y = Y, z = Z; if (x < nx && y < ny && z <= nz) out[(z * ny + y) * nx + x] = in[(z * ny + y) * nx + x];
}

extern "C" __global__ void pitch(const float *in, float *out, int w, int h, int pitch)
{
    int x = X, y = Y; if (x < w && y < h) out[y * pitch + x] = in[y * pitch + x];
}

extern "C" __global__ void swapped(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = X, col = Y; if (row >= n || col >= m) return;
    float s = 0; for (int j = 0; j < k; j++) s += a[row * k + j] * b[j * n + col];
    c[row * n + col] = s;
}

extern "C" __global__ void below(const float *in, float *out, int w, int h)
{
    int x = X, y = Y; if (x < w && y < h) out[y * w + x] = in[(y + 1) * w + x];
}

extern "C" __global__ void both_edges(const float *in, float *out, int n)
{
    int i = X; if (i < n) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
}

extern "C" __global__ void bytes(const float *in, float *out)
{
    int t = threadIdx.x; out[t] = in[t * sizeof(float)];
}

struct vec3 { float x, y, z, pad; };    // meant to be 12 bytes
extern "C" __global__ void padded(const vec3 *in, float *out)
{
    int t = threadIdx.x; out[t] = in[t].x + in[t].y + in[t].z;
}

extern "C" __global__ void four(const float *in, float *out, int n)
{
    int i = 4 * X; if (i < n) *(float4 *)(out + i) = *(const float4 *)(in + i);
}

extern "C" __global__ void shared_half(const float *in, float *out)
{
    __shared__ float s[128]; int t = threadIdx.x; s[t] = in[t]; __syncthreads(); out[t] = s[t ^ 1];
}

extern "C" __global__ void minus_one(const float *in, float *out, unsigned n)
{
    unsigned i = threadIdx.x; if (i < n) out[i] = in[i - 1];
}

extern "C" __global__ void odd_start(const float *in, float *out)
{
    ((float4 *)out)[threadIdx.x] = ((const float4 *)(in + 1))[threadIdx.x];
}

extern "C" __global__ void packed_records(const char *in, float *out)
{
    int t = threadIdx.x; out[t] = *(const float *)(in + t * 10 + 1);
}

extern "C" __global__ void row_sums(const float *in, float *out, int w)
{
    __shared__ float s[64]; int t = threadIdx.x;
    s[t] = in[blockIdx.x * w + t]; __syncthreads();
    for (int o = 32; o; o >>= 1) { if (t < o) s[t] += s[t + o]; __syncthreads(); }
    if (!t) out[blockIdx.x] = s[0];
}
