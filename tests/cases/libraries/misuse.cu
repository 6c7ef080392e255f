// One mistake a run, or its right twin: misuse NAME bad|ok
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cublas_v2.h>

static const int n = 64, bytes = n * n * sizeof(float);
static float *A, *B, *C;
static cublasHandle_t h;
static cudaStream_t one, two;
static bool bad;
static const float alpha = 1, zero = 0;

__global__ void fill(float *p, float v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
static void fill_all(float *p, float v, cudaStream_t s) { fill<<<n * n / 256, 256, 0, s>>>(p, v); }

static cublasStatus_t product(int rows, int columns, const float *a, int lda, const float *b, float beta, float *c)
{
    return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, rows, columns, n, &alpha, a, lda, b, n, &beta, c, rows > 0 ? rows : 1);
}

// ---- arguments ----
static cublasStatus_t by_rows() // A is 64 x 16, B 16 x 64, both by rows
{
    const cublasOperation_t N = CUBLAS_OP_N;
    if (bad) return cublasSgemm(h, N, N, 64, 64, 16, &alpha, A, 16, B, 64, &zero, C, 64);
    return cublasSgemm(h, N, N, 64, 64, 16, &alpha, B, 64, A, 16, &zero, C, 64);
}
static cublasStatus_t negative() { return product(bad ? -64 : 64, 64, A, n, B, 0, C); }
static cublasStatus_t no_handle()
{
    float sum;
    return cublasSasum(bad ? NULL : h, n, A, 1, &sum);
}
static cublasStatus_t ended_handle()
{
    cublasHandle_t other;
    cublasCreate(&other);
    if (bad) cublasDestroy(other);
    cublasStatus_t s = cublasSscal(other, n, &alpha, A, 1);
    if (!bad) cublasDestroy(other);
    return s;
}
static cublasStatus_t pointer_mode() // alpha is a variable of the host
{
    if (bad) cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    return cublasSaxpy(h, n, &alpha, A, 1, C, 1);
}
static cublasStatus_t result_mode() // the result is on the device
{
    if (!bad) cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    return cublasSdot(h, n, A, 1, B, 1, C);
}
static cublasStatus_t in_place() // a transposition over itself
{
    return cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &alpha, A, n, &zero, B, n, bad ? A : C, n);
}
static cublasStatus_t captured() // a graph cannot hand a number to the host
{
    cudaGraph_t g;
    float sum;
    if (!bad) cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
    cudaDeviceSynchronize();
    cublasSetStream(h, one);
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    cublasStatus_t s = cublasSasum(h, n, A, 1, bad ? &sum : C);
    cudaStreamEndCapture(one, &g);
    cudaGraphDestroy(g);
    return s;
}

// ---- memory ----
static cublasStatus_t outside() { return product(64, bad ? 65 : 64, A, n, A, 0, C); }
static cublasStatus_t freed()
{
    float *D;
    cudaMalloc(&D, bytes);
    fill_all(D, 1, 0);
    cudaDeviceSynchronize();
    if (bad) cudaFree(D);
    cublasStatus_t s = product(64, 64, D, n, B, 0, C);
    if (!bad) cudaFree(D);
    return s;
}
static cublasStatus_t freed_in_stream()
{
    float *D;
    cublasSetStream(h, one);
    cudaMallocAsync(&D, bytes, one);
    fill_all(D, 1, one);
    if (bad) cudaFreeAsync(D, one);
    cublasStatus_t s = product(64, 64, D, n, A, 0, C);
    if (!bad) cudaFreeAsync(D, one);
    return s;
}
static cublasStatus_t of_host()
{
    float *D = (float *)malloc(bytes);
    cublasStatus_t s = product(64, 64, bad ? D : A, n, B, 0, C);
    cudaDeviceSynchronize();
    free(D);
    return s;
}
static cublasStatus_t pointers() // the third matrix of four is nowhere
{
    float *list[4] = { C, C + n, C + 2 * n, C + 3 * n }, **device;
    const float *in[4] = { A, A, bad ? (float *)16 : A, A }, **inputs;
    cudaMalloc(&device, sizeof list);
    cudaMalloc(&inputs, sizeof in);
    cudaMemcpy(device, list, sizeof list, cudaMemcpyHostToDevice);
    cudaMemcpy(inputs, in, sizeof in, cudaMemcpyHostToDevice);
    cublasStatus_t s = cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &alpha, inputs, 8, inputs, 8, &zero, device,
                                          8, 4);
    cudaDeviceSynchronize();
    cudaFree(device);
    cudaFree(inputs);
    return s;
}

