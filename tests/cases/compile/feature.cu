// regen: no
// wgmma is of sm_90a alone: neither `launch` nor `run` needs to be told.
extern "C" __global__ void fenced(int *out)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    out[threadIdx.x] = threadIdx.x;
}

#ifndef __CUDACC_RTC__
#include <cstdio>
int main()
{
    int *out, got[128];
    cudaMalloc(&out, sizeof got);
    fenced<<<1, 128>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d\n", got[127]);
    cudaFree(out);
}
#endif
