// Rows of a table by index. A block takes a token.
#include "kernel.cuh"

//! op       embedding(table, ids) -> y
//! forward  embedding(table, ids) -> y
//! backward embedding_backward(dy, ids) -> dtable
//! backward embedding_backward_ordered(dy, ids) -> dtable
//! oracle   y = embedding(table, ids)

//! kernel embedding<T>
//! type   T f32|f16|bf16
//! dim    vocab 1..2147483647 = 30, tokens 0..2147483647 = 50, width 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg table T[vocab, width] in view dense|rows|offset
//! arg ldt   i64 = table.stride0
//! arg ids   i64[tokens] in index(vocab)
//! arg y     T[tokens, width] out once
//! arg width i32
//! launch grid=tokens block=threads
//! oracle y = embedding(table, ids)
template <typename T> __global__ void embedding(const T *table, long long ldt, const long long *ids, T *y, int width)
{
    strided<T> row(table + ids[blockIdx.x] * ldt, 1);
    y += blockIdx.x * (long long)width;
    auto copy = [&](auto path) {
        write_each(
            path, y, [](int, float v) { return v; }, kept_row(row, path));
    };
    with_path(copy, y, width, row);
}

// Added to dtable: the row of dy of each token. Where ids repeat, the order of the additions is that in which blocks
// run.
//! kernel embedding_backward<T>
//! type   T f32|f16|bf16
//! dim    vocab 1..2147483647 = 30, tokens 0..2147483647 = 50, width 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy     T[tokens, width] in view dense|rows|offset|broadcast
//! arg lddy   i64 = dy.stride0
//! arg step   i32 = dy.stride1
//! arg ids    i64[tokens] in index(vocab)
//! arg dtable f32[vocab, width] inout normal
//! arg width  i32
//! launch grid=tokens block=threads
//! oracle dtable = scatter_add(concat(dtable, dy, 0), concat(iota(vocab), ids, 0), vocab)
template <typename T>
__global__ void embedding_backward(const T *dy, long long lddy, int step, const long long *ids, float *dtable,
                                   int width)
{
    float *row = dtable + ids[blockIdx.x] * width;
    dy += blockIdx.x * lddy;
    each(
        along(dy, width), [&](int i, float v) { atomicAdd(&row[i], v); }, strided<T>(dy, step));
}

// The same in one order, that of the tokens: a block takes a row of the table and looks at all ids.
//! kernel embedding_backward_ordered<T>
//! type   T f32|f16|bf16
//! dim    vocab 1..2147483647 = 30, tokens 0..2147483647 = 50, width 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy     T[tokens, width] in view dense|rows|offset|broadcast
//! arg lddy   i64 = dy.stride0
//! arg step   i64 = dy.stride1
//! arg ids    i64[tokens] in index(vocab)
//! arg dtable f32[vocab, width] inout normal
//! arg tokens i32
//! arg width  i32
//! launch grid=vocab block=threads
//! oracle dtable = scatter_add(concat(dtable, dy, 0), concat(iota(vocab), ids, 0), vocab)
//! property deterministic
template <typename T>
__global__ void embedding_backward_ordered(const T *dy, long long lddy, long long step, const long long *ids,
                                           float *dtable, int tokens, int width)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float sum = 0;
        for (int t = 0; t < tokens; t++)
            if (ids[t] == blockIdx.x) sum += float(dy[t * lddy + i * step]);
        dtable[blockIdx.x * (long long)width + i] += sum;
    }
}
