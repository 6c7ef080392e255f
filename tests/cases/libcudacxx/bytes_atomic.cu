// regen: -arch=sm_80 -std=c++17
// Atomics of 8 and 16 bits: libcu++ loads them as such, and changes them by compare-and-swap of the word around them. One size to the program, two in the PTX.
#include <cuda/atomic>
template <class T> using ref = cuda::atomic_ref<T, cuda::thread_scope_device>;

// A flag of one byte hands data over.
template <class T, class Set> __device__ void hand_over(int *data, T *flag, int *y, Set set, cuda::memory_order order)
{
    ref<T> f(*flag);
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __syncwarp();
        if (threadIdx.x == 0) set(f);
    } else {
        if (threadIdx.x == 0) while (!f.load(order)) ;
        __syncwarp();
        y[threadIdx.x] = data[threadIdx.x];
    }
}
extern "C" __global__ void flag_bool(int *data, bool *flag, int *y)
{
    hand_over(data, flag, y, [](ref<bool> f) { f.store(true, cuda::memory_order_release); }, cuda::memory_order_acquire);
}
extern "C" __global__ void flag_short(int *data, short *flag, int *y)
{
    hand_over(data, flag, y, [](ref<short> f) { f.fetch_add(1, cuda::memory_order_release); }, cuda::memory_order_acquire);
}
extern "C" __global__ void flag_char(int *data, char *flag, int *y)
{
    hand_over(data, flag, y, [](ref<char> f) { f.exchange(1); }, cuda::memory_order_seq_cst);
}
// Wrong: nothing is released.
extern "C" __global__ void flag_relaxed(int *data, bool *flag, int *y)
{
    hand_over(data, flag, y, [](ref<bool> f) { f.store(true, cuda::memory_order_relaxed); }, cuda::memory_order_acquire);
}
extern "C" __global__ void all_operations(unsigned char *p, unsigned short *q)
{
    ref<unsigned char> a(p[threadIdx.x % 4]);
    ref<unsigned short> b(q[threadIdx.x % 2]);
    a.fetch_add(1);
    b.fetch_add(1);
    a.store(3);
    b.exchange(3);
    a.load();
    unsigned char seen = 3;
    a.compare_exchange_strong(seen, 4);
}
