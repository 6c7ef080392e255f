// regen: no
/* What the driver answers about pools that are not of a device's memory: pinned memory of the host and managed memory.
 * Each line is a question and its answer.
 *     nvcc -o pools pools.cu -lcuda && ./pools
 * A question that ends the context (a kernel without a right to the memory) is asked in a process of its own: ./pools KIND PLACE. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK(x) printf("%s: %d\n", #x, (int)(x)), fflush(stdout)

__global__ void add(int *p) { p[threadIdx.x] += 1; }

static const char *const kinds[] = { "none", "pinned", "managed" };
static const char *const places[] = { "nowhere", "device", "host", "numa", "numa_current" };

static CUresult make(CUmemoryPool *pool, int kind, int place, int id)
{
    CUmemPoolProps x;
    memset(&x, 0, sizeof x);
    x.allocType = (CUmemAllocationType)kind;
    x.location.type = (CUmemLocationType)place;
    x.location.id = id;
    return cuMemPoolCreate(pool, &x);
}

static void rights(CUmemoryPool p)
{
    for (int place = 1; place <= 3; place++) {
        CUmemLocation l;
        CUmemAccess_flags f = (CUmemAccess_flags)77;
        l.type = (CUmemLocationType)place;
        l.id = 0;
        CUresult r = cuMemPoolGetAccess(&f, p, &l);
        printf("  right of %s: %d %d\n", places[place], r, (int)f);
    }
}

static void numbers(CUmemoryPool p)
{
    printf("  attributes:");
    for (int a = 1; a <= 13; a++) {
        unsigned long long v = 0;
        CUresult r = cuMemPoolGetAttribute(p, (CUmemPool_attribute)a, &v);
        if (r)
            printf(" %d=E%d", a, r);
        else
            printf(" %d=%llu", a, v);
    }
    printf("\n");
}

static void pointer(CUdeviceptr p)
{
    printf("  pointer:");
    for (int a = 1; a <= 21; a++) {
        unsigned long long v[4] = { 0 };
        CUresult r = a == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE || a == 7 || a == 20 ? CUDA_SUCCESS : cuPointerGetAttribute(v, (CUpointer_attribute)a, p);
        if (r)
            printf(" %d=E%d", a, r);
        else
            printf(v[0] == p ? " %d=itself" : " %d=%llx", a, v[0]);
    }
    CUmemoryPool of = NULL;
    CUresult r = cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p);
    printf(" pool %d %s\n", r, of ? "some" : "none");
    CUdeviceptr base = 0;
    size_t bytes = 0;
    r = cuMemGetAddressRange(&base, &bytes, p);
    printf("  range: %d offset %lld bytes %zu\n", r, (long long)(p - base), bytes);
    CUdeviceptr d = 0;
    unsigned flags = 0;
    printf("  device pointer: %d, flags %d", (int)cuMemHostGetDevicePointer(&d, (void *)p, 0), (int)cuMemHostGetFlags(&flags, (void *)p));
    printf(" %u\n", flags);
    if (cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, CUmemLocation{ CU_MEM_LOCATION_TYPE_DEVICE, 0 }) == 0) printf("  takes advice\n");
    int where = -77;
    r = cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 4096);
    printf("  preferred location: %d %d\n", r, where);
}

/* Everything about one pool that a process can ask and go on. */
static void pool(int kind, int place, int id)
{
    CUmemoryPool p = NULL;
    CUdeviceptr a = 0, b = 0;
    CUresult r = make(&p, kind, place, id);
    printf("create %s %s %d: %d\n", kinds[kind], places[place], id, r);
    if (r) return;
    rights(p);
    numbers(p);
    CUstream s;
    cuStreamCreate(&s, 0);
    ASK(cuMemAllocFromPoolAsync(&a, 1000, p, s));
    ASK(cuMemAllocFromPoolAsync(&b, 1 << 20, p, s));
    ASK(cuStreamSynchronize(s));
    if (a) pointer(a);
    numbers(p);
    if (a && (kind == 2 || place >= 2)) {
        int *h = (int *)a;
        h[0] = 41;
        printf("  host: %d\n", h[0]);
    }
    CUmemAccessDesc right;
    memset(&right, 0, sizeof right);
    right.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    right.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    ASK(cuMemPoolSetAccess(p, &right, 1));
    rights(p);
    right.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    ASK(cuMemPoolSetAccess(p, &right, 1));
    rights(p);
    right.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASK(cuMemPoolSetAccess(p, &right, 1));
    rights(p);
    right.location.type = CU_MEM_LOCATION_TYPE_HOST;
    ASK(cuMemPoolSetAccess(p, &right, 1));
    if (a) {
        int *h = (int *)a, one[32] = { 0 };
        ASK(cuMemcpyHtoDAsync(a, one, sizeof one, s));
        add<<<1, 32, 0, s>>>(h);
        ASK(cuStreamSynchronize(s));
        ASK(cuMemcpyDtoH(one, a, 4));
        printf("  added: %d\n", one[0]);
    }
    ASK(cuMemFreeHost((void *)a));
    ASK(cuMemFree(a));
    ASK(cuMemFreeAsync(b, s));
    ASK(cuStreamSynchronize(s));
    numbers(p);
    ASK(cuMemPoolTrimTo(p, 0));
    numbers(p);
    CUmemLocation l;
    l.type = (CUmemLocationType)place;
    l.id = id;
    CUmemoryPool now = NULL, first = NULL;
    ASK(cuMemGetDefaultMemPool(&first, &l, (CUmemAllocationType)kind));
    ASK(cuMemGetMemPool(&now, &l, (CUmemAllocationType)kind));
    printf("  the same: %d, some: %d\n", now == first, first != NULL);
    if (first) rights(first), numbers(first);
    ASK(cuMemSetMemPool(&l, (CUmemAllocationType)kind, p));
    ASK(cuMemGetMemPool(&now, &l, (CUmemAllocationType)kind));
    printf("  the one that was set: %d\n", now == p);
    l.type = place == 1 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    ASK(cuMemSetMemPool(&l, (CUmemAllocationType)kind, p));
    ASK(cuDeviceSetMemPool(0, p));
    if (first) ASK(cuMemPoolDestroy(first));
    CUgraph g;
    ASK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUdeviceptr c = 0;
    ASK(cuMemAllocFromPoolAsync(&c, 1000, p, s));
    ASK(cuStreamEndCapture(s, &g));
    ASK(cuMemPoolDestroy(p));
    l.type = (CUmemLocationType)place;
    ASK(cuMemGetMemPool(&now, &l, (CUmemAllocationType)kind));
    printf("  the default again: %d\n", now == first);
}

