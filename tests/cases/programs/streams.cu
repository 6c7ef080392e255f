// regen: no
// Programs over streams, events, copies and pools, each beside the twin that leaves out what orders it.
#include "programs.h"
#include <cuda_runtime.h>

enum { N = 1024, BYTES = N * 4 };

__global__ void fill(int *x, int v) { x[blockIdx.x * blockDim.x + threadIdx.x] = v + blockIdx.x * blockDim.x + threadIdx.x; }
__global__ void twice(const int *x, int *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = 2 * x[i]; }
__global__ void rows(int *x, size_t pitch, int width) { ((int *)((char *)x + pitch * blockIdx.x))[threadIdx.x] = blockIdx.x * width + threadIdx.x; }

static int right(const int *x, int v, int k)
{
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += x[i] != k * (v + i);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}

// a producer and a consumer in two streams
static int event(bool ordered)
{
    int *x, *y, *h = (int *)malloc(BYTES);
    cudaStream_t a, b;
    cudaEvent_t done;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMalloc(&y, BYTES));
    TRY(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)); TRY(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    fill<<<N / 128, 128, 0, a>>>(x, 7);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(done, a));
    if (ordered) TRY(cudaStreamWaitEvent(b, done, 0));
    twice<<<N / 128, 128, 0, b>>>(x, y);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(h, y, BYTES, cudaMemcpyDeviceToHost));
    int r = ordered ? right(h, 7, 2) : 0;
    TRY(cudaEventDestroy(done)); TRY(cudaStreamDestroy(a)); TRY(cudaStreamDestroy(b)); TRY(cudaFree(x)); TRY(cudaFree(y));
    free(h);
    return r;
}
static int event_ok() { return event(true); }
static int event_bad() { return event(false); }

// the host reads pinned memory that a copy fills
static int read(bool synchronised)
{
    int *x, *h;
    cudaStream_t s;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMallocHost(&h, BYTES)); TRY(cudaStreamCreate(&s));
    memset(h, 0, BYTES);
    fill<<<N / 128, 128, 0, s>>>(x, 3);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(h, x, BYTES, cudaMemcpyDeviceToHost, s));
    if (synchronised) TRY(cudaStreamSynchronize(s));
    int first = h[0] == 3 || !synchronised;
    printf("read %s\n", first ? "it" : "the old value");
    TRY(cudaStreamSynchronize(s));
    int r = right(h, 3, 1);
    TRY(cudaStreamDestroy(s)); TRY(cudaFree(x)); TRY(cudaFreeHost(h));
    return r || !first;
}
static int read_ok() { return read(true); }
static int read_bad() { return read(false); }

// the source of a copy is changed while the copy may still read it
static int source(bool synchronised)
{
    int *x, *h, out = 0;
    cudaStream_t s;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMallocHost(&h, BYTES)); TRY(cudaStreamCreate(&s));
    for (int i = 0; i < N; i++) h[i] = i;
    TRY(cudaMemcpyAsync(x, h, BYTES, cudaMemcpyHostToDevice, s));
    if (synchronised) TRY(cudaStreamSynchronize(s));
    memset(h, 0xff, BYTES);
    TRY(cudaStreamSynchronize(s));
    TRY(cudaMemcpy(&out, x + 5, 4, cudaMemcpyDeviceToHost));
    if (synchronised) printf("%d\n", out);
    TRY(cudaStreamDestroy(s)); TRY(cudaFree(x)); TRY(cudaFreeHost(h));
    return 0;
}
static int source_ok() { return source(true); }
static int source_bad() { return source(false); }

