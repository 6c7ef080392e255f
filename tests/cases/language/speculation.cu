// Control flow that compilers turn into selects, predicated and hoisted loads; each access is guarded in the source.

// A load under ?: with an index that is only right when the condition holds.
extern "C" __global__ void guarded_neighbours(const int *in, int *out, int n)
{
    int i = blockIdx.x * 40 + threadIdx.x;
    if (i >= n) return;
    int left = i > 0 ? in[i - 1] : 0, right = i + 1 < n ? in[i + 1] : 0;
    out[i] = left + in[i] + right;
}

// A shared cell that exists for every thread, of which only some are filled; the choice is a select.
extern "C" __global__ void filled_or_zero(const int *in, int *out, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = in[t];
    __syncthreads();
    int v = s[63 - t];
    out[t] = 63 - t < n ? v : -1;
}

// An unrolled loop with a remainder.
extern "C" __global__ void unrolled(const int *in, int *out, int n)
{
    int sum = 0;
#pragma unroll 8
    for (int i = threadIdx.x; i < n; i += 32) sum += in[i];
    out[threadIdx.x] = sum;
}

// Short-circuit conditions guard the index.
extern "C" __global__ void short_circuit(const int *in, int *count, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n && in[i] % 5 == 0) atomicAdd(count, 1);
}

// A binary search: indices stay inside because the interval does.
extern "C" __global__ void binary_search(const int *in, int *out, int n)
{
    int key = blockIdx.x * 50 + threadIdx.x, lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (in[mid] < key) lo = mid + 1;
        else hi = mid;
    }
    out[key] = lo < n && in[lo] == key ? lo : -1;
}

// Breaks and continues that leave lanes at different places before a warp barrier.
extern "C" __global__ void ragged_loops(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x, n = 0;
    for (int k = 0; k < 100; k++) {
        if (k % 3 == t % 3) continue;
        if (k > t) break;
        n++;
    }
    s[t] = n;
    __syncwarp();
    out[t] = s[31 - t] >= 0 && s[31 - t] <= 32;
}

// A switch of eight ways, each with a barrier of the warp after it, not in it.
extern "C" __global__ void eight_ways(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    switch (t % 8) {
    case 0: s[t] = 0; break;
    case 1: s[t] = 1; break;
    case 2: s[t] = 1 + 1; break;
    case 3: s[t] = t % 8; break;
    case 4: s[t] = 2 * 2; break;
    case 5: s[t] = 6 - 1; break;
    case 6: s[t] = t - t / 8 * 8; break;
    default: s[t] = 7;
    }
    __syncwarp();
    int sum = 0;
    for (int k = 0; k < 8; k++) sum += s[t / 8 * 8 + k];
    out[t] = sum;
}

// A barrier inside a condition that is the same for the whole CTA, though the compiler cannot know.
extern "C" __global__ void uniform_condition(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64;
    s[t] = in[i + t];
    if (in[i] % 128 == 0) {
        __syncthreads();
        out[i + 63 - t] = s[63 - t];
    } else {
        __syncthreads();
        out[i + (t ^ 5)] = s[t ^ 5];
    }
}

// A loop of as many turns as the CTA agrees on, ended by the barrier's vote.
extern "C" __global__ void until_all_zero(const int *in, int *turns)
{
    int left = in[threadIdx.x], n = 0;
    for (;;) {
        n++;
        if (!__syncthreads_or(left > 0)) break;
        left--;
    }
    if (threadIdx.x == 0) *turns = n;
}

// A minimum with its index, ties broken by the index: no order of the atomics changes the result.
extern "C" __global__ void minimum_place(const int *in, unsigned long long *best, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) atomicMin(best, (unsigned long long)(abs(in[i] - 100) / 2) << 32 | i);
}

// One element more than threads: a stride loop whose last turn has one thread.
extern "C" __global__ void one_more(const int *in, int *out, int n)
{
    for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 64) out[i] = in[i];
}

// No elements at all: nothing is touched.
extern "C" __global__ void nothing(const int *in, int *out, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i] = in[i];
}
