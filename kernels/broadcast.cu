// Addition and multiplication with broadcasting: both operands have the four dimensions of the result and strides of
// their own, 0 along a dimension that they are repeated along. A block takes a row of the result.
#include "broadcast.cuh"

//! op       add(a, b) -> y
//! forward  add(a, b) -> y
//! backward add_backward(dy) -> da
//! oracle   y = a + b

//! op       mul(a, b) -> y
//! forward  mul(a, b) -> y
//! backward mul_backward(dy, b) -> da
//! oracle   y = a * b

//! kernel add<T>
//! type   T f32|f16|bf16
//! dim    n0 0..65535 = 2, n1 0..65535 = 3, n2 0..32767 = 5, n3 0..1073741824 = 33, threads 1..1024 = 4
//! arg a  T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg a0 i64 = a.stride0
//! arg a1 i64 = a.stride1
//! arg a2 i64 = a.stride2
//! arg a3 i64 = a.stride3
//! arg b  T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg b0 i64 = b.stride0
//! arg b1 i64 = b.stride1
//! arg b2 i64 = b.stride2
//! arg b3 i64 = b.stride3
//! arg y  T[n0, n1, n2, n3] out once
//! arg n1 i32
//! arg n2 i32
//! arg n3 i32
//! require n0 * n1 * n2 <= 2147483647
//! launch grid=n0 * n1 * n2 block=threads
//! oracle y = a + b
template <typename T>
__global__ void add(const T *a, i64 a0, i64 a1, i64 a2, i64 a3, const T *b, i64 b0, i64 b1, i64 b2, i64 b3, T *y,
                    int n1, int n2, int n3)
{
    int i2 = blockIdx.x % n2, i1 = blockIdx.x / n2 % n1, i0 = blockIdx.x / n2 / n1;
    a += i0 * a0 + i1 * a1 + i2 * a2;
    b += i0 * b0 + i1 * b1 + i2 * b2;
    y += (i64)blockIdx.x * n3;
    auto sum = [](int, float a, float b) { return a + b; };
    auto path = along(y, n3);
    write_each(path, y, sum, kept_row<T>(strided<T>(a, a3), path), kept_row<T>(strided<T>(b, b3), path));
}

//! kernel mul<T>
//! type   T f32|f16|bf16
//! dim    n0 0..65535 = 2, n1 0..65535 = 3, n2 0..32767 = 5, n3 0..1073741824 = 33, threads 1..1024 = 4
//! arg a  T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg a0 i64 = a.stride0
//! arg a1 i64 = a.stride1
//! arg a2 i64 = a.stride2
//! arg a3 i64 = a.stride3
//! arg b  T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg b0 i64 = b.stride0
//! arg b1 i64 = b.stride1
//! arg b2 i64 = b.stride2
//! arg b3 i64 = b.stride3
//! arg y  T[n0, n1, n2, n3] out once
//! arg n1 i32
//! arg n2 i32
//! arg n3 i32
//! require n0 * n1 * n2 <= 2147483647
//! launch grid=n0 * n1 * n2 block=threads
//! oracle y = a * b
template <typename T>
__global__ void mul(const T *a, i64 a0, i64 a1, i64 a2, i64 a3, const T *b, i64 b0, i64 b1, i64 b2, i64 b3, T *y,
                    int n1, int n2, int n3)
{
    int i2 = blockIdx.x % n2, i1 = blockIdx.x / n2 % n1, i0 = blockIdx.x / n2 / n1;
    a += i0 * a0 + i1 * a1 + i2 * a2;
    b += i0 * b0 + i1 * b1 + i2 * b2;
    y += (i64)blockIdx.x * n3;
    auto product = [](int, float a, float b) { return a * b; };
    auto path = along(y, n3);
    write_each(path, y, product, kept_row<T>(strided<T>(a, a3), path), kept_row<T>(strided<T>(b, b3), path));
}

