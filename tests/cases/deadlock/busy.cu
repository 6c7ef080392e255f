// A wait that gives up by the clock: nothing proves that it never ends, and for the first five seconds nothing tells it from one that does.
// regen: -arch=sm_90 -lineinfo
extern "C" __global__ void timed(const volatile unsigned *flag, unsigned *out, long long most)
{
    long long from = clock64();
    unsigned got;
    while ((got = *flag) == 0 && clock64() - from < most) ;
    out[threadIdx.x] = got;
}
