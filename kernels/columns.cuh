// What the kernels that sum or move columns share: four columns a thread, neighbours where addresses allow it.
#pragma once
#include "kernel.cuh"

// The sums of four values each over the threads of a block that share columns: thread t has those of t % sharers, which
// is a power of two. In v of the first `sharers` threads, the same in every run.
__device__ inline void column_sums(float (&v)[4], int sharers)
{
    __shared__ float part[4][1024];
    int t = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    for (int k = 0; k < 4; k++) part[k][t] = v[k];
    __syncthreads();
    for (int k = 0; k < 4; k++)
        for (int i = t + sharers; t < sharers && i < threads; i += sharers) v[k] += part[k][i];
    __syncthreads(); // before the next sums
}

// Four columns that a thread has of rows of `cols`, where `threads` share the rows of a block: neighbours, read and
// written at once, or columns that lie as far apart as there are threads.
template <bool NEIGHBOURS> struct four_columns {
    int first, apart, cols;

    __device__ four_columns(int block, int thread, int threads, int cols)
        : first(block * threads * 4 + (NEIGHBOURS ? thread * 4 : thread)), apart(NEIGHBOURS ? 1 : threads), cols(cols)
    {
    }
    __device__ int at(int k) const { return first + k * apart; }
    template <typename T> __device__ chunk<T, 4> load(strided<T> row) const
    {
        chunk<T, 4> c = {};
        if constexpr (NEIGHBOURS) {
            if (first < cols) c = *(const chunk<T, 4> *)(row.p + first);
        } else {
            for (int k = 0; k < 4; k++) c.set(k, at(k) < cols ? row[at(k)] : T(0.0f));
        }
        return c;
    }
    template <typename T> __device__ void store(T *row, chunk<T, 4> c) const
    {
        if constexpr (NEIGHBOURS) {
            if (first < cols) *(chunk<T, 4> *)(row + first) = c;
        } else {
            for (int k = 0; k < 4; k++)
                if (at(k) < cols) row[at(k)] = c.get(k);
        }
    }
};

// Whether rows of `cols`, `ld` apart from x on, can be read four neighbours at a time.
template <typename T> __device__ bool in_fours(strided<T> x, long long ld, int cols)
{
    return x.step == 1 && ld % 4 == 0 && cols % 4 == 0 && (size_t)x.p % (4 * sizeof(T)) == 0;
}

// Adds to four columns what the threads of a block of 32 x up to 32 have for them.
template <typename C> __device__ void add_columns(float *to, float (&v)[4], C columns)
{
    column_sums(v, 32);
    for (int k = 0; k < 4; k++)
        if (threadIdx.y == 0 && columns.at(k) < columns.cols) atomicAdd(&to[columns.at(k)], v[k]);
}
