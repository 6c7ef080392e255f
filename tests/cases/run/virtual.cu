/* Virtual memory management: addresses that are reserved, memory that is mapped there. `virtual MODE` does one thing; the
 * modes other than ok are mistakes. */
// regen: no
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

__global__ void add(int *x, size_t n, int v)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += v;
}
__global__ void one(int *x, size_t i) { x[i] = 7; }
static int wrong;
#define OK(call)                                                             \
    do {                                                                     \
        CUresult r_ = (call);                                                \
        if (r_) printf("%s: %d\n", #call, r_), wrong++;                      \
    } while (0)
#define FAILS(call, code)                                                                 \
    do {                                                                                  \
        CUresult r_ = (call);                                                             \
        if (r_ != (code)) printf("%s: %d and not %d\n", #call, r_, (int)(code)), wrong++; \
    } while (0)

static CUmemAllocationProp prop;
static CUmemAccessDesc access;
static size_t g;

static void good(void)
{
    CUdeviceptr a, b;
    CUmemGenericAllocationHandle h[3], again;
    static int host[3 << 19];
    OK(cuMemAddressReserve(&a, 16 * g, 0, 0, 0));
    OK(cuMemAddressReserve(&b, 4 * g, 0, 0, 0));
    for (int i = 0; i < 3; i++) {
        OK(cuMemCreate(&h[i], g, &prop, 0));
        OK(cuMemMap(a + i * g, g, 0, h[i], 0));
        OK(cuMemRelease(h[i])); /* it lives while it is mapped */
    }
    OK(cuMemSetAccess(a, 3 * g, &access, 1));
    /* three mappings are one memory */
    OK(cuMemsetD32(a, 1, 3 * g / 4));
    add<<<64, 256>>>((int *)a, 3 * g / 4, 2);
    OK(cuMemcpyDtoH(host, a, 3 * g));
    long sum = 0;
    for (size_t i = 0; i < 3 * g / 4; i++) sum += host[i];
    printf("sum %ld of %zu\n", sum, 3 * g / 4);
    /* the same memory at a second address */
    OK(cuMemRetainAllocationHandle(&again, (void *)(a + g + 4)));
    FAILS(cuMemMap(a + g, g, 0, again, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemMap(b, g, 0, again, 0));
    OK(cuMemSetAccess(b, g, &access, 1));
    one<<<1, 1>>>((int *)b, 5);
    OK(cuMemcpyDtoH(host, a + g, 64));
    printf("by its other address: %d %d\n", host[4], host[5]);
    OK(cuMemRelease(again));
    unsigned long long flags = 0;
    OK(cuMemGetAccess(&flags, &access.location, a + g));
    FAILS(cuMemGetAccess(&flags, &access.location, a + 4 * g), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemcpyDtoH(host, a + 2 * g, 2 * g), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuMemAddressFree(a, 16 * g), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(a, g));
    OK(cuMemUnmap(a + g, 2 * g));
    OK(cuMemcpyDtoH(host, b, 64)); /* is still mapped here */
    printf("still there: %d\n", host[5]);
    OK(cuMemUnmap(b, g));
    OK(cuMemAddressFree(a, 16 * g));
    OK(cuMemAddressFree(b, 4 * g));
}

static void bad(const char *mode)
{
    CUdeviceptr a;
    CUmemGenericAllocationHandle h;
    OK(cuMemAddressReserve(&a, 8 * g, 0, 0, 0));
    OK(cuMemCreate(&h, g, &prop, 0));
    OK(cuMemMap(a, g, 0, h, 0));
    if (!strcmp(mode, "unmapped")) {
        OK(cuMemSetAccess(a, g, &access, 1));
        OK(cuMemsetD8(a, 0, g));
        add<<<1, 64>>>((int *)(a + g) - 32, 64, 1); /* half of it is behind what is mapped */
    } else if (!strcmp(mode, "noaccess")) {
        one<<<1, 1>>>((int *)a, 3);
    } else if (!strcmp(mode, "readonly")) {
        CUmemAccessDesc read = access;
        read.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
        OK(cuMemSetAccess(a, g, &read, 1));
        one<<<1, 1>>>((int *)a, 3);
    } else if (!strcmp(mode, "gone")) {
        OK(cuMemSetAccess(a, g, &access, 1));
        one<<<1, 1>>>((int *)a, 3);
        OK(cuCtxSynchronize());
        OK(cuMemUnmap(a, g));
        one<<<1, 1>>>((int *)a, 4);
    } else if (!strcmp(mode, "flight")) {
        OK(cuMemSetAccess(a, g, &access, 1));
        OK(cuMemsetD8(a, 0, g));
        add<<<8, 256>>>((int *)a, g / 4, 1);
        OK(cuMemUnmap(a, g)); /* nobody has waited for the kernel */
    } else if (!strcmp(mode, "leak")) {
        OK(cuMemUnmap(a, g));
        return;
    }
    cuCtxSynchronize();
    if (strcmp(mode, "gone") && strcmp(mode, "flight")) OK(cuMemUnmap(a, g));
    OK(cuMemRelease(h));
    OK(cuMemAddressFree(a, 8 * g));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "ok";
    cudaFree(0);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    OK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    if (!strcmp(mode, "ok"))
        good();
    else
        bad(mode);
    printf("%s: %d wrong\n", mode, wrong);
    return wrong != 0;
}