// ---- values and streams ----
static cublasStatus_t unfilled()
{
    float *D;
    cudaMalloc(&D, bytes);
    if (!bad) fill_all(D, 1, 0);
    cublasStatus_t s = product(64, 64, A, n, D, 0, C);
    cudaDeviceSynchronize();
    cudaFree(D);
    return s;
}
static cublasStatus_t added() // beta 1 reads the result
{
    float *D;
    cudaMalloc(&D, bytes);
    cublasStatus_t s = product(64, 64, A, n, B, bad ? 1 : 0, D);
    cudaDeviceSynchronize();
    cudaFree(D);
    return s;
}
static cublasStatus_t no_event_before()
{
    cudaEvent_t e;
    cudaEventCreate(&e);
    fill_all(C, 2, one);
    cudaEventRecord(e, one);
    if (!bad) cudaStreamWaitEvent(two, e, 0);
    cublasSetStream(h, two);
    cublasStatus_t s = product(64, 64, C, n, A, 0, B);
    cudaDeviceSynchronize();
    cudaEventDestroy(e);
    return s;
}
static cublasStatus_t no_event_after()
{
    cublasSetStream(h, one);
    cublasStatus_t s = product(64, 64, A, n, B, 0, C);
    if (!bad) cudaStreamSynchronize(one);
    fill_all(C, 5, two);
    return s;
}
static cublasStatus_t workspace() // two handles, two streams
{
    cublasHandle_t g;
    void *w, *v;
    cudaMalloc(&w, 1 << 20);
    cudaMalloc(&v, 1 << 20);
    cublasCreate(&g);
    cublasSetStream(h, one);
    cublasSetStream(g, two);
    cublasSetWorkspace(h, w, 1 << 20);
    cublasSetWorkspace(g, bad ? w : v, 1 << 20);
    cublasStatus_t s = product(64, 64, A, n, B, 0, C);
    float *D;
    cudaMalloc(&D, bytes);
    cublasSgemm(g, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, A, n, B, n, &zero, D, n);
    cudaDeviceSynchronize();
    cublasDestroy(g);
    cudaFree(D);
    cudaFree(v);
    cudaFree(w);
    return s;
}
static cublasStatus_t kept()
{
    cublasHandle_t g;
    cublasStatus_t s = cublasCreate(&g);
    if (!bad) cublasDestroy(g);
    return s;
}

int main(int, char **argv)
{
#define ROW(name) { #name, name }
    static const struct {
        const char *name;
        cublasStatus_t (*run)();
    } rows[] = { ROW(by_rows),    ROW(negative), ROW(no_handle),       ROW(ended_handle),   ROW(pointer_mode),
                 ROW(result_mode), ROW(in_place), ROW(captured),        ROW(outside),        ROW(freed),
                 ROW(freed_in_stream), ROW(of_host), ROW(pointers),    ROW(unfilled),       ROW(added),
                 ROW(no_event_before), ROW(no_event_after), ROW(workspace), ROW(kept) };
    bad = !strcmp(argv[2], "bad");
    cudaMalloc(&A, bytes);
    cudaMalloc(&B, bytes);
    cudaMalloc(&C, bytes);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cublasCreate(&h);
    fill_all(A, 1, 0);
    fill_all(B, 2, 0);
    fill_all(C, 3, 0);
    cudaDeviceSynchronize();
    for (auto &r : rows)
        if (!strcmp(argv[1], r.name)) printf("%s\n", cublasGetStatusName(r.run()));
    cudaDeviceSynchronize();
    cublasDestroy(h);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
}
// regen: no
