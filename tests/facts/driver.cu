// regen: no
/* What the driver answers to questions that have no other source: attributes of the device, sentences of errors, limits
 * of a context, attributes of pointers and functions, properties as the runtime has them.
 *     nvcc -o driver driver.cu -lcuda && ./driver
 * src/cuda was written by its answers on an H200. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__global__ void plain(float *x, int n)
{
    __shared__ float s[100];
    s[threadIdx.x % 100] = n;
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 1) % 100];
}

static void pointer(const char *what, const void *p)
{
    printf("pointer %s:", what);
    for (int a = 1; a <= 20; a++) {
        unsigned long long v = 0;
        CUresult r = cuPointerGetAttribute(&v, (CUpointer_attribute)a, (CUdeviceptr)p);
        printf(" %d=", a);
        if (r)
            printf("E%d", r);
        else if (v == (unsigned long long)p)
            printf("itself");
        else
            printf("%llx", v);
    }
    cudaPointerAttributes t;
    cudaError_t e = cudaPointerGetAttributes(&t, p);
    printf(" runtime: %d type %d device %d device pointer %s host pointer %s\n", e, t.type, t.device,
           t.devicePointer ? t.devicePointer == p ? "itself" : "other" : "0",
           t.hostPointer ? t.hostPointer == p ? "itself" : "other" : "0");
    cudaGetLastError();
}

int main(void)
{
    int v;
    CUcontext c;
    cuInit(0);
    for (int a = 1; a < 160; a++) {
        CUresult r = cuDeviceGetAttribute(&v, (CUdevice_attribute)a, 0);
        if (r)
            printf("attribute %d: error %d\n", a, r);
        else
            printf("attribute %d: %d\n", a, v);
    }
    for (int i = 0; i < 1000; i++) {
        const char *n, *t;
        if (!cuGetErrorName((CUresult)i, &n) && !cuGetErrorString((CUresult)i, &t)) printf("error %d: %s: %s\n", i, n, t);
    }
    for (int i = 0; i < 1000; i++) {
        const char *n = cudaGetErrorName((cudaError_t)i);
        if (strcmp(n, "unrecognized error code")) printf("runtime error %d: %s: %s\n", i, n, cudaGetErrorString((cudaError_t)i));
    }
    printf("runtime unknown: %s / %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    for (int l = 0; l < 12; l++) {
        size_t x = 0;
        CUresult r = cuCtxGetLimit(&x, (CUlimit)l);
        printf("limit %d: %d %zu\n", l, r, x);
    }
    unsigned flags;
    cuCtxGetFlags(&flags);
    CUfunc_cache cache;
    cuCtxGetCacheConfig(&cache);
    printf("flags %u cache %d\n", flags, cache);
    CUuuid id;
    cuDeviceGetUuid(&id, 0);
    char bus[32], name[100];
    cuDeviceGetPCIBusId(bus, sizeof bus, 0);
    cuDeviceGetName(name, sizeof name, 0);
    size_t total, left;
    cuDeviceTotalMem(&total, 0);
    cuMemGetInfo(&left, &total);
    printf("bus %s name %s total %zu left %zu\n", bus, name, total, left);
    void *d, *p, *m, *r = malloc(1 << 20), *g = malloc(1 << 20);
    cudaMalloc(&d, 1000);
    cudaMallocHost(&p, 1000);
    cudaMallocManaged(&m, 1000);
    cudaHostRegister(g, 1 << 20, 0);
    pointer("device", d);
    pointer("inside", (char *)d + 10);
    pointer("pinned", p);
    pointer("managed", m);
    pointer("registered", g);
    pointer("pageable", r);
    pointer("null", NULL);
    cudaFuncAttributes f;
    cudaFuncGetAttributes(&f, plain);
    printf("function: binary %d ptx %d shared %zu const %zu local %zu threads %d regs %d cacheCA %d dynamic %d carveout %d "
           "clusters %d %d %d %d %d\n", f.binaryVersion, f.ptxVersion, f.sharedSizeBytes, f.constSizeBytes, f.localSizeBytes,
           f.maxThreadsPerBlock, f.numRegs, f.cacheModeCA, f.maxDynamicSharedSizeBytes, f.preferredShmemCarveout,
           f.clusterDimMustBeSet, f.requiredClusterWidth, f.requiredClusterHeight, f.requiredClusterDepth, f.clusterSchedulingPolicyPreference);
    cudaDeviceProp q;
    cudaGetDeviceProperties(&q, 0);
    printf("properties, %zu bytes\n", sizeof q);
    for (size_t i = 272; i + 4 <= sizeof q; i += 4) {
        int w;
        memcpy(&w, (char *)&q + i, 4);
        if (w) printf("  %zu: %d\n", i, w);
    }
    void *pitched;
    for (size_t w = 1; w <= 5000; w = w * 3 + 1) {
        size_t pitch;
        cudaMallocPitch(&pitched, &pitch, w, 10);
        printf("pitch of %zu: %zu\n", w, pitch);
    }
    /* errors of simple mistakes */
    printf("free of host pointer %d, of inside %d, twice %d\n", cudaFree(r), cudaFree((char *)d + 4), (cudaFree(d), cudaFree(d)));
    plain<<<1, 2000>>>((float *)m, 1);
    printf("block of 2000: %d\n", cudaGetLastError());
    plain<<<0, 1>>>((float *)m, 1);
    printf("grid of 0: %d\n", cudaGetLastError());
    plain<<<1, 1, 100000>>>((float *)m, 1);
    printf("shared without consent: %d\n", cudaGetLastError());
    printf("copy of 0 bytes %d, from null %d, too long %d\n", cudaMemcpy(m, NULL, 0, cudaMemcpyDefault),
           cudaMemcpy(m, NULL, 4, cudaMemcpyDefault), cudaMemcpy(m, p, (size_t)1 << 40, cudaMemcpyDefault));
    cudaGetLastError();
    cudaStream_t s;
    printf("stream flags 7: %d, event flags 100: %d\n", cudaStreamCreateWithFlags(&s, 7), cudaEventCreateWithFlags((cudaEvent_t *)&s, 100));
    printf("device 99: %d\n", cudaSetDevice(99));
    int blocks;
    for (int t = 32; t <= 1024; t *= 2) {
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, t, 0);
        printf("occupancy of %d threads: %d\n", t, blocks);
    }
    return 0;
}
