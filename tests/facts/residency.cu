// residency: how many CTAs a GPU holds at once, as CTAs count themselves while they wait for each other, and whether a warp that
// has left gives its room to another CTA before its own CTA ends. docs/inside/machine.md (residency) says what came out.
//
//     nvcc -arch=native -o residency residency.cu && ./residency
//
// regen: no
// One line for each limiting resource and each way of waiting: the grid, and the most that were there together.
#include <cstdio>
#include <cuda_runtime.h>

enum wait { THREAD, WARP, ALL, LANE_EACH };        // who waits: thread 0; warp 0; everybody; lane 0 of each warp. The others leave at once.
static const char *const WAIT[] = {"thread 0", "warp 0", "all", "a lane of each warp"};

__device__ unsigned arrived, together;

__device__ static unsigned long long now()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

// Thread 0 counts its CTA and waits for the rest of the grid. After 40 ms CTA 0 says how many had come, and with that all give up.
__device__ static void meet(int who)
{
    unsigned t = threadIdx.x;
    if (who == THREAD && t || who == WARP && t >= 32 || who == LANE_EACH && t % 32) return;
    if (t == 0) {
        unsigned long long start = now();
        atomicAdd(&arrived, 1);
        if (blockIdx.x == 0) {
            while (now() - start < 40000000) ;
            *(volatile unsigned *)&together = *(volatile unsigned *)&arrived;
        }
        while (!*(volatile unsigned *)&together && now() - start < 2000000000) ;
    }
    if (who == WARP) __syncwarp();
    if (who == ALL || who == LANE_EACH) __syncthreads();
}

__global__ void light(int who) { meet(who); }

// Uses well over 100 registers a thread, all alive across the wait.
__global__ void __launch_bounds__(512, 1) heavy(int who, volatile float *x)
{
    float v[96];
#pragma unroll
    for (int i = 0; i < 96; i++) v[i] = x[i];
    meet(who);
#pragma unroll
    for (int i = 0; i < 96; i++) x[i] = v[i];
}

template <class F> static int one(const char *what, F *kernel, int block, int shared, int who, void **args)
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    int per = 0, sms = 0;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, kernel, block, shared);
    unsigned zero = 0, seen = 0, grid = per * sms * 40;
    cudaMemcpyToSymbol(arrived, &zero, 4);
    cudaMemcpyToSymbol(together, &zero, 4);
    cudaLaunchKernel((const void *)kernel, dim3(grid), dim3(block), args, shared, 0);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&seen, together, 4);
    printf("%-10s block %4d shared %6d waits: %-20s occupancy %2d x %d = %5d, together %5u (%.2f a multiprocessor)%s\n", what, block, shared, WAIT[who], per, sms, per * sms, seen,
           (double)seen / sms, e ? cudaGetErrorString(e) : "");
    return e != cudaSuccess;
}

int main()
{
    float *x;
    cudaMalloc(&x, 4096);
    cudaMemset(x, 0, 4096);
    int bad = 0;
    for (int who = THREAD; who <= LANE_EACH; who++) {
        void *a[] = {&who}, *b[] = {&who, &x};
        bad |= one("warps", light, 1024, 0, who, a);
        bad |= one("warps", light, 512, 0, who, a);
        bad |= one("registers", heavy, 512, 0, who, b);
        bad |= one("registers", heavy, 256, 0, who, b);
        bad |= one("shared", light, 256, 100 * 1024, who, a);
        bad |= one("CTAs", light, 64, 0, who, a);
        bad |= one("CTAs", light, 32, 0, who, a);
    }
    return bad;
}
