// 64-bit integers: products, quotients, shifts, high halves, conversions.
extern "C" __global__ void int64(const long long *x, const long long *y, long long *out, int n)
{
    int i = threadIdx.x;
    long long a = x[i], b = y[i];
    unsigned long long u = a, v = b;
    out[0 * n + i] = a * b;
    out[1 * n + i] = a / b;
    out[2 * n + i] = a % b;
    out[3 * n + i] = u / v;
    out[4 * n + i] = u % v;
    out[5 * n + i] = __mul64hi(a, b);
    out[6 * n + i] = __umul64hi(u, v);
    out[7 * n + i] = (a << (b & 63)) ^ (a >> (b & 63)) ^ (u >> (b & 63));
    out[8 * n + i] = __popcll(u) * 100 + __clzll(a);
    out[9 * n + i] = (int)a * (long long)(int)b + (short)a + (unsigned char)b;
    out[10 * n + i] = a < b ? u < v : 2 + (u > v);
}
