// regen: no
// Programs with one mistake each, and right without it: all arrays come of one helper, as people write them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
enum { N = 1000 };
template <class T> static T *device(size_t n)
{
    T *p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}

__constant__ float coefficient[4], other[4];
__global__ void use(float *p, int k) { p[threadIdx.x] = coefficient[threadIdx.x & k]; }
// Constant memory changes in one stream while a kernel of another reads it.
static void constant(bool bad)
{
    cudaStream_t a, b;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreate(&e);
    float *p = device<float>(128), *pinned;
    cudaMallocHost(&pinned, 16);
    memset(pinned, 0, 16);
    cudaMemcpyToSymbol(coefficient, pinned, 16);
    cudaDeviceSynchronize();
    use<<<1, 128, 0, a>>>(p, 3);
    cudaMemcpyToSymbolAsync(other, pinned, 16, 0, cudaMemcpyHostToDevice, b);
    if (!bad) cudaEventRecord(e, a);
    if (!bad) cudaStreamWaitEvent(b, e, 0);
    cudaMemcpyToSymbolAsync(coefficient, pinned, 16, 0, cudaMemcpyHostToDevice, b);
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaFreeHost(pinned);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaEventDestroy(e);
}

__global__ void set(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = 1;
}
// The host writes one half of managed memory, and goes a few elements too far, hundreds of pages on.
static void managed(bool bad)
{
    int n = 1 << 17;
    float *m;
    cudaMallocManaged(&m, 2 * n * sizeof *m);
    set<<<n / 256, 256>>>(m + n, n);
    for (int i = 0; i < n + 8 * bad; i++) m[i] = 2;
    cudaDeviceSynchronize();
    cudaFree(m);
}

template <bool BAD> __global__ void rows(float *p, size_t pitch, int w)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x >= w) return;
    if (BAD)
        p[y * pitch + x] = x;
    else
        ((float *)((char *)p + y * pitch))[x] = x;
}
// The pitch counts bytes, the index elements.
static void pitched(bool bad)
{
    float *p;
    size_t pitch;
    cudaMallocPitch(&p, &pitch, 400, 20);
    if (bad)
        rows<true><<<20, 128>>>(p, pitch, 100);
    else
        rows<false><<<20, 128>>>(p, pitch, 100);
    cudaDeviceSynchronize();
    cudaFree(p);
}

template <bool BAD> __global__ void number(float *p, int n)
{
    int i = BAD ? threadIdx.x * blockDim.x + blockIdx.x : blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = i;
    (void)n;
}
// Thread and block exchanged.
static void exchanged(bool bad)
{
    float *p = device<float>(1024);
    if (bad)
        number<true><<<4, 256>>>(p, 1024);
    else
        number<false><<<4, 256>>>(p, 1024);
    cudaDeviceSynchronize();
    cudaFree(p);
}

__global__ void gather(const int *index, const float *table, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[index[i]];
}
// Three arrays that the helper calls p.
static void table(bool bad)
{
    int index[128];
    for (int i = 0; i < 128; i++) index[i] = i - bad;
    int *at = device<int>(128);
    float *t = device<float>(128), *out = device<float>(128);
    cudaMemcpy(at, index, sizeof index, cudaMemcpyHostToDevice);
    gather<<<1, 128>>>(at, t, out, 128);
    cudaDeviceSynchronize();
    cudaFree(at);
    cudaFree(t);
    cudaFree(out);
}

struct node {
    int v;
    node *next;
};
template <bool BAD> __global__ void push(node **head, node *pool)
{
    node *x = &pool[threadIdx.x];
    x->v = threadIdx.x;
    if (BAD) {
        x->next = *head;
        *head = x;
    } else {
        unsigned long long old = 0, seen;
        do {
            seen = old;
            x->next = (node *)seen;
            __threadfence();
            old = atomicCAS((unsigned long long *)head, seen, (unsigned long long)x);
        } while (old != seen);
    }
}
// A list without an atomic: no barrier helps.
static void list(bool bad)
{
    node **head = device<node *>(1), *pool = device<node>(64);
    if (bad)
        push<true><<<1, 64>>>(head, pool);
    else
        push<false><<<1, 64>>>(head, pool);
    cudaDeviceSynchronize();
    cudaFree(head);
    cudaFree(pool);
}

