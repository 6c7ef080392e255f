// A counter for all blocks, counted with an atomic of block scope.
//! kernel race_scope
//! arg count i32[1] inout zeros
//! launch grid=4 block=64
extern "C" __global__ void race_scope(int *count)
{
    if (threadIdx.x == 0)
        atomicAdd_block(count, 1);
}
