/* lockstep doctor: what is on this machine, what works, what is missing, each with its fix.
 *
 * The software GPU is not only asked for but used: a small kernel runs on it, and its result is looked at. */
#include "cli/cli.h"
#include "doctor/doctor.h"
#include <lockstep.h>
#include <stdlib.h>

#define OPTIONS_doctor OWN_ROWS
#include "cli/option_own.h"

static const char probe[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry probe(.param .u64 out)\n{\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<4>;\n"
    "\tld.param.u64 %rd1, [out];\n\tmov.u32 %r1, %tid.x;\n\tmul.lo.u32 %r2, %r1, %r1;\n\tmul.wide.u32 %rd2, %r1, 4;\n"
    "\tadd.s64 %rd3, %rd1, %rd2;\n\tst.global.u32 [%rd3], %r2;\n\tret;\n}\n";
enum { PROBE_THREADS = 64 };

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
static bool look_at_gpu(struct doctor *d, const char *on, const char *what, const char *fix)
{
    lk_options o = { .size = sizeof o, .on = on };
    lk_gpu *gpu;
    if (lk_gpu_create(&o, &gpu) != LK_OK) {
        doctor_add(d, "lockstep", what, HEALTH_FAILS, fix, "%s", lk_gpu_error(NULL));
        return false;
    }
    bool works = run_probe(gpu);
    if (works)
        doctor_add(d, "lockstep", what, HEALTH_PASSES, "", "a kernel ran on %s%s",
                   strcmp(on, "sim") ? "" : "it, as an ", lk_gpu_title(gpu));
    else
        doctor_add(d, "lockstep", what, HEALTH_FAILS, fix, "a kernel did not run: %s", lk_gpu_error(gpu));
    lk_gpu_destroy(gpu);
    return works;
}

/* Where nvcc is, "": nowhere. */
static void look_at_tools(struct doctor *d, char *nvcc, size_t size)
{
    static const char said[] = "not found: "; /* the fix begins with it */
    const size_t n = sizeof said - 1;
    lk_tool tool = { .size = sizeof tool };
    u32 compilers = 0;
    nvcc[0] = 0;
    for (u32 i = 0; lk_tool_at(i, &tool); i++) {
        compilers += tool.compiles && tool.path[0];
        if (tool.path[0])
            doctor_add(d, "lockstep", tool.name, HEALTH_PASSES, "", "%s", tool.path);
        else
            doctor_add(d, "lockstep", tool.name, HEALTH_FAILS, tool.fix + (strncmp(tool.fix, said, n) ? 0 : n),
                       "not found");
        if (!strcmp(tool.name, "nvcc")) snprintf(nvcc, size, "%s", tool.path);
    }
    if (!compilers)
        doctor_add(
            d, "lockstep", "compilers", HEALTH_FAILS, "",
            ".cu files run only where PTX made from them lies beside them, until one of these compilers is there; "
            ".ptx files always run");
}

struct wish {
    bool json;
};

static bool read_option(void *self, const struct row *o, const char *value, struct error *e)
{
    struct wish *w = self;
    (void)value, (void)e;
    switch ((enum own_option)o->id) {
    case OWN_JSON: return w->json = true;
    }
    CHECK(!"an option of doctor without its case");
}

int cmd_doctor(int argc, char **argv)
{
    struct error e = { 0 };
    struct wish w = { 0 };
    struct doctor d = { 0 };
    struct text out = { 0 };
    char head[100], nvcc[1024];
    struct parser p = { .verb = VERB_doctor, .self = &w, .option = read_option, .stops = true };
    if (!options_parse(&p, argc, argv, &e)) return cli_error_value(&e);
    bool works = look_at_gpu(&d, "sim", "software GPU",
                             "If memory is limited (ulimit -v), lift the limit: it reserves addresses, not memory.");
    look_at_gpu(&d, "gpu", "real GPU", "Only --on gpu and --on both need one.");
    look_at_tools(&d, nvcc, sizeof nvcc);
    doctor_machine(&d, nvcc);
    bool program = p.rest && p.rest[0];
    if (program)
        doctor_program(&d, p.rest);
    else
        doctor_pythons(&d);
    snprintf(head, sizeof head, "lockstep %s, %d processor%s", lk_version(), cpu_count(), plural(cpu_count()));
    if (w.json)
        doctor_json(&d, lk_version(), cpu_count(), &out);
    else
        doctor_text(&d, head, &out);
    fputs(out.p, stdout);
    int code = !works ? EXIT_NOTHING : program && doctor_failed(&d, "program") ? EXIT_FINDINGS : EXIT_CLEAN;
    text_free(&out);
    arena_free(&d.mem);
    return code;
}
