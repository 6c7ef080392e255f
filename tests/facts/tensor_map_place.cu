// regen: no
// Whether cuTensorMapEncodeTiled and cuTensorMapReplaceAddress want the 128 bytes of a map at a multiple of 64, as their documentation says;
// and what a launch of more threads than __launch_bounds__ returns.
// nvcc -o tensor_map_place tensor_map_place.cu -lcuda && timeout 60 ./tensor_map_place
#include <cuda.h>
#include <cstdio>
#include <cstdlib>

__global__ void __launch_bounds__(64) bounded(float *x) { x[threadIdx.x] = 1; }

int main()
{
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuMemAlloc(&memory, 4096);
    char *room = static_cast<char *>(aligned_alloc(64, 512));
    cuuint64_t dim[1] = { 1024 };
    cuuint32_t box[1] = { 64 }, step[1] = { 1 };
    const int at[] = { 0, 1, 4, 8, 16, 32, 48, 64 };
    for (int offset : at) {
        CUtensorMap *map = reinterpret_cast<CUtensorMap *>(room + offset);
        CUresult encoded = cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, (void *)memory, dim, nullptr, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        CUresult replaced = cuTensorMapReplaceAddress(map, (void *)(memory + 1024));
        printf("offset %d: encode %d, replace %d\n", offset, encoded, replaced);
    }
    cudaFunction_t function;
    void *argument = &memory;
    cudaGetFuncBySymbol(&function, reinterpret_cast<const void *>(bounded));
    printf("128 threads, __launch_bounds__(64): driver %d", cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, nullptr, &argument, nullptr));
    bounded<<<1, 128>>>(reinterpret_cast<float *>(memory));
    printf(", runtime %d, then %d\n", cudaGetLastError(), cudaDeviceSynchronize());
    return 0;
}
