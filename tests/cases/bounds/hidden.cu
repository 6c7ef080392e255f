// A pointer that went through a hash is an integer: nothing ties it to its buffer, but it must lie in one that lives.
__device__ static float *unhide(unsigned long long p)
{
    return (float *)((p * 0x9e3779b97f4a7c15ull) ^ 0x5bd1e995);
}

extern "C" __global__ void hidden(float *x, int n)
{
    unsigned long long inverse = 0xf1de83e19937733dull;     // of 0x9e37... modulo 2^64
    unsigned long long secret = ((unsigned long long)x ^ 0x5bd1e995) * inverse;
    asm volatile("" : "+l"(secret));
    unhide(secret)[threadIdx.x + n] = 3;
}
