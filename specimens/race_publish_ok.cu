// Block 0 stores the payload and then the flag, with release; block 1 waits for the flag, with acquire.
#include <cuda/atomic>
//! kernel race_publish
//! arg payload i32[1] inout zeros
//! arg flag i32[1] inout zeros
//! arg y i32[1] out once
//! launch grid=2 block=1
extern "C" __global__ void race_publish(int *payload, int *flag, int *y)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *payload = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        *y = *payload;
    }
}
