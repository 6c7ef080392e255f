// Kernels for programs over streams: what they share decides whether the parts of a command line have to be ordered.
extern "C" __global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}

extern "C" __global__ void add_one(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1;
}

extern "C" __global__ void even(float *x, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[i] = 1;
}

extern "C" __global__ void odd(float *x, int n)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 1;
    if (i < n)
        x[i] = 2;
}

extern "C" __global__ void count(unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[i % 16], 1);
}

// Data behind a flag, for a kernel of another stream.
extern "C" __global__ void produce(int *data, unsigned *flag)
{
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(flag, 1);
    }
}

extern "C" __global__ void consume(const int *data, unsigned *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x];
}

// The same without the fences and atomics.
extern "C" __global__ void produce_weak(int *data, volatile unsigned *flag)
{
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

// Waits until *theirs is set, then sets *mine.
extern "C" __global__ void answer(unsigned *theirs, unsigned *mine)
{
    while (atomicAdd(theirs, 0) == 0)
        ;
    atomicExch(mine, 1);
}

// Every block counts itself and waits until all of the grid have: they have to be resident together.
extern "C" __global__ void meet(unsigned *arrived)
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x)
            ;
    }
}

// Who comes last decides: no race, since both are atomic.
extern "C" __global__ void sign(unsigned *x, unsigned who)
{
    atomicExch(x, who);
}
