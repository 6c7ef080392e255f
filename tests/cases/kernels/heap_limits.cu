// Device malloc and free at their limits: nothing, too much, until there is no more, and again afterwards; alignment; contents that stay.
extern "C" __global__ void limits(int *out)
{
    int n = 0;
    void *none = malloc(0), *huge = malloc((size_t)1 << 40), *whole = malloc((size_t)9 << 20);
    out[n++] = none == 0;
    out[n++] = huge == 0;
    out[n++] = whole == 0;
    free(none); free(huge); free(whole); free(0);
    for (int round = 0; round < 2; round++) {           // what was freed can be had again
        void *list[64];
        int got = 0;
        while (got < 64 && (list[got] = malloc(1 << 18))) got++;
        out[n++] = got >= 24 && got <= 32;              // of 8 MB, less what the heap keeps for itself
        for (int i = 0; i < got; i++) free(list[i]);
    }
    for (int bytes = 1; bytes < 5000; bytes *= 3) {
        unsigned char *p = (unsigned char *)malloc(bytes);
        out[n++] = p != 0 && (size_t)p % 16 == 0;
        for (int i = 0; i < bytes; i++) p[i] = (unsigned char)(i * 7);
        int sum = 0;
        for (int i = 0; i < bytes; i++) sum += p[i];
        out[n++] = sum;
        free(p);
    }
}

extern "C" __global__ void lists(int *out)              // a list for every thread, made and taken apart by different ones
{
    __shared__ int *box[64];
    int t = threadIdx.x;
    int *mine = (int *)malloc(sizeof(int) * (t + 1));
    if (!mine) return;
    for (int i = 0; i <= t; i++) mine[i] = t * i;
    box[t] = mine;
    __syncthreads();
    int *other = box[(t + 17) % 64], sum = 0;
    for (int i = 0; i <= (t + 17) % 64; i++) sum += other[i];
    out[t] = sum;
    free(other);
}
