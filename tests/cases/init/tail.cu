// The last tile by CUB's BlockLoad with a count and no default: the items behind the end are undefined, and BlockStore leaves them out.
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>

__device__ float halved(float s)
{
    while (s > 1.0f) s *= 0.5f;
    return s;
}

extern "C" __global__ void dropped(const float *in, float *out, int n)          // what is decided is thrown away
{
    float v[8];
    cub::BlockLoad<float, 64, 8>().Load(in, v, n);
    for (int i = 0; i < 8; i++)
        if (v[i] > 1.0f) v[i] = halved(v[i]);
    cub::BlockStore<float, 64, 8>().Store(out, v, n);
}

extern "C" __global__ void kept(const float *in, float *out, int n)             // and here it is stored
{
    float v[8];
    cub::BlockLoad<float, 64, 8>().Load(in, v, n);
    for (int i = 0; i < 8; i++)
        if (v[i] > 1.0f) v[i] = halved(v[i]);                                   // <-- uninit_branch
    cub::BlockStore<float, 64, 8>().Store(out, v);
}

extern "C" __global__ void counted(const float *in, float *out, int *count, int n)      // or counted
{
    float v[8];
    cub::BlockLoad<float, 64, 8>().Load(in, v, n);
    for (int i = 0; i < 8; i++)
        if (v[i] > 1.0f) atomicAdd(count, 1);                                   // <-- uninit_branch
    cub::BlockStore<float, 64, 8>().Store(out, v, n);
}
