// regen: no
// Kernels that launch kernels, with libcudadevrt: a quicksort, a tree, copies and fills by the device, tail launches, errors.
// An H200 prints the same where nothing is found.
#include "programs.h"
#include <cuda_runtime.h>

enum { N = 600, SMALL = 16 };

__device__ void insertion(int *a, int from, int to)
{
    for (int i = from + 1; i < to; i++) {
        int x = a[i], k = i;
        for (; k > from && a[k - 1] > x; k--) a[k] = a[k - 1];
        a[k] = x;
    }
}

// The two parts of a partition are sorted by two kernels, in streams of their own.
__global__ void quicksort(int *a, int from, int to, int depth)
{
    if (to - from <= SMALL || depth == 20) {
        insertion(a, from, to);
        return;
    }
    int i = from, k = to - 1, pivot = a[(from + to) / 2];
    while (i <= k) {
        while (a[i] < pivot) i++;
        while (a[k] > pivot) k--;
        if (i > k) break;
        int x = a[i];
        a[i++] = a[k];
        a[k--] = x;
    }
    cudaStream_t s;
    if (from < k + 1) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, s>>>(a, from, k + 1, depth + 1);
        cudaStreamDestroy(s);
    }
    if (i < to) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, s>>>(a, i, to, depth + 1);
        cudaStreamDestroy(s);
    }
}

static int sorts(void)
{
    int h[N], *a, wrong = 0;
    unsigned x = 1;
    for (int k = 0; k < N; k++) h[k] = (int)((x = x * 1664525 + 1013904223) >> 12);
    TRY(cudaMalloc(&a, sizeof h));
    TRY(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
    quicksort<<<1, 1>>>(a, 0, N, 0);
    TRY(cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost)); // waits for all that was launched
    for (int k = 1; k < N; k++) wrong += h[k - 1] > h[k];
    printf("%d out of order\n", wrong);
    TRY(cudaFree(a));
    return 0;
}

// A tree of grids: each block of a node launches a node of the next level.
__global__ void node(unsigned *count, int depth)
{
    if (threadIdx.x == 0) {
        atomicAdd(&count[depth], 1);
        if (depth < 4) node<<<3, 32, 0, cudaStreamFireAndForget>>>(count, depth + 1);
    }
}

static int tree(void)
{
    unsigned *count;
    cudaStream_t s;
    TRY(cudaStreamCreate(&s));
    TRY(cudaMallocManaged(&count, 5 * sizeof *count));
    memset(count, 0, 5 * sizeof *count);
    node<<<2, 32, 0, s>>>(count, 0);
    TRY(cudaStreamSynchronize(s));
    for (int k = 0; k < 5; k++) printf("%u ", count[k]);
    printf("\n");
    TRY(cudaFree(count));
    TRY(cudaStreamDestroy(s));
    return 0;
}

__global__ void sum(const int *a, int n, int *out)
{
    int s = 0;
    for (int k = 0; k < n; k++) s += a[k];
    *out = s;
}

// Fills and copies are kernels of libcudadevrt, in the order of their stream.
__global__ void moves(int *a, int *b, int *out)
{
    cudaMemsetAsync(a, 0, 64 * sizeof *a, 0);
    cudaMemcpyAsync(b, a, 32 * sizeof *a, cudaMemcpyDeviceToDevice, 0);
    sum<<<1, 1, 0, cudaStreamTailLaunch>>>(b, 64, out);
}

static int fills(void)
{
    int *a, *b, *out, h;
    TRY(cudaMalloc(&a, 64 * sizeof *a));
    TRY(cudaMalloc(&b, 64 * sizeof *b));
    TRY(cudaMalloc(&out, sizeof *out));
    TRY(cudaMemset(a, 3, 64 * sizeof *a));
    TRY(cudaMemset(b, 1, 64 * sizeof *b));
    moves<<<1, 1>>>(a, b, out);
    TRY(cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost));
    printf("%d = %d\n", h, 32 * 0x01010101);
    TRY(cudaFree(a));
    TRY(cudaFree(b));
    TRY(cudaFree(out));
    return 0;
}

// What a kernel asks: errors in words, the device, how many CTAs fit.
__global__ void big(int *) {}

__global__ void asks(int *a)
{
    int device = -1, sms = 0, ctas = 0;
    big<<<1, 2048>>>(a);
    cudaError_t e = cudaGetLastError();
    printf("%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, big, 256, 0);
    int *own = NULL;
    e = cudaMalloc(&own, 100);
    printf("device %d of %d multiprocessors, %d CTAs each; %s\n", device, sms, ctas, own ? "memory" : "none");
    if (e == cudaSuccess) cudaFree(own);
}

static int questions(void)
{
    asks<<<1, 1>>>(NULL);
    TRY(cudaDeviceSynchronize());
    return 0;
}

// Reads what was launched before, at once, and in a tail launch.
template <bool TAIL> __global__ void uses(int *a, int *out)
{
    cudaMemsetAsync(a, 0, 64 * sizeof *a, 0);
    if (TAIL)
        sum<<<1, 1, 0, cudaStreamTailLaunch>>>(a, 64, out);
    else
        *out = a[5];
}

template <bool TAIL> static int use(void)
{
    int *a, h;
    TRY(cudaMalloc(&a, 65 * sizeof *a));
    TRY(cudaMemset(a, 1, 65 * sizeof *a));
    uses<TAIL><<<1, 1>>>(a, a + 64);
    TRY(cudaMemcpy(&h, a + 64, sizeof h, cudaMemcpyDeviceToHost));
    if (TAIL) printf("%d\n", h);
    TRY(cudaFree(a));
    return 0;
}

PROGRAMS({ "quicksort_ok", sorts }, { "tree_ok", tree }, { "fills_ok", fills }, { "questions_bad", questions },
         { "use_ok", use<true> }, { "use_bad", use<false> })
