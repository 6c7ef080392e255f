/* Memory of the host that a kernel uses, and that the program has taken away by then: argv[1] says how. */
#include "api.h"
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20, WRITABLE = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS };
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry store(.param .u64 x)\n{\n .reg .b64 %a;\n .reg .b32 %r;\n"
                          " ld.param.u64 %a, [x];\n cvta.to.global.u64 %a, %a;\n mov.u32 %r, 1;\n"
                          " st.global.u32 [%a+4096], %r;\n ret;\n}\n";

static void launch(void *kernel, void *x)
{
    void *args[] = { &x };
    OK(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    SAY(cuCtxSynchronize);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *module, *kernel;
    setvbuf(stdout, NULL, _IOLBF, 0);
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &kernel, module, "store");
    int cut = !strcmp(how, "cut"), lent = !strcmp(how, "lent"), file = memfd_create("gone", 0);
    if (ftruncate(file, BYTES)) return 9;
    char *p = mmap(NULL, 3 * BYTES, PROT_NONE, OWN, -1, 0); /* nothing else is next to it */
    p = mmap(p + BYTES, BYTES, WRITABLE, MAP_FIXED | (cut ? MAP_SHARED : OWN), cut ? file : -1, 0);
    if (!lent) OK(cuMemHostRegister_v2, p, (word)BYTES, 0);
    launch(kernel, p);
    if (!strcmp(how, "unregistered")) {
        OK(cuMemHostUnregister, p);
        return munmap(p, BYTES);
    }
    int failed = !strcmp(how, "protected") ? mprotect(p, BYTES, PROT_READ) : cut ? ftruncate(file, 0) : munmap(p, BYTES);
    if (failed) return 9;
    launch(kernel, p);
    return 0;
}
