/* Functions that the CUDA runtime provides to kernels: vprintf, __assertfail, malloc, free and cudaGraphSetConditional.
 * Those that launch kernels are in device_runtime.c, malloc and free in heap.c. */
#include "base/printable.h"
#include "sim/asked.h"
#include "units/builtin.h"
#include "mem/mapped.h"
#include "sim/call.h"
#include "sim/finding_place.h"
#include "sim/cluster.h"
#include "units/condition.h"
#include "units/heap.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/sim_run.h"

/* n bytes at a generic address of a lane, when they are the program's, with rights to them (MEM_READABLE, ...). */
static const char *bytes_of(struct warp *w, u32 lane, u64 addr, u64 n, u32 rights)
{
    struct launch *l = w->cta->launch;
    u64 local = addr - mem_local_window(l->sim->mem), shared = addr - mem_shared_window(l->sim->mem);
    if (n > LOCAL_STACK) return NULL; /* nobody asks for as much: no sum below wraps */
    if (local < MEM_LOCAL_BYTES)
        return local + n <= LOCAL_STACK ? local_of(w) + (size_t)lane * LOCAL_STACK + local : NULL;
    if (shared < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS) {
        const struct cta *owner = cluster_cta(w->cta, shared);
        return owner && cluster_offset(shared) + n <= l->shared_total ? owner->shared + cluster_offset(shared) : NULL;
    }
    struct mem_object *o = mem_find(l->sim->mem, addr);
    if (!o || !mem_is_live(o) || addr < o->base || addr + n > o->base + o->size) return NULL;
    if (__atomic_load_n(&o->closed, __ATOMIC_RELAXED) || mem_run_bytes(o, addr, n, rights) < n) return NULL;
    return mem_view(o, addr);
}

const char *builtin_bytes(struct warp *w, u32 lane, u64 addr, u64 n)
{
    return bytes_of(w, lane, addr, n, MEM_READABLE);
}

char *builtin_room(struct warp *w, u32 lane, u64 addr, u64 n)
{
    return (char *)(uintptr_t)bytes_of(w, lane, addr, n, MEM_READABLE | MEM_WRITABLE);
}

/* Text and arguments of printf and assert are used (rules.md I2). */
static void printed(struct warp *w, u32 lane, u64 addr, u32 n)
{
    const struct mem *m = w->cta->launch->sim->mem;
    u64 local = addr - mem_local_window(m), shared = addr - mem_shared_window(m), at;
    u32 space = local < MEM_LOCAL_BYTES                          ? SP_LOCAL
                : shared < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS ? SP_SHARED
                                                                 : SP_GLOBAL;
    if (!(w->code->watch & WATCH_INIT)) return;
    struct shadow *s = asked->init_shadow(w, space, lane,
                                          space == SP_LOCAL    ? local
                                          : space == SP_SHARED ? shared
                                                               : addr,
                                          &at);
    struct taint t[LANES];
    if (!s || shadow_defined(s, at, n)) return;
    t[lane] = shadow_read(s, at, n);
    if (t[lane].undef) asked->init_report(w, w->print_op, USE_PRINT, 1u << lane, t, "an argument of printf");
}

