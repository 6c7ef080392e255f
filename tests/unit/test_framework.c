/* Runs the tests of tests/framework on the software GPU or a real one, each on a gpu of its own, and sees that nothing
 * is left of it. See tests/framework/suite.h. Without an argument: on the software GPU, and then through
 * src/device/gpu, with Lockstep's own drop-in driver in the place of NVIDIA's (second_driver.c). */
#include "../framework/suite.h"
#include "unit.h"
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

lk_gpu *gpu;
const char *on = "sim", *folder;
int on_gpu;

enum { MOST = 64 };
static struct { /* of the test that runs */
    int failed, skipped;
    uint32_t errors;
    struct {
        char file[40];
        lk_module *module;
    } module[8];
    struct {
        lk_gpu *gpu;
        uint64_t address;
    } memory[MOST];
    void *room[MOST];
    lk_stream *stream[MOST];
    lk_event *event[MOST];
    int modules, memories, rooms, streams, events;
} now;
static char test_name[120];

void suite_fail(const char *file, int line, const char *what, const char *why)
{
    const char *base = strrchr(file, '/');
    printf("FAIL %s: %s:%d: %s%s%s\n", test_name, base ? base + 1 : file, line, what, *why ? ": " : "", why);
    now.failed++;
}

void suite_skip(const char *why)
{
    char text[300];
    snprintf(text, sizeof text, "%s: %s", test_name, why);
    if (!on_gpu) unit_skip(text); /* what a GPU has none of is missing nowhere */
    now.skipped = 1;
}

void suite_findings(uint32_t errors) { now.errors = errors; }

int suite_ok(const char *file, int line, const char *what, lk_status status)
{
    char why[600];
    if (status == LK_OK) return 1;
    snprintf(why, sizeof why, "status %d, %.500s", (int)status, lk_gpu_error(gpu));
    suite_fail(file, line, what, why);
    return 0;
}

int suite_refused(const char *file, int line, const char *what, lk_status status, lk_status wanted, const char *words)
{
    char why[600];
    const char *said = lk_gpu_error(gpu);
    if (!*said) said = lk_gpu_error(NULL);
    if (status == wanted && strstr(said, words)) return 1;
    snprintf(why, sizeof why, "status %d in place of %d, \"%.200s\" has no \"%s\"", (int)status, (int)wanted, said,
             words);
    suite_fail(file, line, what, why);
    return 0;
}

/* ---- what a test makes ---- */

lk_module *module_of(const char *file)
{
    char path[600];
    for (int i = 0; i < now.modules; i++)
        if (!strcmp(now.module[i].file, file)) return now.module[i].module;
    snprintf(path, sizeof path, "%s/%s.ptx", folder, file);
    lk_module *m = NULL;
    if (!OK(lk_module_load_file(gpu, path, &m)) || now.modules == 8) return NULL;
    snprintf(now.module[now.modules].file, sizeof now.module[0].file, "%s", file);
    now.module[now.modules++].module = m;
    return m;
}

lk_kernel *kernel_of(const char *file, const char *name)
{
    lk_module *m = module_of(file);
    lk_kernel *k = m ? lk_module_kernel(m, name) : NULL;
    if (!k) suite_fail(__FILE__, __LINE__, name, lk_gpu_error(gpu));
    return k;
}

lk_kernel *job(const char *name) { return kernel_of("jobs", name); }

uint64_t buffer_of(lk_gpu *of, uint64_t bytes, const void *from)
{
    uint64_t at = 0;
    char name[24];
    snprintf(name, sizeof name, "b%d", now.memories);
    if (now.memories == MOST || lk_memory_alloc(of, bytes, LK_MEMORY_DEVICE, name, &at)) {
        suite_fail(__FILE__, __LINE__, "lk_memory_alloc", lk_gpu_error(of));
        return 0;
    }
    now.memory[now.memories].gpu = of;
    now.memory[now.memories++].address = at;
    if (from && lk_memory_write(of, at, from, bytes))
        suite_fail(__FILE__, __LINE__, "lk_memory_write", lk_gpu_error(of));
    return at;
}

