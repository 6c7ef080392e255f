// Arrays and their copies, pools by their handles, managed memory with advice, several copies in one call, values in a stream. `memory bad` makes mistakes with them, `memory refused` those that calls refuse.
// regen: no
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>

__global__ void add(int *x, int n, int v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += v;
}

static int wrong;
static bool refused; /* what calls refuse is asked for, too */
#define IS(call, code)                                                                      \
    do {                                                                                    \
        int r_ = (int)(call);                                                               \
        if (r_ != (int)(code)) printf("%s: %d and not %d\n", #call, r_, (int)(code)), wrong++; \
    } while (0)
#define OK(call) IS(call, 0)

static void arrays()
{
    static float in[50][100], out[50][100];
    for (int i = 0; i < 50; i++)
        for (int k = 0; k < 100; k++) in[i][k] = (float)(100 * i + k);
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaArray_t a, b;
    OK(cudaMallocArray(&a, &f, 100, 50));
    OK(cudaMalloc3DArray(&b, &f, make_cudaExtent(100, 50, 3), cudaArrayLayered));
    OK(cudaMemcpy2DToArray(a, 0, 0, in, 400, 400, 50, cudaMemcpyHostToDevice));
    cudaMemcpy3DParms p = {};
    p.srcArray = a;
    p.dstArray = b;
    p.dstPos = make_cudaPos(0, 0, 2);
    p.extent = make_cudaExtent(100, 50, 1);
    p.kind = cudaMemcpyDeviceToDevice;
    OK(cudaMemcpy3D(&p));
    p = {};
    p.srcArray = b;
    p.srcPos = make_cudaPos(10, 5, 2);
    p.dstPtr = make_cudaPitchedPtr(out, 400, 100, 50);
    p.extent = make_cudaExtent(20, 10, 1);
    p.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&p));
    printf("texel (10, 5) of layer 2: %g, behind it %g\n", out[0][0], out[9][19]);
    if (refused) IS(cudaMemcpy2DToArray(a, 4, 0, in, 400, 400, 50, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    if (refused) IS(cudaMemcpy2DToArray(a, 0, 1, in, 400, 400, 50, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    p.srcPos = make_cudaPos(0, 0, 3);
    if (refused) IS(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    cudaMipmappedArray_t m;
    cudaArray_t level;
    cudaExtent e;
    OK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(64, 32, 0), 4));
    OK(cudaGetMipmappedArrayLevel(&level, m, 3));
    OK(cudaArrayGetInfo(&f, &e, NULL, level));
    printf("level 3: %zu x %zu of %d bits\n", e.width, e.height, f.x);
    cudaResourceDesc r = {};
    cudaTextureDesc t = {}, back;
    cudaTextureObject_t tex, gone;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    t.filterMode = cudaFilterModeLinear;
    t.normalizedCoords = 1;
    OK(cudaCreateTextureObject(&tex, &r, &t, NULL));
    OK(cudaGetTextureObjectTextureDesc(&back, tex));
    printf("texture: filter %d, normalized %d\n", back.filterMode, back.normalizedCoords);
    gone = tex;
    OK(cudaDestroyTextureObject(tex));
    if (refused) IS(cudaGetTextureObjectTextureDesc(&back, gone), cudaErrorInvalidValue);
    OK(cudaFreeMipmappedArray(m));
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(b));
}

static void pools(bool bad)
{
    cudaMemPoolProps props = {};
    cudaMemPool_t pool, now;
    cudaStream_t s;
    int *x;
    unsigned long long used = 1;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&now, 0));
    OK(cudaStreamCreate(&s));
    OK(cudaMallocFromPoolAsync((void **)&x, 4000, pool, s));
    OK(cudaMemsetAsync(x, 0, 4000, s));
    add<<<4, 256, 0, s>>>(x, 1000, 1);
    OK(cudaFreeAsync(x, s));
    if (bad) add<<<1, 32, 0, s>>>(x, 32, 1); /* behind its free */
    OK(cudaStreamSynchronize(s));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    printf("pool: %s, %llu bytes used\n", now == pool ? "the current one" : "another", used);
    OK(cudaMemPoolDestroy(pool));
    OK(cudaStreamDestroy(s));
}