/* A string that cannot be read up to its end, or an argument (width > 1): an access outside. */
static void print_outside(struct warp *w, u32 lane, u64 start, u64 at, u32 width)
{
    const struct mem *m = w->cta->launch->sim->mem;
    const struct mem_object *o = mem_find(m, start);
    bool local = start - mem_local_window(m) < MEM_LOCAL_BYTES,
         shared = start - mem_shared_window(m) < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS;
    bool inside = o && mem_is_live(o) && start >= o->base && start < o->base + o->size;
    bool unmapped = inside && at < o->base + o->size; /* the object has the byte, and it cannot be read */
    struct finding f = { .kind = local      ? F_bounds_local
                                 : shared   ? F_bounds_shared
                                 : unmapped ? F_unmapped
                                 : inside   ? F_bounds
                                            : F_invalid_address,
                         .access = "read",
                         .width = width,
                         .space = local    ? "local"
                                  : shared ? "shared"
                                           : "global" };
    f.cause = width > 1 ? "printf reads an argument where there is no memory of the program"
              : at == start && !inside
                  ? "printf was given an address where there is no string"
                  : "printf reads a string that has no end: no zero byte follows where it could be read";
    f.fix = inside && width == 1 ? "End the text with a zero byte." : "Look where the address comes from.";
    if (unmapped) {
        f.cause = "printf reads there, and no memory is mapped, or the device has no right to it";
        f.fix = NULL;
    }
    f.addr[lane] = at;
    if (inside) {
        f.object = o->name;
        f.object_base = o->base;
        f.object_size = o->size;
    }
    finding_add(w, w->print_op, &f, 1u << lane);
}

enum { STRING_MAX = 65536 };
static bool lane_string(struct warp *w, u32 lane, u64 addr, u32 most, struct text *out)
{
    for (u32 k = 0; k < most; k++) {
        const char *p = builtin_bytes(w, lane, addr + k, 1);
        if (!p) {
            print_outside(w, lane, addr, addr + k, 1);
            return false;
        }
        if (!*p) return true;
        text_put(out, p, 1);
    }
    return true;
}

/* The conversions of printf, as an H200's driver has them: % flags width .precision h hh l ll and a letter; `*` is a
 * width, not a precision. Anything else is printed as it stands, and takes no argument: %zu, %Lf, %.*f, %5%. */
struct conversion {
    /* for the host's printf: without the size, with ll where an integer follows; the width as a number */
    char spec[40];
    u32 width, precision; /* NONE: not given */
    bool star;            /* the width is an argument */
    u8 bytes;             /* of an integer: 1, 2, 4, 8 */
    char letter;
    const char *end; /* after it */
};
/* arguments that printf takes; further ones an H200 prints as whatever lies there */
enum { PRINT_WIDTH_MAX = 65535, PRINT_ARGS = 32 };

static u32 number(const char **p)
{
    u32 n = 0;
    for (; **p >= '0' && **p <= '9'; (*p)++) n = MIN_OF(n * 10 + (u32)(**p - '0'), (u32)PRINT_WIDTH_MAX);
    return n;
}

/* Reads one at a %; false: it is not one. */
static bool conversion_read(const char *p, struct conversion *c)
{
    u32 n = 0;
    *c = (struct conversion){ .width = NONE, .precision = NONE, .bytes = 4 };
    c->spec[n++] = *p++;
    for (const char *flags = "-+ #0"; *p && strchr(flags, *p); p++)
        if (!memchr(c->spec, *p, n)) c->spec[n++] = *p;
    if (*p == '*') {
        c->star = true;
        p++;
    } else if (*p >= '1' && *p <= '9')
        c->width = number(&p);
    if (*p == '.') {
        p++;
        c->precision = number(&p);
    }
    if (*p == 'h') {
        p++;
        c->bytes = 2;
        if (*p == 'h') {
            p++;
            c->bytes = 1;
        }
    } else if (*p == 'l') {
        p++;
        c->bytes = 8;
        if (*p == 'l') p++;
    }
    c->letter = *p;
    c->end = p + 1;
    c->spec[n] = 0;
    return *p && strchr("diuoxXcspfFeEgGaA", *p);
}

/* The next argument: 4 or 8 bytes, at its own alignment. */
static bool next_argument(struct warp *w, u32 lane, u64 *at, u32 size, u64 *v)
{
    *at = (*at + size - 1) / size * size;
    const char *p = builtin_bytes(w, lane, *at, size);
    if (!p && *at) print_outside(w, lane, *at, *at, size); /* without arguments the compiler gives 0 */
    if (!p) return false;
    printed(w, lane, *at, size);
    *v = 0;
    memcpy(v, p, size);
    *at += size;
    return true;
}

