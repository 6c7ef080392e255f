// regen: no
__global__ void math(float *x)
{
    float sum = 0;
    for (int i = 0; i < 64; i++)
        sum += expf(x[i] / x[i + 64]) * x[128 + i];
    x[0] = sum;
}
