// regen: no
// A template that nobody instantiates.
#include "template.h"
template <class T> __global__ void scale(T *x, T by)
{
    x[threadIdx.x] *= by + T(EXTRA);
}
__global__ void other() { }
