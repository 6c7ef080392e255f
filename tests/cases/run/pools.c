/* Pools of pinned memory of the host and of managed memory: made, asked, set as the current ones; what they give is used
 * by kernels and by the host alike. With `bad` a kernel uses each without the right to it, and one element behind an
 * allocation, which is then freed twice. */
#include "api.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 x)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
                          "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"
                          "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd2, %rd3;\nld.global.u32 %r2, [%rd3];\n"
                          "add.u32 %r3, %r2, 1;\nst.global.u32 [%rd3], %r3;\nret;\n}\n";

struct place {
    int type, id;
};
struct props {
    int type, handles;
    struct place place;
    void *security;
    word most;
    unsigned short usage;
    unsigned char rest[54];
};
struct right {
    struct place place;
    int flags;
};
enum { PINNED = 1, MANAGED, NOWHERE = 0, DEVICE, HOST, NUMA };

static void *kernel, *stream;
static int bad;

static word used(void *pool)
{
    word bytes = 77;
    OK(cuMemPoolGetAttribute, pool, 7, &bytes);
    return bytes;
}

/* A kernel that uses the memory of the host before the device was given the right. */
static void unused(void *pool)
{
    word mine = 0;
    OK(cuMemAllocFromPoolAsync, &mine, 128L, pool, stream);
    OK(cuStreamSynchronize, stream);
    memset((void *)mine, 0, 128);
    void *params[] = { &mine };
    OK(cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
    OK(cuMemFreeAsync, mine, stream);
    OK(cuStreamSynchronize, stream);
}

static void use(const char *name, int type, int place)
{
    struct props x = { .type = type, .place = { place, 0 } };
    void *pool = NULL, *first = NULL, *now = NULL, *of = NULL;
    word at = 0, other = 0;
    int right = 77, managed = 0, kind = 0;
    struct right all = { { DEVICE, 0 }, 3 };
    OK(cuMemPoolCreate, &pool, &x);
    OK(cuMemPoolGetAccess, &right, pool, &(struct place){ DEVICE, 0 });
    printf("%s: right of the device %d, of the host", name, right);
    OK(cuMemPoolGetAccess, &right, pool, &(struct place){ HOST, 0 });
    printf(" %d, to read alone %d", right, CU(cuMemPoolSetAccess, pool, &(struct right){ { DEVICE, 0 }, 1 }, 1L));
    if (bad) unused(pool);
    OK(cuMemPoolSetAccess, pool, &all, 1L);
    OK(cuMemPoolGetAccess, &right, pool, &(struct place){ DEVICE, 0 });
    printf(", then %d\n", right);

    OK(cuMemAllocFromPoolAsync, &at, 128L, pool, stream);
    OK(cuMemAllocFromPoolAsync, &other, 1L << 20, pool, stream);
    OK(cuStreamSynchronize, stream);
    int *host = (int *)at;
    for (int i = 0; i < 32; i++) host[i] = i;
    void *params[] = { &at };
    OK(cuLaunchKernel, kernel, 1, 1, 1, 32 + bad, 1, 1, 0, stream, params, NULL);
    OK(cuStreamSynchronize, stream);
    OK(cuPointerGetAttribute, &managed, 8, at);
    OK(cuPointerGetAttribute, &kind, 2, at);
    OK(cuPointerGetAttribute, &of, 17, at);
    printf("  %d %d, managed %d, memory of the host %d, of the pool %d, used %llu\n", host[0], host[31], managed, kind == 1,
           of == pool, used(pool));
    OK(cuMemFree_v2, at);
    OK(cuMemFreeAsync, other, stream);
    OK(cuStreamSynchronize, stream);
    printf("  used %llu\n", used(pool));
    if (bad) printf("  freed again: %d\n", CU(cuMemFreeAsync, at, stream));

    struct place p = { place, 0 }, q = { place == DEVICE ? HOST : DEVICE, 0 };
    OK(cuMemGetDefaultMemPool, &first, &p, type);
    OK(cuMemGetMemPool, &now, &p, type);
    printf("  default %d", now == first && first != pool);
    OK(cuMemSetMemPool, &p, type, pool);
    OK(cuMemGetMemPool, &now, &p, type);
    printf(", set %d, elsewhere %d, as a device's own %d", now == pool, CU(cuMemSetMemPool, &q, type, pool),
           CU(cuDeviceSetMemPool, 0, pool));
    OK(cuMemPoolDestroy, pool);
    OK(cuMemGetMemPool, &now, &p, type);
    printf(", default again %d, destroyed %d\n", now == first, CU(cuMemPoolDestroy, first));
}

int main(int argc, char **argv)
{
    void *module, *pool = NULL;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &kernel, module, "add");
    OK(cuStreamCreate, &stream, 1);
    bad = argc > 1 && !strcmp(argv[1], "bad");
    use("pinned, host", PINNED, HOST);
    use("pinned, node 0", PINNED, NUMA);
    use("managed", MANAGED, NOWHERE);
    use("managed, host", MANAGED, HOST);
    use("managed, device", MANAGED, DEVICE);
    struct props wrong[] = { { .type = PINNED, .place = { NOWHERE, 0 } },
                             { .type = PINNED, .place = { 4, 0 } },
                             { .type = PINNED, .place = { NUMA, 99 } },
                             { .type = MANAGED, .place = { DEVICE, 99 } },
                             { .type = 3, .place = { HOST, 0 } },
                             { .type = PINNED, .handles = 1, .place = { HOST, 0 } } };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        printf("wrong %u: %d\n", i, CU(cuMemPoolCreate, &pool, &wrong[i]));
    OK(cuStreamDestroy_v2, stream);
    OK(cuModuleUnload, module);
    return 0;
}
