// regen: no
/* Heat on a plate: each turn reads its neighbours through a texture, which wraps in x and mirrors in y, and writes through a surface of the other array. The twin writes the array that it reads. */
#include "programs.h"

enum { W = 96, H = 40, TURNS = 5 };
__global__ void turn(cudaTextureObject_t from, cudaSurfaceObject_t to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float u = (x + 0.5f) / W, v = (y + 0.5f) / H, dx = 1.0f / W, dy = 1.0f / H;
    float here = tex2D<float>(from, u, v);
    float near = tex2D<float>(from, u - dx, v) + tex2D<float>(from, u + dx, v) + tex2D<float>(from, u, v - dy) + tex2D<float>(from, u, v + dy);
    surf2Dwrite(here + (near - 4 * here) * 0.125f, to, x * (int)sizeof(float), y);
}
template <bool in_place> static int plate(void)
{
    static float a[H][W], b[H][W];
    cudaArray_t array[2];
    cudaTextureObject_t texture[2];
    cudaSurfaceObject_t surface[2];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) a[y][x] = (float)((x * 7 + y * 13) % 32);
    for (int k = 0; k < 2; k++) {
        cudaResourceDesc what = {};
        cudaTextureDesc how = {};
        TRY(cudaMallocArray(&array[k], &format, W, H, cudaArraySurfaceLoadStore));
        what.resType = cudaResourceTypeArray, what.res.array.array = array[k];
        how.addressMode[0] = cudaAddressModeWrap, how.addressMode[1] = cudaAddressModeMirror;
        how.filterMode = cudaFilterModePoint, how.readMode = cudaReadModeElementType, how.normalizedCoords = 1;
        TRY(cudaCreateTextureObject(&texture[k], &what, &how, NULL));
        TRY(cudaCreateSurfaceObject(&surface[k], &what));
    }
    TRY(cudaMemcpy2DToArray(array[0], 0, 0, a, sizeof a[0], sizeof a[0], H, cudaMemcpyHostToDevice));
    for (int t = 0; t < TURNS; t++) turn<<<dim3(3, 5), dim3(32, 8)>>>(texture[in_place ? 0 : t % 2], surface[in_place ? 0 : (t + 1) % 2]);
    TRY(cudaMemcpy2DFromArray(b, sizeof b[0], array[in_place ? 0 : TURNS % 2], 0, 0, sizeof b[0], H, cudaMemcpyDeviceToHost));
    bits_of("plate", b, sizeof b);
    for (int t = 0; t < TURNS; t++) {
        static float c[H][W];
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                float near = a[y][(x + W - 1) % W] + a[y][(x + 1) % W] + a[y ? y - 1 : 0][x] + a[y + 1 < H ? y + 1 : H - 1][x];
                c[y][x] = a[y][x] + (near - 4 * a[y][x]) * 0.125f;
            }
        memcpy(a, c, sizeof a);
    }
    printf(memcmp(a, b, sizeof a) ? "wrong\n" : "as on the host\n");
    for (int k = 0; k < 2; k++) {
        TRY(cudaDestroyTextureObject(texture[k]));
        TRY(cudaDestroySurfaceObject(surface[k]));
        TRY(cudaFreeArray(array[k]));
    }
    return 0;
}
static int plate_ok(void) { return plate<false>(); }
static int plate_bad(void) { return plate<true>(); }
PROGRAMS({"plate_ok", plate_ok}, {"plate_bad", plate_bad})
