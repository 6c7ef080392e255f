// regen: no
__global__ void broken(int *x)
{
    x[0] = missing + 1;
}
