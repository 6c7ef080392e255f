// Who am I: blocks that are no multiple of a warp, in one, two and three dimensions.
extern "C" __global__ void ids(int *out)
{
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int n = blockDim.x * blockDim.y * blockDim.z;
    out[b * n + t] = blockIdx.z * 100000 + blockIdx.y * 10000 + blockIdx.x * 1000
        + threadIdx.z * 100 + threadIdx.y * 10 + threadIdx.x;
}

extern "C" __global__ void lanes(int *out)
{
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned lane, warp, lt;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    out[t] = lane * 100 + __popc(lt) + (warp < 64 ? 100000 : 0);
}

extern "C" __global__ void tile_2d(const int *in, int *out)     // neighbours across rows of a 16x16 block
{
    __shared__ int s[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = in[y * 16 + x];
    __syncthreads();
    out[y * 16 + x] = s[x][y] - s[y][(x + 1) & 15] + s[(y + 15) & 15][x];
}
