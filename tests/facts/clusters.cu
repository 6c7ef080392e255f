// regen: no
// How many clusters of each size a card holds at once, by how many CTAs fit on a multiprocessor: cudaOccupancyMaxActiveClusters for clusters of 1 to 16, and blocks and shared
// memory that let 1 to 32 CTAs share one. nvcc -arch=sm_90 clusters.cu && ./a.out. What an H200 printed is tests/cases/cluster/occupancy.out; docs/inside/clusters.md says what it means.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void kernel(int *) {}

int main()
{
    cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
    printf("threads shared  CTAs |");
    for (int size = 1; size <= 16; size++) printf(" %5d", size);
    printf("\n");
    for (int threads = 32; threads <= 1024; threads *= 2)
        for (int kilobytes = 0; kilobytes <= 200; kilobytes = kilobytes ? 2 * kilobytes : 6) {
            int ctas = 0;
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, kilobytes * 1024);
            printf("%7d %4d KB %4d |", threads, kilobytes, ctas);
            for (int size = 1; size <= 16; size++) {
                cudaLaunchConfig_t x = {};
                cudaLaunchAttribute a;
                int n = -1;
                a.id = cudaLaunchAttributeClusterDimension;
                a.val.clusterDim.x = size;
                a.val.clusterDim.y = a.val.clusterDim.z = 1;
                x.gridDim = 720720; /* a multiple of every size */
                x.blockDim = threads;
                x.dynamicSmemBytes = kilobytes * 1024;
                x.attrs = &a;
                x.numAttrs = 1;
                cudaError_t e = cudaOccupancyMaxActiveClusters(&n, kernel, &x);
                printf(" %5d", e ? -(int)e : n);
            }
            printf("\n");
        }
    return 0;
}
