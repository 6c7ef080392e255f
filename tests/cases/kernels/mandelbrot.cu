// Escape times. Every rounding is spelled out, so that the picture is the same on any machine.
extern "C" __global__ void mandelbrot(unsigned char *out, int w, int h, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float cx = __fmaf_rn(x, 3.f / 64, -2.f), cy = __fmaf_rn(y, 2.f / 64, -1.f), zx = 0, zy = 0;
    int k = 0;
    while (k < limit && __fmaf_rn(zx, zx, __fmul_rn(zy, zy)) < 4.f) {
        float t = __fadd_rn(__fmaf_rn(zx, zx, -__fmul_rn(zy, zy)), cx);
        zy = __fmaf_rn(__fmul_rn(2.f, zx), zy, cy);
        zx = t;
        k++;
    }
    out[y * w + x] = k;
}
