// Token ids look up an embedding table that has a row for each of them.
//! kernel wrong_vocab
//! dim vocab = 64, tokens = 40, width = 16
//! arg table f32[vocab, width] in
//! arg ids i32[tokens] in index(vocab)
//! arg y f32[tokens, width] out once
//! arg width i32
//! launch grid=tokens block=width
extern "C" __global__ void wrong_vocab(const float *table, const int *ids, float *y, int width)
{
    int token = blockIdx.x, col = threadIdx.x;
    int row = ids[token];
    y[token * width + col] = table[row * width + col];
}
