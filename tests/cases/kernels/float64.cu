// f64: the operations that round, fma, division, square root, conversions, comparison with NaN.
extern "C" __global__ void float64(const double *x, const double *y, double *out, int *flags, int n)
{
    int i = threadIdx.x;
    double a = x[i], b = y[i];
    out[0 * n + i] = a + b;
    out[1 * n + i] = a * b;
    out[2 * n + i] = fma(a, b, -a);
    out[3 * n + i] = a / b;
    out[4 * n + i] = sqrt(fabs(a));
    out[5 * n + i] = fmin(a, b) - fmax(a, b);
    out[6 * n + i] = (double)(float)a;
    out[7 * n + i] = floor(a) + trunc(b) + rint(a) + ceil(b);
    flags[i] = (a < b) | (a == b) << 1 | (a != b) << 2 | isnan(a) << 3 | (int)(long long)b << 4;
}
