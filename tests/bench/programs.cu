// regen: no
// programs WHAT: what calls cost a program under `lockstep run`: nothing (no call at all), one (a launch), or figures, which prints medians. tests/bench/programs runs it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

__global__ void empty(int *x) { if (x) *x = 1; }

static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static double median(std::vector<double> &v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "nothing")) return 0;
    empty<<<1, 32>>>(NULL);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    if (!strcmp(argv[1], "one")) return 0;

    std::vector<double> issue, both;
    cudaStream_t s;
    cudaStreamCreate(&s);
    for (int k = 0; k < 2000; k++) { // 8 launches that nobody waits for: the time of one
        double from = now();
        for (int n = 0; n < 8; n++) empty<<<1, 32, 0, s>>>(NULL);
        issue.push_back((now() - from) / 8);
        cudaStreamSynchronize(s);
    }
    for (int k = 0; k < 5000; k++) {
        double from = now();
        empty<<<1, 32, 0, s>>>(NULL);
        cudaStreamSynchronize(s);
        both.push_back(now() - from);
    }
    cudaStreamDestroy(s);
    std::vector<void *> p(10000);
    double from = now();
    for (void *&q : p) cudaMalloc(&q, 4096);
    for (void *q : p) cudaFree(q);
    double all = now() - from;
    from = now();
    for (void *&q : p) {
        cudaMalloc(&q, 4096);
        cudaFree(q);
    }
    printf("issue %.2f us\nlaunch and synchronise %.2f us\n10000 allocations, then their frees %.1f ms\n10000 allocations, each freed at once %.1f ms\n", median(issue), median(both), all / 1000,
           (now() - from) / 1000);
    return 0;
}
