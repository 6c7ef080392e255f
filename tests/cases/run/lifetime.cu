// What the host does with memory, right and wrong: each mistake names the lines of the host that belong to it.
// regen: no
#include <cstdio>
#include <cstring>
__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i];
}
struct batch {
    float *in, *out[2];
};
static float *d_table; // a global
static float *make(int n)
{
    float *fresh;
    cudaMalloc(&fresh, n * sizeof *fresh);
    cudaMemset(fresh, 0, n * sizeof *fresh);
    return fresh;
}
static void step(float *x, int n) { scale<<<(n + 63) / 64, 64>>>(x, n); }

static void leak(bool bad)
{
    batch b;
    cudaMalloc(&d_table, 1024);
    cudaMalloc(&b.in, 256);
    cudaMalloc(&b.out[1], 512);
    float *kept[3];
    for (int i = 0; i < 3; i++) kept[i] = make(100);
    if (bad) return;
    for (int i = 0; i < 3; i++) cudaFree(kept[i]);
    cudaFree(d_table);
    cudaFree(b.in);
    cudaFree(b.out[1]);
}
static void freed(bool bad)
{
    float *d_x = make(100);
    if (bad) cudaFree(d_x);
    step(d_x, 100);
    cudaDeviceSynchronize();
    if (!bad) cudaFree(d_x);
}
static void twice(bool bad)
{
    float *d_y;
    cudaMalloc(&d_y, 400);
    cudaFree(d_y);
    if (bad) printf("%s\n", cudaGetErrorName(cudaFree(d_y)));
}
static void uncopied(bool bad)
{
    float h[100] = { 1 }, *d_h;
    cudaMalloc(&d_h, sizeof h);
    if (!bad) cudaMemcpy(d_h, h, sizeof h, cudaMemcpyHostToDevice);
    step(d_h, 100);
    cudaMemcpy(h, d_h, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d_h);
}
static void many(bool bad)
{
    float *d_many = make(100);
    for (int i = 0; i < 20; i++) step(d_many, i < 10 || !bad ? 100 : 101);
    cudaDeviceSynchronize();
    cudaFree(d_many);
}
static void paired(bool bad)
{
    float *d_a = make(100), *pinned, *managed;
    cudaMallocHost(&pinned, 400);
    cudaMallocManaged(&managed, 400);
    if (bad) { // one after the other: the order in which arguments are evaluated is the compiler's
        int device = cudaFreeHost(d_a);
        int host = cudaFree(pinned);
        printf("%d %d %d\n", device, host, cudaFreeHost(managed));
    }
    cudaFree(d_a);
    cudaFreeHost(pinned);
    cudaFree(managed);
}
static void never(bool bad)
{
    float h[100], *d_in = make(100), *d_out;
    cudaMalloc(&d_out, sizeof h);
    if (!bad) cudaMemcpy(d_out, d_in, sizeof h, cudaMemcpyDeviceToDevice);
    step(bad ? d_in : d_out, 100); // the wrong one
    cudaMemcpy(h, d_out, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d_in);
    cudaFree(d_out);
}
__global__ void count(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
static void unseen(bool bad)
{
    float *d_z;
    cudaMalloc(&d_z, 400);
    cudaMemset(d_z, 0, bad ? 100 : 400); // elements, and not bytes
    count<<<2, 64>>>(d_z, 100);
    cudaDeviceSynchronize();
    cudaFree(d_z);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(bool bad);
    } all[] = { { "leak", leak }, { "freed", freed }, { "twice", twice }, { "uncopied", uncopied }, { "many", many }, { "paired", paired }, { "never", never }, { "unseen", unseen } };
    bool bad = argc > 2 && !strcmp(argv[2], "bad");
    for (auto &x : all)
        if (!strcmp(argv[1], x.name)) x.run(bad);
    return argc < 2;
}
