// regen: no
// A kernel that the host is to stop, by a flag that is read once or in every round.
#include <cstdio>
#include <cstring>
#include <unistd.h>
template <class T> __global__ void serve(volatile unsigned *asked, T *stop, volatile unsigned *done)
{
    unsigned next = 1;
    while (!*stop) {
        if (*asked != next) continue;
        *done = next++;
    }
}
int main(int, char **argv)
{
    unsigned *asked, *stop, *done;
    cudaHostAlloc(&asked, 4, cudaHostAllocMapped), cudaHostAlloc(&stop, 4, cudaHostAllocMapped), cudaHostAlloc(&done, 4, cudaHostAllocMapped);
    *asked = *stop = *done = 0;
    if (!strcmp(argv[1], "plain")) serve<<<1, 1>>>(asked, stop, done);
    else serve<<<1, 1>>>(asked, (volatile unsigned *)stop, done);
    *(volatile unsigned *)asked = 1;
    while (*(volatile unsigned *)done != 1) { }
    usleep(300000); // the kernel has looked at stop behind its answer
    *(volatile unsigned *)stop = 1;
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFreeHost(asked), cudaFreeHost(stop), cudaFreeHost(done);
}
