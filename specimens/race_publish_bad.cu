// Block 0 sets the flag before the payload is there, and without release; block 1 waits for the flag, without acquire.
//! kernel race_publish
//! arg payload i32[1] inout zeros
//! arg flag i32[1] inout zeros
//! arg y i32[1] out once
//! launch grid=2 block=1
extern "C" __global__ void race_publish(int *payload, int *flag, int *y)
{
    if (blockIdx.x == 0) {
        *(volatile int *)flag = 1;
        *payload = 42;
    } else {
        while (*(volatile int *)flag == 0)
            ;
        *y = *payload;
    }
}
