// 1002 floats are 250 vectors of four and two more: the last vector hangs over the end.
extern "C" __global__ void vector_edge_bad(float4 *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 < n)
        x[i] = make_float4(i, i, i, i);
}

extern "C" __global__ void vector_edge_ok(float4 *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 + 3 < n)
        x[i] = make_float4(i, i, i, i);
    else if (i * 4 < n)
        for (int k = i * 4; k < n; k++)
            ((float *)x)[k] = i;
}