template <bool BAD> __global__ void relax(const int *to, const int *w, int *best, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int d = w[i] + 3;
    if (!BAD)
        atomicMin(&best[to[i]], d);
    else if (d < best[to[i]])
        best[to[i]] = d;
}
// The smaller one is to stay: atomicMin, not atomicAdd.
static void smaller(bool bad)
{
    int to[N], w[N], most[10];
    for (int i = 0; i < N; i++) {
        to[i] = i * 7 % 10;
        w[i] = N - i;
    }
    for (int &m : most) m = 1 << 30;
    int *a = device<int>(N), *b = device<int>(N), *c = device<int>(10);
    cudaMemcpy(a, to, sizeof to, cudaMemcpyHostToDevice);
    cudaMemcpy(b, w, sizeof w, cudaMemcpyHostToDevice);
    cudaMemcpy(c, most, sizeof most, cudaMemcpyHostToDevice);
    if (bad)
        relax<true><<<4, 256>>>(a, b, c, N);
    else
        relax<false><<<4, 256>>>(a, b, c, N);
    cudaMemcpy(most, c, sizeof most, cudaMemcpyDeviceToHost);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

template <bool BAD> __global__ void insert(int *keys, int *values, int *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = i * 7 % 512;
    while (atomicCAS(&keys[h], 0, i + 1)) h = (h + 1) % 512;
    values[h] = 10 * i;
    if (!BAD) return;
    int want = n - i;
    unsigned at = (want - 1) * 7 % 512;
    for (int k = 0; k < 512; k++, at = (at + 1) % 512)
        if (atomicAdd(&keys[at], 0) == want) {
            found[i] = values[at];
            break;
        }
}
// The key is there before its value.
static void hash(bool bad)
{
    int *keys = device<int>(512), *values = device<int>(512), *found = device<int>(200);
    if (bad)
        insert<true><<<4, 64>>>(keys, values, found, 200);
    else
        insert<false><<<4, 64>>>(keys, values, found, 200);
    cudaDeviceSynchronize();
    cudaFree(keys);
    cudaFree(values);
    cudaFree(found);
}

template <bool BAD> __global__ void guarded(int *lock, int *v)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) ;
    __threadfence();
    *v += 1;
    __threadfence();
    if (BAD)
        *lock = 0;
    else
        atomicExch(lock, 0);
}
static void unlock(bool bad)
{
    int *l = device<int>(1), *v = device<int>(1);
    if (bad)
        guarded<true><<<6, 32>>>(l, v);
    else
        guarded<false><<<6, 32>>>(l, v);
    cudaDeviceSynchronize();
    cudaFree(l);
    cudaFree(v);
}

template <bool BAD> __global__ void fill(cudaSurfaceObject_t s, int w, int h)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h) surf2Dwrite((float)x, s, BAD ? x : x * (int)sizeof(float), y);
}
// x of a surface counts bytes.
static void surface(bool bad)
{
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMallocArray(&a, &f, 48, 32, cudaArraySurfaceLoadStore);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    cudaCreateSurfaceObject(&s, &r);
    if (bad)
        fill<true><<<dim3(3, 2), dim3(16, 16)>>>(s, 48, 32);
    else
        fill<false><<<dim3(3, 2), dim3(16, 16)>>>(s, 48, 32);
    cudaDeviceSynchronize();
    cudaDestroySurfaceObject(s);
    cudaFreeArray(a);
}

// The copy to the host comes before the launch that writes: that nobody has written the buffer follows from it.
static void early(bool bad)
{
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    float *p, *pinned;
    cudaMalloc(&p, 4 * N);
    cudaMallocHost(&pinned, 4 * N);
    set<<<4, 256, 0, a>>>(p, N);
    cudaMemcpyAsync(pinned, p, 4 * N, cudaMemcpyDeviceToHost, bad ? b : a);
    cudaDeviceSynchronize();
    cudaFree(p);
    cudaFreeHost(pinned);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
}

template <bool BAD> __global__ void spread(const int *x, int *out)
{
    int i = threadIdx.x, v = 0;
    if (!BAD) v = __shfl_sync(~0u, x[i], 0);
    if (x[i] > 0) {
        if (BAD) v = __shfl_sync(~0u, x[i], 0);
        out[i] = v;
    }
}
// A shuffle from a lane that goes past it: single elements reach the host.
static void shuffled(bool bad)
{
    int h[32];
    for (int i = 0; i < 32; i++) h[i] = i % 3;
    int *x = device<int>(32), *out = device<int>(32);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
    if (bad)
        spread<true><<<1, 32>>>(x, out);
    else
        spread<false><<<1, 32>>>(x, out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(x);
    cudaFree(out);
}

int main(int c, char **v)
{
    static const struct {
        const char *name;
        void (*run)(bool);
    } all[] = { { "constant", constant }, { "managed", managed },   { "pitched", pitched }, { "exchanged", exchanged },
                { "table", table },       { "list", list },         { "smaller", smaller }, { "hash", hash },
                { "unlock", unlock },     { "surface", surface },   { "early", early },
                { "shuffled", shuffled } };
    for (auto &x : all)
        if (c < 2 || !strcmp(v[1], x.name)) {
            printf("== %s\n", x.name);
            fflush(stdout);
            x.run(c > 1);
        }
    return 0;
}
