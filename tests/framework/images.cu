// Kernels of tests/framework that read textures and write surfaces.
// regen: -arch=sm_80 -std=c++17
extern "C" __global__ void texture_2d(cudaTextureObject_t from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) to[y * width + x] = tex2D<float>(from, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void texture_at(cudaTextureObject_t from, const float *at, float *to, int n) // pairs of coordinates
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex2D<float>(from, at[2 * i], at[2 * i + 1]);
}
extern "C" __global__ void texture_linear(cudaTextureObject_t from, int *to, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = tex1Dfetch<int>(from, i);
}
extern "C" __global__ void texture_bytes(cudaTextureObject_t from, float4 *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) to[y * width + x] = tex2D<float4>(from, x + 0.5f, y + 0.5f);
}
extern "C" __global__ void texture_3d(cudaTextureObject_t from, float *to, int width, int height, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= width * height * depth) return;
    int x = i % width, y = i / width % height, z = i / width / height;
    to[i] = tex3D<float>(from, x + 0.5f, y + 0.5f, z + 0.5f);
}
extern "C" __global__ void surface_write(cudaSurfaceObject_t to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) surf2Dwrite((float)(100 * y + x), to, x * (int)sizeof(float), y);
}
extern "C" __global__ void surface_double(cudaSurfaceObject_t to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float v = surf2Dread<float>(to, x * (int)sizeof(float), y);
    surf2Dwrite(2 * v, to, x * (int)sizeof(float), y);
}
