// The transpose of each matrix of a batch, through a tile of shared memory, so that both reading and writing run along
// rows, 16 bytes at a time. The tile is of words: one of f32, or two of 16 bits that are neighbours in the result. A row
// of it is a word longer than it needs to be: its columns lie in different banks. The gradient of a transpose is the
// transpose of the gradient.
#include "columns.cuh"

//! op       transpose(x) -> y
//! forward  transpose(x) -> y
//! backward transpose(dy) -> dx
//! oracle   y = T(x)

//! kernel transpose<T,TILE>
//! type   T f32|f16|bf16
//! config TILE 64 {64, 32}   # the side of a block's tile: the small one where the large would leave blocks to few
//! dim    batch 0..65535 = 2, rows 0..2097120 = 40, cols 0..1073741824 = 72, height 1..64 = 8
//! arg x     T[batch, rows, cols] in view dense|rows|offset|broadcast
//! arg x0    i64 = x.stride0
//! arg x1    i64 = x.stride1
//! arg x2    i64 = x.stride2
//! arg y     T[batch, cols, rows] out once
//! arg rows  i32
//! arg cols  i32
//! launch grid=ceildiv(cols, TILE),ceildiv(rows, TILE),batch block=16,height
//! oracle y = transpose(x, 0, 2, 1)
template <typename T, int TILE>
__global__ void transpose(const T *x, long long x0, long long x1, long long x2, T *y, int rows, int cols)
{
    constexpr int IN_WORD = 4 / sizeof(T);
    __shared__ unsigned tile[TILE / IN_WORD][TILE + 1];
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    x += blockIdx.z * x0;
    y += blockIdx.z * (long long)rows * cols;
    auto read = [&](auto columns) {
        struct neighbours {
            chunk<T> of[IN_WORD];
        };
        auto load = [&](int i) {
            neighbours c = {};
            for (int p = 0, at = row + i * IN_WORD; p < IN_WORD; p++)
                if (at + p < rows) c.of[p] = columns.load(strided<T>(x + (at + p) * x1, x2));
            return c;
        };
        auto keep = [&](int i, neighbours c) {
            for (int k = 0; k < columns.N; k++) {
                chunk<T, IN_WORD> word;
                for (int p = 0; p < IN_WORD; p++) word.set(p, c.of[p].get(k));
                tile[i][columns.at(k) - col] = word.word[0];
            }
        };
        each_row<4 / IN_WORD>(columns.row, TILE / IN_WORD, columns.rows, keep, load);
    };
    auto write = [&](auto words) {
        for (int i = words.row; i < min(TILE, cols - col); i += words.rows) {
            T *to = y + (col + i) * (long long)rows;
            chunk<T> c;
            for (int k = 0; k < words.N; k++) c.word[k] = tile[words.at(k) - words.begin][i];
            if constexpr (words.TOGETHER) {
                if (words.first < words.cols) *(chunk<T> *)(to + words.first * IN_WORD) = c;
            } else {
                for (int k = 0; k < words.N; k++)
                    for (int p = 0, at = words.at(k) * IN_WORD; p < IN_WORD; p++)
                        if (at + p < rows) to[at + p] = c.get(k * IN_WORD + p);
            }
        }
    };
    with_columns<T, TILE>(blockIdx.x, cols, in_chunks(strided<T>(x, x2), x1, cols), read);
    __syncthreads();
    bool together = in_chunks(strided<T>(y, 1), rows, rows);
    with_columns<unsigned, TILE / IN_WORD>(blockIdx.y, (rows + IN_WORD - 1) / IN_WORD, together, write);
}
