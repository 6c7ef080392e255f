/* Reserved addresses of which the first granule is mapped, and copies that begin there and end behind it, or lie behind
 * it. `edge MODE` does one thing; ok stays inside. */
// regen: no
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#define OK(call)                                        \
    do {                                                \
        CUresult r_ = (call);                           \
        if (r_) printf("%s: %d\n", #call, r_);          \
    } while (0)

__global__ void store(char *to)
{
    __shared__ alignas(128) char s[1024];
    for (int i = 0; i < 1024; i++) s[i] = 1;
    asm volatile("fence.proxy.async;");
    unsigned from = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(to), "r"(from) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void load(const char *from)
{
    __shared__ alignas(128) char s[1024];
    __shared__ alignas(8) unsigned long long b;
    unsigned to = (unsigned)__cvta_generic_to_shared(s), bar = (unsigned)__cvta_generic_to_shared(&b);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to),
                 "l"(from), "r"(bar)
                 : "memory");
}
__global__ void box(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) char s[256];
    for (int i = 0; i < 256; i++) s[i] = 1;
    asm volatile("fence.proxy.async;");
    unsigned from = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%0, {%1}], [%2];" ::"l"(&map), "r"(0), "r"(from)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
__global__ void print(const char *text) { printf("%s\n", text); }

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "ok";
    const size_t g = 2 << 20;
    bool ok = !strcmp(mode, "ok");
    CUdevice d;
    CUcontext c;
    CUdeviceptr p;
    CUmemGenericAllocationHandle h;
    CUmemAllocationProp prop = {};
    CUmemAccessDesc access = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    OK(cuInit(0));
    OK(cuDeviceGet(&d, 0));
    OK(cuDevicePrimaryCtxRetain(&c, d));
    OK(cuCtxSetCurrent(c));
    OK(cuMemAddressReserve(&p, 4 * g, 0, 0, 0));
    OK(cuMemCreate(&h, g, &prop, 0));
    OK(cuMemMap(p, g, 0, h, 0));
    OK(cuMemSetAccess(p, g, &access, 1));
    OK(cuMemsetD8(p, 'x', g));
    OK(cuMemsetD8(p + g / 2, 0, 16));
    char *edge = (char *)(ok ? p : p + g - 256);
    if (ok || !strcmp(mode, "store")) store<<<1, 1>>>(edge);
    if (!strcmp(mode, "load")) load<<<1, 1>>>(edge);
    if (ok || !strcmp(mode, "box")) {
        CUtensorMap map;
        cuuint64_t dim = 65536, stride = 0;
        cuuint32_t size = 256, step = 1;
        OK(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, (void *)(ok ? p : p + g), &dim, &stride, &size,
                                  &step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                  CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
        box<<<1, 1>>>(map);
    }
    if (ok || !strcmp(mode, "print")) print<<<1, 1>>>((const char *)(ok ? p + g / 2 - 4 : p + g - 4));
    cuCtxSynchronize();
    cuMemUnmap(p, g);
    cuMemRelease(h);
    cuMemAddressFree(p, 4 * g);
}
