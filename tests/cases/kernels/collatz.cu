// Steps to reach 1: every lane leaves its loop at another time, with a branch inside.
extern "C" __global__ void collatz(unsigned *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = i + 1, steps = 0;
    while (x != 1) {
        if (x & 1)
            x = 3 * x + 1;
        else
            x >>= 1;
        steps++;
    }
    out[i] = steps;
}