// rows with a pitch, and a kernel that takes the width for it
static int pitch(bool given)
{
    int *x, h[8 * 100];
    size_t bytes;
    TRY(cudaMallocPitch(&x, &bytes, 100 * 4, 8));
    rows<<<8, 100>>>(x, given ? bytes : 100 * 4, 100);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy2D(h, 100 * 4, x, bytes, 100 * 4, 8, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < 8 * 100 && given; i++) wrong += h[i] != i;
    if (given) printf("%d wrong\n", wrong);
    else {
        int sum = 0, *y;
        TRY(cudaMalloc(&y, 4)); // the rows that nobody wrote are used
        TRY(cudaMemcpy(y, &h[799], 4, cudaMemcpyHostToDevice));
        twice<<<1, 1>>>(x + 7 * bytes / 4 + 99, y);
        TRY(cudaMemcpy(&sum, y, 4, cudaMemcpyDeviceToHost));
        TRY(cudaFree(y));
    }
    TRY(cudaFree(x));
    return wrong != 0;
}
static int pitch_ok() { return pitch(true); }
static int pitch_bad() { return pitch(false); }

// memory that a kernel uses behind its free
static int freed(bool before)
{
    int *x, h = 0;
    TRY(cudaMalloc(&x, BYTES));
    if (!before) {
        TRY(cudaFree(x));
        fill<<<N / 128, 128>>>(x, 1);
        cudaDeviceSynchronize();
        return 0;
    }
    fill<<<N / 128, 128>>>(x, 1);
    TRY(cudaMemcpy(&h, x + 9, 4, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    printf("%d\n", h);
    return h != 10;
}
static int freed_ok() { return freed(true); }
static int freed_bad() { return freed(false); }

// freed in one stream, used in another
static int free_async(bool ordered)
{
    int *x;
    cudaStream_t a, b;
    cudaEvent_t used;
    TRY(cudaStreamCreate(&a)); TRY(cudaStreamCreate(&b)); TRY(cudaEventCreate(&used));
    TRY(cudaMallocAsync((void **)&x, BYTES, a));
    TRY(cudaStreamSynchronize(a));
    fill<<<N / 128, 128, 0, b>>>(x, 1);
    TRY(cudaEventRecord(used, b));
    if (ordered) TRY(cudaStreamWaitEvent(a, used, 0));
    TRY(cudaFreeAsync(x, a));
    TRY(cudaDeviceSynchronize());
    TRY(cudaEventDestroy(used)); TRY(cudaStreamDestroy(a)); TRY(cudaStreamDestroy(b));
    printf("done\n");
    return 0;
}
static int free_async_ok() { return free_async(true); }
static int free_async_bad() { return free_async(false); }

// allocated in one stream, used in another
static int pool(bool ordered)
{
    int *x, h = 0;
    cudaStream_t a, b;
    cudaEvent_t made;
    TRY(cudaStreamCreate(&a)); TRY(cudaStreamCreate(&b)); TRY(cudaEventCreate(&made));
    TRY(cudaMallocAsync((void **)&x, BYTES, a));
    TRY(cudaEventRecord(made, a));
    if (ordered) TRY(cudaStreamWaitEvent(b, made, 0));
    fill<<<N / 128, 128, 0, b>>>(x, 1);
    TRY(cudaMemcpyAsync(&h, x + 4, 4, cudaMemcpyDeviceToHost, b));
    TRY(cudaFreeAsync(x, b));
    TRY(cudaDeviceSynchronize());
    if (ordered) printf("%d\n", h);
    TRY(cudaEventDestroy(made)); TRY(cudaStreamDestroy(a)); TRY(cudaStreamDestroy(b));
    return 0;
}
static int pool_ok() { return pool(true); }
static int pool_bad() { return pool(false); }

// what is never freed
static int leak(bool cleaned)
{
    int *x;
    cudaStream_t s;
    cudaEvent_t e;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaStreamCreate(&s)); TRY(cudaEventCreate(&e));
    fill<<<N / 128, 128, 0, s>>>(x, 1);
    TRY(cudaStreamSynchronize(s));
    if (cleaned) { TRY(cudaFree(x)); TRY(cudaStreamDestroy(s)); TRY(cudaEventDestroy(e)); }
    printf("done\n");
    return 0;
}
static int leak_ok() { return leak(true); }
static int leak_bad() { return leak(false); }

// managed memory that the host reads
static int managed(bool synchronised)
{
    int *x;
    TRY(cudaMallocManaged(&x, BYTES));
    fill<<<N / 128, 128>>>(x, 6);
    TRY(cudaGetLastError());
    if (synchronised) TRY(cudaDeviceSynchronize());
    int v = x[3];
    TRY(cudaDeviceSynchronize());
    if (synchronised) printf("%d\n", v);
    TRY(cudaFree(x));
    return 0;
}
static int managed_ok() { return managed(true); }
static int managed_bad() { return managed(false); }

// a stream that does not wait for the default stream, and one that does
static int default_stream(bool blocking)
{
    int *x, *y, *h = (int *)malloc(BYTES);
    cudaStream_t s;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMalloc(&y, BYTES));
    TRY(cudaStreamCreateWithFlags(&s, blocking ? cudaStreamDefault : cudaStreamNonBlocking));
    fill<<<N / 128, 128>>>(x, 2);
    twice<<<N / 128, 128, 0, s>>>(x, y);
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(h, y, BYTES, cudaMemcpyDeviceToHost));
    int r = blocking ? right(h, 2, 2) : 0;
    TRY(cudaStreamDestroy(s)); TRY(cudaFree(x)); TRY(cudaFree(y));
    free(h);
    return r;
}
static int default_stream_ok() { return default_stream(true); }
static int default_stream_bad() { return default_stream(false); }

