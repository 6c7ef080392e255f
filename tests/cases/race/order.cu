// R3: what orders. A message from one block to another: the data, then the flag.
extern "C" __global__ void message_bad(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        atomicExch(flag, 1);            // no fence before it: the data may come later
    } else {
        while (atomicAdd(flag, 0) == 0) { }
        __threadfence();
        out[0] = data[0];
    }
}

extern "C" __global__ void message_ok(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) { }
        __threadfence();
        out[0] = data[0];
    }
}

// Fences that end at the block, between blocks.
extern "C" __global__ void narrow_bad(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) { }
        __threadfence_block();
        out[0] = data[0];
    }
}

// Release and acquire as PTX has them.
extern "C" __global__ void narrow_ok(int *data, int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        data[0] = 42;
        asm volatile("st.release.gpu.global.s32 [%0], 1;" :: "l"(flag) : "memory");
    } else {
        int f;
        do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(f) : "l"(flag) : "memory"); while (!f);
        out[0] = data[0];
    }
}

// A tile that is filled again without a second barrier: the fast warps overwrite what the slow ones still read.
extern "C" __global__ void tile_bad(const int *x, int *out)
{
    __shared__ int tile[128];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = x[k * 128 + t];
        __syncthreads();
        sum += tile[127 - t];
    }
    out[t] = sum;
}

extern "C" __global__ void tile_ok(const int *x, int *out)
{
    __shared__ int tile[128];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = x[k * 128 + t];
        __syncthreads();
        sum += tile[127 - t];
        __syncthreads();
    }
    out[t] = sum;
}
