// The kernel that polls has a stream of its own that the default stream does not wait for, and the work has another.
// regen: no
__global__ void serve(volatile int *flag, const volatile int *work, int *done)
{
    while (!*flag) {}
    __threadfence_system();
    *done = *work + 1;
}

int main()
{
    int *flag, *work, *done, result = 0;
    cudaStream_t persistent;
    cudaStreamCreateWithFlags(&persistent, cudaStreamNonBlocking);
    cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped);
    cudaHostAlloc(&work, sizeof(int), cudaHostAllocMapped);
    cudaMalloc(&done, sizeof(int));
    *flag = 0;
    serve<<<1, 1, 0, persistent>>>(flag, work, done);
    *(volatile int *)work = 7;
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    cudaStreamSynchronize(persistent);
    cudaMemcpy(&result, done, sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(done);
    cudaFreeHost(flag);
    cudaFreeHost(work);
    cudaStreamDestroy(persistent);
    return result != 8;
}
