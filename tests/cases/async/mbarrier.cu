// mbarriers used against their rules, one kernel each, and the same done right. Shared addresses are 32 bits.
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
__device__ void init(unsigned long long *b, unsigned n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ADDR(b)), "r"(n) : "memory"); }
__device__ void inval(unsigned long long *b) { asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(ADDR(b)) : "memory"); }
__device__ unsigned long long arrive(unsigned long long *b)
{
    unsigned long long s;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(s) : "r"(ADDR(b)) : "memory");
    return s;
}
__device__ void wait_parity(unsigned long long *b, unsigned parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(ADDR(b)), "r"(parity) : "memory");
}
__global__ void not_initialised(int *out)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0 && out[0])                     // out[0] is 0
        init(&bar, 64);
    __syncthreads();
    arrive(&bar);
}
__global__ void twice(int *out)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x % 32 == 0)                          // one thread of each warp
        init(&bar, 64);
    __syncthreads();
    arrive(&bar);
    wait_parity(&bar, 0);
    out[threadIdx.x] = 1;
}
__global__ void overwritten(const int *in, int *out)
{
    __shared__ struct { int sum[2]; unsigned long long bar; } s;
    if (threadIdx.x == 0)
        init(&s.bar, 64);
    __syncthreads();
    int *sum = s.sum;
    if (threadIdx.x == 0)
        for (int k = 0; k < 3; k++)                     // two sums: the third lies in the mbarrier
            sum[k] = in[k];
    __syncthreads();
    arrive(&s.bar);
    wait_parity(&s.bar, 0);
    out[threadIdx.x] = sum[threadIdx.x % 2];
}
__global__ void reused(const int *in, int *out)
{
    __shared__ union { unsigned long long bar; int data[2]; } s;
    if (threadIdx.x == 0)
        init(&s.bar, 64);
    __syncthreads();
    arrive(&s.bar);
    wait_parity(&s.bar, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        inval(&s.bar);
        s.data[0] = s.data[1] = in[0];
    }
    __syncthreads();
    out[threadIdx.x] = s.data[threadIdx.x % 2];
}
__global__ void too_many(int *out)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0)
        init(&bar, 40);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0], 32; }" ::"r"(ADDR(&bar)) : "memory");
    wait_parity(&bar, 0);
    out[threadIdx.x] = 1;
}
__global__ void too_few(int *out)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0)
        init(&bar, 65);                                 // the block has 64
    __syncthreads();
    arrive(&bar);
    wait_parity(&bar, 0);
    out[threadIdx.x] = 1;
}
__global__ void wrong_parity(int *out)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0)
        init(&bar, 64);
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        arrive(&bar);
        wait_parity(&bar, 1 - k % 2);                   // of the phase before: waits for nothing, then for ever
    }
    out[threadIdx.x] = 1;
}
__global__ void wait_missing(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    if (threadIdx.x == 0)
        init(&bar, 64);
    __syncthreads();
    s[threadIdx.x] = in[threadIdx.x];
    arrive(&bar);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void right(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    for (int round = 0; round < 2; round++) {
        if (threadIdx.x == 0)
            init(&bar, 64);
        __syncthreads();
        for (int k = 0; k < 4; k++) {
            s[threadIdx.x] = in[threadIdx.x] + k;
            arrive(&bar);
            wait_parity(&bar, 2 * k % 2);
            out[threadIdx.x] = s[63 - threadIdx.x];
            arrive(&bar);
            wait_parity(&bar, (2 * k + 1) % 2);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            inval(&bar);
    }
}
