// The classic slip: "or" where "and" was meant, in a picture of 30 by 20.
extern "C" __global__ void guard_2d_bad(unsigned char *p, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w || y < h)
        p[y * w + x] = x + y;
}

extern "C" __global__ void guard_2d_ok(unsigned char *p, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        p[y * w + x] = x + y;
}
