// regen: no
/* What the driver and the runtime answer about memory: virtual memory management, pools, arrays, textures and surfaces as
 * handles, managed memory, values in streams, attributes. Each line is a question and its answer.
 *     nvcc -o memory memory.cu -lcuda && ./memory
 * src/cuda/driver was written by its answers on an H200. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ASK(x) printf("%s: %d\n", #x, (int)(x)), fflush(stdout)
#define SHOW(x) printf("%s = %lld\n", #x, (long long)(x)), fflush(stdout)
enum { MIB = 1 << 20 };
static char host[64 * MIB];

static void pointer(const char *what, CUdeviceptr p)
{
    printf("pointer %s:", what);
    for (int a = 1; a <= 21; a++) {
        unsigned long long v[4] = { 0 };
        CUresult r = cuPointerGetAttribute(v, (CUpointer_attribute)a, p);
        if (r)
            printf(" %d=E%d", a, r);
        else
            printf(v[0] == p ? " %d=itself" : " %d=%llx", a, v[0]);
    }
    cudaPointerAttributes t;
    memset(&t, 0, sizeof t);
    cudaError_t e = cudaPointerGetAttributes(&t, (void *)p);
    printf(" runtime: %d type %d device %d %d %d\n", e, t.type, t.device, t.devicePointer == (void *)p, t.hostPointer == (void *)p);
    CUdeviceptr base = 0;
    size_t bytes = 0;
    CUresult r = cuMemGetAddressRange(&base, &bytes, p);
    printf("range %s: %d offset %lld bytes %zu\n", what, r, (long long)(p - base), bytes);
    cudaGetLastError();
}

static void virtual_memory()
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t g = 0;
    ASK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SHOW(g);
    ASK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    SHOW(g);
    ASK(cuMemGetAllocationGranularity(&g, &prop, (CUmemAllocationGranularity_flags)2));
    prop.location.id = 99;
    ASK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    prop.location.id = 0;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    ASK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SHOW(g);
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    g = 2 * MIB;
    CUdeviceptr va = 0, vb = 0, vc = 0;
    ASK(cuMemAddressReserve(&va, 0, 0, 0, 0));
    ASK(cuMemAddressReserve(&va, 1000, 0, 0, 0));
    ASK(cuMemAddressReserve(&va, g, 3, 0, 0));
    ASK(cuMemAddressReserve(&va, g, 4096, 0, 0));
    SHOW(va % (2 * MIB));
    ASK(cuMemAddressFree(va, g));
    ASK(cuMemAddressReserve(&va, g, 0, 0, 1));
    ASK(cuMemAddressReserve(&va, 8 * g, 16 * g, 0, 0));
    SHOW(va % (16 * g));
    ASK(cuMemAddressReserve(&vb, 8 * g, 0, va, 0));
    SHOW(va == vb);
    ASK(cuMemAddressReserve(&vc, 8 * g, 0, va + 1, 0));
    CUmemGenericAllocationHandle h = 0, k = 0, x = 0;
    ASK(cuMemCreate(&h, 1000, &prop, 0));
    ASK(cuMemCreate(&h, 0, &prop, 0));
    ASK(cuMemCreate(&h, g, &prop, 1));
    prop.type = (CUmemAllocationType)0;
    ASK(cuMemCreate(&h, g, &prop, 0));
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    ASK(cuMemCreate(&h, (size_t)1 << 42, &prop, 0));
    ASK(cuMemCreate(&h, 2 * g, &prop, 0));
    ASK(cuMemCreate(&k, g, &prop, 0));
    SHOW(h > 4096);
    CUmemAllocationProp back;
    memset(&back, 0xee, sizeof back);
    ASK(cuMemGetAllocationPropertiesFromHandle(&back, h));
    printf("properties %d %d %d %d %d %d %d\n", back.type, back.requestedHandleTypes, back.location.type, back.location.id,
           back.allocFlags.compressionType, back.allocFlags.gpuDirectRDMACapable, back.allocFlags.usage);
    ASK(cuMemGetAllocationPropertiesFromHandle(&back, 0));
    pointer("reserved", va);
    ASK(cuMemMap(va, g, 0, h, 0));
    ASK(cuMemMap(va, 4 * g, 0, h, 0));
    ASK(cuMemMap(va, 2 * g, 0, h, 1));
    ASK(cuMemMap(va + 4096, 2 * g, 0, h, 0));
    ASK(cuMemMap(va + 7 * g, 2 * g, 0, h, 0));
    ASK(cuMemMap(va, g, g, h, 0));
    ASK(cuMemMap(va, 2 * g, 0, 0, 0));
    ASK(cuMemMap(va, 2 * g, 0, h, 0));
    ASK(cuMemMap(va, 2 * g, 0, h, 0));
    ASK(cuMemMap(va + g, g, 0, k, 0));
    ASK(cuMemMap(va + 2 * g, g, 0, k, 0));
    ASK(cuMemMap(vb, g, 0, k, 0));
    pointer("mapped without access", va);
    CUmemAccessDesc a;
    memset(&a, 0, sizeof a);
    a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    unsigned long long flags = 99;
    ASK(cuMemGetAccess(&flags, &a.location, va));
    SHOW(flags);
    ASK(cuMemGetAccess(&flags, &a.location, va + 5 * g));
    ASK(cuMemsetD8(va, 1, 16));
    a.flags = (CUmemAccess_flags)2;
    ASK(cuMemSetAccess(va, g, &a, 1));
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASK(cuMemSetAccess(va, 4 * g, &a, 1));
    ASK(cuMemSetAccess(va + 5 * g, g, &a, 1));
    ASK(cuMemSetAccess(va, 1000, &a, 1));
    ASK(cuMemSetAccess(va, g, &a, 1));
    ASK(cuMemGetAccess(&flags, &a.location, va + g));
    SHOW(flags);
    ASK(cuMemSetAccess(va, 3 * g, &a, 1));
    ASK(cuMemSetAccess(vb, g, &a, 1));
    ASK(cuMemSetAccess(va, g, &a, 0));
    a.location.id = 99;
    ASK(cuMemSetAccess(va, g, &a, 1));
    a.location.id = 0;
    ASK(cuMemGetAccess(&flags, &a.location, va + g + 5));
    SHOW(flags);
    pointer("mapped", va + 5);
    pointer("second mapping", va + 2 * g + 5);
    ASK(cuMemsetD8(va, 1, 3 * g));
    ASK(cuMemsetD8(va + 2 * g, 7, g));
    ASK(cuMemcpyDtoH(host, vb, g));
    SHOW(host[5]);
    ASK(cuMemcpyDtoH(host, va, 3 * g));
    ASK(cuMemcpyDtoH(host, va + 3 * g, g));
    ASK(cuMemFree(va));
    ASK(cuMemRetainAllocationHandle(&x, (void *)(va + 3)));
    SHOW(x == h);
    ASK(cuMemRelease(x));
    ASK(cuMemRetainAllocationHandle(&x, (void *)(va + 5 * g)));
    void *d;
    cudaMalloc(&d, 100);
    ASK(cuMemRetainAllocationHandle(&x, d));
    ASK(cuMemUnmap(va, g));
    ASK(cuMemUnmap(va + 5 * g, g));
    ASK(cuMemAddressFree(va, 8 * g));
    ASK(cuMemAddressFree(va, g));
    ASK(cuMemRelease(h));
    ASK(cuMemRelease(0));
    ASK(cuMemcpyDtoH(host, va, g));
    ASK(cuMemUnmap(va, 3 * g));
    ASK(cuMemUnmap(va, 2 * g));
    ASK(cuMemUnmap(vb, g));
    ASK(cuMemMap(va, g, 0, k, 0));
    ASK(cuMemSetAccess(va, g, &a, 1));
    ASK(cuMemcpyDtoH(host, va, g));
    SHOW(host[5]);
    ASK(cuMemUnmap(va, g));
    ASK(cuMemAddressFree(va + g, 7 * g));
    ASK(cuMemAddressFree(va, 8 * g));
    ASK(cuMemAddressFree(va, 8 * g));
    ASK(cuMemAddressFree(vb, 8 * g));
    ASK(cuMemRelease(k));
    a.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    ASK(cuMemAddressReserve(&va, g, 0, 0, 0));
    ASK(cuMemCreate(&k, g, &prop, 0));
    ASK(cuMemMap(va, g, 0, k, 0));
    ASK(cuMemSetAccess(va, g, &a, 1));
    ASK(cuMemsetD8(va, 1, 16));
    ASK(cuMemcpyDtoH(host, va, 16));
    int fd = -1;
    ASK(cuMemExportToShareableHandle(&fd, k, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
}

static void pool_show(CUmemoryPool p)
{
    for (int a = 1; a <= 12; a++) {
        unsigned long long v = 0;
        CUresult r = cuMemPoolGetAttribute(p, (CUmemPool_attribute)a, &v);
        printf("  pool attribute %d: %d %llu\n", a, r, v);
    }
}

static void pools()
{
    CUmemoryPool p = 0, q = 0, c = 0;
    ASK(cuDeviceGetDefaultMemPool(&p, 0));
    ASK(cuDeviceGetMemPool(&q, 0));
    SHOW(p == q);
    ASK(cuDeviceGetDefaultMemPool(&q, 99));
    pool_show(p);
    CUdeviceptr a = 0, b = 0;
    ASK(cuMemAllocAsync(&a, 0, 0));
    ASK(cuMemAllocAsync(&a, 1, 0));
    pool_show(p);
    ASK(cuMemAllocAsync(&b, 40 * MIB, 0));
    pool_show(p);
    pointer("pool", a);
    pointer("pool inside", b + 5);
    ASK(cuMemFreeAsync(a, 0));
    ASK(cuMemFreeAsync(b, 0));
    pool_show(p);
    ASK(cuStreamSynchronize(0));
    pool_show(p);
    CUmemPoolProps props;
    memset(&props, 0, sizeof props);
    ASK(cuMemPoolCreate(&c, &props));
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    ASK(cuMemPoolCreate(&c, &props));
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.location.id = 99;
    ASK(cuMemPoolCreate(&c, &props));
    props.location.id = 0;
    props.maxSize = 64 * MIB;
    ASK(cuMemPoolCreate(&c, &props));
    pool_show(c);
    CUmemAccess_flags f = (CUmemAccess_flags)99;
    CUmemLocation l = { CU_MEM_LOCATION_TYPE_DEVICE, 0 };
    ASK(cuMemPoolGetAccess(&f, c, &l));
    SHOW(f);
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location = l;
    ASK(cuMemPoolSetAccess(c, &access, 1));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASK(cuMemPoolSetAccess(c, &access, 1));
    ASK(cuMemAllocFromPoolAsync(&a, 65 * MIB, c, 0));
    ASK(cuMemAllocFromPoolAsync(&a, 1000, c, 0));
    ASK(cuMemAllocFromPoolAsync(&b, 1000, 0, 0));
    unsigned long long v = 5;
    ASK(cuMemPoolSetAttribute(c, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
    ASK(cuMemPoolSetAttribute(c, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &v));
    v = 0;
    ASK(cuMemPoolSetAttribute(c, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &v));
    ASK(cuMemPoolSetAttribute(c, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &v));
    v = 7;
    ASK(cuMemPoolSetAttribute(c, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &v));
    v = 0;
    ASK(cuMemPoolSetAttribute(c, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &v));
    pool_show(c);
    ASK(cuMemPoolTrimTo(c, 0));
    ASK(cuDeviceSetMemPool(0, c));
    ASK(cuDeviceGetMemPool(&q, 0));
    SHOW(q == c);
    ASK(cuMemPoolDestroy(c));
    ASK(cuDeviceGetMemPool(&q, 0));
    SHOW(q == p);
    ASK(cuMemPoolDestroy(p));
    ASK(cuMemFreeAsync(a, 0));
    int fd;
    ASK(cuMemPoolExportToShareableHandle(&fd, p, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    void *x = (void *)1;
    ASK(cudaMallocAsync(&x, 0, 0));
    SHOW(x != 0);
    ASK(cudaFreeAsync(0, 0));
    ASK(cudaMalloc(&x, 0));
    SHOW(x != 0);
    ASK(cudaMallocManaged(&x, 0));
    ASK(cudaMallocHost(&x, 0));
    SHOW(x != 0);
}

static void array_show(CUarray a)
{
    CUDA_ARRAY_DESCRIPTOR d;
    CUDA_ARRAY3D_DESCRIPTOR e;
    memset(&d, 0, sizeof d);
    memset(&e, 0, sizeof e);
    CUresult r = cuArrayGetDescriptor(&d, a), s = cuArray3DGetDescriptor(&e, a);
    printf("  array %d %zu x %zu f%d n%u, %d %zu x %zu x %zu f%d n%u flags %u\n", r, d.Width, d.Height, d.Format, d.NumChannels,
           s, e.Width, e.Height, e.Depth, e.Format, e.NumChannels, e.Flags);
    CUDA_ARRAY_MEMORY_REQUIREMENTS q;
    memset(&q, 0, sizeof q);
    CUresult t = cuArrayGetMemoryRequirements(&q, a, 0);
    printf("  requirements %d: %zu alignment %zu\n", t, q.size, q.alignment);
}
static CUresult array_new(CUarray *a, size_t w, size_t h, size_t d, int format, int channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR e = { w, h, d, (CUarray_format)format, (unsigned)channels, flags };
    CUresult r = cuArray3DCreate(a, &e);
    printf("array %zu x %zu x %zu f%d n%d flags %u: %d\n", w, h, d, format, channels, flags, r);
    if (!r) array_show(*a);
    return r;
}
static CUresult copy_to(CUarray a, size_t x, size_t y, size_t w, size_t h, size_t pitch)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = host;
    c.srcPitch = pitch;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.dstXInBytes = x;
    c.dstY = y;
    c.WidthInBytes = w;
    c.Height = h;
    return cuMemcpy2D(&c);
}
static CUresult copy_to3(CUarray a, size_t z, size_t w, size_t h, size_t d)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = host;
    c.srcPitch = w;
    c.srcHeight = h;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.dstZ = z;
    c.WidthInBytes = w;
    c.Height = h;
    c.Depth = d;
    return cuMemcpy3D(&c);
}

static void arrays()
{
    CUarray a = 0, b = 0, l = 0;
    CUDA_ARRAY_DESCRIPTOR d = { 100, 50, CU_AD_FORMAT_FLOAT, 1 };
    ASK(cuArrayCreate(&a, &d));
    array_show(a);
    d.NumChannels = 3;
    ASK(cuArrayCreate(&b, &d));
    d.NumChannels = 4;
    d.Width = 0;
    ASK(cuArrayCreate(&b, &d));
    d.Width = 131073;
    d.Height = 1;
    ASK(cuArrayCreate(&b, &d));
    d.Width = 131072;
    d.Height = 0;
    ASK(cuArrayCreate(&b, &d));
    d.Width = 131073;
    ASK(cuArrayCreate(&b, &d));
    int formats[] = { 1, 2, 3, 8, 9, 0xa, 0x10, 0x20, 0x04, 0xb0, 0xc0, 0x91, 0x92, 0x93, 0xc1, 0xc2 };
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++)
        for (int n = 1; n <= 4; n++) {
            CUarray t = 0;
            CUDA_ARRAY_DESCRIPTOR e = { 64, 64, (CUarray_format)formats[i], (unsigned)n };
            printf("format 0x%x n%d: %d\n", formats[i], n, cuArrayCreate(&t, &e));
            if (t) cuArrayDestroy(t);
        }
    array_new(&b, 64, 0, 0, 0x20, 1, 0);
    array_new(&b, 64, 32, 0, 0x20, 2, CUDA_ARRAY3D_SURFACE_LDST);
    array_new(&b, 64, 32, 16, 0x20, 4, 0);
    array_new(&l, 64, 32, 5, 0x20, 1, CUDA_ARRAY3D_LAYERED);
    array_new(&b, 64, 0, 5, 0x20, 1, CUDA_ARRAY3D_LAYERED);
    array_new(&b, 64, 64, 6, 0x20, 1, CUDA_ARRAY3D_CUBEMAP);
    array_new(&b, 64, 32, 6, 0x20, 1, CUDA_ARRAY3D_CUBEMAP);
    array_new(&b, 64, 64, 5, 0x20, 1, CUDA_ARRAY3D_CUBEMAP);
    array_new(&b, 64, 64, 12, 0x20, 1, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    array_new(&b, 64, 64, 0, 0x20, 1, CUDA_ARRAY3D_TEXTURE_GATHER);
    array_new(&b, 64, 64, 4, 0x20, 1, CUDA_ARRAY3D_TEXTURE_GATHER);
    array_new(&b, 64, 64, 0, 0x20, 1, CUDA_ARRAY3D_DEPTH_TEXTURE);
    array_new(&b, 64, 64, 0, 0x20, 1, CUDA_ARRAY3D_SPARSE);
    array_new(&b, 64, 64, 0, 0x20, 1, CUDA_ARRAY3D_DEFERRED_MAPPING);
    array_new(&b, 64, 64, 0, 0x20, 1, 0x1000);
    array_new(&b, 131072, 65536, 0, 1, 1, 0);
    array_new(&b, 131073, 2, 0, 1, 1, 0);
    array_new(&b, 2, 65537, 0, 1, 1, 0);
    array_new(&b, 16384, 2, 2, 1, 1, 0);
    array_new(&b, 16385, 2, 2, 1, 1, 0);
    array_new(&b, 2, 2, 16385, 1, 1, 0);
    array_new(&b, 32769, 2, 2, 1, 1, CUDA_ARRAY3D_LAYERED);
    array_new(&b, 2, 2, 2049, 1, 1, CUDA_ARRAY3D_LAYERED);
    array_new(&b, 64, 64, 64, 0x20, 4, 0);
    /* a is 100 x 50 floats */
    ASK(copy_to(a, 0, 0, 400, 50, 400));
    ASK(copy_to(a, 0, 0, 404, 1, 404));
    ASK(copy_to(a, 4, 0, 400, 1, 400));
    ASK(copy_to(a, 0, 1, 400, 50, 400));
    ASK(copy_to(a, 2, 0, 4, 1, 4));
    ASK(copy_to(a, 0, 0, 3, 1, 4));
    ASK(copy_to(a, 0, 0, 8, 2, 4));
    ASK(copy_to(0, 0, 0, 8, 2, 8));
    ASK(copy_to(a, 0, 0, 0, 2, 8));
    ASK(copy_to3(l, 0, 256, 32, 5));
    ASK(copy_to3(l, 1, 256, 32, 5));
    ASK(copy_to3(a, 0, 400, 50, 1));
    ASK(copy_to3(a, 0, 400, 25, 2));
    CUdeviceptr p;
    cuMemAlloc(&p, MIB);
    CUDA_ARRAY_DESCRIPTOR one = { 100, 0, CU_AD_FORMAT_FLOAT, 1 };
    CUarray o = 0, o2 = 0;
    ASK(cuArrayCreate(&o, &one));
    ASK(cuArrayCreate(&o2, &one));
    ASK(cuMemcpyHtoA(o, 0, host, 400));
    ASK(cuMemcpyHtoA(o, 4, host, 400));
    ASK(cuMemcpyHtoA(o, 2, host, 4));
    ASK(cuMemcpyAtoH(host, o, 8, 40));
    ASK(cuMemcpyDtoA(o, 0, p, 400));
    ASK(cuMemcpyAtoD(p, o, 0, 404));
    ASK(cuMemcpyAtoA(o2, 0, o, 0, 400));
    ASK(cuMemcpyAtoA(o2, 4, o, 0, 400));
    ASK(cuMemcpyAtoA(o, 0, o, 40, 40));
    ASK(cuMemcpyHtoA(a, 0, host, 400));
    ASK(cuMemcpyHtoA(a, 0, host, 800));
    ASK(cuMemcpyHtoAAsync(o, 0, host, 400, 0));
    ASK(cuArrayGetPlane(&b, a, 0));
    CUDA_ARRAY_SPARSE_PROPERTIES sp;
    ASK(cuArrayGetSparseProperties(&sp, a));
    /* the runtime's names */
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    cudaArray_t ra = 0;
    ASK(cudaMallocArray(&ra, &c, 100, 50));
    ASK(cudaMemcpy2DToArray(ra, 0, 0, host, 400, 400, 50, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(ra, 0, 0, host, 300, 400, 50, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(ra, 0, 1, host, 400, 400, 50, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DToArray(ra, 4, 0, host, 400, 400, 50, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2DFromArray(host, 400, ra, 0, 0, 400, 50, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpyToArray(ra, 0, 0, host, 20000, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyToArray(ra, 0, 0, host, 20004, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyToArray(ra, 8, 1, host, 600, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyFromArray(host, ra, 8, 1, 600, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy2DArrayToArray(ra, 0, 0, ra, 0, 10, 400, 10, cudaMemcpyDeviceToDevice));
    cudaExtent ex;
    unsigned rf = 9;
    ASK(cudaArrayGetInfo(&c, &ex, &rf, ra));
    printf("info %d %d %d %d %d, %zu %zu %zu, %u\n", c.x, c.y, c.z, c.w, c.f, ex.width, ex.height, ex.depth, rf);
    c.f = (cudaChannelFormatKind)77;
    cudaArray_t rb = 0;
    ASK(cudaMallocArray(&rb, &c, 10, 10));
    c = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
    ASK(cudaMallocArray(&rb, &c, 10, 10));
    c = cudaCreateChannelDesc(8, 8, 0, 0, cudaChannelFormatKindUnsigned);
    ASK(cudaMallocArray(&rb, &c, 10, 0));
    ASK(cudaMallocArray(&rb, &c, 0, 10));
    ASK(cudaFreeArray(0));
    ASK(cudaFreeArray(ra));
    CUmipmappedArray m = 0;
    CUDA_ARRAY3D_DESCRIPTOR e = { 64, 32, 0, CU_AD_FORMAT_FLOAT, 1, 0 };
    ASK(cuMipmappedArrayCreate(&m, &e, 0));
    ASK(cuMipmappedArrayCreate(&m, &e, 100));
    for (unsigned i = 0; i < 10; i++) {
        CUarray t = 0;
        CUresult r = cuMipmappedArrayGetLevel(&t, m, i);
        printf("level %u: %d\n", i, r);
        if (!r) array_show(t);
        if (!r && !i) ASK(cuArrayDestroy(t));
    }
    ASK(cuMipmappedArrayDestroy(m));
    ASK(cuMipmappedArrayCreate(&m, &e, 3));
    CUarray t3 = 0;
    ASK(cuMipmappedArrayGetLevel(&t3, m, 3));
    e.Depth = 8;
    ASK(cuMipmappedArrayCreate(&m, &e, 4));
    ASK(cuMipmappedArrayGetLevel(&t3, m, 2));
    array_show(t3);
    e.Flags = CUDA_ARRAY3D_LAYERED;
    ASK(cuMipmappedArrayCreate(&m, &e, 4));
    ASK(cuMipmappedArrayGetLevel(&t3, m, 2));
    array_show(t3);
    /* textures and surfaces */
    CUDA_RESOURCE_DESC res;
    CUDA_TEXTURE_DESC tex;
    CUtexObject to = 0;
    CUsurfObject so = 0;
    memset(&res, 0, sizeof res);
    memset(&tex, 0, sizeof tex);
    res.resType = CU_RESOURCE_TYPE_ARRAY;
    res.res.array.hArray = a;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    SHOW(to);
    CUDA_TEXTURE_DESC back;
    memset(&back, 0xee, sizeof back);
    ASK(cuTexObjectGetTextureDesc(&back, to));
    printf("texture %d %d %d filter %d flags %u aniso %u mip %d %g %g %g\n", back.addressMode[0], back.addressMode[1],
           back.addressMode[2], back.filterMode, back.flags, back.maxAnisotropy, back.mipmapFilterMode, back.mipmapLevelBias,
           back.minMipmapLevelClamp, back.maxMipmapLevelClamp);
    CUDA_RESOURCE_VIEW_DESC view;
    ASK(cuTexObjectGetResourceViewDesc(&view, to));
    ASK(cuTexObjectGetResourceDesc(&res, to));
    ASK(cuTexObjectDestroy(to));
    tex.filterMode = (CUfilter_mode)7;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    tex.filterMode = CU_TR_FILTER_MODE_POINT;
    tex.addressMode[0] = (CUaddress_mode)9;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    tex.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP;
    ASK(cuSurfObjectCreate(&so, &res));
    CUarray sa = 0;
    array_new(&sa, 64, 32, 0, 0x20, 1, CUDA_ARRAY3D_SURFACE_LDST);
    res.res.array.hArray = sa;
    ASK(cuSurfObjectCreate(&so, &res));
    ASK(cuSurfObjectGetResourceDesc(&res, so));
    ASK(cuSurfObjectDestroy(so));
    ASK(cuSurfObjectDestroy(0));
    ASK(cuTexObjectDestroy(0));
    memset(&res, 0, sizeof res);
    res.resType = CU_RESOURCE_TYPE_LINEAR;
    res.res.linear.devPtr = p;
    res.res.linear.format = CU_AD_FORMAT_FLOAT;
    res.res.linear.numChannels = 1;
    res.res.linear.sizeInBytes = 4000;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    SHOW(to);
    res.res.linear.devPtr = p + 4;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    res.res.linear.devPtr = p;
    res.res.linear.sizeInBytes = (size_t)1 << 31;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    res.res.linear.sizeInBytes = 0;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    res.res.linear.devPtr = 0;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    memset(&res, 0, sizeof res);
    res.resType = CU_RESOURCE_TYPE_PITCH2D;
    res.res.pitch2D.devPtr = p;
    res.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    res.res.pitch2D.numChannels = 1;
    res.res.pitch2D.width = 100;
    res.res.pitch2D.height = 10;
    res.res.pitch2D.pitchInBytes = 512;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    res.res.pitch2D.pitchInBytes = 400;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    res.res.pitch2D.pitchInBytes = 416;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    res.res.pitch2D.pitchInBytes = 384;
    ASK(cuTexObjectCreate(&to, &res, &tex, 0));
    ASK(cuSurfObjectCreate(&so, &res));
    CUtexref ref = 0;
    ASK(cuTexRefCreate(&ref));
    ASK(cuTexRefSetArray(ref, a, CU_TRSA_OVERRIDE_FORMAT));
    ASK(cuArrayDestroy(a));
    ASK(cuArrayDestroy(0));
}

static void managed()
{
    char *m, *d;
    cudaMallocManaged((void **)&m, 4 * MIB);
    cudaMalloc((void **)&d, 4 * MIB);
    CUdeviceptr p = (CUdeviceptr)m;
    for (int a = 1; a <= 8; a++) {
        int v[4] = { 99, 99, 99, 99 };
        CUresult r = cuMemRangeGetAttribute(v, a == 3 ? 16 : 4, (CUmem_range_attribute)a, p, 4 * MIB);
        printf("range attribute %d: %d %d %d %d %d\n", a, r, v[0], v[1], v[2], v[3]);
    }
    int v[4] = { 99, 99, 99, 99 };
    CUmemLocation here = { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, none = { CU_MEM_LOCATION_TYPE_DEVICE, 99 };
    CUmemLocation cpu = { CU_MEM_LOCATION_TYPE_HOST, 0 };
    ASK(cuMemRangeGetAttribute(v, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 4 * MIB));
    ASK(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 5 * MIB));
    ASK(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)d, 4));
    ASK(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, (CUdeviceptr)host, 4096));
    ASK(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 0));
    ASK(cuMemAdvise_v2(p, 4 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    ASK(cuMemAdvise_v2(p, 2 * MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    ASK(cuMemAdvise_v2(p, 2 * MIB, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, none));
    ASK(cuMemAdvise_v2(p, 4 * MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, cpu));
    ASK(cuMemAdvise_v2(p, 4 * MIB, CU_MEM_ADVISE_SET_ACCESSED_BY, here));
    ASK(cuMemAdvise_v2(p, 4 * MIB, (CUmem_advise)77, here));
    ASK(cuMemAdvise_v2((CUdeviceptr)d, 4 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    ASK(cuMemAdvise_v2((CUdeviceptr)host, 4 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    ASK(cuMemAdvise_v2(p, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    ASK(cuMemAdvise_v2(p, 8 * MIB, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    ASK(cuMemPrefetchAsync_v2(p, 4 * MIB, here, 0, 0));
    ASK(cuMemPrefetchAsync_v2(p, 4 * MIB, here, 1, 0));
    ASK(cuMemPrefetchAsync_v2(p, 4 * MIB, none, 0, 0));
    ASK(cuMemPrefetchAsync_v2(p, 8 * MIB, here, 0, 0));
    ASK(cuMemPrefetchAsync_v2(p, 0, here, 0, 0));
    ASK(cuMemPrefetchAsync_v2((CUdeviceptr)d, 4 * MIB, here, 0, 0));
    ASK(cuMemPrefetchAsync_v2((CUdeviceptr)host, MIB, here, 0, 0));
    ASK(cudaDeviceSynchronize());
    for (int a = 1; a <= 8; a++)
        for (int half = 1; half <= 2; half++) {
            int w[4] = { 99, 99, 99, 99 };
            CUresult r = cuMemRangeGetAttribute(w, a == 3 ? 16 : 4, (CUmem_range_attribute)a, p, (size_t)half * 2 * MIB);
            printf("range attribute %d of %d halves: %d %d %d %d %d\n", a, half, r, w[0], w[1], w[2], w[3]);
        }
    ASK(cuMemPrefetchAsync_v2(p, 4 * MIB, cpu, 0, 0));
    ASK(cudaDeviceSynchronize());
    ASK(cuMemRangeGetAttribute(v, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4 * MIB));
    SHOW(v[0]);
    ASK(cuStreamAttachMemAsync(0, p, 0, CU_MEM_ATTACH_SINGLE));
    cudaStream_t s;
    cudaStreamCreate(&s);
    ASK(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
    ASK(cuStreamAttachMemAsync(s, p, 4 * MIB, CU_MEM_ATTACH_HOST));
    ASK(cuStreamAttachMemAsync(s, p, 2 * MIB, CU_MEM_ATTACH_GLOBAL));
    ASK(cuStreamAttachMemAsync(s, p, 0, 8));
    ASK(cuStreamAttachMemAsync(s, (CUdeviceptr)d, 0, CU_MEM_ATTACH_GLOBAL));
    pointer("managed", p);
    void *x = 0;
    ASK(cudaMallocManaged(&x, 100, 0));
    ASK(cudaMallocManaged(&x, 100, 4));
    ASK(cudaMallocManaged(&x, 100, cudaMemAttachHost));
    /* values */
    ASK(cuStreamWriteValue32(s, (CUdeviceptr)d, 5, 0));
    ASK(cuStreamWriteValue32(s, (CUdeviceptr)d, 5, 1));
    ASK(cuStreamWriteValue32(s, (CUdeviceptr)d, 5, 2));
    ASK(cuStreamWriteValue32(s, (CUdeviceptr)d + 1, 5, 0));
    ASK(cuStreamWaitValue32(s, (CUdeviceptr)d, 5, CU_STREAM_WAIT_VALUE_EQ));
    ASK(cuStreamWaitValue32(s, (CUdeviceptr)d, 5, 4));
    ASK(cuStreamWaitValue32(s, (CUdeviceptr)d, 5, CU_STREAM_WAIT_VALUE_FLUSH));
    ASK(cuStreamWaitValue64(s, (CUdeviceptr)d + 4, 0, 0));
    ASK(cuStreamWriteValue64(s, (CUdeviceptr)d, 5, 0));
    ASK(cuStreamWriteValue32(s, p, 5, 0));
    CUstreamBatchMemOpParams o[2];
    memset(o, 0, sizeof o);
    o[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    o[0].writeValue.address = (CUdeviceptr)d;
    o[0].writeValue.value = 9;
    o[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    o[1].waitValue.address = (CUdeviceptr)d;
    o[1].waitValue.value = 9;
    ASK(cuStreamBatchMemOp(s, 2, o, 0));
    ASK(cuStreamBatchMemOp(s, 0, o, 0));
    ASK(cuStreamBatchMemOp(s, 257, o, 0));
    ASK(cuStreamBatchMemOp(s, 2, o, 1));
    o[1].operation = (CUstreamBatchMemOpType)77;
    ASK(cuStreamBatchMemOp(s, 2, o, 0));
    ASK(cudaDeviceSynchronize());
    /* batches */
    CUdeviceptr to[2] = { (CUdeviceptr)d, (CUdeviceptr)d + MIB }, from[2] = { (CUdeviceptr)host, (CUdeviceptr)host + MIB };
    size_t bytes[2] = { MIB, 100 }, index[2] = { 0, 1 };
    CUmemcpyAttributes attribute[2];
    memset(attribute, 0, sizeof attribute);
    attribute[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    attribute[1].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    ASK(cuMemcpyBatchAsync(to, from, bytes, 2, attribute, index, 1, s));
    ASK(cuMemcpyBatchAsync(to, from, bytes, 2, attribute, index, 1, 0));
    ASK(cuMemcpyBatchAsync(to, from, bytes, 0, attribute, index, 1, s));
    ASK(cuMemcpyBatchAsync(to, from, bytes, 2, attribute, index, 0, s));
    ASK(cuMemcpyBatchAsync(to, from, bytes, 2, attribute, index, 3, s));
    attribute[0].srcAccessOrder = (CUmemcpySrcAccessOrder)0;
    ASK(cuMemcpyBatchAsync(to, from, bytes, 2, attribute, index, 1, s));
    attribute[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    bytes[1] = 0;
    ASK(cuMemcpyBatchAsync(to, from, bytes, 2, attribute, index, 1, s));
    size_t half[2] = { MIB, MIB };
    CUdeviceptr pp[2] = { p, p + MIB };
    ASK(cuMemPrefetchBatchAsync(pp, half, 2, &here, index, 1, 0, s));
    ASK(cuMemPrefetchBatchAsync(pp, half, 2, &here, index, 1, 0, 0));
    ASK(cuMemPrefetchBatchAsync(pp, half, 2, &here, index, 1, 1, s));
    ASK(cuMemDiscardBatchAsync(pp, half, 2, 0, s));
    ASK(cudaDeviceSynchronize());
}

static void hosts()
{
    unsigned flags = 99;
    void *h = 0, *x = 0;
    CUdeviceptr p;
    for (unsigned f = 0; f <= 16; f++) {
        CUresult r = cuMemHostAlloc(&h, 4096, f);
        flags = 99;
        CUresult q = r ? (CUresult)-1 : cuMemHostGetFlags(&flags, h), t = r ? (CUresult)-1 : cuMemHostGetDevicePointer(&p, h, 0);
        printf("host alloc with %u: %d, flags %d %u, pointer %d same %d\n", f, r, q, flags, t, !t && (void *)p == h);
        if (!r) cuMemFreeHost(h);
    }
    ASK(cuMemHostAlloc(&h, 4096, 0));
    ASK(cuMemHostGetFlags(&flags, (char *)h + 5));
    ASK(cuMemHostGetDevicePointer(&p, (char *)h + 5, 0));
    SHOW(p - (CUdeviceptr)h);
    ASK(cuMemHostGetDevicePointer(&p, h, 1));
    pointer("pinned", (CUdeviceptr)h);
    char *g = (char *)aligned_alloc(4096, 16 * MIB);
    for (unsigned f = 0; f <= 20; f++) {
        CUresult r = cuMemHostRegister(g, MIB, f);
        flags = 99;
        CUresult q = r ? (CUresult)-1 : cuMemHostGetFlags(&flags, g), t = r ? (CUresult)-1 : cuMemHostGetDevicePointer(&p, g, 0);
        printf("register with %u: %d, flags %d %u, pointer %d same %d\n", f, r, q, flags, t, !t && (char *)p == g);
        if (!r) cuMemHostUnregister(g);
    }
    ASK(cuMemHostRegister(g, 0, 0));
    ASK(cuMemHostRegister(0, 100, 0));
    ASK(cuMemHostRegister(g + 10, 100, 0));
    ASK(cuMemHostUnregister(g));
    ASK(cuMemHostUnregister(g + 10));
    ASK(cuMemHostUnregister(h));
    ASK(cuMemFreeHost(g));
    void *d;
    cudaMalloc(&d, 1000);
    ASK(cuMemHostGetFlags(&flags, d));
    ASK(cuMemHostGetDevicePointer(&p, d, 0));
    ASK(cuMemFreeHost(d));
    ASK(cudaFreeHost(d));
    ASK(cudaFree(h));
    pointer("device", (CUdeviceptr)d);
    unsigned one = 1;
    ASK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)d));
    ASK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)d));
    ASK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)h));
    pointer("device, synchronous", (CUdeviceptr)d);
    int access;
    ASK(cuDeviceCanAccessPeer(&access, 0, 0));
    SHOW(access);
    CUcontext c;
    cuCtxGetCurrent(&c);
    ASK(cuCtxEnablePeerAccess(c, 0));
    ASK(cuCtxDisablePeerAccess(c));
    ASK(cudaDeviceEnablePeerAccess(0, 0));
    ASK(cudaDeviceDisablePeerAccess(0));
    cudaIpcMemHandle_t ipc;
    ASK(cudaIpcGetMemHandle(&ipc, d));
    int fd;
    ASK(cuMemGetHandleForAddressRange(&fd, (CUdeviceptr)d, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
    size_t pitch = 0;
    CUdeviceptr q;
    for (int e = 0; e <= 32; e += e ? e : 1) printf("pitch of elements of %d: %d\n", e, cuMemAllocPitch(&q, &pitch, 100, 10, e));
    ASK(cuMemAllocPitch(&q, &pitch, 0, 10, 4));
    ASK(cuMemAllocPitch(&q, &pitch, 100, 0, 4));
    cudaPitchedPtr pp;
    ASK(cudaMalloc3D(&pp, make_cudaExtent(100, 10, 5)));
    SHOW(pp.pitch);
    SHOW(pp.xsize);
    SHOW(pp.ysize);
    ASK(cudaMalloc3D(&pp, make_cudaExtent(0, 10, 5)));
    ASK(cudaMallocPitch(&x, &pitch, 100, 0));
    SHOW(x != 0);
    ASK(cudaMalloc3D(&pp, make_cudaExtent(100, 10, 5)));
    ASK(cudaMemset3D(pp, 1, make_cudaExtent(100, 10, 5)));
    ASK(cudaMemset3D(pp, 1, make_cudaExtent(100, 10, 6)));
    ASK(cudaMemset3D(pp, 1, make_cudaExtent(600, 10, 5)));
    ASK(cudaMemset2D(pp.ptr, pp.pitch, 1, 100, 50));
    ASK(cudaMemset2D(pp.ptr, 50, 1, 100, 10));
    ASK(cudaMemcpy2D(host, 50, pp.ptr, pp.pitch, 100, 10, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy2D(host, 100, pp.ptr, pp.pitch, 100, 60, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy(d, host, 1000, (cudaMemcpyKind)7));
    ASK(cudaMemcpy(d, host, 1001, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(d, host, 1000, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy(d, host, 1000, cudaMemcpyHostToHost));
    ASK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    CUcontext c;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    cudaFree(0);
    const char *part = argc > 1 ? argv[1] : "all";
    bool all = !strcmp(part, "all");
    if (all || !strcmp(part, "virtual")) virtual_memory();
    if (all || !strcmp(part, "pools")) pools();
    if (all || !strcmp(part, "arrays")) arrays();
    if (all || !strcmp(part, "managed")) managed();
    if (all || !strcmp(part, "hosts")) hosts();
    return 0;
}
