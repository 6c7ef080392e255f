// Structures by value: mixed sizes with padding, and one that is indexed, so that it must lie in memory.
struct view { short rows, cols; char order; double scale; };
extern "C" __global__ void fill(float *data, view v, int base)
{
    int r = threadIdx.y, c = threadIdx.x;
    if (r < v.rows && c < v.cols)
        data[v.order == 'r' ? r * v.cols + c : c * v.rows + r] = (float)((r * 10 + c + base) * v.scale);
}

struct coefficients { int c[20]; };
extern "C" __global__ void pick(coefficients k, int *out)
{
    out[threadIdx.x] = k.c[(threadIdx.x * 7) % 20];
}
