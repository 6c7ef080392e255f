// assert in a kernel: silent while it holds, and the end of the launch when it does not.
#include <cassert>

extern "C" __global__ void holds(int *out, int limit)
{
    assert((int)threadIdx.x < limit && "more threads than were promised");
    out[threadIdx.x] = threadIdx.x;
}
