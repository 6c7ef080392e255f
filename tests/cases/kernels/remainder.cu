// Division by constants becomes a wide product and a shift: the product of a thread number must not wrap, nor its sign
// be mistaken, whatever the shape of the block.
extern "C" __global__ void divide(int *out, int shift, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t - shift;
    unsigned u = t + shift;
    if (t >= n)
        return;
    int *row = out + 5 * t;
    row[0] = u % 3;
    row[1] = u / 7;
    row[2] = i % 10;
    row[3] = i / 6;
    row[4] = (u * 2654435761u) >> 20;
}
