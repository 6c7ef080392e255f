// Calls through pointers: from a table, the same for the warp or another one in every lane, and as an argument.
typedef int (*op)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int sub(int a, int b) { return a - b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ __noinline__ int sum_to(int a, int b)    // a loop, so that the targets differ in length
{
    int s = 0;
    for (int i = 0; i < a % 8; i++)
        s += i * b;
    return s;
}
__device__ op table[4] = {add, sub, mul, sum_to};

extern "C" __global__ void call_uniform(int *out, int which)
{
    out[threadIdx.x] = table[which](threadIdx.x, 7);
}

extern "C" __global__ void call_divergent(int *out)
{
    int t = threadIdx.x;
    out[t] = table[t % 4](t, 7);
}

// The target may diverge as well, and the calls nest.
__device__ __noinline__ int twice(op f, int a)
{
    return f(f(a, 3), 3);
}
extern "C" __global__ void call_nested(int *out)
{
    int t = threadIdx.x;
    op f = t & 1 ? table[t / 2 % 4] : table[3 - t / 2 % 4];
    int v = twice(f, t);
    __syncthreads();
    out[t] = v;
}
