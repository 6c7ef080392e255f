// Addresses of local memory in shared memory: another thread follows them, or the thread itself.
__global__ void theirs(int *out, int n)
{
    __shared__ int *p[32];
    int mine[4];
    for (int i = 0; i < 4; i++) mine[i] = threadIdx.x * 10 + i + n;
    p[threadIdx.x] = mine;
    __syncthreads();
    out[threadIdx.x] = p[(threadIdx.x + 1) % 32][n & 3]; // <-- local_pointer
}

__global__ void own(int *out, int n)
{
    __shared__ int *p[32];
    int mine[4];
    for (int i = 0; i < 4; i++) mine[i] = threadIdx.x * 10 + i + n;
    p[threadIdx.x ^ n] = mine; // n is 0
    __syncthreads();
    out[threadIdx.x] = p[threadIdx.x][n & 3];
}

__global__ void handed(int *out, int n)
{
    __shared__ int *p[32], tile[32][4];
    int *mine = tile[threadIdx.x];
    for (int i = 0; i < 4; i++) mine[i] = threadIdx.x * 10 + i + n;
    p[threadIdx.x] = mine;
    __syncthreads();
    out[threadIdx.x] = p[(threadIdx.x + 1) % 32][n & 3];
}
