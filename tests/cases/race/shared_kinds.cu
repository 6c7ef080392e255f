// Races in shared memory by what is accessed: sizes, vectors, atomics, histograms, lists. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// Bytes: neighbours in one word are not the race, the shifted byte is.
extern "C" __global__ void bytes(const unsigned char *in, unsigned char *out)
{
    __shared__ unsigned char s[64];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    out[t] = s[(t + 1) & 63];           // <-- race
}

// Halves: read from a neighbour without a barrier.
extern "C" __global__ void halves(const unsigned short *in, unsigned short *out)
{
    __shared__ unsigned short s[64];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    out[t] = s[t ^ 1];                  // <-- race
}

// Bytes written one by one, read as words.
extern "C" __global__ void bytes_as_words(const unsigned char *in, unsigned *out)
{
    __shared__ __align__(16) unsigned char s[64];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    if (t < 16) out[t] = ((unsigned *)s)[t];    // <-- race
}

// Scalars written, vectors read.
extern "C" __global__ void vector_reads(const float *in, float *out)
{
    __shared__ __align__(16) float s[64];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    if (t < 16) {
        float4 v = ((float4 *)s)[t];    // <-- race
        out[4 * t] = v.x + v.y + v.z + v.w;
    }
}

// Vectors written, one too far: the last element belongs to the next thread.
extern "C" __global__ void vector_overlap(const float *in, float *out)
{
    __shared__ __align__(16) float s[256];
    int t = threadIdx.x;
    *(float2 *)&s[2 * t] = make_float2(in[t], in[t + 1]);       // <-- race
    s[2 * t + 2] = in[t + 2];                                   // <-- race
    __syncthreads();
    out[t] = s[2 * t];
}

// A histogram that counts without atomics.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *out)
{
    __shared__ unsigned bins[128];
    int t = threadIdx.x;
    bins[t] = bins[t + 64] = 0;
    __syncthreads();
    bins[in[t] & 7]++;                  // <-- race
    __syncthreads();
    out[t] = bins[t];
}

// Atomics write, a plain load reads the running sum.
extern "C" __global__ void weak_read(const int *in, int *out)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[t]);             // <-- race
    out[t] = sum;                       // <-- race
}

// Atomics count, and a plain store resets the counter in the middle.
extern "C" __global__ void weak_write(const int *in, int *out)
{
    __shared__ int n;
    int t = threadIdx.x;
    if (t == 0) n = 0;
    __syncthreads();
    if (atomicAdd(&n, 1) == 40) n = in[t];      // <-- race
    __syncthreads();
    if (t == 0) out[0] = n;
}

// The maximum by "if larger then store".
extern "C" __global__ void check_then_act(const int *in, int *out)
{
    __shared__ int best;
    int t = threadIdx.x;
    if (t == 0) best = -1;
    __syncthreads();
    if (in[t] > best) best = in[t];     // <-- race
    __syncthreads();
    if (t == 0) out[0] = best;
}

// A list in shared memory: the slot is taken with an atomic, its content read before a barrier.
extern "C" __global__ void list(const int *in, int *out, int *n)
{
    __shared__ int slot[64], count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    int k = atomicAdd(&count, 1);
    slot[k] = in[t];                    // <-- race
    if (k > 0) out[t] = slot[k - 1];    // <-- race
}

// Two threads share a slot because the index is halved.
extern "C" __global__ void shared_slot(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[in[t] / 2] = t;                   // <-- race
    __syncthreads();
    out[t] = s[t / 2];
}

// Two arrays carved out of dynamic shared memory overlap by one element.
extern "C" __global__ void carved(const int *in, int *out)
{
    extern __shared__ int mem[];
    int *a = mem, *b = mem + 63;
    int t = threadIdx.x;
    a[t] = in[t];                       // <-- race
    b[t] = 2 * in[t];                   // <-- race
    __syncthreads();
    out[t] = b[63 - t] + (t < 63 ? a[t] : 0);
}

// A bit set filled with |= instead of atomicOr.
extern "C" __global__ void bitset(const unsigned *in, unsigned *out)
{
    __shared__ unsigned bits[2];
    int t = threadIdx.x;
    if (t < 2) bits[t] = 0;
    __syncthreads();
    if (in[t] & 1) bits[t >> 5] |= 1u << (t & 31);      // <-- race
    __syncthreads();
    if (t < 2) out[t] = bits[t];
}

// A spin flag in shared memory guards a plain value, and neither side has a fence.
extern "C" __global__ void flag(const int *in, int *out)
{
    __shared__ int value;
    __shared__ volatile int ready;
    int t = threadIdx.x;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t == 0) { value = in[5]; ready = 1; }           // <-- race
    if (t == 32) { while (!ready) {} out[0] = value; }  // <-- race
}
