// A kernel polls for work of the host and runs on the default stream; the copy that brings the work waits for the kernel.
// regen: no
__global__ void serve(volatile int *flag, const int *work, int *done)
{
    while (!*flag) {}
    __threadfence_system();
    *done = *work + 1;
}

int main()
{
    int *flag, *work, *done, seven = 7;
    cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
    cudaMalloc(&work, sizeof(int));
    cudaMalloc(&done, sizeof(int));
    *flag = 0;
    serve<<<1, 1>>>(flag, work, done);
    cudaMemcpy(work, &seven, sizeof(int), cudaMemcpyHostToDevice); // behind `serve` in the default stream
    *(volatile int *)flag = 1;
    return cudaDeviceSynchronize();
}
