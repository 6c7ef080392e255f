// regen: no
// Which element types a reduction of a tensor copy takes (cp.reduce.async.bulk.tensor), and what it makes of them. A process for each, since the error stays:
//   nvcc -arch=sm_90 -o /tmp/reduce tests/facts/tensor_reduce.cu && for t in $(seq 0 12); do for o in $(seq 0 7); do /tmp/reduce $t $o; done; done
// `reduce all`: all in one process, for Lockstep, where a launch that is refused leaves the next one as it is. tests/truth/tensor_reduce.txt is the record of an H200.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

enum { BYTES = 128 };
static const char *const type_name[] = { "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32", "tf32.ftz" };
static const int type_bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
static const char *const op_name[] = { "add", "min", "max", "inc", "dec", "and", "or", "xor" };

#define REDUCE(op) asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta." op ".tile.bulk_group [%0, {%2}], [%1];" ::"l"(&m), "r"(from), "r"(0) : "memory")
__global__ void reduce(const __grid_constant__ CUtensorMap m, int op, const unsigned char *with)
{
    __shared__ __align__(128) unsigned char s[BYTES];
    if (threadIdx.x < BYTES) s[threadIdx.x] = with[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    unsigned from = (unsigned)__cvta_generic_to_shared(s);
    switch (op) {
    case 0: REDUCE("add"); break;
    case 1: REDUCE("min"); break;
    case 2: REDUCE("max"); break;
    case 3: REDUCE("inc"); break;
    case 4: REDUCE("dec"); break;
    case 5: REDUCE("and"); break;
    case 6: REDUCE("or"); break;
    case 7: REDUCE("xor"); break;
    }
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}

static void one(int type, int op)
{
    typedef CUresult encode_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    unsigned char was[BYTES], with[BYTES], *p, *q;
    encode_t *encode;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    for (int k = 0; k < BYTES; k++) was[k] = (unsigned char)(k * 37 + 11), with[k] = (unsigned char)(k * 91 + 5);
    for (int k = type_bytes[type] - 1; k < BYTES; k += type_bytes[type]) was[k] = (unsigned char)(0x3c + k % 4), with[k] = (unsigned char)(0xbc + k % 3); // floats of common sizes
    cudaMalloc(&p, BYTES), cudaMalloc(&q, BYTES);
    cudaMemcpy(p, was, BYTES, cudaMemcpyHostToDevice), cudaMemcpy(q, with, BYTES, cudaMemcpyHostToDevice);
    CUtensorMap m;
    cuuint64_t dim = BYTES / type_bytes[type], none = 0;
    cuuint32_t box = (cuuint32_t)dim, step = 1;
    CUresult r = encode(&m, (CUtensorMapDataType)type, 1, p, &dim, &none, &box, &step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("%s %s: encode %d", type_name[type], op_name[op], (int)r);
    if (!r) {
        reduce<<<1, 128>>>(m, op, q);
        cudaError_t e = cudaDeviceSynchronize();
        printf(", %s", cudaGetErrorName(e));
        if (!e) {
            cudaMemcpy(was, p, BYTES, cudaMemcpyDeviceToHost);
            for (int k = 0; k < BYTES; k++) printf("%s%02x", k % type_bytes[type] ? "" : " ", was[k - k % type_bytes[type] + type_bytes[type] - 1 - k % type_bytes[type]]);
        }
    }
    printf("\n");
    cudaFree(p), cudaFree(q);
}

int main(int count, char **word)
{
    if (count > 1 && !strcmp(word[1], "all"))
        for (int k = 0; k < 13 * 8; k++) one(k / 8, k % 8);
    else
        one(count > 1 ? atoi(word[1]) : 0, count > 2 ? atoi(word[2]) : 0);
    return 0;
}