static void print_string(struct warp *w, u32 lane, u64 addr, const struct conversion *c, struct text *out)
{
    struct text s = { 0 };
    /* what can be read of it, where it has no end */
    if (addr) lane_string(w, lane, addr, MIN_OF(c->precision, (u32)STRING_MAX), &s);
    text_add(out, c->spec, !addr ? "(null)" : s.p ? s.p : "");
    text_free(&s);
}

static void print_integer(const struct conversion *c, u64 v, struct text *out)
{
    bool is_signed = c->letter == 'd' || c->letter == 'i';
    u32 cut = 64 - 8 * c->bytes;
    v <<= cut;
    text_add(out, c->spec, is_signed ? (unsigned long long)((s64)v >> cut) : (unsigned long long)(v >> cut));
}

/* Prints one conversion; counts its arguments. false: an argument cannot be read. */
static bool convert(struct warp *w, u32 lane, struct conversion *c, u64 *at, struct text *out, s32 *count)
{
    bool integer = strchr("diuoxX", c->letter), wide = strchr("spfFeEgGaA", c->letter);
    char tail[40];
    u64 v = 0;
    if (c->star) {
        if (!next_argument(w, lane, at, 4, &v)) return false;
        bool left = (s32)v < 0;
        c->width = MIN_OF(left ? 0u - (u32)v : (u32)v, (u32)PRINT_WIDTH_MAX);
        if (left && !strchr(c->spec, '-')) strcat(c->spec, "-");
    }
    if (!next_argument(w, lane, at, wide || (integer && c->bytes == 8) ? 8 : 4, &v)) return false;
    *count += 1 + c->star;
    if (c->width != NONE) {
        snprintf(tail, sizeof tail, "%u", c->width);
        strcat(c->spec, tail);
    }
    if (c->precision != NONE) {
        snprintf(tail, sizeof tail, ".%u", c->precision);
        strcat(c->spec, tail);
    }
    snprintf(tail, sizeof tail, "%s%c", integer ? "ll" : "", c->letter);
    strcat(c->spec, tail);
    if (c->letter == 's')
        print_string(w, lane, v, c, out);
    else if (c->letter == 'p')
        text_add(out, c->spec, (void *)(uintptr_t)v);
    else if (c->letter == 'c')
        text_add(out, c->spec, (int)v);
    else if (integer)
        print_integer(c, v, out);
    else {
        double x;
        memcpy(&x, &v, 8);
        text_add(out, c->spec, x);
    }
    return true;
}

/* The output of the program, after what the command has printed before. */
static void print(const char *p, size_t n)
{
    if (program_output) fflush(stdout);
    fwrite(p, 1, n, program_output ? program_output : stdout);
}

/* What printf returns: how many arguments it printed; -1: it could not read them. */
static s32 print_lane(struct warp *w, u32 lane, u64 format, u64 args)
{
    struct launch *l = w->cta->launch;
    struct text f = { 0 }, out = { 0 };
    struct conversion c;
    s32 count = 0;
    bool ok = true;
    if (!lane_string(w, lane, format, STRING_MAX, &f)) {
        text_free(&f);
        return -1;
    }
    for (const char *p = f.p ? f.p : ""; ok && *p;) {
        bool percent = p[0] == '%' && p[1] == '%',
             converts = !percent && *p == '%' && conversion_read(p, &c) && count + c.star < PRINT_ARGS;
        if (converts)
            ok = convert(w, lane, &c, &args, &out, &count);
        else
            text_put(&out, p, 1);
        p = converts ? c.end : p + 1 + percent;
    }
    if (l->in->print)
        l->in->print(l->in->print_ctx, out.p ? out.p : "", out.n);
    else if (out.n)
        print(out.p, out.n);
    text_free(&f);
    text_free(&out);
    return ok ? count : -1;
}

