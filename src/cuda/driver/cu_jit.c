/* Options of the compiler in the driver, and its logs. */
#include "driver/cu_jit.h"

enum { /* CUjit_option, those that mean something here */
       JIT_MAX_REGISTERS = 0,
       JIT_WALL_TIME = 2,
       JIT_INFO = 3,
       JIT_INFO_BYTES = 4,
       JIT_ERROR = 5,
       JIT_ERROR_BYTES = 6,
       JIT_OPTIMISATION = 7,
       JIT_TARGET = 9,
       JIT_VERBOSE = 12,
       JIT_SYMBOL_COUNT = 19,
       JIT_OPTIONS = 36
};

cu_result cu_jit_read(struct cu_jit *j, u32 n, const int *option, void **value)
{
    *j = (struct cu_jit){ .began = time_ns() };
    if (n && (!bytes_readable(option, n * sizeof *option) || !bytes_readable(value, n * sizeof *value)))
        return CU_INVALID_VALUE;
    for (u32 i = 0; i < n; i++) {
        struct cu_jit_log *l = option[i] <= JIT_INFO_BYTES ? &j->info : &j->error;
        u32 number = (u32)((uintptr_t)value[i] & UINT32_MAX); /* an unsigned int in the place of a pointer */
        if (option[i] < 0 || option[i] >= JIT_OPTIONS) return CU_INVALID_VALUE;
        switch (option[i]) {
        case JIT_INFO:
        case JIT_ERROR: l->text = value[i]; break;
        case JIT_INFO_BYTES:
        case JIT_ERROR_BYTES:
            l->bytes = number;
            l->size = &value[i];
            break;
        case JIT_WALL_TIME: j->wall = &value[i]; break;
        case JIT_TARGET: j->target = number; break;
        case JIT_VERBOSE: j->verbose = number != 0; break;
        case JIT_OPTIMISATION:
            if (number > 4) return CU_INVALID_VALUE;
            break;
        case JIT_SYMBOL_COUNT:
            if (!number) break;
            cu_refused("CU_JIT_GLOBAL_SYMBOL_ADDRESSES, variables at addresses of the host,");
            return CU_NOT_SUPPORTED;
        default: break; /* how machine code is made: there is none */
        }
    }
    if (j->info.text && !bytes_readable(j->info.text, MAX_OF(j->info.bytes, (u64)1))) return CU_INVALID_VALUE;
    if (j->error.text && !bytes_readable(j->error.text, MAX_OF(j->error.bytes, (u64)1))) return CU_INVALID_VALUE;
    return CU_OK;
}

static void log_write(const struct cu_jit_log *l, const char *text)
{
    u64 n = strlen(text), room = l->text ? l->bytes : 0;
    u64 keep = room ? MIN_OF(n, room - 1) : 0;
    if (room) {
        memcpy(l->text, text, keep);
        l->text[keep] = 0;
    }
    if (l->size) *l->size = (void *)(uintptr_t)keep; /* without the final zero */
}

/* What ptxas says of each kernel with --verbose, as far as PTX tells. */
static void verbose_add(struct text *t, lk_module *m, double ms)
{
    for (u32 i = 0; i < lk_module_kernel_count(m); i++) {
        const lk_kernel *k = lk_module_kernel_at(m, i);
        lk_usage u = { .size = sizeof u };
        if (lk_kernel_usage(k, &u)) continue;
        text_add(t, "ptxas info    : Compiling entry function '%s' for 'sm_%u'\n", lk_kernel_name(k),
                 lk_gpu_arch(m->gpu));
        text_add(t, "ptxas info    : Function properties for %s\nptxas         .     %u bytes stack frame\n",
                 lk_kernel_name(k), (u32)(u.assembled ? u.stack_bytes : u.local_bytes));
        if (u.assembled) text_add(t, "ptxas info    : Used %u registers\n", u.registers);
        if (u.shared_bytes) text_add(t, "ptxas info    : %u bytes smem\n", (u32)u.shared_bytes);
    }
    text_add(t, "ptxas info    : Compile time = %.3f ms", ms);
}

void cu_jit_end(const struct cu_jit *j, cu_result r, const char *why, lk_module *loaded)
{
    struct text t = { 0 };
    float ms = (float)(time_ns() - j->began) / 1e6f;
    if (j->verbose && loaded) verbose_add(&t, loaded, (double)ms);
    log_write(&j->info, t.p ? t.p : "");
    log_write(&j->error, r ? why : "");
    if (j->wall) memcpy(j->wall, &ms, sizeof ms);
    text_free(&t);
}

void cu_jit_words(char *out, size_t size)
{
    const struct error *e = host_error();
    unsigned line = 0, col = 0;
    const char *place = strrchr(e->where, ':');
    while (place && place > e->where && *--place != ':') {}
    if (place) sscanf(place, ":%u:%u", &line, &col);
    if (line)
        snprintf(
            out, size,
            "ptxas application ptx input, line %u; error   : %s\nptxas fatal   : Ptx assembly aborted due to errors",
            line, e->text);
    else
        snprintf(out, size, "ptxas fatal   : %s", e->text);
}

bool cu_jit_undefined(lk_module *m, char *name, char *text, size_t size)
{
    for (u32 i = 0; i < lk_module_kernel_count(m); i++) {
        lk_kernel *k = lk_module_kernel_at(m, i);
        const char *missing = lk_kernel_undefined(k, 0);
        if (!missing) continue;
        snprintf(name, size, "%s", missing);
        snprintf(text, size, "%s", k->func->module->name);
        return true;
    }
    return false;
}
