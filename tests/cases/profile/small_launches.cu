// regen: no
// Twenty small kernels in a row, ten times. bad: a launch each. ok: captured once as a graph, which is launched ten times. Two branches of the graph run side by side, and join.
#include <cstdio>
#include <cstring>

__global__ void step(float *x, int k)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    x[i] = x[i] * 0.5f + k;
}

enum { N = 1 << 14, STEPS = 20, TIMES = 10 };

static void enqueue(float *x, float *y, cudaStream_t one, cudaStream_t two, cudaEvent_t fork, cudaEvent_t join)
{
    cudaEventRecord(fork, one);
    cudaStreamWaitEvent(two, fork, 0);
    for (int k = 0; k < STEPS / 2; k++) {
        step<<<N / 256, 256, 0, one>>>(x, k);
        step<<<N / 256, 256, 0, two>>>(y, k);
    }
    cudaEventRecord(join, two);
    cudaStreamWaitEvent(one, join, 0);
}

int main(int argc, char **argv)
{
    float *x, *y, first;
    cudaStream_t one, two;
    cudaEvent_t fork, join;
    bool bad = argc > 1 && !strcmp(argv[1], "bad");
    cudaMalloc(&x, N * sizeof *x), cudaMalloc(&y, N * sizeof *y);
    cudaMemset(x, 0, N * sizeof *x), cudaMemset(y, 0, N * sizeof *y);
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreate(&fork), cudaEventCreate(&join);
    cudaDeviceSynchronize();
    if (bad) {
        for (int t = 0; t < TIMES; t++) enqueue(x, y, one, two, fork, join);
    } else {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
        enqueue(x, y, one, two, fork, join);
        cudaStreamEndCapture(one, &graph);
        cudaGraphInstantiate(&exec, graph, 0);
        for (int t = 0; t < TIMES; t++) cudaGraphLaunch(exec, one);
        cudaStreamSynchronize(one);
        cudaGraphExecDestroy(exec), cudaGraphDestroy(graph);
    }
    cudaStreamSynchronize(one);
    cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
    printf("%g\n", first);
    cudaFree(x), cudaFree(y);
    cudaEventDestroy(fork), cudaEventDestroy(join), cudaStreamDestroy(one), cudaStreamDestroy(two);
}
