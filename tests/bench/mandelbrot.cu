// Escape times over [-2, 1] x [-1, 1].
extern "C" __global__ void mandelbrot(unsigned *out, int w, int h, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float cx = -2.f + 3.f * x / w, cy = -1.f + 2.f * y / h, zx = 0, zy = 0;
    int k = 0;
    while (k < limit && zx * zx + zy * zy < 4.f) {
        float t = zx * zx - zy * zy + cx;
        zy = 2.f * zx * zy + cy;
        zx = t;
        k++;
    }
    out[y * w + x] = k;
}