/* A kernel's and a copy's access without a right that was asked for. */
static void access(int kind, int place)
{
    CUmemoryPool p = NULL;
    CUdeviceptr a = 0;
    int one[32] = { 0 };
    if (make(&p, kind, place, 0)) return;
    ASK(cuMemAllocFromPoolAsync(&a, 1000, p, 0));
    ASK(cuStreamSynchronize(0));
    ASK(cuMemcpyHtoD(a, one, sizeof one));
    add<<<1, 32>>>((int *)a);
    ASK(cuStreamSynchronize(0));
    ASK(cuMemcpyDtoH(one, a, 4));
    printf("  added: %d\n", one[0]);
}

int main(int argc, char **argv)
{
    CUcontext c;
    if (argc == 1)
        for (int kind = 1; kind <= 2; kind++)
            for (int place = 0; place <= 3; place++) {
                pid_t child = fork();
                if (!child) {
                    char k[2] = { (char)('0' + kind) }, at[2] = { (char)('0' + place) };
                    execl("/proc/self/exe", argv[0], k, at, (char *)NULL);
                }
                int status;
                waitpid(child, &status, 0);
                printf("%s %s without a right: status %d\n", kinds[kind], places[place], status);
                fflush(stdout);
            }
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    if (argc > 2) {
        access(atoi(argv[1]), atoi(argv[2]));
        fflush(stdout);
        _exit(0);
    }
    for (int kind = 0; kind <= 2; kind++)
        for (int place = 0; place <= 4; place++) pool(kind, place, 0);
    pool(1, 1, 9);
    pool(1, 3, 9);
    pool(2, 3, -1);
    pool(2, 0, 5);
    pool(2, 2, -1);
    return 0;
}
