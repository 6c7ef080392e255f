// A kernel hands the one that it launches a pointer: to its own local array, or to global memory.
// regen: -arch=sm_90 -rdc=true
__global__ void child(const int *p, int *out) { out[threadIdx.x] = p[threadIdx.x] * 2; }
__global__ void local_bad(int *out)
{
    int mine[8];
    for (int i = 0; i < 8; i++) mine[i] = i + out[8];
    child<<<1, 8>>>(mine, out);
}
__global__ void local_ok(int *out, int *scratch)
{
    for (int i = 0; i < 8; i++) scratch[i] = i + out[8];
    child<<<1, 8>>>(scratch, out);
}
