// A flag between blocks that is a plain variable: the compiler loads it once, in front of the loop that waits for it.
template <class FLAG> __device__ inline void hand_over(FLAG *flag, int *data, int *out)
{
    if (blockIdx.x == 0) {
        *data = 7;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) { }
        __threadfence();
        *out = *data;
    }
}
extern "C" __global__ void blind_bad(int *flag, int *data, int *out) { hand_over(flag, data, out); }
extern "C" __global__ void blind_ok(volatile int *flag, int *data, int *out) { hand_over(flag, data, out); }
