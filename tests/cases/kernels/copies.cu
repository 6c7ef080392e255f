// memcpy and memset in kernels, of sizes known and unknown: compilers write them out as loads and stores.
struct big { int v[33]; char tail[7]; };

extern "C" __global__ void copies(unsigned char *out, const unsigned char *in, int n, int value)
{
    unsigned char *mine = out + threadIdx.x * 512;
    const unsigned char *from = in + threadIdx.x * 4;
    memcpy(mine, from, n);
    memset(mine + 128, value, n);
    memcpy(mine + 256, from, 64);
    memset(mine + 320, 0x5a, 63);
    big b;
    memcpy(&b, from, sizeof b);
    b.v[threadIdx.x % 33] = 7;
    big c = b;
    memcpy(mine + 384, &c.v[1], 100);
    double d;
    memcpy(&d, from, sizeof d);
    memset(&d, 0, 4);
    memcpy(mine + 488, &d, sizeof d);
}
