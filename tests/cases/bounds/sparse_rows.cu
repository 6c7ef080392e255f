// Lanes 0, 3 and 8 write: what lies between the rows is a multiple of 4, and one of them is misaligned all the same.
extern "C" __global__ void sparse_rows(char *p)
{
    int t = threadIdx.x;
    if (t == 0 || t == 3 || t == 8)
        *(int *)(p + (t == 0 ? 0 : t == 8 ? 32 : 2)) = t;
}
