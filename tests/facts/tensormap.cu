// regen: no
/* What a driver makes of the argument sets of tensormap_cases.h: a line a case, its number, the error code, and the
 * words of the map that differ from those of case 0, each with its number. The second part asks
 * cuTensorMapReplaceAddress, and null pointers.
 *
 *     nvcc -O1 -std=c++17 -arch=sm_90 -o tensormap tensormap.cu -lcuda && ./tensormap > tensormap.txt
 *
 * tests/truth/tensormap.txt is such a record of an H200. */
#include "tensormap_cases.h"
#include <cstdio>
#include <cuda.h>

static CUresult encode(const struct map_case *c, CUtensorMap *m)
{
    if (c->kind == MAP_TILED)
        return cuTensorMapEncodeTiled(m, (CUtensorMapDataType)c->type, c->rank, (void *)c->address, (const cuuint64_t *)c->dim,
                                      (const cuuint64_t *)c->stride, c->box, c->step, (CUtensorMapInterleave)c->interleave,
                                      (CUtensorMapSwizzle)c->swizzle, (CUtensorMapL2promotion)c->promotion, (CUtensorMapFloatOOBfill)c->fill);
    return cuTensorMapEncodeIm2col(m, (CUtensorMapDataType)c->type, c->rank, (void *)c->address, (const cuuint64_t *)c->dim,
                                   (const cuuint64_t *)c->stride, c->lower, c->upper, c->channels, c->pixels, c->step,
                                   (CUtensorMapInterleave)c->interleave, (CUtensorMapSwizzle)c->swizzle,
                                   (CUtensorMapL2promotion)c->promotion, (CUtensorMapFloatOOBfill)c->fill);
}

int main()
{
    struct map_case c;
    uint64_t first[16] = { 0 };
    cuInit(0);
    CUcontext x;
    CUdevice d;
    cuDeviceGet(&d, 0);
    cuDevicePrimaryCtxRetain(&x, d);
    cuCtxSetCurrent(x);
    for (unsigned n = 0; map_case(n, &c); n++) {
        alignas(64) CUtensorMap m;
        memset(&m, 0, sizeof m);
        CUresult e = encode(&c, &m);
        printf("%u %d", n, (int)e);
        for (int k = 0; k < 16; k++)
            if (m.opaque[k] != first[k]) printf(" %d:%llx", k, (unsigned long long)m.opaque[k]);
        printf("\n");
        if (!n) memcpy(first, &m, sizeof first);
    }
    alignas(64) CUtensorMap m;
    map_case(0, &c);
    encode(&c, &m);
    for (int k = 0; k < 64; k++) {
        CUtensorMap r = m;
        CUresult e = cuTensorMapReplaceAddress(&r, (void *)(uint64_t)(1ull << k));
        printf("replace %d %d", k, (int)e);
        for (int j = 0; j < 16; j++)
            if (r.opaque[j] != m.opaque[j]) printf(" %d:%llx", j, (unsigned long long)r.opaque[j]);
        printf("\n");
    }
    alignas(64) char room[256];
    printf("# null map %d, misaligned map %d, null dims %d, null strides %d, null box %d, null steps %d, replace null %d\n",
           (int)cuTensorMapEncodeTiled(0, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, (const cuuint64_t *)c.dim, (const cuuint64_t *)c.stride, c.box, c.step, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           (int)cuTensorMapEncodeTiled((CUtensorMap *)(room + 16), CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, (const cuuint64_t *)c.dim, (const cuuint64_t *)c.stride, c.box, c.step, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           (int)cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, 0, (const cuuint64_t *)c.stride, c.box, c.step, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           (int)cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, (const cuuint64_t *)c.dim, 0, c.box, c.step, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           (int)cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, (const cuuint64_t *)c.dim, (const cuuint64_t *)c.stride, 0, c.step, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           (int)cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, (const cuuint64_t *)c.dim, (const cuuint64_t *)c.stride, c.box, 0, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           (int)cuTensorMapReplaceAddress(0, (void *)c.address));
#if CUDA_VERSION >= 12080
    int lower[1] = { 0 }, upper[1] = { 0 };
    printf("# im2col wide %d %d\n",
           (int)cuTensorMapEncodeIm2colWide(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, (void *)c.address, (const cuuint64_t *)c.dim, (const cuuint64_t *)c.stride, 0, 0, 32, 64, c.step, (CUtensorMapInterleave)0, (CUtensorMapIm2ColWideMode)0, (CUtensorMapSwizzle)3, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0),
           lower[0] + upper[0]);
#endif
    return 0;
}
