// R2: bytes in common, two threads, a write, no order.
extern "C" __global__ void pair_bad(int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int right = x[i + 1];               // belongs to the next thread, and for the last one to the next block
    x[i] = right + 1;
}

// Bytes side by side are not bytes in common.
extern "C" __global__ void pair_ok(unsigned char *x, int *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = (unsigned char)(x[i] + 1);
    y[i] = y[i] + 1;
}

// Both are atomic, and the scope of one ends at its block.
extern "C" __global__ void scope_bad(int *sum)
{
    if (blockIdx.x == 0) atomicAdd_block(sum, 1);
    else atomicAdd(sum, 1);
}

extern "C" __global__ void scope_ok(int *sum, int *own)
{
    atomicAdd(sum, 1);
    atomicAdd_block(own + blockIdx.x, 1);
}

// Strong on both sides, but a half of the word against the whole.
extern "C" __global__ void extent_bad(unsigned *x)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) *(volatile unsigned *)x = 0x10002u;
    else *(volatile unsigned short *)x = 3;
}

extern "C" __global__ void extent_ok(unsigned *x)
{
    if (threadIdx.x) return;
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" :: "l"(x), "r"(blockIdx.x ? 3 : 0x10002) : "memory");
}
