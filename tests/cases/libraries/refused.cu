// What Lockstep's cuBLAS does not have says so by its name, returns CUBLAS_STATUS_NOT_SUPPORTED, and the run is not a pass.
#include <cstdio>
#include <cublasXt.h>
#include <cublas_v2.h>
int main(int argc, char **)
{
    cublasHandle_t h;
    cublasXtHandle_t many;
    float *a, one = 1;
    cudaMalloc(&a, 256);
    cudaMemset(a, 0, 256);
    cublasCreate(&h);
    cublasSscal(h, 64, &one, a, 1);
    if (argc > 1) printf("%s\n", cublasGetStatusName(cublasXtCreate(&many)));
    cublasDestroy(h);
    cudaFree(a);
}
// regen: no
