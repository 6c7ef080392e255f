// Pointers inside a structure that is passed by value: each has the bounds of its own buffer.
struct pair { float *x; int n; const float *y; };

extern "C" __global__ void struct_pointer(pair p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n)
        p.x[i] += p.y[i];
}
