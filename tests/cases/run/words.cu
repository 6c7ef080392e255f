// regen: no
// Mistakes of whole programs whose words are the subject: one cause each, and what to do.
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>
__device__ float table[256];
__global__ void look(const float *t, const unsigned char *x, float *y) { y[threadIdx.x] = t[x[threadIdx.x]]; }
struct shape {
    __host__ __device__ virtual float area() const = 0;
};
struct square : shape {
    float a;
    __host__ __device__ square(float a) : a(a) {}
    __host__ __device__ float area() const override { return a * a; }
};
__global__ void make(char *m) { new (m + threadIdx.x * sizeof(square)) square(threadIdx.x); }
__global__ void areas(const char *m, float *out) { out[threadIdx.x] = ((const shape *)(m + threadIdx.x * sizeof(square)))->area(); }
template <bool GUARDED> __global__ void matmul(const float *a, const float *b, float *c, int n, int m, int p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    if (GUARDED && (i >= n || j >= m)) return;
    for (int k = 0; k < p; k++) s += a[i * p + k] * b[k * m + j];
    c[i * m + j] = s;
}
__constant__ unsigned constants[64];
__global__ void set(unsigned *p) { p[threadIdx.x] = threadIdx.x + 5; }
__global__ void get(unsigned *out) { out[threadIdx.x] = constants[threadIdx.x]; }

static void symbol(bool bad)
{
    unsigned char *x;
    float *y, *t;
    cudaMalloc(&x, 64), cudaMalloc(&y, 256), cudaMemset(x, 7, 64);
    cudaGetSymbolAddress((void **)&t, table);
    look<<<1, 64>>>(bad ? table : t, x, y);
    cudaFree(x), cudaFree(y);
}
static void objects(bool bad)
{
    char *m;
    float *out;
    std::vector<char> h(8 * sizeof(square));
    cudaMalloc(&m, h.size()), cudaMalloc(&out, 32);
    for (int i = 0; i < 8; i++) new (&h[i * sizeof(square)]) square(i);
    if (bad) cudaMemcpy(m, h.data(), h.size(), cudaMemcpyHostToDevice);
    else make<<<1, 8>>>(m);
    areas<<<1, 8>>>(m, out);
    cudaFree(m), cudaFree(out);
}
static void product(bool bad)
{
    const int n = 50, m = 40, p = 30;
    float *a, *b, *c;
    cudaMalloc(&a, n * p * 4), cudaMalloc(&b, p * m * 4), cudaMalloc(&c, n * m * 4);
    cudaMemset(a, 0, n * p * 4), cudaMemset(b, 0, p * m * 4);
    if (bad) matmul<false><<<dim3(4, 3), dim3(16, 16)>>>(a, b, c, n, m, p);
    else matmul<true><<<dim3(4, 3), dim3(16, 16)>>>(a, b, c, n, m, p);
    cudaFree(a), cudaFree(b), cudaFree(c);
}
static void constant(bool bad)
{
    unsigned *p, *out, h[64] = { 0 };
    cudaMalloc(&out, sizeof h);
    if (bad) {
        cudaGetSymbolAddress((void **)&p, constants);
        set<<<1, 64>>>(p);
    } else
        cudaMemcpyToSymbol(constants, h, sizeof h);
    get<<<1, 64>>>(out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%u %u\n", h[0], h[63]); // a card performs the stores
    cudaFree(out);
}
static void sides(bool bad) // of copies: the name of a variable, directions, no memory of the device at all
{
    float *d, h[256] = { 3 };
    cudaMalloc(&d, sizeof h);
    if (bad) {
        cudaMemcpy(table, h, sizeof h, cudaMemcpyHostToDevice);
        cudaMemcpy(h, table, sizeof h, cudaMemcpyDeviceToHost);
        cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice);
        cudaMemcpy(d, h, sizeof h, cudaMemcpyDeviceToHost);
        cudaMemcpy(h, h + 128, 512, cudaMemcpyDeviceToDevice);
    } else {
        cudaMemcpyToSymbol(table, h, sizeof h);
        cudaMemcpyFromSymbol(h, table, sizeof h);
        cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
        cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
        cudaMemcpy(h, h + 128, 512, cudaMemcpyHostToHost);
    }
    cudaFree(d);
}
int main(int, char **argv)
{
    bool bad = !strcmp(argv[2], "bad");
    if (!strcmp(argv[1], "symbol")) symbol(bad);
    if (!strcmp(argv[1], "objects")) objects(bad);
    if (!strcmp(argv[1], "product")) product(bad);
    if (!strcmp(argv[1], "constant")) constant(bad);
    if (!strcmp(argv[1], "sides")) sides(bad);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
