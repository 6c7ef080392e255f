/* Generated kernels: fast code, plain code, other schedules and more workers must leave the same bytes in memory as
 * the scalar reference. Without arguments a few hundred of them; as a fuzzer: test_generated FIRST [COUNT], which
 * shrinks what fails and leaves it in /tmp/generated_SEED.ptx; with a third argument `gpu` on the real GPU of this
 * machine too; with `print` the PTX of the first. */
#include "lockstep.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../fuzz/gen_kernel.c"
#include "../fuzz/gen_print.c"
#include "../fuzz/ref_kernel.c"

enum { RUNS = 5, THREADS_MAX = 1024 };
static const struct {
    const char *name, *on;
    u32 threads, seeded, plain;
} runs[RUNS] = { { "fast", NULL, 1, 0, 0 },
                 { "plain", NULL, 1, 0, 1 },
                 { "seeded", NULL, 0, 1, 0 },
                 { "two workers", NULL, 2, 0, 0 },
                 { "gpu", "gpu", 0, 0, 0 } };
static u32 run_count = RUNS - 1; /* all of them: with a GPU */
/* programs run; those of them that the reference does not run, as their threads touch the same word */
static u32 tried, no_answer;
static const u32 shapes[][3] = { { 32, 1, 1 }, { 64, 1, 1 }, { 16, 16, 1 }, { 8, 8, 4 },   { 7, 5, 1 }, { 33, 1, 1 },
                                 { 1, 1, 1 },  { 96, 2, 1 }, { 4, 9, 2 },   { 128, 1, 1 }, { 2, 40, 1 } };

static lk_gpu *gpus[RUNS];
static bool nobody_asks, *driver_loads = &nobody_asks; /* the driver compiles a module now */
static char *scratch_buf[2][BUFS];
static u64 scratch_cap[2][BUFS];

static void open_gpus(u64 seed)
{
    for (u32 k = 0; k < run_count; k++) {
        if (gpus[k] && !runs[k].seeded) continue;
        lk_gpu_destroy(gpus[k]);
        lk_options o = { .size = sizeof o,
                         .on = runs[k].on,
                         .threads = runs[k].threads,
                         .seeded = runs[k].seeded,
                         .seed = seed,
                         .budget = 100000000 };
        if (runs[k].plain)
            setenv("LOCKSTEP_PLAIN", "1", 1); /* looked at when the gpu is made */
        else
            unsetenv("LOCKSTEP_PLAIN");
        if (lk_gpu_create(&o, &gpus[k]) != LK_OK) {
            fprintf(stderr, "%s\n", lk_gpu_error(NULL));
            exit(2);
        }
    }
}

static struct gen_launch launch_for(const struct program *p, u64 salt, u32 which)
{
    u64 r = p->seed * 31 + salt;
    struct gen_launch l = { 0 };
    memcpy(l.block, shapes[rand_next(&r) % COUNT_OF(shapes)], sizeof l.block);
    l.grid = 1 + rand_next(&r) % 3;
    static const u32 some[] = { 0, 1, 3, 31, 32, 0xffffffff, 0x7fffffff, 0x80000000, 100 };
    l.args.p0 = some[rand_next(&r) % COUNT_OF(some)];
    l.args.p1 = rand_next(&r) % 3 ? some[rand_next(&r) % COUNT_OF(some)] : (u32)rand_next(&r);
    l.args.q0 = rand_next(&r) % 2 ? some[rand_next(&r) % COUNT_OF(some)] : rand_next(&r);
    l.args.x0 = (f32)(s32)rand_next(&r) / 65536;
    l.args.y0 = (f64)(s64)rand_next(&r) / 1e9;
    l.args.h0 = (u16)rand_next(&r);
    u64 threads = (u64)l.grid * l.block[0] * l.block[1] * l.block[2];
    l.bytes[BUF_OUT] = threads * p->nout * 8;
    l.bytes[BUF_IN] = IN_BYTES;
    l.bytes[BUF_SCRATCH] = threads * SCRATCH_EACH;
    l.bytes[BUF_ACC] = ACC_WORDS * 8;
    for (u32 k = 0; k < BUFS; k++) {
        if (scratch_cap[which][k] < l.bytes[k]) {
            free(scratch_buf[which][k]);
            scratch_buf[which][k] = malloc(scratch_cap[which][k] = l.bytes[k]);
        }
        l.buf[k] = scratch_buf[which][k];
        memset(l.buf[k], 0, l.bytes[k]);
    }
    for (u32 k = 0; k < IN_BYTES / 4; k++) {
        u32 v = (u32)rand_next(&r);
        v >>= rand_next(&r) % 32;
        memcpy(l.buf[BUF_IN] + 4 * k, &v, 4);
    }
    return l;
}

