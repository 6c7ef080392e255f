// regen: no
// Neighbours of an image by iterators that the host has moved out of its buffer, as thrust's discrete_voronoi has them: image - distance points into what lies below, and the kernel adds at least the
// distance. Here the distance is made to lead into `other`, wherever that lies.
#include <cstdio>
#include <cstring>

enum { N = 1000, INSIDE = 100 };

// before[i + distance] is image[i]: every access through `before` is in the image.
__global__ void right(const float *image, const float *before, float *out, long distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = image[i] + before[i + distance];
}

// The same pointer is used where it points, too: it is other's, and what is read behind its end is not.
__global__ void both(const float *image, const float *before, float *out, long distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float there = i < N ? before[i + distance] : 0;
    if (i < N - INSIDE) out[i] = image[i] + there + before[i];
}

// The launch was not given the image: nothing says that this is where the pointer should lead.
__global__ void alone(const float *before, float *out, long distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = before[i + distance];
}

// In the image, and far behind its end.
__global__ void astray(const float *image, const float *before, float *out, long distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N + 8) out[i] = before[i + distance];
}

int main(int, char **words)
{
    float *other, *image, *out, h[N];
    const char *mode = words[1];
    for (int i = 0; i < N; i++) h[i] = (float)i;
    cudaMalloc(&other, sizeof h);
    cudaMalloc(&image, sizeof h);
    cudaMalloc(&out, 2 * sizeof h);
    cudaMemcpy(image, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(other, 0, sizeof h);
    cudaMemset(out, 0, 2 * sizeof h);
    const float *before = other + INSIDE;
    long distance = (long)(((unsigned long long)image - (unsigned long long)before) / sizeof(float));
    if (!strcmp(mode, "right")) right<<<4, 256>>>(image, before, out, distance);
    if (!strcmp(mode, "both")) both<<<1, 256>>>(image, before, out, distance);
    if (!strcmp(mode, "alone")) alone<<<4, 256>>>(before, out, distance);
    if (!strcmp(mode, "astray")) astray<<<1, 1024>>>(image, before, out, distance);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%s: %g %g\n", mode, h[1], h[N - 1]);
    cudaFree(other), cudaFree(image), cudaFree(out);
}
