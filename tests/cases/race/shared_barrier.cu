// Races in shared memory for want of a barrier between warps. Each kernel is wrong in one place; the arrows mark the lines its report must name.

// The first barrier is missing: a reversal reads what another warp has yet to write.
extern "C" __global__ void reverse(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];                       // <-- race
    out[t] = s[127 - t];                // <-- race
}

// The second barrier is missing: the next round overwrites what slow warps still read.
extern "C" __global__ void rounds(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int r = 0; r < 4; r++) {
        s[t] = in[r * 128 + t];         // <-- race
        __syncthreads();
        out[r * 128 + t] = s[127 - t];  // <-- race
    }
}

// A reduction tree whose loop forgot the barrier.
extern "C" __global__ void tree(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1)
        if (t < k) s[t] += s[t + k];    // <-- race
    __syncthreads();
    if (t == 0) out[0] = s[0];
}

// The tree stops its barriers at the last warp and goes on without any.
extern "C" __global__ void last_warp(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 64; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];    // <-- race
        if (k > 32) __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}

// Hillis and Steele's scan in one buffer: reads and writes of one step need a barrier between them.
extern "C" __global__ void scan_one_buffer(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 1; k < 64; k <<= 1) {
        int v = t >= k ? s[t - k] : 0;  // <-- race
        s[t] += v;                      // <-- race
        __syncthreads();
    }
    out[t] = s[t];
}

// The scan with two buffers, one barrier short at the top of the loop.
extern "C" __global__ void scan_two_buffers(const int *in, int *out)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, p = 0;
    s[0][t] = in[t];                    // <-- race
    for (int k = 1; k < 64; k <<= 1) {
        s[1 - p][t] = s[p][t] + (t >= k ? s[p][t - k] : 0);     // <-- race
        __syncthreads();
        p = 1 - p;
    }
    out[t] = s[p][t];
}

// Double buffering with one barrier too few: the buffer comes round while the other warp still reads it.
extern "C" __global__ void double_buffer(const int *in, int *out)
{
    __shared__ int s[2][64];
    int t = threadIdx.x;
    s[0][t] = in[t];                    // <-- race
    for (int r = 0; r < 4; r++) {
        if (r < 3) s[(r + 1) & 1][t] = in[(r + 1) * 64 + t];
        if (r & 1) __syncthreads();
        out[r * 64 + t] = s[r & 1][63 - t];     // <-- race
    }
}

// A halo exchange: the tile is written before the barrier, the halo after it.
extern "C" __global__ void halo(const float *in, float *out)
{
    __shared__ float s[66];
    int t = threadIdx.x, g = blockIdx.x * 64 + t;
    s[t + 1] = in[g + 1];
    __syncthreads();
    if (t == 0) s[0] = in[g];
    if (t == 0) s[65] = in[g + 65];     // <-- race
    out[g] = s[t] + s[t + 1] + s[t + 2];        // <-- race
}

// A stencil in place: neighbours are read and overwritten in the same step.
extern "C" __global__ void in_place(const float *in, float *out, int steps)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        if (t > 0 && t < 63) s[t] = (s[t - 1] + s[t + 1]) * 0.5f;       // <-- race
        __syncthreads();
    }
    out[t] = s[t];
}

// Bitonic sort: the inner loop has no barrier, so distances below a warp meet those above.
extern "C" __global__ void bitonic(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int k = 2; k <= 64; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            int p = t ^ j;
            if (p > t) {
                int a = s[t], b = s[p];                         // <-- race
                if ((a > b) == ((t & k) == 0)) { s[t] = b; s[p] = a; }
            }
        }
        __syncthreads();
    }
    out[t] = s[t];
}

// Odd-even transposition without a barrier between the odd and the even step.
extern "C" __global__ void odd_even(const int *in, int *out)
{
    __shared__ int s[130];
    int t = threadIdx.x;
    s[2 * t] = in[t];
    s[2 * t + 1] = -in[t];
    __syncthreads();
    if (s[2 * t] > s[2 * t + 1]) { int v = s[2 * t]; s[2 * t] = s[2 * t + 1]; s[2 * t + 1] = v; }   // <-- race
    if (t < 63 && s[2 * t + 1] > s[2 * t + 2]) s[2 * t + 1] = s[2 * t + 2];     // <-- race
    __syncthreads();
    out[t] = s[t];
}

// A transposed tile without the barrier.
extern "C" __global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 16 + x];        // <-- race
    out[y * 16 + x] = tile[x][y];       // <-- race
}

// Tiled matrix product without the barrier at the end of a tile.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float x[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[ty][tx] = a[ty * n + k + tx];         // <-- race
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += x[ty][i] * b[(k + i) * n + tx];      // <-- race
    }
    c[ty * n + tx] = sum;
}

// One thread sums what the others wrote, before they have.
extern "C" __global__ void one_thread_sums(const int *in, int *out)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = in[t] * 2;                   // <-- race
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 96; i++) sum += s[i];       // <-- race
        out[0] = sum;
    }
}

// A value for the whole block is set by thread 0 and read at once.
extern "C" __global__ void broadcast(const int *in, int *out)
{
    __shared__ int base;
    int t = threadIdx.x;
    if (t == 0) base = in[0] + 7;       // <-- race
    out[t] = in[t] + base;              // <-- race
}

// The reset of a counter is not separated from its use.
extern "C" __global__ void counter_reset(const int *in, int *out)
{
    __shared__ int n;
    int t = threadIdx.x;
    if (t == 0) n = 0;                  // <-- race
    out[t] = atomicAdd(&n, in[t] & 1);  // <-- race
}