uint64_t buffer(uint64_t bytes, const void *from) { return buffer_of(gpu, bytes, from); }

void release(uint64_t address)
{
    for (int i = 0; i < now.memories; i++) {
        if (now.memory[i].address != address) continue;
        OK(lk_memory_free(now.memory[i].gpu, address));
        now.memory[i] = now.memory[--now.memories];
        return;
    }
    suite_fail(__FILE__, __LINE__, "release", "no buffer of the test");
}

void *room(uint64_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p || now.rooms == MOST) abort();
    return now.room[now.rooms++] = p;
}

lk_stream *stream_of(uint32_t flags)
{
    lk_stream *s = NULL;
    if (now.streams == MOST || !OK(lk_stream_create(gpu, flags, 0, &s))) return NULL;
    return now.stream[now.streams++] = s;
}

lk_event *event_of(void)
{
    lk_event *e = NULL;
    if (now.events == MOST || !OK(lk_event_create(gpu, 0, &e))) return NULL;
    return now.event[now.events++] = e;
}

lk_status launch_in(lk_kernel *kernel, uint32_t n, uint32_t block, lk_stream *stream, const lk_value *values,
                    uint32_t count)
{
    lk_launch l = { .size = sizeof l,
                    .grid = { (n + block - 1) / block },
                    .block = { block },
                    .values = values,
                    .arg_count = count,
                    .stream = stream };
    return lk_kernel_launch(kernel, &l, NULL);
}

void numbers(int32_t *to, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (int32_t)(seed >> 20) - 2048;
    }
}

void floats(float *to, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        to[i] = (float)((int32_t)(seed >> 28) - 8);
    }
}

int same(uint64_t device, const void *wanted, uint64_t bytes)
{
    unsigned char *is = malloc(bytes);
    if (!is) abort();
    int ok = OK(lk_memory_read(gpu, device, is, bytes));
    if (ok && memcmp(is, wanted, bytes)) {
        uint64_t i = 0;
        while (is[i] == ((const unsigned char *)wanted)[i]) i++;
        char why[80];
        snprintf(why, sizeof why, "byte %llu of %llu is %u, not %u", (unsigned long long)i, (unsigned long long)bytes,
                 is[i], ((const unsigned char *)wanted)[i]);
        suite_fail(__FILE__, __LINE__, "the result", why);
        ok = 0;
    }
    free(is);
    return ok;
}

/* ---- running ---- */

static void leave(void)
{
    for (int i = 0; i < now.events; i++) OK(lk_event_destroy(now.event[i]));
    for (int i = 0; i < now.streams; i++) OK(lk_stream_destroy(now.stream[i]));
    for (int i = 0; i < now.memories; i++) OK(lk_memory_free(now.memory[i].gpu, now.memory[i].address));
    for (int i = 0; i < now.rooms; i++) free(now.room[i]);
    for (int i = 0; i < now.modules; i++) OK(lk_module_unload(now.module[i].module));
    OK(lk_gpu_synchronise(gpu));
    uint32_t errors = lk_report_errors(gpu), notes = lk_report_notes(gpu);
    if (lk_memory_live(gpu)) {
        char why[60];
        snprintf(why, sizeof why, "%llu bytes", (unsigned long long)lk_memory_live(gpu));
        suite_fail(__FILE__, __LINE__, "memory is left", why);
    }
    lk_report_leaks_host(gpu);
    int more = lk_report_notes(gpu) != notes || lk_report_errors(gpu) != errors;
    if (errors == now.errors && !more) return;
    char *text = lk_report_text(gpu, 0);
    suite_fail(__FILE__, __LINE__, more ? "something has leaked" : "findings that the test does not want",
               text ? text : "");
    lk_text_free(text);
}

/* A test that does not end: its name, and the end of all. SECONDS_A_TEST says how long it may take. */
static void on_alarm(int unused)
{
    (void)unused;
    size_t n = strlen(test_name);
    if (write(1, "HUNG ", 5) + write(1, test_name, n) + write(1, "\n", 1) >= 0) _exit(3);
    _exit(3);
}

