// regen: no
/* The first thread ends by pthread_exit, and another one uses the GPU when it is gone: a launch that is right, and one
 * with "bad" that is not. */
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

static __global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
static bool bad;

static void *work(void *)
{
    char path[64], line[400] = "", *name = NULL;
    int *d_p, host[32];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    while (!name || name[2] != 'Z') { /* its state, behind its name */
        FILE *f = fopen(path, "r");
        if (fgets(line, sizeof line, f)) name = strrchr(line, ')');
        fclose(f);
    }
    cudaMalloc(&d_p, 128);
    fill<<<1, bad ? 64 : 32>>>(d_p);
    printf("launch %s, ", cudaGetErrorName(cudaGetLastError()));
    cudaMemcpy(host, d_p, 128, cudaMemcpyDeviceToHost);
    printf("value %d\n", host[31]);
    cudaFree(d_p);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    bad = argc > 1 && !strcmp(argv[1], "bad");
    pthread_create(&t, NULL, work, NULL);
    pthread_exit(NULL);
}
