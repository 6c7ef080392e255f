/* lockstep doctor: what is on this machine, what works, what is missing, each with its fix.
 *
 * The software GPU is not only asked for but used: a small kernel runs on it, and its result is looked at. */
#include "cli/cli.h"
#include <lockstep.h>
#include <stdlib.h>

static const char probe[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry probe(.param .u64 out)\n{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<4>;\n"
    "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n\tmul.lo.u32 %r2, %r1, %r1;\n\tmul.wide.u32 %rd2, %r1, 4;\n"
    "\tadd.s64 %rd3, %rd1, %rd2;\n\tst.global.u32 [%rd3], %r2;\n\tret;\n}\n";
enum { PROBE_THREADS = 64 };

static void line(bool works, const char *what, const char *text)
{
    printf("%s  %-13s %s\n", works ? "ok" : "--", what, text);
}

/* Squares of 64 numbers, on the device. */
static bool run_probe(lk_gpu *gpu)
{
    lk_module *m;
    u64 out;
    u32 got[PROBE_THREADS] = { 0 };
    bool right = lk_module_load(gpu, "probe", probe, strlen(probe), &m) == LK_OK &&
                 lk_memory_alloc(gpu, sizeof got, LK_MEMORY_DEVICE, "out", &out) == LK_OK;
    if (!right) return false;
    const void *args[] = { &out };
    lk_launch l = {
        .size = sizeof l, .grid = { 1, 1, 1 }, .block = { PROBE_THREADS, 1, 1 }, .args = args, .arg_count = 1
    };
    right = lk_kernel_launch(lk_module_kernel_at(m, 0), &l, NULL) == LK_OK &&
            lk_memory_read(gpu, out, got, sizeof got) == LK_OK;
    for (u32 i = 0; i < PROBE_THREADS; i++) right &= got[i] == i * i;
    lk_module_unload(m);
    return right;
}

/* true: a kernel ran there, and rightly. */
static bool look_at_gpu(const char *on, const char *what, const char *fix)
{
    lk_options o = { .size = sizeof o, .on = on };
    lk_gpu *gpu;
    struct text t = { 0 };
    bool works = false;
    if (lk_gpu_create(&o, &gpu) != LK_OK) {
        text_add(&t, "%s%s", lk_gpu_error(NULL), fix);
    } else {
        works = run_probe(gpu);
        if (works)
            text_add(&t, "a kernel ran on %s%s", strcmp(on, "sim") ? "" : "it, as an ", lk_gpu_title(gpu));
        else
            text_add(&t, "a kernel did not run: %s%s", lk_gpu_error(gpu), fix);
        lk_gpu_destroy(gpu);
    }
    line(works, what, t.p);
    text_free(&t);
    return works;
}

static void look_at_tools(void)
{
    lk_tool tool = { .size = sizeof tool };
    u32 compilers = 0;
    for (u32 i = 0; lk_tool_at(i, &tool); i++) {
        compilers += tool.compiles && tool.path[0];
        line(tool.path[0], tool.name, tool.path[0] ? tool.path : tool.fix);
    }
    if (!compilers)
        puts("    .cu files run only where PTX made from them lies beside them, until one of these compilers is there; "
             ".ptx files always run.");
}

int cmd_doctor(int argc, char **argv)
{
    struct error e = { 0 };
    struct parser p = { .verb = VERB_doctor };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    printf("lockstep %s, %d processor%s\n", lk_version(), cpu_count(), plural(cpu_count()));
    bool works = look_at_gpu("sim", "software GPU",
                             "; if memory is limited (ulimit -v), lift the limit: it reserves addresses, not memory");
    look_at_gpu("gpu", "real GPU", "; only --on gpu and --on both need one");
    look_at_tools();
    return works ? EXIT_CLEAN : EXIT_NOTHING;
}
