// The value is read, and then the node is freed.
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
    y[threadIdx.x] = node[0];
    free(node);
}
