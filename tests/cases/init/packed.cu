// One byte for each of n vertices, four to a word, as graph codes keep them: the last word has bytes that belong to nobody.
__device__ void start(unsigned char *state, int n)
{
    if (threadIdx.x < n) state[threadIdx.x] = 1;
    __syncthreads();
}

extern "C" __global__ void packed_ok(unsigned char *state, int n, unsigned *seen)
{
    start(state, n);
    unsigned *word = (unsigned *)state, v = threadIdx.x;
    if (v >= n) return;
    atomicAnd(&word[v / 4], ~(0xffu << v % 4 * 8));
    atomicOr(&word[v / 4], (0x40u | v) << v % 4 * 8);
    atomicXor(&word[v / 4], 0x40u << v % 4 * 8);
    seen[v] = atomicOr(&word[v / 4], 0) >> v % 4 * 8 & 0xff;
}

// All bits of the word are inverted, those that nobody wrote among them.
extern "C" __global__ void packed_bad(unsigned char *state, int n, unsigned *seen)
{
    start(state, n);
    unsigned *word = (unsigned *)state, v = threadIdx.x;
    if (v >= n) return;
    if (v % 4 == 0) atomicXor(&word[v / 4], ~0u);
    seen[v] = v;
}
