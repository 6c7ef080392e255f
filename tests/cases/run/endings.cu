// Programs that end in other ways than by returning from main, and one that launches often.
// regen: no
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <unistd.h>
__global__ void past(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) p[i] = i;
}
__global__ void add(int *p) { p[threadIdx.x] += 1; }

// Whether the file has the finding, within ten seconds.
static bool seen(const char *path)
{
    char text[4096];
    for (int i = 0; i < 1000; i++) {
        FILE *f = fopen(path, "r");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        text[n] = 0;
        if (f) fclose(f);
        if (strstr(text, "error[bounds]") && strstr(text, "= fix:")) return true;
        usleep(10000);
    }
    return false;
}
static long kilobytes()
{
    char line[200];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "VmRSS:", 6)) kb = atol(line + 6);
    fclose(f);
    return kb;
}
static void often(int *d, int n)
{
    long before = 0;
    cudaMemset(d, 0, 400);
    for (int i = 0; i < n; i++) {
        add<<<1, 32>>>(d);
        if (i % 64 == 63) cudaDeviceSynchronize();
        if (i == n / 4) before = kilobytes();
    }
    cudaDeviceSynchronize();
    int h;
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("%d launches, memory %s\n", h, kilobytes() - before < 2048 ? "stays" : "grows");
}
int main(int argc, char **argv)
{
    int *d;
    cudaMalloc(&d, 400);
    if (!strcmp(argv[1], "often")) {
        often(d, atoi(argv[2]));
        cudaFree(d);
        return 0;
    }
    for (int i = 0; i < 3; i++) past<<<1, 128>>>(d, 100);
    cudaDeviceSynchronize();
    if (!strcmp(argv[1], "_exit")) _exit(3);
    if (!strcmp(argv[1], "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(argv[1], "wait")) printf("%s\n", seen(argv[2]) ? "printed while the program runs" : "not seen");
    cudaFree(d);
}
