// The node is freed, and its value read once more.
//! kernel use_after_free
//! dim n = 32
//! arg y i32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void use_after_free(int *y)
{
    int *node = (int *)malloc(2 * sizeof(int));
    if (!node)
        return;
    node[0] = threadIdx.x;
    free(node);
    y[threadIdx.x] = node[0];
}
