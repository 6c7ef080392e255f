// A graph that is captured over two streams, and one that is built node by node and changed; what it took it does not give back.
// regen: no
#include <cstdio>
__global__ void add(int *x, int v) { x[threadIdx.x] += v; }
__global__ void mul(int *x, int v) { x[threadIdx.x] *= v; }
static void CUDART_CB said(void *p) { ++*(int *)p; }
static volatile bool opened;
static void CUDART_CB wait_open(void *) { while (!opened) { } }
#define C(x) do { cudaError_t err_ = x; if (err_) printf("%s: %s\n", #x, cudaGetErrorString(err_)); } while (0)
int main()
{
    int *x, h[32], calls = 0; C(cudaMalloc(&x, 128)); C(cudaMemset(x, 0, 128));
    cudaStream_t s, t; C(cudaStreamCreate(&s)); C(cudaStreamCreate(&t)); cudaEvent_t e; C(cudaEventCreate(&e));
    C(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, 32, 0, s>>>(x, 1);
    C(cudaEventRecord(e, s)); C(cudaStreamWaitEvent(t, e, 0));
    mul<<<1, 32, 0, t>>>(x, 3);
    C(cudaEventRecord(e, t)); C(cudaStreamWaitEvent(s, e, 0));
    C(cudaLaunchHostFunc(s, said, &calls));
    cudaGraph_t g; C(cudaStreamEndCapture(s, &g)); cudaGraphExec_t q; C(cudaGraphInstantiate(&q, g, 0));
    for (int i = 0; i < 3; i++) C(cudaGraphLaunch(q, s));
    C(cudaMemcpyAsync(h, x, 128, cudaMemcpyDeviceToHost, s)); C(cudaStreamSynchronize(s));
    printf("%d (39), %d calls\n", h[31], calls);
    cudaGraph_t b; C(cudaGraphCreate(&b, 0)); cudaGraphNode_t n1, n2, n3; int v = 5; void *args[] = {&x, &v};
    cudaKernelNodeParams k = {}; k.func = (void *)add; k.gridDim = dim3(1); k.blockDim = dim3(32); k.kernelParams = args;
    cudaMemsetParams m = {}; m.dst = x; m.value = 0; m.elementSize = 4; m.width = 32; m.height = 1;
    C(cudaGraphAddMemsetNode(&n1, b, nullptr, 0, &m)); C(cudaGraphAddKernelNode(&n2, b, &n1, 1, &k)); C(cudaGraphAddMemcpyNode1D(&n3, b, &n2, 1, h, x, 128, cudaMemcpyDeviceToHost));
    cudaGraphExec_t r; C(cudaGraphInstantiate(&r, b, 0)); C(cudaGraphLaunch(r, s)); C(cudaStreamSynchronize(s)); printf("%d (5)\n", h[3]);
    v = 7; C(cudaGraphExecKernelNodeSetParams(r, n2, &k)); C(cudaGraphLaunch(r, s)); C(cudaStreamSynchronize(s)); printf("%d (7)\n", h[3]);
    size_t nodes = 0; C(cudaGraphGetNodes(b, nullptr, &nodes)); printf("%zu nodes\n", nodes);
    // Memory of a node is there from one launch of its graph to the free: a kernel behind the next launch may be issued while that still waits.
    cudaMemAllocNodeParams a = {}; a.poolProps.allocType = cudaMemAllocationTypePinned; a.poolProps.location = {cudaMemLocationTypeDevice, 0}; a.bytesize = 128;
    cudaGraph_t o; cudaGraphNode_t n4, n5; C(cudaGraphCreate(&o, 0)); C(cudaGraphAddMemAllocNode(&n4, o, nullptr, 0, &a));
    int *y = (int *)a.dptr; m.dst = y; C(cudaGraphAddMemsetNode(&n5, o, &n4, 1, &m));
    cudaGraphExec_t p; C(cudaGraphInstantiate(&p, o, 0));
    for (int i = 0; i < 2; i++) {
        opened = false;
        C(cudaLaunchHostFunc(s, wait_open, nullptr)); C(cudaGraphLaunch(p, s));
        add<<<1, 32, 0, s>>>(y, 4);
        C(cudaFreeAsync(y, s));
        opened = true; C(cudaStreamSynchronize(s)); // a copy to pageable memory would wait, too
    }
    C(cudaGraphExecDestroy(p)); C(cudaGraphDestroy(o));
    return 0;
}