/* One launch on the machine; false: it did not run clean, and why. */
static bool run_machine(u32 n, const struct text *ptx, struct gen_launch *l, char *why, size_t size)
{
    lk_gpu *g = gpus[n];
    lk_module *m = NULL;
    u64 at[BUFS] = { 0 };
    bool ok = true;
    *driver_loads = runs[n].on != NULL;
    lk_status loaded = lk_module_load(g, "generated.ptx", ptx->p, ptx->n, &m);
    *driver_loads = false;
    if (loaded != LK_OK) {
        snprintf(why, size, "%s", lk_gpu_error(g));
        return false;
    }
    static const char *const names[] = { "out", "in", "scratch", "acc" };
    for (u32 k = 0; k < BUFS; k++) {
        ok = ok && lk_memory_alloc(g, l->bytes[k], LK_MEMORY_DEVICE, names[k], &at[k]) == LK_OK;
        ok = ok && lk_memory_write(g, at[k], l->buf[k], l->bytes[k]) == LK_OK;
    }
    const void *args[GEN_PARAMS] = { &at[0],      &at[1],      &at[2],      &at[3],      &l->args.p0,
                                     &l->args.p1, &l->args.q0, &l->args.x0, &l->args.y0, &l->args.h0 };
    lk_launch x = { .size = sizeof x,
                    .grid = { l->grid, 1, 1 },
                    .block = { l->block[0], l->block[1], l->block[2] },
                    .args = args,
                    .arg_count = GEN_PARAMS };
    lk_report_clear(g);
    lk_status s = ok ? lk_kernel_launch(lk_module_kernel(m, "k"), &x, NULL) : LK_SYSTEM;
    if (s != LK_OK) {
        char *t = s == LK_FINDINGS ? lk_report_text(g, 0) : NULL;
        snprintf(why, size, "%s", t ? t : lk_gpu_error(g));
        ok = false;
        lk_text_free(t);
    }
    for (u32 k = 0; k < BUFS; k++) {
        ok = ok && lk_memory_read(g, at[k], l->buf[k], l->bytes[k]) == LK_OK;
        if (at[k]) lk_memory_free(g, at[k]);
    }
    lk_module_unload(m);
    return ok;
}

enum verdict { SAME, DIFFERENT, UNCLEAN, INVALID };
/* Runs a program everywhere; what is wrong goes to `why`. */
static enum verdict try_program(const struct program *p, u64 salt, char *why, size_t size)
{
    struct text ptx = { 0 };
    enum verdict v = SAME;
    struct gen_launch ref = launch_for(p, salt, 0);
    if (!ref_run(p, &ref)) {
        snprintf(why, size, "the reference does not run it");
        return INVALID;
    }
    gen_print(p, &ptx);
    for (u32 n = 0; n < run_count && v == SAME; n++) {
        struct gen_launch l = launch_for(p, salt, 1);
        if (!run_machine(n, &ptx, &l, why, size)) {
            v = UNCLEAN;
            break;
        }
        for (u32 b = 0; b < BUFS && v == SAME; b++) {
            if (!memcmp(l.buf[b], ref.buf[b], l.bytes[b])) continue;
            u64 at = 0, threads = (u64)l.grid * l.block[0] * l.block[1] * l.block[2], a, c;
            while (l.buf[b][at] == ref.buf[b][at]) at++;
            at &= ~7ull;
            memcpy(&a, l.buf[b] + at, 8);
            memcpy(&c, ref.buf[b] + at, 8);
            u64 thread = p->thread_major ? at / 8 / (p->nout ? p->nout : 1) : at / 8 % threads,
                word = p->thread_major ? at / 8 % (p->nout ? p->nout : 1) : at / 8 / threads;
            snprintf(why, size,
                     "%s, block %ux%ux%u grid %u, buffer %u: byte %llu (out: word %llu of thread %llu) is %016llx, "
                     "should be %016llx",
                     runs[n].name, l.block[0], l.block[1], l.block[2], l.grid, b, (unsigned long long)at,
                     (unsigned long long)word, (unsigned long long)thread, (unsigned long long)a,
                     (unsigned long long)c);
            v = DIFFERENT;
        }
    }
    text_free(&ptx);
    return v;
}

