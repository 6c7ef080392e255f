// R5c: a flag past the first cache, as code before the memory model has it: what hardware happens to do orders it, a note. A flag that is read plainly is an error.
extern "C" __global__ void uncached_bad(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        __stcg(flag, 1);
    } else {
        while (!__ldcv(flag)) ;
        __threadfence();
        *out = *data;
    }
}

extern "C" __global__ void no_fence_bad(int *data, int *flag, int *out)         // the fence of the writer is missing: nothing orders the data, not even there
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __stcg(flag, 1);
    } else {
        while (!__ldcg(flag)) ;
        __threadfence();
        *out = *data;
    }
}

extern "C" __global__ void volatile_ok(int *data, volatile int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (!*flag) ;
        __threadfence();
        *out = *data;
    }
}

extern "C" __global__ void streamed_ok(const int *in, int *out)                 // no flag: loads and stores past the cache of what nobody shares
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __stcg(out + i, __ldcg(in + i));
    __threadfence();
    __stwt(out + i, __ldcv(out + i) + 1);
}
