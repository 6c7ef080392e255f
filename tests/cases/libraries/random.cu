// cuRAND: draws of the device are those of a host generator with the same settings, in order, and operations of their stream;
// with an argument, one mistake: random NAME bad|ok
#include <cstdio>
#include <cstring>
#include <curand.h>
#include <vector>

static int wrong;
static void status(int s)
{
    if (s) printf("status %d\n", s), wrong++;
}
template <class T> static std::vector<T> pull(const T *p, size_t n)
{
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}

static void generator(const char *name, curandRngType_t type, bool quasi)
{
    const size_t n = 1200;
    curandGenerator_t d, h;
    status(curandCreateGenerator(&d, type));
    status(curandCreateGeneratorHost(&h, type));
    if (quasi) status(curandSetQuasiRandomGeneratorDimensions(d, 3)), status(curandSetQuasiRandomGeneratorDimensions(h, 3));
    if (!quasi) status(curandSetPseudoRandomGeneratorSeed(d, 42)), status(curandSetPseudoRandomGeneratorSeed(h, 42));
    float *f;
    double *g;
    cudaMalloc(&f, n * sizeof *f);
    cudaMalloc(&g, n * sizeof *g);
    std::vector<float> a(n);
    std::vector<double> b(n);
    for (int turn = 0; turn < 2; turn++) { // the second one goes on where the first has ended
        status(curandGenerateUniform(d, f, n));
        status(curandGenerateUniform(h, a.data(), n));
        if (memcmp(pull(f, n).data(), a.data(), n * sizeof *f)) printf("%s: uniform numbers differ\n", name), wrong++;
    }
    float first = a[0];
    status(curandGenerateNormalDouble(d, g, n, 3, 0.5));
    status(curandGenerateNormalDouble(h, b.data(), n, 3, 0.5));
    if (memcmp(pull(g, n).data(), b.data(), n * sizeof *g)) printf("%s: normal numbers differ\n", name), wrong++;
    double mean = 0;
    for (double x : b) mean += x / n;
    // set while draws are still to run: each has what was set before it
    if (!quasi && type != CURAND_RNG_PSEUDO_MTGP32 && type != CURAND_RNG_PSEUDO_MT19937) { // these have no offset
        status(curandSetPseudoRandomGeneratorSeed(d, 7)); // it does not move the offset
        status(curandSetGeneratorOffset(d, 0));
        status(curandGenerateUniform(d, f, n / 2));
        status(curandSetPseudoRandomGeneratorSeed(d, 7));
        status(curandSetGeneratorOffset(d, 0));
        status(curandGenerateUniform(d, f + n / 2, n / 2));
        auto v = pull(f, n);
        if (memcmp(v.data(), v.data() + n / 2, n / 2 * sizeof *f)) printf("%s: a seed does not repeat\n", name), wrong++;
    }
    printf("%-22s %.6f, mean of normal numbers %.2f\n", name, first, mean);
    curandDestroyGenerator(d);
    curandDestroyGenerator(h);
    cudaFree(f);
    cudaFree(g);
}

__global__ void sum(const float *p, int n, float *out)
{
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += p[i];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (!threadIdx.x) *out = s / n;
}

static int misuse(const char *what, bool bad)
{
    const int n = 1024;
    curandGenerator_t g;
    cudaStream_t s, t;
    float *p, *out;
    cudaStreamCreate(&s), cudaStreamCreate(&t);
    cudaMalloc(&p, (bad && !strcmp(what, "short") ? n / 2 : n) * sizeof *p), cudaMalloc(&out, sizeof *out);
    curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10);
    curandSetStream(g, s);
    int r = !strcmp(what, "odd") ? curandGenerateNormal(g, p, bad ? n - 1 : n, 0, 1) : curandGenerateUniform(g, p, n);
    if (!bad || strcmp(what, "event")) cudaStreamSynchronize(s);
    if (!r) sum<<<1, 32, 0, t>>>(p, bad && !strcmp(what, "short") ? n / 2 : n, out);
    cudaDeviceSynchronize();
    printf("status %d\n", r);
    if (!bad || strcmp(what, "kept")) curandDestroyGenerator(g);
    cudaStreamDestroy(s), cudaStreamDestroy(t);
    cudaFree(p), cudaFree(out);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2) return misuse(argv[1], !strcmp(argv[2], "bad"));
    generator("XORWOW", CURAND_RNG_PSEUDO_XORWOW, false);
    generator("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, false);
    generator("MTGP32", CURAND_RNG_PSEUDO_MTGP32, false);
    generator("MT19937", CURAND_RNG_PSEUDO_MT19937, false);
    generator("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, false);
    generator("Sobol32", CURAND_RNG_QUASI_SOBOL32, true);
    generator("scrambled Sobol64", CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, true);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
// regen: no
