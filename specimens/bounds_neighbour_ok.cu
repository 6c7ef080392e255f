// Each buffer is reached through its own pointer.
//! kernel bounds_neighbour
//! dim n = 256
//! arg near f32[n] inout zeros
//! arg far f32[n] inout zeros
//! launch grid=1 block=n
extern "C" __global__ void bounds_neighbour(float *near, float *far)
{
    int i = threadIdx.x;
    near[i] = 1;
    far[i] = 2;
}
