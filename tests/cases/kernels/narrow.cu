// Loads and stores of 8 and 16 bits, signed and not, and the arithmetic between.
extern "C" __global__ void narrow(const unsigned char *u8, const signed char *s8, const unsigned short *u16,
                                  const short *s16, unsigned char *o8, short *o16, int *o32)
{
    int i = threadIdx.x;
    o8[i] = u8[i] * 3 + s8[i];
    o16[i] = u16[i] - s16[i] * 2;
    o32[i] = u8[i] * s8[i] + u16[i] * s16[i];
}
