// regen: -arch=sm_90 -rdc=true
// Kernels that launch kernels (dynamic parallelism): what orders them with what they launch, and what does not.

__global__ void add(int *p, int by)
{
    p[threadIdx.x] += by;
}

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}

// What is written before the launch is there: by the thread that launches, and behind a barrier by all.
extern "C" __global__ void fills(int *p)
{
    p[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) add<<<1, 64>>>(p, 100);
}

extern "C" __global__ void fills_late(int *p)
{
    p[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) add<<<1, 64>>>(p, 100); // the other threads may write later
}

// The result of a launched kernel is for a tail launch, or for the host.
extern "C" __global__ void then(int *p, int *q)
{
    if (threadIdx.x == 0) {
        add<<<1, 64>>>(p, 1);
        add<<<1, 64>>>(p, 2); // the same stream: after the first
        copy<<<1, 64, 0, cudaStreamTailLaunch>>>(q, p);
    }
}

extern "C" __global__ void then_reads(int *p, int *q)
{
    if (threadIdx.x == 0) {
        add<<<1, 64>>>(p, 1);
        q[0] = p[0]; // before or after the addition
    }
}

extern "C" __global__ void then_fires(int *p)
{
    if (threadIdx.x == 0) {
        add<<<1, 64, 0, cudaStreamFireAndForget>>>(p, 1);
        add<<<1, 64, 0, cudaStreamFireAndForget>>>(p, 2); // the two run in any order, or at once
    }
}

// Each block has a default stream of its own.
extern "C" __global__ void blocks(int *p)
{
    if (threadIdx.x == 0) add<<<1, 64>>>(p, 1);
}

// A stream of the device and an event, which orders two of them.
template <bool WAIT> __device__ void two_streams(int *p)
{
    cudaStream_t one, two;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    add<<<1, 64, 0, one>>>(p, 1);
    cudaEventRecord(done, one);
    if (WAIT) cudaStreamWaitEvent(two, done, 0);
    add<<<1, 64, 0, two>>>(p, 2);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaEventDestroy(done);
}

extern "C" __global__ void streams(int *p) { two_streams<true>(p); }
extern "C" __global__ void streams_apart(int *p) { two_streams<false>(p); }

// One kernel launches the next, down to a depth; the last one writes where it is.
extern "C" __global__ void nest(int *p, int depth)
{
    p[depth] = depth;
    if (depth) nest<<<1, 1>>>(p, depth - 1);
    else p[63] = (int)cudaGetLastError();
}

extern "C" __global__ void nest_deep(int *p, int depth)
{
    p[0]++;
    if (depth) nest_deep<<<1, 1>>>(p, depth - 1);
    if (cudaPeekAtLastError() != cudaSuccess) p[1] = (int)cudaGetLastError();
}

// A loop by tail launches: each begins when the one before has ended, however many.
extern "C" __global__ void loop(int *p, int left)
{
    p[0] += left;
    if (left) loop<<<1, 1, 0, cudaStreamTailLaunch>>>(p, left - 1);
}

// Launches that a device refuses, and what the thread is told.
extern "C" __global__ void refused(int *p)
{
    add<<<1, 2000>>>(p, 1);
    p[0] = (int)cudaGetLastError();
    p[1] = (int)cudaGetLastError();
    add<<<0, 64>>>(p, 1);
    p[2] = (int)cudaPeekAtLastError();
    add<<<1, 64, 1 << 20>>>(p, 1);
    p[3] = (int)cudaGetLastError();
    cudaStream_t s;
    p[4] = (int)cudaStreamCreateWithFlags(&s, cudaStreamDefault);
}

// A launched kernel with a bug: the report names the line that launches.
__global__ void outside(int *p, int n)
{
    p[n + threadIdx.x] = 1;
}

extern "C" __global__ void launches_outside(int *p)
{
    if (threadIdx.x == 0) outside<<<1, 4>>>(p, 62);
}
