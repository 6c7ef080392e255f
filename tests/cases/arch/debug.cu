// Compiled for debugging: everything in local memory, DWARF beside it.
// regen: -G -arch=sm_90
#include "../kernels/calls.cu"
#include "../kernels/divergence.cu"
#include "../kernels/local_array.cu"
#include "../kernels/recursion.cu"
#include "../kernels/reduce_shfl.cu"
#include "../kernels/spinlock.cu"
#include "../kernels/struct_param.cu"
#include "../kernels/switch.cu"
