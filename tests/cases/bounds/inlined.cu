// The access lies two inlined functions deep: the report shows the line and the way there.
__device__ static void put(float *row, int x, float v)
{
    row[x] = v;
}

__device__ static void blend(float *image, int w, int x, int y)
{
    put(image + y * w, x, 0.5f * (x + y));
}

extern "C" __global__ void inlined(float *image, int w, int h)
{
    int x = threadIdx.x, y = blockIdx.x;
    blend(image, w, x, y);
}