/* Switches off as many items as it can while the program still fails in the same way. */
static void shrink(struct program *p, u64 salt, enum verdict kind)
{
    char why[2048];
    for (bool again = true; again;) {
        again = false;
        for (u32 step = 64; step; step /= 2)
            for (u32 f = 0; f <= p->nfunc; f++)
                for (u32 k = p->func[f].item.n; k > 0; k = k > step ? k - step : 0) {
                    struct item *i = p->func[f].item.p;
                    u32 lo = k > step ? k - step : 0, n = 0;
                    u8 was[64];
                    for (u32 j = lo; j < k; j++) {
                        was[j - lo] = i[j].off;
                        if (!i[j].off && !i[j].keep && i[j].kind != I_LABEL) {
                            i[j].off = 1;
                            n++;
                        }
                    }
                    if (n && try_program(p, salt, why, sizeof why) == kind) {
                        again = true;
                        continue;
                    }
                    for (u32 j = lo; j < k; j++) i[j].off = was[j - lo];
                }
    }
}

static bool check_seed(u64 seed, bool keep)
{
    char why[2048];
    struct program *p = gen_program(seed);
    bool ok = true;
    for (u64 salt = 0; salt < 2 && ok; salt++) {
        enum verdict v = try_program(p, salt, why, sizeof why);
        tried++;
        no_answer += v == INVALID;
        if (v == SAME || v == INVALID) continue;
        ok = false;
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, why);
        if (!keep) continue;
        shrink(p, salt, v);
        try_program(p, salt, why, sizeof why);
        struct text t = { 0 };
        struct gen_launch l = launch_for(p, salt, 0);
        gen_print(p, &t);
        text_add(&t, "// %s\n// p0 %u p1 %u q0 %llu x0 %.9g y0 %.17g h0 %u\n", why, l.args.p0, l.args.p1,
                 (unsigned long long)l.args.q0, (double)l.args.x0, l.args.y0, l.args.h0);
        char path[64];
        snprintf(path, sizeof path, "/tmp/generated_%llu.ptx", (unsigned long long)seed);
        struct error e = { 0 };
        file_write(path, t.p, t.n, &e);
        fprintf(stderr, "  shrunk: %s\n  %s\n", path, why);
        text_free(&t);
    }
    gen_free(p);
    return ok;
}

/* With a GPU, a child does the seeds: NVIDIA's own compiler crashes on some of them (libnvidia-ptxjitcompiler on an
 * H200 did), and takes the process with it. Such a seed is named and passed over; the next child goes on behind it. */
static int with_gpu(u64 first, u64 count)
{
    struct {
        u64 seed, passed, failed, crashed;
        bool loading;
    } *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    shared->seed = first;
    driver_loads = &shared->loading;
    run_count = RUNS;
    while (shared->seed < first + count) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            for (open_gpus(first); shared->seed < first + count; shared->seed++)
                *(check_seed(shared->seed, true) ? &shared->passed : &shared->failed) += 1;
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        if (!status) break;
        if (!WIFSIGNALED(status)) return WEXITSTATUS(status); /* there is no GPU: it has said so */
        fprintf(stderr, "seed %llu: %s ends by signal %d\n", (unsigned long long)shared->seed,
                shared->loading ? "the driver's compiler" : "this program", WTERMSIG(status));
        *(shared->loading ? &shared->crashed : &shared->failed) += 1;
        shared->loading = false;
        shared->seed++;
    }
    printf("%llu passed, %llu failed, %llu that the driver's compiler crashes on\n", (unsigned long long)shared->passed,
           (unsigned long long)shared->failed, (unsigned long long)shared->crashed);
    return shared->failed ? 1 : shared->passed ? 0 : 4;
}

int main(int argc, char **argv)
{
    u64 first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1, count = argc > 2             ? strtoull(argv[2], NULL, 0)
                                                                   : argc > 1           ? 1
                                                                   : getenv("EMULATED") ? 60 /* tests/other-arch */
                                                                                        : 300;
    if (argc > 3 && !strcmp(argv[3], "gpu")) return with_gpu(first, count);
    if (argc > 3) {
        struct text t = { 0 };
        gen_print(gen_program(first), &t);
        fwrite(t.p, 1, t.n, stdout);
        return 0;
    }
    for (u64 s = first; s < first + count; s++) {
        if ((s - first) % 50 == 0) open_gpus(s);
        UNIT(check_seed(s, argc > 1));
    }
    UNIT(no_answer * 4 <= tried);
    return unit_done();
}
