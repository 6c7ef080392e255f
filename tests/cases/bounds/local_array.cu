// An array of a thread, filled up to n; it has eight places.
extern "C" __global__ void local_array(int *out, int n)
{
    int v[8];
    for (int i = 0; i < n; i++)
        v[i] = i * threadIdx.x;
    int s = 0;
    for (int i = n - 1; i >= 0; i--)
        s = s * 3 + v[i];
    out[threadIdx.x] = s;
}
