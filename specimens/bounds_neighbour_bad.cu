// The distance from one buffer to the other, computed on the device, leads from `near` into `far`: it works until the
// allocator changes its mind.
//! kernel bounds_neighbour
//! dim n = 256
//! arg near f32[n] inout zeros
//! arg far f32[n] inout zeros
//! launch grid=1 block=n
extern "C" __global__ void bounds_neighbour(float *near, float *far)
{
    int i = threadIdx.x;
    near[i] = 1;
    unsigned long long first = (unsigned long long)near, second = (unsigned long long)far;
    int distance = (int)((second - first) / sizeof(float));
    near[distance + i] = 2;
}
