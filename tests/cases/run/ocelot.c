/* A client of ptx_run, as tinygrad's mock GPU is one: a kernel's text, memory of the process, values as pointers.
 * ocelot N MORE: N elements, and MORE threads than that. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const char ptx[] = ".version 7.0\n.target sm_35\n.address_size 64\n"
                          ".visible .entry twice(.param .u64 to, .param .u64 from, .param .u32 n)\n{\n"
                          ".reg .pred %p;\n.reg .b32 %r<4>;\n.reg .f32 %f;\n.reg .b64 %d<3>;\n"
                          "ld.param.u64 %d0, [to];\nld.param.u64 %d1, [from];\nld.param.u32 %r0, [n];\n"
                          "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                          "mad.lo.u32 %r1, %r1, %r2, %r3;\nsetp.ge.u32 %p, %r1, %r0;\n@%p ret;\n"
                          "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d0, %d0, %d2;\nadd.u64 %d1, %d1, %d2;\n"
                          "ld.global.f32 %f, [%d1];\nadd.f32 %f, %f, %f;\nst.global.f32 [%d0], %f;\nret;\n}\n";
typedef int (*run_call)(const char *, int, void **, int, int, int, int, int, int, int);

int main(int argc, char **argv)
{
    void *library = dlopen("libgpuocelot.so", RTLD_NOW);
    run_call run = library ? (run_call)dlsym(library, "ptx_run") : NULL;
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, more = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (!run || !n) return 2;
    float *to = malloc(n * sizeof *to), *from = malloc((n + more) * sizeof *from), *behind = malloc(4096);
    for (unsigned long i = 0; i < n + more; i++) from[i] = (float)i;
    void *args[] = { to, from, (void *)(n + more) };
    for (int i = more ? 1 : 0; i < 2; i++) printf("%d ", run(ptx, 3, args, 64, 1, 1, (int)((n + more + 63) / 64), 1, 1, 0));
    printf("%g\n", (double)to[n - 1]);
    if (!more) { /* what is wrong with the call itself */
        printf("too few: %d\n", run(ptx, 2, args, 64, 1, 1, 1, 1, 1, 0));
        printf("no PTX: %d\n", run("none", 0, NULL, 1, 1, 1, 1, 1, 1, 0));
        printf("no text: %d\n", run(NULL, 0, NULL, 1, 1, 1, 1, 1, 1, 0));
    }
    free(behind);
    free(from);
    free(to);
    return 0;
}