static void watch(void)
{
    const char *seconds = getenv("SECONDS_A_TEST");
    fflush(stdout);
    signal(SIGALRM, on_alarm);
    alarm(seconds ? (unsigned)atoi(seconds) : on_gpu ? 20 : 120);
}

static int run(const struct test *t)
{
    memset(&now, 0, sizeof now);
    lk_options o = { .size = sizeof o, .on = on, .threads = 2, .keep = 4 };
    if (lk_gpu_create(&o, &gpu)) {
        suite_fail(__FILE__, __LINE__, "lk_gpu_create", lk_gpu_error(NULL));
        return 1;
    }
    t->run(t->with);
    leave();
    if (lk_gpu_destroy(gpu)) suite_fail(__FILE__, __LINE__, "lk_gpu_destroy", lk_gpu_error(NULL));
    return now.failed;
}

static const struct {
    const char *name;
    const struct test *tests;
} groups[] = { { "vectors", vector_tests }, { "matrices", matrix_tests }, { "reductions", reduction_tests },
               { "memory", memory_tests },  { "streams", stream_tests },  { "modules", module_tests },
               { "graphs", graph_tests },   { "images", image_tests },    { "nested", nested_tests },
               { "devices", device_tests }, { "wrong", wrong_tests },     { "errors", error_tests } };

static int is_wanted(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        if (!fnmatch(argv[i], test_name, 0)) return 1;
    return !argc;
}

/* The same once more as if there were a GPU. Findings of that driver, which the tests provoke, go to its own report. */
static int second_run(void)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    char driver[600], stand_in[600];
    snprintf(driver, sizeof driver, "%s/front/libcuda.so.1", build);
    snprintf(stand_in, sizeof stand_in, "%s/unit/second_driver.so", build);
#ifdef UNIT_SANITIZED
    unit_skip("as if there were a GPU: two engines in one process, each with the runtime of a sanitizer");
    return 0;
#endif
    if (access(driver, R_OK) || access(stand_in, R_OK)) {
        fprintf(stderr, "%s or %s is missing\n", driver, stand_in);
        return 1;
    }
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 2);
        setenv("SECOND_DRIVER", driver, 1);
        setenv("LOCKSTEP_LIBCUDA", stand_in, 1);
        execl("/proc/self/exe", "test_framework", "gpu", (char *)NULL);
        _exit(127);
    }
    int status = 1;
    return child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    static char place[500];
    int ran = 0, failed = 0, skipped = 0, list = argc > 1 && !strcmp(argv[1], "--list");
    if (argc > 1) on = argv[1];
    on_gpu = !strncmp(on, "gpu", 3);
    snprintf(place, sizeof place, "%s/tests/framework", getenv("TOP") ? getenv("TOP") : ".");
    folder = place;
    lk_gpu *first = NULL; /* a real GPU keeps its context from the first test to the last */
    if (!list && on_gpu && lk_gpu_create(&(lk_options){ .size = sizeof(lk_options), .on = on }, &first)) {
        fprintf(stderr, "%s\n", lk_gpu_error(NULL));
        return 2;
    }
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct test *t = groups[g].tests; t->run; t++) {
            snprintf(test_name, sizeof test_name, "%s/%s", groups[g].name, t->name);
            if (list) puts(test_name);
            if (list || !is_wanted(argc > 2 ? argc - 2 : 0, argv + 2)) continue;
            if (getenv("VERBOSE")) fprintf(stderr, "%s\n", test_name);
            watch();
            failed += run(t) != 0;
            skipped += now.skipped && !now.failed;
            ran++;
        }
    alarm(0);
    lk_gpu_destroy(first);
    if (list) return 0;
    printf("%d passed, %d failed", ran - failed - skipped, failed);
    printf(skipped ? ", %d skipped\n" : "\n", skipped);
    return failed || !ran || (argc < 2 && second_run());
}
