// Gradients of operands that are repeated: sums over what each of their elements went into.
#pragma once
#include "columns.cuh"

typedef long long i64;

// An operand with strides of its own: the row with these indices of the result.
template <typename T> struct operand {
    const T *p;
    i64 s0, s1, s2, s3;
    __device__ strided<T> row(int i0, int i1, int i2) const { return { p + i0 * s0 + i1 * s1 + i2 * s2, s3 }; }
};

// The gradient da of an operand of shape m, each 1 where it is repeated, else that of the result, n: the sum of f(x...)
// over the elements of the result that an element went into, always in the same order. Where the operand is repeated
// along rows, a block takes 16 elements; a warp goes along the rows for one after the other.
template <typename T, typename F, typename... X>
__device__ void sum_along_rows(T *da, const int (&m)[4], const int (&n)[4], F f, operand<T> d, X... x)
{
    int first = blockIdx.x * 16, end = min(first + 16, m[0] * m[1] * m[2]);
    for (int i = first + threadIdx.y; i < end; i += blockDim.y) {
        int j2 = i % m[2], j1 = i / m[2] % m[1], j0 = i / m[2] / m[1];
        float sum = 0;
        auto add = [&](int, auto... v) { sum += f(v...); };
        for (int i0 = j0; i0 < j0 + n[0] / m[0]; i0++)
            for (int i1 = j1; i1 < j1 + n[1] / m[1]; i1++)
                for (int i2 = j2; i2 < j2 + n[2] / m[2]; i2++)
                    each(along(d.row(i0, i1, i2).p, n[3], threadIdx.x, 32), add, d.row(i0, i1, i2),
                         x.row(i0, i1, i2)...);
        sum = warp_sum(sum);
        if (threadIdx.x == 0) da[i] = T(sum);
    }
}

// Where it is not, a block takes 32 elements of a row: a few threads have 16 bytes each, and those below share what is
// summed.
template <typename T, typename F, typename... X>
__device__ void sum_of_rows(T *da, const int (&m)[4], const int (&n)[4], F f, X... x)
{
    int blocks = (m[3] + 31) / 32, j = blockIdx.x / blocks;
    int j2 = j % m[2], j1 = j / m[2] % m[1], j0 = j / m[2] / m[1];
    auto sum_up = [&](auto columns) {
        float sum[columns.N] = {};
        auto add = [&](int, auto... c) {
            for (int k = 0; k < columns.N; k++) sum[k] += f(float(c.get(k))...);
        };
        for (int i0 = j0; i0 < j0 + n[0] / m[0]; i0++)
            for (int i1 = j1; i1 < j1 + n[1] / m[1]; i1++)
                each_row<8 / sizeof...(X)>(columns.row, n[2] / m[2], columns.rows, add,
                                           [&](int use) { return columns.load(x.row(i0, i1, j2 + use)); }...);
        column_sums(columns, sum, [&](int col, float sum) { da[j * (i64)m[3] + col] = T(sum); });
    };
    bool neighbours = (in_chunks(x.row(0, 0, 0), x.s0 | x.s1 | x.s2, m[3]) && ...);
    with_columns<T, 32>(blockIdx.x % blocks, m[3], neighbours, sum_up);
}
