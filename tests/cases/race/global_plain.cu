// Races in global memory without any synchronisation: scatters, overlaps, in-place updates. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// A histogram with += between CTAs.
extern "C" __global__ void scatter_add(const int *in, int *bins)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bins[in[i]] += 1;                           // <-- race
}

// A sum into one cell.
extern "C" __global__ void sum_cell(const float *in, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    *sum = *sum + in[i];                        // <-- race
}

// A grid-stride loop with the block as its stride: the CTAs overlap.
extern "C" __global__ void stride_overlap(int *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
        a[i] = a[i] * 2 + 1;                    // <-- race
}

// Each CTA updates its chunk and one element more.
extern "C" __global__ void chunk_overlap(int *a)
{
    int first = blockIdx.x * 64, t = threadIdx.x;
    a[first + t] += 1;                          // <-- race
    if (t == 0) a[first + 64] += 1;             // <-- race
}

// A stencil in place: the halo of one CTA is the inside of the next.
extern "C" __global__ void stencil_in_place(float *a)
{
    int i = blockIdx.x * 64 + threadIdx.x + 1;
    float v = a[i - 1] + a[i + 1];              // <-- race
    __syncthreads();
    a[i] = v;                                   // <-- race
}

// An in-place transpose in which both threads of a pair swap.
extern "C" __global__ void transpose_in_place(float *a)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    float p = a[y * 16 + x], q = a[x * 16 + y]; // <-- race
    a[y * 16 + x] = q;                          // <-- race
    a[x * 16 + y] = p;                          // <-- race
}

// A shift by one in place.
extern "C" __global__ void shift(int *a)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    a[i] = a[i + 1];                            // <-- race
}

// One CTA uses global memory as scratch and forgets the barrier.
extern "C" __global__ void scratch(int *tmp, int *out)
{
    int t = threadIdx.x;
    tmp[t] = t * 3;                             // <-- race
    out[t] = tmp[63 - t];                       // <-- race
}

// Block sums, and CTA 0 adds them up in the same launch.
extern "C" __global__ void second_stage(const int *in, int *sums, int *out)
{
    int t = threadIdx.x, v = in[blockIdx.x * 32 + t];
    v = __reduce_add_sync(~0u, v);
    if (t == 0) sums[blockIdx.x] = v;           // <-- race
    __syncthreads();
    if (blockIdx.x == 0 && t == 0)
        out[0] = sums[0] + sums[1] + sums[2] + sums[3];         // <-- race
}

// Bytes: CTA 1 starts two bytes before the end of CTA 0.
extern "C" __global__ void byte_overlap(const unsigned char *in, unsigned char *out)
{
    int t = threadIdx.x;
    if (t < 34) out[blockIdx.x * 32 + t] = in[blockIdx.x * 64 + t];     // <-- race
}

// float4 stores that step back by one vector for each CTA.
extern "C" __global__ void vector_stride(const float *in, float *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float4 v = make_float4(in[i], 1, 2, 3);
    ((float4 *)out)[i - blockIdx.x] = v;        // <-- race
}

// A slot is reserved by reading and then incrementing.
extern "C" __global__ void reserve(const int *in, int *count, int *list)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (in[i] % 7 == 0) {
        int k = *count;                         // <-- race
        *count = k + 1;                         // <-- race
        list[k] = i;
    }
}

// The maximum over all CTAs, compared and stored.
extern "C" __global__ void maximum(const int *in, int *best)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (in[i] > *best) *best = in[i];           // <-- race
}

// Updated with atomics, read without.
extern "C" __global__ void atomic_and_plain(const int *in, int *out, int *total)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    atomicAdd(total, in[i]);                    // <-- race
    out[i] = *total;                            // <-- race
}

// A counter of 64 bits is added to as two of 32.
extern "C" __global__ void mixed_sizes(const int *in, int *count)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i & 1) atomicAdd((unsigned long long *)count, 1ull);    // <-- race
    else atomicAdd(count, in[i]);               // <-- race
}

// Data written in this launch is read through the read-only cache.
extern "C" __global__ void read_only(int *a, int *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    a[i] = a[i] + 5;                            // <-- race_readonly
    __syncthreads();
    out[i] = __ldg(&a[i ^ 1]);                  // <-- race_readonly
}

// Block 0 polls nothing: it simply assumes that the others are done.
extern "C" __global__ void no_wait(const int *in, int *acc, int *out)
{
    if (threadIdx.x == 0) atomicAdd(acc, in[blockIdx.x]);       // <-- race
    if (blockIdx.x == 3 && threadIdx.x == 1) out[0] = *acc;     // <-- race
}

// A sparse product by entries: rows that two CTAs share lose updates.
extern "C" __global__ void sparse(const int *row_of, const float *v, float *y)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    y[row_of[i / 8] & 7] += v[i];               // <-- race
}

// Breadth-first search: level and visited mark are two plain writes of different values.
extern "C" __global__ void frontier(const int *next, int *parent, int *level)
{
    int i = blockIdx.x * 32 + threadIdx.x, v = next[i] / 4;
    if (level[v] == 0) {                        // <-- race
        parent[v] = i;
        level[v] = i + 1;                       // <-- race
    }
}
