// Copies a tile of rows of 65 halves, four at a time. A row is 130 bytes long: only every fourth row starts at a multiple of 8.
struct alignas(8) half4 {
    unsigned short x, y, z, w;
};

__global__ void heads(const unsigned short *keys, unsigned short *out)
{
    __shared__ unsigned short tile[16][65];
    int row = threadIdx.y, i = 4 * threadIdx.x;
    for (int k = 0; k < 4; k++) tile[row][i + k] = keys[row * 64 + i + k];
    *(half4 *)&out[row * 64 + i] = *(const half4 *)&tile[row][i];
}
