/* Host functions of streams and copies of graphs, over memory that the host shares with them. `hosting NAME`. */
#include "api.h"
#include <unistd.h>

enum { N = 4096, BYTES = 4 * N };

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          /* adds 1 to the first word of what the pointer in `list` leads to, and to a variable */
                          ".visible .global .attribute(.managed) .u32 count;\n"
                          ".visible .entry step(.param .u64 list)\n{\n .reg .b64 %a, %p;\n .reg .b32 %v;\n"
                          " ld.param.u64 %a, [list];\n ld.global.u64 %p, [%a+8];\n ld.global.u32 %v, [%p];\n"
                          " add.u32 %v, %v, 1;\n st.global.u32 [%p], %v;\n"
                          " ld.global.u32 %v, [count];\n add.u32 %v, %v, 1;\n st.global.u32 [count], %v;\n ret;\n}\n";

struct job {
    volatile int *p;
    long sum;
};

static void consume(void *of)
{
    struct job *j = of;
    for (int i = 0; i < N; i++) {
        j->sum += j->p[i];
        j->p[i] = -1;
    }
}
static void consume_back(void *stream, int status, void *of)
{
    (void)stream, (void)status;
    consume(of);
}
static void fill(void *of)
{
    struct job *j = of;
    for (int i = 0; i < N; i++) j->p[i] = 3;
}
/* Lets the system write there. */
static void fill_by_read(void *of)
{
    struct job *j = of;
    int fd[2];
    static const int text[256] = { [0 ... 255] = 7 };
    if (pipe(fd)) return;
    for (int i = 0; i < N; i += 256)
        if (write(fd[1], text, sizeof text) != sizeof text || read(fd[0], (int *)j->p + i, sizeof text) != sizeof text)
            puts("the system could not write there");
    close(fd[0]);
    close(fd[1]);
}

static void *a, *b;
static word device;
static struct job job;

/* Three times: a fill, a copy out, and who takes what it brought. */
static void consumers(void *other, int back)
{
    for (int k = 0; k < 3; k++) {
        OK(cuMemsetD32Async, device, 1, (word)N, a);
        OK(cuMemcpyDtoHAsync_v2, job.p, device, (word)BYTES, a);
        if (back)
            OK(cuStreamAddCallback, other, consume_back, &job, 0);
        else
            OK(cuLaunchHostFunc, other, consume, &job);
    }
    OK(cuCtxSynchronize);
    if (other == a) printf("sum %ld\n", job.sum);
}

static void producer(void *other, void (*fills)(void *))
{
    int got = 0;
    OK(cuLaunchHostFunc, other, fills, &job);
    OK(cuMemcpyHtoDAsync_v2, device, job.p, (word)BYTES, a);
    OK(cuCtxSynchronize);
    OK(cuMemcpyDtoH_v2, &got, device + 400, (word)4);
    if (other == a) printf("got %d\n", got);
}

static void graphs(int wait, int out)
{
    void *graph, *exec;
    OK(cuStreamBeginCapture_v2, a, 0);
    if (out)
        OK(cuMemcpyDtoHAsync_v2, job.p, device, (word)BYTES, a);
    else
        OK(cuMemcpyHtoDAsync_v2, device, job.p, (word)BYTES, a);
    OK(cuStreamEndCapture, a, &graph);
    OK(cuGraphInstantiateWithFlags, &exec, graph, 0ull);
    OK(cuMemsetD32_v2, device, 5, (word)N);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N && !out; i++) job.p[i] = k;
        OK(cuGraphLaunch, exec, a);
        if (wait) OK(cuStreamSynchronize, a);
        for (int i = 0; i < N && out; i++) job.sum += job.p[i];
    }
    OK(cuStreamSynchronize, a);
    if (wait) printf("sum %ld\n", job.sum);
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, graph);
}

/* A managed struct with a pointer to other managed memory, and a managed variable. */
static void managed(int wait)
{
    void *module, *step;
    volatile word *list;
    volatile unsigned *value, *count;
    word bytes;
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &step, module, "step");
    OK(cuModuleGetGlobal_v2, &count, &bytes, module, "count");
    OK(cuMemAllocManaged, &list, 64ull, 1);
    OK(cuMemAllocManaged, &value, (word)BYTES, 1);
    list[0] = 0;
    list[1] = (word)(unsigned long)value;
    value[0] = 0;
    void *args[] = { &list };
    for (int k = 0; k < 2; k++) {
        OK(cuLaunchKernel, step, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
        if (wait) OK(cuCtxSynchronize);
        value[0] += 10;
        *count += 10;
    }
    OK(cuCtxSynchronize);
    if (wait) printf("value %u, count %u\n", value[0], *count);
    OK(cuMemFree_v2, list);
    OK(cuMemFree_v2, value);
    OK(cuModuleUnload, module);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int bad = !strncmp(what, "bad_", 4);
    what += bad ? 4 : 0;
    driver_open();
    OK(cuStreamCreate, &a, 1);
    OK(cuStreamCreate, &b, 1);
    OK(cuMemAllocHost_v2, &job.p, (word)BYTES);
    OK(cuMemAlloc_v2, &device, (word)BYTES);
    memset((void *)job.p, 0, BYTES);
    if (!strcmp(what, "consume")) consumers(bad ? b : a, 0);
    if (!strcmp(what, "callback")) consumers(bad ? b : a, 1);
    if (!strcmp(what, "fill")) producer(bad ? b : a, fill);
    if (!strcmp(what, "read")) producer(a, fill_by_read);
    if (!strcmp(what, "graph_in")) graphs(!bad, 0);
    if (!strcmp(what, "graph_out")) graphs(!bad, 1);
    if (!strcmp(what, "managed")) managed(!bad);
    OK(cuMemFreeHost, job.p);
    OK(cuMemFree_v2, device);
    OK(cuStreamDestroy_v2, a);
    OK(cuStreamDestroy_v2, b);
    return 0;
}