static void managed(bool bad)
{
    int *x, where = 0;
    cudaStream_t s;
    cudaMemLocation here = { cudaMemLocationTypeDevice, 0 };
    OK(cudaStreamCreate(&s));
    OK(cudaMallocManaged((void **)&x, 8 << 20));
    OK(cudaMemAdvise(x, 4 << 20, cudaMemAdviseSetPreferredLocation, here));
    here.id = 9999; // no place belongs to it
    OK(cudaMemAdvise(x, 4 << 20, cudaMemAdviseSetReadMostly, here));
    OK(cudaMemAdvise(x, 4 << 20, cudaMemAdviseUnsetReadMostly, here));
    here.id = 0;
    OK(cudaMemPrefetchAsync(x, 8 << 20, here, 0, s));
    OK(cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributePreferredLocation, x, 4 << 20));
    printf("the first half prefers device %d, ", where);
    OK(cudaMemRangeGetAttribute(&where, 4, cudaMemRangeAttributePreferredLocation, x, 8 << 20));
    printf("all of it %d\n", where);
    memset(x, 0, 4096);
    add<<<4, 256, 0, s>>>(x, 1000, 5);
    if (!bad) OK(cudaStreamSynchronize(s));
    printf("managed: %d\n", bad ? 5 : x[999]);
    if (bad) x[999] = 1; /* the kernel may still be at it */
    OK(cudaStreamSynchronize(s));
    OK(cudaFree(x));
    OK(cudaStreamDestroy(s));
}

static void batches()
{
    static char from[2][1000], to[1000];
    char *d;
    CUstream s;
    memset(from[1], 7, 1000);
    OK(cudaMalloc((void **)&d, 4096));
    OK(cudaMemset(d, 0, 4096));
    OK(cuStreamCreate(&s, 0));
    CUdeviceptr dst[2] = { (CUdeviceptr)d, (CUdeviceptr)d + 1000 }, src[2] = { (CUdeviceptr)from[0], (CUdeviceptr)from[1] };
    size_t bytes[2] = { 1000, 1000 }, index = 0;
    CUmemcpyAttributes a = {};
    a.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    OK(cuMemcpyBatchAsync(dst, src, bytes, 2, &a, &index, 1, s));
    CUstreamBatchMemOpParams o[2] = {};
    o[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    o[0].writeValue.address = (CUdeviceptr)d + 2048;
    o[0].writeValue.value = 9;
    o[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    o[1].waitValue.address = (CUdeviceptr)d + 2048;
    o[1].waitValue.value = 9;
    OK(cuStreamBatchMemOp(s, 2, o, 0));
    OK(cuMemcpyDtoHAsync(to, (CUdeviceptr)d + 1000, 1000, s));
    OK(cuStreamSynchronize(s));
    printf("second copy: %d\n", to[500]);
    OK(cuStreamDestroy(s));
    OK(cudaFree(d));
}

static void pitch()
{
    char *d, host[80];
    size_t step;
    OK(cudaMallocPitch((void **)&d, &step, 10, 8));
    OK(cudaMemset2D(d, step, 3, 10, 8));
    OK(cudaMemcpy2D(host, 10, d, step, 10, 8, cudaMemcpyDeviceToHost));
    if (refused) IS(cudaMemcpy2D(host, 10, d, 2 * step, 10, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue); /* rows 4 and up are not there */
    if (refused) IS(cudaMemset2D(d, step, 0, 10, 9), cudaErrorInvalidValue);
    printf("pitch %zu: %d\n", step, host[79]);
    OK(cudaFree(d));
}

int main(int argc, char **argv)
{
    bool bad = argc > 1 && !strcmp(argv[1], "bad");
    refused = argc > 1 && !bad;
    if (!bad) arrays(), batches(), pitch();
    pools(bad);
    managed(bad);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
