/* LOCKSTEP_LOG=api, or api:FILE: each call of the program in one line, when it has returned:
 *
 *   lockstep: [4711] cudaMalloc(devPtr=0x7ffe2a10, size=4096) = cudaSuccess, 3.1 us
 *
 * The number in front is the thread's, as the system counts. In front of a launch is a line of what the kernel is
 * given, written before the call goes on, so that it is there where the call does not return:
 *
 *   lockstep: [4711] cuLaunchKernel: fill(argument 0 = 0x310000001000 (byte 0 of 4000), argument 1 = 1000, argument 2 =
 * 0.5) */
#include "engine/gate_log.h"
#include "runtime/rt.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct {
    int state; /* 0: not read yet; 1: no; 2: yes */
    int file;  /* where lines go */
} log_ = { .file = 2 };

/* The word `api` of a list with commas, with what may follow it after a colon. */
static const char *word_find(const char *list)
{
    for (const char *p = list; p && *p; p += strcspn(p, ",")) {
        p += strspn(p, ", ");
        if (!strncmp(p, "api", 3) && (!p[3] || p[3] == ',' || p[3] == ':')) return p + 3;
    }
    return NULL;
}

static void settle(void)
{
    static lock_t guard = LOCK_INIT;
    lock(&guard);
    const char *rest = log_.state ? NULL : word_find(getenv("LOCKSTEP_LOG"));
    if (rest && *rest == ':') {
        char path[1000];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(rest + 1, ","), rest + 1);
        int f = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (f < 0)
            fprintf(stderr, "lockstep: LOCKSTEP_LOG: %s cannot be written; calls go to standard error\n", path);
        else
            log_.file = f;
    }
    if (!log_.state) __atomic_store_n(&log_.state, rest ? 2 : 1, __ATOMIC_RELEASE);
    unlock(&guard);
}

bool cu_log_wanted(void)
{
    int s = __atomic_load_n(&log_.state, __ATOMIC_ACQUIRE);
    if (!s) {
        settle();
        s = log_.state;
    }
    return s == 2;
}

u64 cu_log_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}

const char *cu_result_name(const struct cu_call *c)
{
    const char *name = cu_call_of_runtime(c) ? rt_error_name((int)c->result) : cu_error_name((int)c->result);
    return name ? name : "?";
}

static void write_line(const char *line, int n, size_t size)
{
    if (n > 0 && write(log_.file, line, MIN_OF((size_t)n, size - 1)) < 0) return; /* there is nobody to tell */
}

/* One value by its type in the PTX, or in the source where that is known; structs as the bytes that they begin with. */
static void value_add(struct text *t, const lk_param *p, const void *at)
{
    u64 x = 0;
    const struct mem_object *o = NULL;
    double d;
    float f;
    memcpy(&x, at, MIN_OF(p->bytes, 8u));
    bool is_float = p->bytes == 4 && (strstr(p->source_type, "float") || !strcmp(p->type, "f32"));
    bool is_double = p->bytes == 8 && (strstr(p->source_type, "double") || !strcmp(p->type, "f64"));
    for (u32 i = 0; p->bytes == 8 && i < cu_process.devices && !o; i++) {
        const lk_gpu *gpu = cu_process.device[i].gpu;
        if (gpu && gpu->device->mem) o = mem_find(gpu->device->mem, x);
    }
    if (o || p->is_pointer || strchr(p->source_type, '*')) {
        text_add(t, "0x%" PRIx64, x);
        if (o) text_add(t, " (byte %" PRIu64 " of %" PRIu64 ")", x - o->base, o->size);
    } else if (is_float) {
        memcpy(&f, at, 4);
        text_add(t, "%.9g", (double)f);
    } else if (is_double) {
        memcpy(&d, at, 8);
        text_add(t, "%.17g", d);
    } else if (p->bytes <= 8) {
        u32 unused = 64 - 8 * p->bytes;
        text_add(t, "%" PRId64, (s64)(x << unused) >> unused);
    } else {
        text_add(t, "{");
        for (u32 k = 0; k < MIN_OF(p->bytes, 16u); k++) text_add(t, "%s%02x", k ? " " : "", ((const u8 *)at)[k]);
        text_add(t, "%s}", p->bytes > 16 ? " ..." : "");
    }
}

void cu_log_launch(const lk_kernel *k, const void *const *arg, u32 n)
{
    char line[1400];
    struct text t = { 0 };
    const struct cu_call *c = cu_call_now();
    for (u32 i = 0; i < n; i++) {
        lk_param p = { 0 };
        if (lk_kernel_param(k, i, &p)) continue;
        text_add(&t, "%s%s = ", i ? ", " : "", ptx_argument(k->func, i).text);
        value_add(&t, &p, arg[i]);
    }
    int at = snprintf(line, sizeof line, "lockstep: [%d] %s: %s(%s)\n", (int)syscall(SYS_gettid),
                      c ? cu_call_name(c) : "launch", lk_kernel_plain(k), t.p ? t.p : "");
    write_line(line, at, sizeof line);
    text_free(&t);
}

/* One write a line, so that lines of several threads stay whole. */
void cu_log_call(const struct cu_call *c)
{
    char text[1200], line[1400];
    double us = (double)(cu_log_now() - c->start) / 1000;
    cu_call_text(c, text, sizeof text, true);
    int n = snprintf(line, sizeof line, "lockstep: [%d] %s%s%s, %.1f us\n", (int)syscall(SYS_gettid), text,
                     cu_call_returns_code(c) ? " = " : "", cu_call_returns_code(c) ? cu_result_name(c) : "", us);
    write_line(line, n, sizeof line);
}
