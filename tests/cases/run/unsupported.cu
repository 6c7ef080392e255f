// regen: no
// A kernel with an instruction that the software GPU does not have; nobody asks whether it went well, or somebody does.
#include <cstdio>

__global__ void kernel(float *p)
{
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" ::"l"(p), "f"(1.0f) : "memory");
    p[1] = 2;
}

int main(int argc, char **)
{
    float *p;
    cudaMalloc(&p, 64);
    cudaMemset(p, 0, 64);
    kernel<<<1, 1>>>(p);
    if (argc > 1) printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(p);
    return 0;
}
