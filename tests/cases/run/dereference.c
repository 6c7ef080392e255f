/* The host uses a device pointer as its own: an access, a function of libc, memory that was freed, an address behind
 * the end; and the same with copies, and with managed memory. */
#include "api.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 x)\n{\n .reg .b64 %a, %b;\n .reg .b32 %r;\n"
                          " ld.param.u64 %a, [x];\n mov.u32 %r, %tid.x;\n mul.wide.u32 %b, %r, 4;\n add.s64 %a, %a, %b;\n"
                          " st.global.u32 [%a], %r;\n ret;\n}\n";
static int sum(const int *p, int n)
{
    int s = 0;
    for (int i = 3; i < n; i++) s += p[i];
    return s;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *module, *fill;
    int *d_x, *m, host[32];
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &fill, module, "fill");
    OK(cuMemAlloc_v2, &d_x, (word)sizeof host);
    OK(cuMemAllocManaged, &m, (word)sizeof host, (word)1);
    void *one[] = { &d_x }, *two[] = { &m };
    OK(cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, NULL, one, NULL);
    OK(cuLaunchKernel, fill, 1, 1, 1, 32, 1, 1, 0, NULL, two, NULL);
    OK(cuCtxSynchronize);
    fflush(stdout);
    if (!strcmp(how, "read")) printf("%d\n", sum(d_x, 32));
    if (!strcmp(how, "write")) d_x[7] = 1;
    if (!strcmp(how, "memcpy")) memcpy(host, d_x, sizeof host);
    if (!strcmp(how, "behind")) printf("%d\n", d_x[100]);
    if (!strcmp(how, "freed")) {
        OK(cuMemFree_v2, d_x);
        printf("%d\n", sum(d_x, 32));
    }
    OK(cuMemcpyDtoH_v2, host, d_x, (word)sizeof host);
    printf("%d %d\n", sum(host, 32), sum(m, 32));
    OK(cuMemFree_v2, d_x);
    OK(cuMemFree_v2, m);
    OK(cuModuleUnload, module);
    return 0;
}