u64 builtin_argument(const struct frame *f, const struct call *c, u32 k, u32 lane)
{
    u64 v = 0;
    u32 n = c->arg[k].size < 8 ? c->arg[k].size : 8;
    memcpy(&v, f->pmem + (size_t)lane * f->code->low->pmem_bytes + c->arg[k].from, n);
    return v;
}

static void assert_lane(struct warp *w, const struct call *c, const struct insn *i, u32 mask)
{
    u32 lane = (u32)__builtin_ctz(mask);
    const struct frame *f = w->cur->fr;
    struct text msg = { 0 }, file = { 0 }, t = { 0 };
    if (c->narg >= 3) {
        lane_string(w, lane, builtin_argument(f, c, 0, lane), STRING_MAX, &msg);
        lane_string(w, lane, builtin_argument(f, c, 1, lane), STRING_MAX, &file);
    }
    text_add(&t, "assert(%s) is false, %s:%u", msg.p ? msg.p : "?", file.p ? file.p : "?",
             c->narg >= 3 ? (u32)builtin_argument(f, c, 2, lane) : 0);
    struct finding x = { .kind = F_assertion, .cause = t.p };
    finding_add(w, i->op, &x, mask);
    launch_stop(w->cta->launch, SIM_TRAP);
    text_free(&msg);
    text_free(&file);
    text_free(&t);
}

void builtin_return(const struct frame *f, const struct call *c, u32 lane, u64 v)
{
    u32 n = c->nret ? c->ret[0].size : 0;
    memcpy(f->pmem + (size_t)lane * f->code->low->pmem_bytes + (n ? c->ret[0].from : 0), &v, n < 8 ? n : 8);
}

void builtin_site(const struct lowered *l, u32 op, char *out, size_t n)
{
    struct arena a = { 0 };
    const struct place *p = finding_place(&a, l, op);
    snprintf(out, n, "%s:%u", p->file ? p->file : p->ptx_file, p->file ? p->line : p->ptx_line);
    arena_free(&a);
}

static void set_condition(struct warp *w, const struct insn *i, u32 lane, u64 handle, u32 value)
{
    char cause[100];
    if (condition_set(handle, value, w->cta->launch->in->op)) return;
    snprintf(cause, sizeof cause, "the handle 0x%llx is of no condition of a graph", (unsigned long long)handle);
    struct finding f = { .kind = F_invalid_address, .access = "write", .width = 4, .space = "global", .cause = cause };
    finding_add(w, i->op, &f, 1u << lane);
}

bool builtin_call(struct warp *w, const struct call *c, const struct insn *i)
{
    struct frame *f = w->cur->fr;
    w->print_op = i->op;
    if (w->code->watch & WATCH_INIT) asked->init_builtin(w, f, c, i->op);
    if (c->builtin >= BI_RUNTIME) {
        runtime_call(w, c, i);
        return true;
    }
    if (c->builtin == BI_ASSERTFAIL) {
        assert_lane(w, c, i, w->mask);
        return true;
    }
    for (u32 l = 0; l < LANES; l++) {
        if (!(w->mask >> l & 1)) continue;
        if (c->builtin == BI_MALLOC) {
            builtin_return(f, c, l, c->narg ? heap_alloc(w, i, l, builtin_argument(f, c, 0, l)) : 0);
            continue;
        }
        if (c->builtin == BI_FREE) {
            if (c->narg) heap_free(w, i, l, builtin_argument(f, c, 0, l));
            continue;
        }
        if (c->builtin == BI_CONDITION) {
            if (c->narg == 2) set_condition(w, i, l, builtin_argument(f, c, 0, l), (u32)builtin_argument(f, c, 1, l));
            continue;
        }
        s32 n = c->narg == 2 ? print_lane(w, l, builtin_argument(f, c, 0, l), builtin_argument(f, c, 1, l)) : -1;
        if (c->nret && c->ret[0].size >= 4)
            memcpy(f->pmem + (size_t)l * f->code->low->pmem_bytes + c->ret[0].from, &n, 4);
    }
    return true;
}
