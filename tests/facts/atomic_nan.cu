// regen: no
/* Which NaN an atomic addition leaves: nvcc -arch=sm_90 -o atomic_nan tests/facts/atomic_nan.cu && ./atomic_nan; under
 * `lockstep run` it prints the same. Results lie apart: an atomic of 16 bits touches the word around it. */
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned long long u64;

template <class T, class B> __global__ void add(const B *x, B *out, int n)
{
    __shared__ B shared;
    for (int i = 0; i < n; i++) {
        out[6 * i] = x[2 * i];
        shared = x[2 * i];
        T v;
        B bits = x[2 * i + 1];
        memcpy(&v, &bits, sizeof v);
        atomicAdd((T *)&out[6 * i], v);
        atomicAdd((T *)&shared, v);
        out[6 * i + 2] = shared;
        T a;
        memcpy(&a, &x[2 * i], sizeof a);
        a = a + v;
        memcpy(&out[6 * i + 4], &a, sizeof a);
    }
}

template <class T, class B> static void ask(const char *type, int mantissa, int bits)
{
    B exponents = (((B)1 << (bits - 1 - mantissa)) - 1) << mantissa, quiet = (B)1 << (mantissa - 1), sign = (B)1 << (bits - 1);
    B one = ((((B)1 << (bits - 2 - mantissa)) - 1)) << mantissa;
    B v[] = { exponents, (B)(exponents | sign), (B)(exponents | quiet), (B)(exponents | quiet | 5), (B)(exponents | 3),
              (B)(exponents | quiet | sign | 9), one, (B)(sign | 7 | exponents) };
    enum { N = sizeof v / sizeof *v };
    B x[2 * N * N], r[6 * N * N], *dx, *dr;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            x[2 * (i * N + j)] = v[i];
            x[2 * (i * N + j) + 1] = v[j];
        }
    cudaMalloc(&dx, sizeof x);
    cudaMalloc(&dr, sizeof r);
    cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice);
    add<T, B><<<1, 1>>>(dx, dr, N * N);
    cudaMemcpy(r, dr, sizeof r, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N * N; i++)
        printf("%s %llx + %llx: global %llx shared %llx add %llx\n", type, (u64)x[2 * i], (u64)x[2 * i + 1],
               (u64)r[6 * i], (u64)r[6 * i + 2], (u64)r[6 * i + 4]);
    cudaFree(dx);
    cudaFree(dr);
}

int main()
{
    ask<double, u64>("f64", 52, 64);
    ask<float, unsigned>("f32", 23, 32);
    ask<__half, unsigned short>("f16", 10, 16);
    ask<__nv_bfloat16, unsigned short>("bf16", 7, 16);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
