// regen: -arch=sm_90 -rdc=true
// Events of the device, recorded and waited for more often than anybody needs to.

__global__ void add(int *p, int by)
{
    p[0] += by;
}

// A stream that waits for itself, again and again: what it is after stays one launch.
extern "C" __global__ void again(int *p, int n)
{
    cudaStream_t a, b;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    add<<<1, 1, 0, a>>>(p, 1);
    cudaEventRecord(e, a);
    cudaStreamWaitEvent(b, e, 0);
    for (int i = 0; i < n; i++) {
        cudaEventRecord(e, b);
        cudaStreamWaitEvent(b, e, 0);
    }
    add<<<1, 1, 0, b>>>(p, 2);
}

// Two streams in turn, each after the other: a chain of waits as long as there are launches.
extern "C" __global__ void turns(int *p, int n)
{
    cudaStream_t s[2];
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&s[0], cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&s[1], cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    for (int i = 0; i < n; i++) {
        add<<<1, 1, 0, s[i & 1]>>>(p, 1);
        cudaEventRecord(e, s[i & 1]);
        cudaStreamWaitEvent(s[~i & 1], e, 0);
    }
}
