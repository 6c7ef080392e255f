// What the kernels that sum or move columns share: 16 bytes of a row a thread, neighbours where addresses allow it.
#pragma once
#include "kernel.cuh"

// The columns that a thread has of rows of `cols`, of which a block takes WIDTH: neighbours, read at once, or columns
// that lie as far apart as there are threads to a row. The threads of a block take so many rows at a time.
template <typename T, int WIDTH, bool NEIGHBOURS> struct block_columns {
    static constexpr bool TOGETHER = NEIGHBOURS;
    static constexpr int N = IN_CHUNK<T>, SHARERS = WIDTH / N; // how many a thread has, and threads to a row
    int begin, first, row, rows, cols; // the block's first column, the thread's; its first row, and rows at a time

    __device__ block_columns(int block, int cols) : begin(block * WIDTH), cols(cols)
    {
        int me = threadIdx.y * blockDim.x + threadIdx.x;
        first = begin + me % SHARERS * (NEIGHBOURS ? N : 1);
        row = me / SHARERS;
        rows = blockDim.x * blockDim.y / SHARERS;
    }
    __device__ int at(int k) const { return first + k * (NEIGHBOURS ? 1 : SHARERS); }
    __device__ chunk<T> load(strided<T> x) const
    {
        chunk<T> c = {};
        if constexpr (NEIGHBOURS) {
            if (first < cols) c = *(const chunk<T> *)(x.p + first);
        } else {
            for (int k = 0; k < N; k++) c.set(k, at(k) < cols ? x[at(k)] : T(0.0f));
        }
        return c;
    }
};

// Whether rows of `cols`, `ld` apart from x on, can be read a chunk at a time.
template <typename T> __device__ bool in_chunks(strided<T> x, long long ld, int cols)
{
    constexpr int N = IN_CHUNK<T>;
    return x.step == 1 && ld % N == 0 && cols % N == 0 && (size_t)x.p % 16 == 0;
}

// Calls f with the columns of a thread.
template <typename T, int WIDTH, typename F> __device__ void with_columns(int block, int cols, bool neighbours, F f)
{
    if (neighbours)
        f(block_columns<T, WIDTH, true>(block, cols));
    else
        f(block_columns<T, WIDTH, false>(block, cols));
}

// Calls f(row, load(row)...) for the rows from `first` to `end`, AT_ONCE of them at a time: all of these are asked for
// before the first is waited for. A loop over rows is left wherever a row is the last, and so waits for each by itself.
template <int AT_ONCE, typename L>
__device__ auto rows_ahead(L load, unsigned row, unsigned end, unsigned step)
{
    struct {
        decltype(load(0)) of[AT_ONCE];
    } ahead;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        if (row + k * step < end) ahead.of[k] = load(row + k * step);
    return ahead;
}
template <int AT_ONCE, typename F, typename... L>
__device__ void each_row(unsigned first, unsigned end, unsigned step, F f, L... load)
{
    for (unsigned row = first; row < end; row += AT_ONCE * step) {
        auto use = [&](auto... ahead) {
#pragma unroll
            for (int k = 0; k < AT_ONCE; k++)
                if (row + k * step < end) f(row + k * step, ahead.of[k]...);
        };
        use(rows_ahead<AT_ONCE>(load, row, end, step)...);
    }
}

// Room of a block for the sums of its warps.
template <int WIDTH> __device__ float (&warp_parts())[32][WIDTH]
{
    __shared__ float part[32][WIDTH];
    return part;
}

// Calls f(column, sum) for the columns of a block of whole warps, with the sum of what its threads have for each: in one
// order, so that it is the same in every run.
template <typename T, int WIDTH, bool NEIGHBOURS, typename F>
__device__ void column_sums(block_columns<T, WIDTH, NEIGHBOURS> columns, float (&v)[IN_CHUNK<T>], F f)
{
    auto &part = warp_parts<WIDTH>();
    int me = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    for (int k = 0; k < columns.N; k++) {
        for (int step = columns.SHARERS; step < 32; step *= 2) v[k] += __shfl_xor_sync(~0u, v[k], step);
        if (me % 32 < columns.SHARERS) part[me / 32][columns.at(k) - columns.begin] = v[k];
    }
    __syncthreads();
    for (int i = me; i < min(WIDTH, columns.cols - columns.begin); i += threads) {
        float sum = 0;
        for (int warp = 0; warp < threads / 32; warp++) sum += part[warp][i];
        f(columns.begin + i, sum);
    }
    __syncthreads(); // before the next sums
}
