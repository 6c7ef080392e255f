/* The limits of CUDA's own occupancy calculator for the compute capabilities given as arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <cuda_occupancy.h>
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        cudaOccDeviceProp p = { 0 };
        p.computeMajor = atoi(argv[i]) / 10;
        p.computeMinor = atoi(argv[i]) % 10;
        int blocks = 0;
        size_t most = 0;
        cudaOccMaxBlocksPerMultiprocessor(&blocks, &p);
        for (size_t kib = 0; kib <= 256; kib++) {               /* the largest configuration that is one */
            size_t bytes = kib << 10;
            if (!cudaOccAlignUpShmemSizeVoltaPlus(&bytes, &p))
                most = kib;
        }
        printf("sm_%s: %d blocks, %zu KiB\n", argv[i], blocks, most);
    }
    return 0;
}
