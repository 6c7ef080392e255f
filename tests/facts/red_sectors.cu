// regen: no
/* Which sectors a GPU counts for a reduction whose lanes are scattered: one launch of one warp for each row of words, under Nsight Compute.
 *     nvcc -O2 -arch=sm_90 -o red_sectors red_sectors.cu && ncu --clock-control none --cache-control none --csv --page raw --print-units base \
 *         --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,l1tex__t_requests_pipe_lsu_mem_global_op_red.sum,lts__t_sectors_op_red.sum --log-file red.csv ./red_sectors > rows.txt
 * rows.txt has the words of each launch, in the order of red.csv. */
#include <cstdio>

__global__ void add(const unsigned *word, unsigned *y) { atomicAdd(&y[word[threadIdx.x]], 1u); }

static unsigned *words, *sums;

static void go(const char *name, const unsigned row[32])
{
    cudaMemcpy(words, row, 128, cudaMemcpyHostToDevice);
    add<<<1, 32>>>(words, sums);
    printf("%s", name);
    for (int k = 0; k < 32; k++) printf(" %u", row[k]);
    puts("");
}

int main()
{
    unsigned row[32], seed = 1;
    cudaMalloc(&words, 128);
    cudaMalloc(&sums, 1 << 20);
    cudaMemset(sums, 0, 1 << 20);
    /* the warps of histogram_global */
    for (unsigned w = 0; w < 256; w++) {
        for (unsigned k = 0; k < 32; k++) row[k] = ((w * 32 + k) * 2654435761u >> 8) & 255;
        go("histogram", row);
    }
    /* lanes 0 and n share a sector, all others have one each */
    for (unsigned n = 1; n < 32; n++) {
        for (unsigned k = 0; k < 32; k++) row[k] = k * 8;
        row[n] = 3;
        go("pair", row);
    }
    /* random words of 1, 2, 4 and 16 kilobytes */
    for (unsigned size = 256; size <= 4096; size *= size < 1024 ? 2 : 4)
        for (int r = 0; r < 24; r++) {
            for (unsigned k = 0; k < 32; k++) row[k] = (seed = seed * 1664525u + 1013904223u) >> 12 & (size - 1);
            go("random", row);
        }
    return cudaDeviceSynchronize() != cudaSuccess;
}
