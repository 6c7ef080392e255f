// Every thread looks through a list of others in rounds until each of them has its result, as graph codes do: the loop
// over the list ends early in most rounds, and no single loop is a wait by itself.
enum { N = 256, DEGREE = 6 };

// Thread v comes as number (167 v + 41) mod N in some order, and needs six that come before it, the first one none. With
// a cycle, the first one needs the last one.
extern "C" __global__ void fill(int *list, int cycle)
{
    unsigned v = blockIdx.x * blockDim.x + threadIdx.x, place = (167 * v + 41) % N, last = (N - 1 - 41u) * 23u % N;
    for (unsigned k = 0; k < DEGREE; k++) {
        unsigned earlier = place ? (v * 2654435761u + k * 40503u) / 7 % place : 0;
        list[v * DEGREE + k] = place ? (int)((earlier - 41u) * 23u % N) : cycle ? (int)last : -1;
    }
}

extern "C" __global__ void neighbours(const int *list, int *done)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, missing;
    do {
        int k = 0, last = 0;
        while (k < DEGREE) {
            int at = list[v * DEGREE + k], got = 0;
            if (at >= 0) {
                asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(got) : "l"(&done[at]) : "memory");
                if (!got) break;
            }
            last = max(last, got);
            k++;
        }
        missing = k < DEGREE;
        if (!missing) asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(&done[v]), "r"(last + 1) : "memory");
    } while (missing);
}
