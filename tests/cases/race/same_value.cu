// R7: everybody writes the same. By the same constant it is a note; equal by luck stays an error.
extern "C" __global__ void constant_bad(int *found)
{
    found[0] = 1;
}

__device__ int table[2][4];

extern "C" __global__ void address_bad(int **which)     // the address of a variable is a constant, too
{
    which[0] = table[0];
}

extern "C" __global__ void addresses_bad(int **which)
{
    if (blockIdx.x) which[0] = table[1];
    else which[0] = table[0];
}

extern "C" __global__ void luck_bad(const int *x, int *found)
{
    found[0] = x[blockIdx.x];
}

extern "C" __global__ void same_ok(int *found)
{
    atomicExch(found, 1);
}
