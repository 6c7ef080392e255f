// For recordings of lockstep run: pointers in memory, and variables, lead to the row whose end is passed.
__device__ int last_row = 3;
__constant__ float scale_by = 2;

extern "C" __global__ void rows_bad(float **row, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r <= last_row; r++)
        if (i <= cols) row[r][i] *= scale_by;
}
