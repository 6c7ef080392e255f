/* A kernel that takes messages from the host: `box[0]` counts them, `box[1]` is the payload, `out[0]` counts answers.
 * It ends behind as many messages as it is told to, or behind a payload of 99. "bad": it ends behind the first one, and
 * the host sends another. The others are right: "last": the host's last message ends it; "stop": the host writes a flag
 * beside the queue, too late; "reset": the host makes the queue ready again when it has the last answer; "query": the
 * host asks whether the kernel runs before it sends; "waited": it waits first; "again": another launch reads the rest. */
#include "api.h"
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry serve(.param .u64 box, .param .u64 out, .param .u32 most)\n{\n"
                          " .reg .b64 %a, %b;\n .reg .b32 %n, %h, %p, %m, %k, %s;\n .reg .pred %q;\n"
                          " ld.param.u64 %a, [box];\n ld.param.u64 %b, [out];\n ld.param.u32 %m, [most];\n"
                          " ld.volatile.global.u32 %n, [%b];\n mov.u32 %k, 0;\n"
                          "again:\n ld.volatile.global.u32 %s, [%a+64];\n setp.ne.u32 %q, %s, 0;\n @%q bra done;\n"
                          " ld.volatile.global.u32 %h, [%a];\n setp.eq.u32 %q, %h, %n;\n @%q bra again;\n"
                          " membar.sys;\n ld.global.u32 %p, [%a+4];\n st.global.u32 [%b+4], %p;\n membar.sys;\n"
                          " add.u32 %n, %n, 1;\n add.u32 %k, %k, 1;\n st.volatile.global.u32 [%b], %n;\n"
                          " setp.eq.u32 %q, %k, %m;\n @%q bra done;\n setp.ne.u32 %q, %p, 99;\n @%q bra again;\n"
                          "done:\n ret;\n}\n";
static volatile unsigned *box, *out;

static void message(unsigned payload)
{
    box[1] = payload;
    __sync_synchronize();
    box[0] = box[0] + 1;
}

/* Whether the answer comes within half a second. */
static int answered(unsigned count)
{
    for (int i = 0; i < 500 && out[0] != count; i++) usleep(1000);
    usleep(200000); /* a kernel that ends has ended */
    return out[0] == count;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    unsigned most = strcmp(how, "last") && strcmp(how, "again") ? 1 : 9;
    void *module, *serve, *s;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &serve, module, "serve");
    OK(cuStreamCreate, &s, 1);
    OK(cuMemHostAlloc, &box, (word)256, 2);
    OK(cuMemHostAlloc, &out, (word)256, 2);
    memset((void *)box, 0, 256);
    memset((void *)out, 0, 256);
    void *args[] = { &box, &out, &most };
    OK(cuLaunchKernel, serve, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
    message(7);
    printf("%d\n", answered(1));
    if (!strcmp(how, "waited")) OK(cuStreamSynchronize, s);
    if (!strcmp(how, "query")) SAY(cuStreamQuery, s);
    if (!strcmp(how, "stop")) box[16] = 1;
    if (!strcmp(how, "reset")) memset((void *)box, 0, 256);
    if (!strcmp(how, "bad") || !strcmp(how, "waited") || !strcmp(how, "query")) {
        message(8);
        printf("%d\n", answered(2));
    }
    if (!strcmp(how, "last") || !strcmp(how, "again")) {
        message(99);
        printf("%d\n", answered(2));
    }
    if (!strcmp(how, "again")) {
        message(99);
        OK(cuLaunchKernel, serve, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
        printf("%d\n", answered(3));
    }
    OK(cuStreamSynchronize, s);
    OK(cuMemFreeHost, box);
    OK(cuMemFreeHost, out);
    OK(cuStreamDestroy_v2, s);
    OK(cuModuleUnload, module);
    return 0;
}
