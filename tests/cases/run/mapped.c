/* Pinned memory that a kernel uses where it lies: the host reads what the kernel has not finished, or changes what it
 * still reads; and the same with a wait, with a message of the kernel, in another part, and where both only read. */
#include "api.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 in, .param .u64 out)\n{\n .reg .b64 %a, %b, %c;\n"
                          " .reg .b32 %r, %v;\n ld.param.u64 %a, [in];\n ld.param.u64 %b, [out];\n"
                          " mov.u32 %r, %tid.x;\n mul.wide.u32 %c, %r, 4;\n add.s64 %a, %a, %c;\n add.s64 %b, %b, %c;\n"
                          " ld.global.u32 %v, [%a];\n add.u32 %v, %v, %v;\n st.global.u32 [%b], %v;\n ret;\n}\n"
                          ".visible .entry tell(.param .u64 x)\n{\n .reg .b64 %a;\n ld.param.u64 %a, [x];\n"
                          " st.global.u32 [%a+8192], 7;\n st.release.sys.global.u32 [%a], 1;\n ret;\n}\n";

int main(int argc, char **argv)
{
    enum { N = 32, FAR = 2048 };
    const char *how = argc > 1 ? argv[1] : "";
    void *module, *twice, *tell, *s, *event;
    volatile int *in, *out, *box;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &twice, module, "twice");
    OK(cuModuleGetFunction, &tell, module, "tell");
    OK(cuStreamCreate, &s, 1);
    OK(cuEventCreate, &event, 2);
    OK(cuMemHostAlloc, &in, (word)4 * N, 2);
    OK(cuMemHostAlloc, &out, (word)4 * (N + FAR), 2);
    OK(cuMemHostAlloc, &box, (word)16384, 2);
    for (int i = 0; i < N; i++) in[i] = i;
    box[0] = 0;
    void *args[] = { (void *)&in, (void *)&out }, *one[] = { (void *)&box };
    OK(cuLaunchKernel, twice, 1, 1, 1, N, 1, 1, 0, s, args, NULL);
    if (!strcmp(how, "waits")) {
        OK(cuEventRecord, event, s);
        OK(cuEventSynchronize, event);
    }
    if (!strcmp(how, "writes")) in[3] = 0;
    if (!strcmp(how, "looks")) printf("%d\n", in[5]);
    if (!strcmp(how, "apart")) out[N + FAR - 1] = 1;
    if (!strcmp(how, "told")) {
        OK(cuLaunchKernel, tell, 1, 1, 1, 1, 1, 1, 0, s, one, NULL);
        while (!box[0]) {}
        printf("%d\n", box[2048]);
    }
    if (!strcmp(how, "reads") || !strcmp(how, "waits")) printf("%s\n", out[5] == 10 || out[5] == 0 ? "read" : "wrong");
    OK(cuStreamSynchronize, s);
    OK(cuMemFreeHost, in);
    OK(cuMemFreeHost, out);
    OK(cuMemFreeHost, box);
    OK(cuEventDestroy_v2, event);
    OK(cuStreamDestroy_v2, s);
    OK(cuModuleUnload, module);
    return 0;
}
