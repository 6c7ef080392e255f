// Rows of different lengths behind a table of pointers: a pointer that is loaded carries its own bounds.
extern "C" __global__ void fill_bad(int **rows, int *a, int *b, int *c)       // 40, 16, 40 elements
{
    if (threadIdx.x == 0)
        rows[0] = a, rows[1] = b, rows[2] = c;
    __syncthreads();
    int *row = ((int *volatile *)rows)[blockIdx.x];
    row[threadIdx.x] = blockIdx.x;
}

extern "C" __global__ void fill_ok(int **rows, int *a, int *b, int *c)
{
    if (threadIdx.x == 0)
        rows[0] = a, rows[1] = b, rows[2] = c;
    __syncthreads();
    int *row = ((int *volatile *)rows)[blockIdx.x];
    if (blockIdx.x != 1 || threadIdx.x < 16)
        row[threadIdx.x] = blockIdx.x;
}