//! kernel add_backward<T>
//! type   T f32|f16|bf16
//! dim    n0 0..65535 = 2, n1 0..65535 = 3, n2 0..32767 = 5, n3 0..1073741824 = 33, rows 1..16 = 2
//! dim    k0 0..1 = 0, k1 0..1 = 1, k2 0..1 = 1, k3 0..1 = 1   # whether the operand has this dimension
//! dim    m0 0..65535 = k0 ? n0 : 1, m1 0..65535 = k1 ? n1 : 1
//! dim    m2 0..32767 = k2 ? n2 : 1, m3 0..1073741824 = k3 ? n3 : 1
//! arg dy T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg d2 i64 = dy.stride2
//! arg d3 i64 = dy.stride3
//! arg da T[m0, m1, m2, m3] out once
//! arg n0 i32
//! arg n1 i32
//! arg n2 i32
//! arg n3 i32
//! arg m0 i32
//! arg m1 i32
//! arg m2 i32
//! arg m3 i32
//! require m0 * m1 * m2 * m3 <= 2147483647
//! launch grid=m3 < n3 ? ceildiv(m0 * m1 * m2, 16) : m0 * m1 * m2 * ceildiv(m3, 32) block=32,rows
//! oracle da = like(dy, broadcast(0, m0, m1, m2, m3))
template <typename T>
__global__ void __launch_bounds__(512) add_backward(const T *dy, i64 d0, i64 d1, i64 d2, i64 d3, T *da, int n0, int n1,
                                                     int n2, int n3, int m0, int m1, int m2, int m3)
{
    operand<T> d{ dy, d0, d1, d2, d3 };
    int m[4] = { m0, m1, m2, m3 }, n[4] = { n0, n1, n2, n3 };
    auto f = [](float dy) { return dy; };
    if (m3 == n3)
        sum_of_rows(da, m, n, f, d);
    else
        sum_along_rows(da, m, n, f, d);
}

//! kernel mul_backward<T>
//! type   T f32|f16|bf16
//! dim    n0 0..65535 = 2, n1 0..65535 = 3, n2 0..32767 = 5, n3 0..1073741824 = 33, rows 1..16 = 2
//! dim    k0 0..1 = 0, k1 0..1 = 1, k2 0..1 = 1, k3 0..1 = 1   # whether the operand has this dimension
//! dim    m0 0..65535 = k0 ? n0 : 1, m1 0..65535 = k1 ? n1 : 1
//! dim    m2 0..32767 = k2 ? n2 : 1, m3 0..1073741824 = k3 ? n3 : 1
//! arg dy T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg d2 i64 = dy.stride2
//! arg d3 i64 = dy.stride3
//! arg b  T[n0, n1, n2, n3] in view dense|rows|offset|broadcast
//! arg b0 i64 = b.stride0
//! arg b1 i64 = b.stride1
//! arg b2 i64 = b.stride2
//! arg b3 i64 = b.stride3
//! arg da T[m0, m1, m2, m3] out once
//! arg n0 i32
//! arg n1 i32
//! arg n2 i32
//! arg n3 i32
//! arg m0 i32
//! arg m1 i32
//! arg m2 i32
//! arg m3 i32
//! require m0 * m1 * m2 * m3 <= 2147483647
//! launch grid=m3 < n3 ? ceildiv(m0 * m1 * m2, 16) : m0 * m1 * m2 * ceildiv(m3, 32) block=32,rows
//! oracle da = like(dy * b, broadcast(0, m0, m1, m2, m3))
template <typename T>
__global__ void __launch_bounds__(512)
    mul_backward(const T *dy, i64 d0, i64 d1, i64 d2, i64 d3, const T *b, i64 b0, i64 b1, i64 b2, i64 b3, T *da, int n0,
                 int n1, int n2, int n3, int m0, int m1, int m2, int m3)
{
    operand<T> d{ dy, d0, d1, d2, d3 }, other{ b, b0, b1, b2, b3 };
    int m[4] = { m0, m1, m2, m3 }, n[4] = { n0, n1, n2, n3 };
    auto f = [](float dy, float b) { return dy * b; };
    if (m3 == n3)
        sum_of_rows(da, m, n, f, d, other);
    else
        sum_along_rows(da, m, n, f, d, other);
}
