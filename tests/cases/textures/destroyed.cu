// regen: no
/* A texture object is destroyed, and its number is used by a launch that comes later: that is nobody's object any more,
 * also while an earlier launch still uses it. "many": so many objects are made and destroyed while a kernel runs that
 * numbers would be used again. */
#include <cstdio>
#include <cstring>

static __global__ void slow(cudaTextureObject_t t, volatile int *go, float *out)
{
    while (!*go) {}
    out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
static __global__ void use(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }

static cudaTextureObject_t texture_of(float *p)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    r.resType = cudaResourceTypeLinear;
    r.res.linear = { p, cudaCreateChannelDesc<float>(), 128 };
    cudaCreateTextureObject(&t, &r, &d, NULL);
    return t;
}

int main(int argc, char **argv)
{
    float host[32], *in, *zeros, *out, *late;
    int *go;
    cudaStream_t a, b;
    bool many = argc > 1 && !strcmp(argv[1], "many");
    for (int i = 0; i < 32; i++) host[i] = i + 1;
    cudaMalloc(&in, 128);
    cudaMalloc(&zeros, 128);
    cudaMalloc(&out, 128);
    cudaMalloc(&late, 128);
    cudaMallocHost(&go, 4);
    cudaMemcpy(in, host, 128, cudaMemcpyHostToDevice);
    cudaMemset(zeros, 0, 128);
    cudaMemset(late, 0, 128);
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaDeviceSynchronize();
    *go = 0;
    cudaTextureObject_t t = texture_of(in);
    slow<<<1, 32, 0, a>>>(t, go, out);
    printf("destroy %d\n", cudaDestroyTextureObject(t));
    for (int i = 0; many && i < 5000; i++) cudaDestroyTextureObject(texture_of(zeros));
    if (!many) use<<<1, 32, 0, b>>>(t, late); /* <-- the object is gone */
    cudaStreamSynchronize(b);
    *(volatile int *)go = 1;
    printf("again %d, sync %d\n", cudaDestroyTextureObject(t), cudaDeviceSynchronize());
    cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost);
    printf("in flight: %g %g\n", host[0], host[31]);
    cudaMemcpy(host, late, 128, cudaMemcpyDeviceToHost);
    printf("later: %g %g\n", host[0], host[31]);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaFree(in);
    cudaFree(zeros);
    cudaFree(out);
    cudaFree(late);
    cudaFreeHost(go);
}
