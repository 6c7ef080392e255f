// Functions that call themselves, to another depth in every lane.
__device__ __noinline__ int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
extern "C" __global__ void fibonacci(int *out)
{
    out[threadIdx.x] = fib(threadIdx.x % 16);
}

__device__ __noinline__ int ack(int m, int n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ack(m - 1, 1);
    return ack(m - 1, ack(m, n - 1));
}
extern "C" __global__ void ackermann(int *out)      // lane = 6 m + n, m 0..2, n 0..5
{
    if (threadIdx.x < 18)
        out[threadIdx.x] = ack(threadIdx.x / 6, threadIdx.x % 6);
}

// Mutual recursion, with an array in every frame.
__device__ __noinline__ int odd(int n, const int *from);
__device__ __noinline__ int even(int n, const int *from)
{
    int frame[4];
    for (int i = 0; i < 4; i++)
        frame[i] = from[(i + 1) % 4] + i;
    return n == 0 ? frame[0] : odd(n - 1, frame) + frame[n % 4];
}
__device__ __noinline__ int odd(int n, const int *from)
{
    int frame[4];
    for (int i = 0; i < 4; i++)
        frame[i] = from[i] ^ n;
    return n == 0 ? frame[1] : even(n - 1, frame) - frame[n % 4];
}
extern "C" __global__ void mutual(int *out)
{
    int start[4] = {1, 2, 3, 4};
    out[threadIdx.x] = even(threadIdx.x % 12, start);
}
