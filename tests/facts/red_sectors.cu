// regen: no
/* Which sectors a GPU counts for a reduction, and for an atomic whose result is used, of one warp: a launch for each row of words, under Nsight Compute.
 *     nvcc -O2 -arch=sm_90 -o red_sectors red_sectors.cu && ncu --clock-control none --cache-control none --csv --page raw --print-units base \
 *         --metrics l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum --log-file red.csv ./red_sectors > rows.txt
 * rows.txt has the words of each launch, in the order of red.csv.
 * An H200's answers, 2026-11-18: a sector counts once more for each lane whose word an earlier lane of the request has, too; 32 lanes at one word are 32 sectors,
 * of red and atom, u32, f32 and u64. Lanes at different words of a sector count once together but for few pairs, which are the same in each run and for an array that
 * lies 1024, 4096, 65536 or 2 M bytes further on, and others where it lies 128 bytes further on: 13 pairs of the first 48 warps of histogram_global, and 16. */
#include <cstdio>

template <class T> __global__ void red(const unsigned *word, T *y) { atomicAdd(&y[word[threadIdx.x]], (T)1); }
__global__ void atom(const unsigned *word, unsigned *y, unsigned *old) { old[threadIdx.x] = atomicAdd(&y[word[threadIdx.x]], 1u); }

static unsigned *words, *old;
static char *sums;
enum { RED_U32, RED_F32, RED_U64, ATOM_U32 };

static void go(const char *name, const unsigned row[32], int kind = RED_U32, unsigned at = 0)
{
    cudaMemcpy(words, row, 128, cudaMemcpyHostToDevice);
    if (kind == RED_U32) red<<<1, 32>>>(words, (unsigned *)(sums + at));
    if (kind == RED_F32) red<<<1, 32>>>(words, (float *)(sums + at));
    if (kind == RED_U64) red<<<1, 32>>>(words, (unsigned long long *)(sums + at));
    if (kind == ATOM_U32) atom<<<1, 32>>>(words, (unsigned *)(sums + at), old);
    printf("%s %d %u", name, kind, at);
    for (int k = 0; k < 32; k++) printf(" %u", row[k]);
    puts("");
}

int main()
{
    unsigned row[32], seed = 1;
    cudaMalloc(&words, 128);
    cudaMalloc(&old, 128);
    cudaMalloc(&sums, 4 << 20);
    cudaMemset(sums, 0, 4 << 20);
    /* k lanes at one word, the others in sectors of their own */
    for (int kind = RED_U32; kind <= ATOM_U32; kind++)
        for (unsigned n = 1; n <= 32; n += n < 4 ? 1 : 7) {
            for (unsigned k = 0; k < 32; k++) row[k] = k < n ? 3 : k * 8;
            go("same", row, kind);
        }
    /* random words of one kilobyte */
    for (int kind = RED_F32; kind <= ATOM_U32; kind++)
        for (int r = 0; r < 12; r++) {
            for (unsigned k = 0; k < 32; k++) row[k] = (seed = seed * 1664525u + 1013904223u) >> 12 & 255;
            go("random", row, kind);
        }
    /* warps of histogram_global, twice, and at other addresses */
    static const unsigned places[] = { 0, 0, 128, 1024, 4096, 65536, 2 << 20 };
    for (unsigned place : places)
        for (unsigned w = 0; w < 48; w++) {
            for (unsigned k = 0; k < 32; k++) row[k] = ((w * 32 + k) * 2654435761u >> 8) & 255;
            go("histogram", row, RED_U32, place);
        }
    return cudaDeviceSynchronize() != cudaSuccess;
}