// a host function behind a kernel
static int *called_with;
static void CUDART_CB call(void *sum) { for (int i = 0; i < N; i++) *(long *)sum += called_with[i]; }
static int callback_ok()
{
    static long sum;
    cudaStream_t s;
    TRY(cudaHostAlloc(&called_with, BYTES, cudaHostAllocMapped));
    TRY(cudaStreamCreate(&s));
    fill<<<N / 128, 128, 0, s>>>(called_with, 0);
    TRY(cudaLaunchHostFunc(s, call, &sum));
    TRY(cudaStreamSynchronize(s));
    printf("%ld\n", sum);
    TRY(cudaStreamDestroy(s)); TRY(cudaFreeHost(called_with));
    return 0;
}

// a set of bytes beside a kernel that writes the same ones
static int set(bool ordered)
{
    int *x, h = 1;
    cudaStream_t a, b;
    TRY(cudaMalloc(&x, BYTES));
    TRY(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)); TRY(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    TRY(cudaMemsetAsync(x, 0, BYTES, a));
    fill<<<N / 128, 128, 0, ordered ? a : b>>>(x, 8);
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost));
    if (ordered) printf("%d\n", h);
    TRY(cudaStreamDestroy(a)); TRY(cudaStreamDestroy(b)); TRY(cudaFree(x));
    return 0;
}
static int set_ok() { return set(true); }
static int set_bad() { return set(false); }

// an event that is asked until it has happened, and one that is asked once
static int query(bool until)
{
    int *x, *h;
    cudaEvent_t e;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMallocHost(&h, BYTES)); TRY(cudaEventCreate(&e));
    fill<<<N / 128, 128>>>(x, 3);
    TRY(cudaMemcpyAsync(h, x, BYTES, cudaMemcpyDeviceToHost, 0));
    TRY(cudaEventRecord(e, 0));
    while (until && cudaEventQuery(e) == cudaErrorNotReady) {}
    int v = h[11];
    TRY(cudaDeviceSynchronize());
    if (until) printf("%d\n", v);
    TRY(cudaEventDestroy(e)); TRY(cudaFree(x)); TRY(cudaFreeHost(h));
    return 0;
}
static int query_ok() { return query(true); }
static int query_bad() { return query(false); }

// the same memory freed twice
static int twice_freed(bool once)
{
    int *x;
    TRY(cudaMalloc(&x, BYTES));
    TRY(cudaFree(x));
    printf("%s\n", once ? "-" : cudaGetErrorName(cudaFree(x)));
    return 0;
}
static int twice_freed_ok() { return twice_freed(true); }
static int twice_freed_bad() { return twice_freed(false); }

