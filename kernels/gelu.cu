// GELU, element by element: exactly, x Phi(x), and as the usual approximation by tanh. A thread takes 16 bytes at a
// time, and asks for the first four at once.
#include "kernel.cuh"

//! op       gelu(x) -> y
//! forward  gelu(x) -> y
//! backward gelu_backward(dy, x) -> dx
//! oracle   y = gelu(x)

//! op       gelu_tanh(x) -> y
//! forward  gelu_tanh(x) -> y
//! backward gelu_tanh_backward(dy, x) -> dx
//! oracle   y = gelu_tanh(x)

// exp(-x x / 2)
__device__ inline float bell(float x) { return fast_exp(-0.5f * x * x); }

// Phi(x), the probability of a normal number below x: 1/2 + x p(x^2) / q(x^2), a fit for |x| <= 5.44, behind which it is
// cut off. That is fewer instructions than erff has, whose arithmetic takes as long as the memory does.
__device__ inline float below(float x)
{
    float z = fminf(x * x, 29.6f);
    float p = 1.6221194e-4f + z * (6.31356667e-6f + z * 2.33205124e-8f);
    p = 0.398942275f + z * (0.0331987352f + z * (0.00463770173f + z * p));
    float q = 0.00184723687f + z * (7.15547517e-5f + z * 1.2112315e-6f);
    q = 1 + z * (0.249883328f + z * (0.0282728112f + z * q));
    float r = fast_reciprocal(q), quotient = p * r;
    quotient += (p - quotient * q) * r; // what is left of p by the rounding of r
    return __saturatef(0.5f + x * quotient);
}

__device__ inline float gelu_of(float x) { return x * below(x); }

// Phi(x) + x phi(x)
__device__ inline float gelu_slope(float x) { return below(x) + x * bell(x) * 0.39894228f; }

__device__ inline float gelu_tanh_of(float x)
{
    return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__device__ inline float gelu_tanh_slope(float x)
{
    float t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
    float inner = 0.79788456f * (1 + 3 * 0.044715f * x * x);
    return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * inner;
}

// y[i] = f(x[i]...), by all threads of the grid.
template <typename T, typename F, typename... X> __device__ void map(F f, T *y, int n, strided<X>... x)
{
    auto value = [&](int, auto... v) { return f(v...); };
    auto write = [&](auto path) { write_each(path, y, value, kept_row(x, path)...); };
    with_path(write, y, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x, x...);
}

//! kernel gelu<T>
//! type   T f32|f16|bf16
//! dim    n 0..1073741824 = 1300, threads 1..1024 = 64, blocks 1..65535 = 2
//! arg x  T[n] in view dense|offset|broadcast(0)
//! arg step i32 = x.stride0
//! arg y  T[n] out once view dense|offset
//! arg n  i32
//! launch grid=blocks block=threads
//! oracle y = gelu(x)
template <typename T> __global__ void gelu(const T *x, int step, T *y, int n)
{
    map([](float x) { return gelu_of(x); }, y, n, strided<T>(x, step));
}

// The stride of dy may be 0, as that of sum().backward() is.
//! kernel gelu_backward<T>
//! type   T f32|f16|bf16
//! dim    n 0..1073741824 = 1300, threads 1..1024 = 64, blocks 1..65535 = 2
//! arg dy T[n] in view dense|offset|broadcast(0)
//! arg step i32 = dy.stride0
//! arg x  T[n] in
//! arg dx T[n] out once
//! arg n  i32
//! launch grid=blocks block=threads
//! oracle dx = grad(gelu(x), dy)
template <typename T> __global__ void gelu_backward(const T *dy, int step, const T *x, T *dx, int n)
{
    auto gradient = [](float dy, float x) { return dy * gelu_slope(x); };
    map(gradient, dx, n, strided<T>(dy, step), strided<T>(x, 1));
}

//! kernel gelu_tanh<T>
//! type   T f32|f16|bf16
//! dim    n 0..1073741824 = 1300, threads 1..1024 = 64, blocks 1..65535 = 2
//! arg x  T[n] in view dense|offset|broadcast(0)
//! arg step i32 = x.stride0
//! arg y  T[n] out once view dense|offset
//! arg n  i32
//! launch grid=blocks block=threads
//! oracle y = gelu_tanh(x)
template <typename T> __global__ void gelu_tanh(const T *x, int step, T *y, int n)
{
    map([](float x) { return gelu_tanh_of(x); }, y, n, strided<T>(x, step));
}

//! kernel gelu_tanh_backward<T>
//! type   T f32|f16|bf16
//! dim    n 0..1073741824 = 1300, threads 1..1024 = 64, blocks 1..65535 = 2
//! arg dy T[n] in view dense|offset|broadcast(0)
//! arg step i32 = dy.stride0
//! arg x  T[n] in
//! arg dx T[n] out once
//! arg n  i32
//! launch grid=blocks block=threads
//! oracle dx = grad(gelu_tanh(x), dy)
template <typename T> __global__ void gelu_tanh_backward(const T *dy, int step, const T *x, T *dx, int n)
{
    auto gradient = [](float dy, float x) { return dy * gelu_tanh_slope(x); };
    map(gradient, dx, n, strided<T>(dy, step), strided<T>(x, 1));
}
