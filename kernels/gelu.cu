// GELU, element by element: exactly, x Phi(x), and as the usual approximation by tanh. A thread takes 16 bytes.
#include "kernel.cuh"

//! op       gelu(x) -> y
//! forward  gelu(x) -> y
//! backward gelu_backward(dy, x) -> dx
//! oracle   y = gelu(x)

//! op       gelu_tanh(x) -> y
//! forward  gelu_tanh(x) -> y
//! backward gelu_tanh_backward(dy, x) -> dx
//! oracle   y = gelu_tanh(x)

__device__ inline float gelu_of(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }

// Phi(x) + x phi(x)
__device__ inline float gelu_slope(float x)
{
    return 0.5f * (1 + erff(x * 0.70710678f)) + x * fast_exp(-0.5f * x * x) * 0.39894228f;
}

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

// The path of a thread of the grid.
template <typename T> __device__ auto along_grid(const T *x, int n)
{
    return along(x, n, blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x);
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
    auto value = [](int, float x) { return gelu_of(x); };
    write_each(along_grid(y, n), y, value, strided<T>(x, step));
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
    auto gradient = [](int, float dy, float x) { return dy * gelu_slope(x); };
    write_each(along_grid(dx, n), dx, gradient, strided<T>(dy, step), x);
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
    auto value = [](int, float x) { return gelu_tanh_of(x); };
    write_each(along_grid(y, n), y, value, strided<T>(x, step));
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
    auto gradient = [](int, float dy, float x) { return dy * gelu_tanh_slope(x); };
    write_each(along_grid(dx, n), dx, gradient, strided<T>(dy, step), x);
}