// a copy that is larger than what it fills
static int copy_size(bool fits)
{
    int *x, h[N + 1] = { 0 };
    TRY(cudaMalloc(&x, BYTES));
    printf("%s\n", cudaGetErrorName(cudaMemcpy(x, h, BYTES + (fits ? 0 : 4), cudaMemcpyHostToDevice)));
    TRY(cudaFree(x));
    return 0;
}
static int copy_size_ok() { return copy_size(true); }
static int copy_size_bad() { return copy_size(false); }

// memory of the host that is registered and written by a kernel
static int registered_ok()
{
    int *h = (int *)aligned_alloc(4096, BYTES), *x;
    TRY(cudaHostRegister(h, BYTES, cudaHostRegisterMapped));
    TRY(cudaHostGetDevicePointer(&x, h, 0));
    fill<<<N / 128, 128>>>(x, 5);
    TRY(cudaDeviceSynchronize());
    printf("%d\n", h[2]);
    TRY(cudaHostUnregister(h));
    free(h);
    return 0;
}

// priorities, elapsed time, a stream that waits for many
static int join_ok()
{
    enum { S = 6 };
    int *x, *h = (int *)malloc(S * BYTES), low, high, wrong = 0;
    float ms;
    cudaStream_t s[S], last;
    cudaEvent_t e[S], begin, end;
    TRY(cudaDeviceGetStreamPriorityRange(&low, &high));
    TRY(cudaMalloc(&x, S * BYTES)); TRY(cudaStreamCreate(&last)); TRY(cudaEventCreate(&begin)); TRY(cudaEventCreate(&end));
    TRY(cudaEventRecord(begin, last));
    for (int i = 0; i < S; i++) {
        TRY(cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i % 2 ? low : high));
        TRY(cudaEventCreateWithFlags(&e[i], cudaEventDisableTiming));
        fill<<<N / 128, 128, 0, s[i]>>>(x + i * N, i);
        TRY(cudaEventRecord(e[i], s[i])); TRY(cudaStreamWaitEvent(last, e[i], 0));
    }
    TRY(cudaMemcpyAsync(h, x, S * BYTES, cudaMemcpyDeviceToHost, last));
    TRY(cudaEventRecord(end, last)); TRY(cudaEventSynchronize(end));
    TRY(cudaEventElapsedTime(&ms, begin, end));
    for (int i = 0; i < S * N; i++) wrong += h[i] != i / N + i % N;
    printf("%d wrong, %s\n", wrong, ms >= 0 ? "timed" : "negative");
    for (int i = 0; i < S; i++) { TRY(cudaStreamDestroy(s[i])); TRY(cudaEventDestroy(e[i])); }
    TRY(cudaStreamDestroy(last)); TRY(cudaEventDestroy(begin)); TRY(cudaEventDestroy(end)); TRY(cudaFree(x));
    free(h);
    return wrong != 0;
}

#define ONE(name) { #name, name }
PROGRAMS(ONE(event_ok), ONE(event_bad), ONE(read_ok), ONE(read_bad), ONE(source_ok), ONE(source_bad), ONE(pitch_ok), ONE(pitch_bad),
         ONE(freed_ok), ONE(freed_bad), ONE(free_async_ok), ONE(free_async_bad), ONE(pool_ok), ONE(pool_bad), ONE(leak_ok), ONE(leak_bad),
         ONE(managed_ok), ONE(managed_bad), ONE(default_stream_ok), ONE(default_stream_bad), ONE(callback_ok), ONE(set_ok), ONE(set_bad), ONE(query_ok), ONE(query_bad),
         ONE(twice_freed_ok), ONE(twice_freed_bad), ONE(copy_size_ok), ONE(copy_size_bad), ONE(registered_ok), ONE(join_ok))
