// Work of one CTA in shared memory that is right, though a step more or less at any barrier would make it wrong.

// A tree over 77 elements: the upper half may be one longer than the lower.
extern "C" __global__ void odd_tree(const int *in, int *out)
{
    __shared__ int s[77];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 77 + t];
    for (int n = 77; n > 1;) {
        int half = (n + 1) / 2;
        __syncthreads();
        if (t < n - half) s[t] += s[t + half];
        n = half;
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Thread 0 alone reads what it alone wrote in the last step: no barrier after the tree, and none is needed.
extern "C" __global__ void tree_no_last_barrier(const int *in, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 128; d > 1; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0] + s[1];
}

// Two buffers and one barrier a step: the write of step k+1 goes where step k-1 was read, a barrier ago.
extern "C" __global__ void double_buffer(const int *in, int *out, int steps)
{
    __shared__ int buf[2][64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    buf[0][t] = in[i];
    for (int k = 0; k < steps; k++) {
        __syncthreads();
        buf[(k + 1) & 1][t] = buf[k & 1][(t + 1) & 63];
    }
    out[i] = buf[steps & 1][t];
}

// Three stages in flight: the slot written is two barriers from its readers.
extern "C" __global__ void three_stages(const int *in, int *out)
{
    __shared__ int slot[3][96];
    int t = threadIdx.x, sum = 0;
    const int *from = in + blockIdx.x * 1440;
    slot[0][t] = from[t];
    slot[1][t] = from[96 + t];
    for (int k = 0; k < 15; k++) {
        __syncthreads();
        if (k + 2 < 15) slot[(k + 2) % 3][t] = from[(k + 2) * 96 + t];
        sum += slot[k % 3][(t + 1) % 96] + slot[k % 3][(t + 7) % 96] + slot[k % 3][95 - t];
    }
    out[blockIdx.x * 96 + t] = sum;
}

// Hillis-Steele in place: read, barrier, write, barrier.
extern "C" __global__ void inplace_scan(const int *in, int *out)
{
    __shared__ int s[193];
    int t = threadIdx.x;
    s[t] = in[t];
    for (int d = 1; d < 193; d *= 2) {
        __syncthreads();
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
    }
    out[t] = s[t];
}

// Blelloch's exclusive scan, up and down, with strides that leave most threads idle.
extern "C" __global__ void blelloch(const int *in, int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, base = blockIdx.x * 128, step = 1;
    s[2 * t] = in[base + 2 * t];
    s[2 * t + 1] = in[base + 2 * t + 1];
    for (int d = 64; d > 0; d /= 2, step *= 2) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    }
    if (t == 0) s[127] = 0;
    for (int d = 1; d < 128; d *= 2) {
        step /= 2;
        __syncthreads();
        if (t < d) {
            int lo = step * (2 * t + 1) - 1, hi = step * (2 * t + 2) - 1, v = s[lo];
            s[lo] = s[hi];
            s[hi] += v;
        }
    }
    __syncthreads();
    out[base + 2 * t] = s[2 * t];
    out[base + 2 * t + 1] = s[2 * t + 1];
}

// Bitonic sort of 256 values in shared memory; the pair belongs to its lower thread.
extern "C" __global__ void bitonic(int *data)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = data[t];
    for (int k = 2; k <= 256; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int p = t ^ j;
            if (p > t && (s[t] > s[p]) == ((t & k) == 0)) {
                int v = s[t];
                s[t] = s[p];
                s[p] = v;
            }
        }
    __syncthreads();
    data[t] = s[t];
}

// Odd-even transposition in place: pairs of a step are disjoint, pairs of two steps are not.
extern "C" __global__ void odd_even_sort(int *data)
{
    for (int step = 0; step < 99; step++) {
        int i = 2 * threadIdx.x + (step & 1);
        if (i + 1 < 99 && data[i] > data[i + 1]) {
            int v = data[i];
            data[i] = data[i + 1];
            data[i + 1] = v;
        }
        __syncthreads();
    }
}

// A stencil with its halo loaded by the edge threads, zero outside.
extern "C" __global__ void stencil(const int *in, int *out, int n)
{
    __shared__ int s[68];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 2] = i < n ? in[i] : 0;
    if (t < 2) s[t] = i >= 2 ? in[i - 2] : 0;
    if (t >= 62) s[t + 4] = i + 2 < n ? in[i + 2] : 0;
    __syncthreads();
    if (i < n) out[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}

// Threads past the end go home before the barrier that the rest use; nothing of theirs is read. Legal, and worth the one note.
extern "C" __global__ void early_return(const int *in, int *out, int n)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = in[t];
    __syncthreads();
    out[95 - t] = s[95 - t];
}

// Threads past the end take part in every barrier, and go home after the last one.
extern "C" __global__ void late_return(const int *in, int *out, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t < n) s[t] = in[t];
    __syncthreads();
    if (t >= n) return;
    out[95 - t] = s[95 - t];
}

// A transpose through a padded tile of 17 columns, with edges cut at odd sizes.
extern "C" __global__ void transpose(const int *in, int *out, int rows, int cols)
{
    __shared__ int tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < cols && y < rows) tile[threadIdx.y][threadIdx.x] = in[y * cols + x];
    __syncthreads();
    int tx = blockIdx.y * 16 + threadIdx.x, ty = blockIdx.x * 16 + threadIdx.y;
    if (tx < rows && ty < cols) out[ty * rows + tx] = tile[threadIdx.x][threadIdx.y];
}

// Tiled product of 37 by 37 with zeros filled in beyond the edge, two barriers a tile.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[threadIdx.y][threadIdx.x] = y < n && k + threadIdx.x < n ? a[y * n + k + threadIdx.x] : 0;
        bs[threadIdx.y][threadIdx.x] = x < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + x] : 0;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += as[threadIdx.y][j] * bs[j][threadIdx.x];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = sum;
}

// Private histograms of the warps, added up after one barrier; bins are shared within a warp, so its adds are atomic.
extern "C" __global__ void private_histograms(const unsigned char *in, int *hist, int n)
{
    __shared__ int own[3][256];
    int t = threadIdx.x, w = t / 32;
    for (int b = t & 31; b < 256; b += 32) own[w][b] = 0;
    __syncwarp();
    for (int i = blockIdx.x * 96 + t; i < n; i += gridDim.x * 96) atomicAdd(&own[w][in[i]], 1);
    __syncthreads();
    for (int b = t; b < 256; b += 96) atomicAdd(&hist[b], own[0][b] + own[1][b] + own[2][b]);
}

// Four kinds of data carved from dynamic shared memory, each array aligned for its type, of odd lengths.
extern "C" __global__ void carved(int *out)
{
    extern __shared__ __align__(16) char raw[];
    double *d = (double *)raw;
    int *i = (int *)(d + 33);
    short *s = (short *)(i + 33);
    char *c = (char *)(s + 33);
    int t = threadIdx.x, r = 32 - t;
    d[t] = t;
    i[t] = r;
    s[t] = (short)t;
    c[t] = (char)r;
    __syncthreads();
    out[blockIdx.x * 33 + t] = (int)d[r] + i[r] + s[t] + c[t] + (t - t) + 32;
}

// The barrier that also counts: its result is the same for all, and no other memory is needed.
extern "C" __global__ void counting_barrier(const int *in, int *out)
{
    int i = blockIdx.x * 50 + threadIdx.x;
    int odd = __syncthreads_count(in[i] & 1);
    int any = __syncthreads_or(in[i] == 60), all = __syncthreads_and(in[i] >= 0);
    out[i] = odd * 100 + any * 10 + all;
}
