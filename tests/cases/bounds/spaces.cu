// Accesses outside: global, shared, local, and alignment. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// i <= n.
extern "C" __global__ void off_by_one(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[i] = in[i];                         // <-- bounds
}

// No guard at all.
extern "C" __global__ void no_guard(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] *= 2.0f;                                       // <-- bounds
}

// The left neighbour of the first element.
extern "C" __global__ void negative(const float *in, float *out)
{
    int t = threadIdx.x;
    out[t] = in[t] - in[t - 1];                         // <-- bounds
}

// The same with an unsigned index: it wraps, and goes far off.
extern "C" __global__ void wrapped(const float *in, float *out)
{
    unsigned t = threadIdx.x;
    out[t] = in[t - 1u];                                // <-- bounds
}

// The guard of two dimensions is swapped.
extern "C" __global__ void swapped_guard(float *a, int rows, int cols)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < rows && y < cols) a[y * rows + x + cols] = 1;       // <-- bounds
}

// The stride of a row is one too large.
extern "C" __global__ void row_stride(const float *a, float *out, int cols)
{
    float sum = 0;
    for (int c = 0; c < cols; c++) sum += a[threadIdx.x * (cols + 1) + c];      // <-- bounds
    out[threadIdx.x] = sum;
}

// A float4 over the end.
extern "C" __global__ void vector_end(const float *in, float *out)
{
    float4 v = ((const float4 *)in)[threadIdx.x + 1];   // <-- bounds
    out[threadIdx.x] = v.x + v.w;
}

// A shared array one element short.
extern "C" __global__ void shared_short(const int *in, int *out)
{
    __shared__ int s[63];
    int t = threadIdx.x;
    s[t] = in[t];                                       // <-- bounds_shared
    __syncthreads();
    out[t] = s[t / 2];
}

// A halo that is not there: the array ends where the tile does.
extern "C" __global__ void shared_halo(const int *in, int *out)
{
    __shared__ int s[64];
    __shared__ int other[64];
    int t = threadIdx.x;
    s[t] = in[t];
    other[t] = 5;
    __syncthreads();
    out[t] = s[t + 1] + other[63 - t];                  // <-- bounds_shared
}

// Less dynamic shared memory than the kernel uses.
extern "C" __global__ void dynamic_short(const int *in, int *out)
{
    extern __shared__ int mem[];
    int t = threadIdx.x;
    mem[t] = in[t];                                     // <-- bounds_shared
    __syncthreads();
    out[t] = mem[63 - t];
}

// A private array indexed past its end.
extern "C" __global__ void local_index(const int *in, int *out)
{
    int a[4];
    for (int i = 0; i < 4; i++) a[i] = in[i];
    a[in[threadIdx.x] & 7] = 1;                         // <-- bounds_local
    out[threadIdx.x] = a[in[threadIdx.x] & 3];
}

// A scatter by a key that is too large.
extern "C" __global__ void scatter(const int *key, int *out)
{
    atomicAdd(&out[key[threadIdx.x]], 1);               // <-- bounds
}

// A null pointer.
extern "C" __global__ void null(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x];                 // <-- null_pointer
}

// A grid-stride loop unrolled by two, with one guard for both.
extern "C" __global__ void unrolled(const float *in, float *out, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    if (i < n) {
        out[i] = in[i];
        out[i + 1] = in[i + 1];                         // <-- bounds
    }
}

// Bytes where elements are meant.
extern "C" __global__ void bytes(const double *in, double *out)
{
    int t = threadIdx.x;
    out[t % 16] = ((const double *)((const char *)in + 8 * 8 * t))[0];  // <-- bounds
}

// A float4 at an odd offset.
extern "C" __global__ void vector_odd(const float *in, float *out)
{
    float4 v = *(const float4 *)(in + 1 + 4 * threadIdx.x);     // <-- misaligned
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

// Rows of five elements read as float2.
extern "C" __global__ void row_vectors(const float *a, float *out)
{
    float2 v = *(const float2 *)(a + 5 * threadIdx.x);  // <-- misaligned
    out[threadIdx.x] = v.x + v.y;
}

// A double from packed bytes.
extern "C" __global__ void packed(const unsigned char *a, double *out)
{
    out[threadIdx.x] = *(const double *)(a + 4 * threadIdx.x);  // <-- misaligned
}

// An atomic on a counter in the middle of a record.
extern "C" __global__ void atomic_odd(unsigned char *a)
{
    atomicAdd((unsigned *)(a + 2), 1u);                 // <-- misaligned
}

// cp.async of 16 bytes from rows of 130 bytes.
extern "C" __global__ void copy_rows(const unsigned short *in, unsigned short *out)
{
    __shared__ __align__(16) unsigned short s[32 * 8];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[8 * t]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 65 * t) : "memory");   // <-- misaligned
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[t] = s[8 * t];
}

// float2 in shared memory behind an odd number of floats.
extern "C" __global__ void shared_odd(const float *in, float *out)
{
    __shared__ __align__(16) float s[72];
    int t = threadIdx.x;
    s[t] = in[t];
    s[t + 33] = 0;
    __syncwarp();
    float2 v = *(float2 *)&s[t];                        // <-- misaligned
    out[t] = v.x + v.y;
}
