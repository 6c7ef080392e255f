/* What front/python tells of a script: findings that the types of Python's objects show before a launch, and the arrays
 * that the calling thread passes to the launches that follow (check/views.h). The functions are called by ctypes, with
 * the interpreter's lock held. */
#include "engine/cu_python.h"
#include "api/host.h"
#include "report/finding.h"
#include "report/report.h"
#include "engine/cu_clock.h"
#include "engine/cu_failed.h"
#include "engine/cu_report.h"
#include "check/views.h"
#include "sites/where.h"
#include <inttypes.h>
#include <stdlib.h>

#define FOR_PYTHON __attribute__((visibility("default")))

enum { CUPY_TYPE, CUPY_STRIDES, NUMBA_TYPE };
FOR_PYTHON void lkpy_found(int which, const char *kernel, const char *cause, const char *fix);
/* A line for each array, with a ! in front where the kernel gets the address alone: NAME<tab>TYPE<tab>BYTES ADDRESS
 * DIMENSIONS EXTENT... STRIDE..., all but the address decimal. The text is the caller's until the next call, which may
 * be with NULL. */
FOR_PYTHON void lkpy_views(const char *lines);

/* A cell of a notebook, or a text of a console: its file, which there is none of, what people call it, and its text. */
FOR_PYTHON void lkpy_script(const char *file, const char *title, const char *text);

/* A notebook's cell has ended: what was found since the last one; "": nothing. The text lives until the next call. */
FOR_PYTHON const char *lkpy_cell(void);

const char *lkpy_cell(void)
{
    static struct text t; /* cells end one after the other */
    text_free(&t);
    t = (struct text){ 0 };
    cu_clock_cell();
    cu_report_cell(&t);
    return t.n ? t.p : "";
}

/* For lockstep.trace, which runs an operator again to learn where a NaN began: launches from here on are looked at for
 * that, or as before. All devices must be idle. */
FOR_PYTHON void lkpy_values(int on);
void lkpy_values(int on)
{
    static u32 before; /* a bit for each device */
    for (u32 i = 0; i < cu_process.devices; i++) {
        lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        if (!gpu) continue;
        struct dev_options *o = &gpu->device->options;
        if (on) before = (before & ~(1u << i % 32)) | (u32)o->all_values << i % 32;
        o->all_values = on || before >> i % 32 & 1;
    }
}

/* What was found so far, as JSON (docs/reference/report.md). The text lives until the next call. */
FOR_PYTHON const char *lkpy_report(void);
const char *lkpy_report(void)
{
    static struct text t;
    struct report *all[CU_DEVICES];
    u32 n = 0;
    for (u32 i = 0; i < cu_process.devices && n < COUNT_OF(all); i++) {
        lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        if (gpu) all[n++] = gpu->device->report;
    }
    text_free(&t);
    t = (struct text){ 0 };
    if (n) report_json(all, n, &t);
    return t.n ? t.p : "{}";
}

/* Bytes that the program holds of all devices. */
FOR_PYTHON u64 lkpy_live(void);
u64 lkpy_live(void)
{
    static const enum mem_kind kinds[] = { MEM_DEVICE, MEM_MANAGED, MEM_POOL };
    u64 sum = 0;
    for (u32 i = 0; i < cu_process.devices; i++) {
        lk_gpu *gpu = __atomic_load_n(&cu_process.device[i].gpu, __ATOMIC_ACQUIRE);
        for (u32 k = 0; gpu && k < COUNT_OF(kinds); k++) sum += dev_usage(gpu->device, kinds[k]).live;
    }
    return sum;
}

void lkpy_script(const char *file, const char *title, const char *text)
{
    where_script_give(file, title, str_of(text));
    source_give(file, str_of(text));
}

void lkpy_found(int which, const char *kernel, const char *cause, const char *fix)
{
    struct where_stack s;
    const char *site = where_script(&s) ? where_site(which == NUMBA_TYPE ? "launch" : "RawKernel", &s) : NULL;
    struct finding f = { .kind = which == CUPY_STRIDES ? F_array_strides : F_argument_type,
                         .cause = cause,
                         .fix = fix,
                         .kernel = kernel,
                         .call = site };
    f.cause_key = str_hash(str_of(cause)) * 31 + str_hash(str_of(site ? site : ""));
    cu_found(&f);
}

static _Thread_local const char *passed; /* of lkpy_views; NULL: nothing is known */

void lkpy_views(const char *lines) { passed = lines && *lines ? lines : NULL; }

/* ---- the views of a launch, each set of them kept once ---- */

enum { KEPT_MOST = 1 << 14, VIEWS_MOST = 64 };
static struct {
    lock_t lock;
    struct map sets; /* by the text of all views of a set -> struct launch_views */
    u32 n;
    struct arena mem;
} kept = { .lock = LOCK_INIT };

/* A name of Python, perhaps with an index after it. */
static bool is_name(struct str s)
{
    for (u32 i = 0; i < s.n; i++) {
        u8 c = (u8)s.p[i];
        bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
        if (!word && !strchr("_.[]", c)) return false;
    }
    return s.n < 64;
}

/* Reads one line; false: it is not one. The texts point into the line and are not terminated. */
static bool line_read(const char *p, struct launch_view *v, struct str *name, struct str *type, u64 *address)
{
    const char *tab = strchr(p, '\t'), *next = tab ? strchr(tab + 1, '\t') : NULL;
    char *rest;
    if (!next) return false;
    v->alone = *p == '!';
    p += v->alone;
    *name = (struct str){ p, (u32)(tab - p) };
    *type = (struct str){ tab + 1, (u32)(next - tab - 1) };
    v->element = (u32)strtoul(next + 1, &rest, 10);
    *address = strtoull(rest, &rest, 16);
    v->dims = (u32)strtoul(rest, &rest, 10);
    if (v->dims > VIEW_DIMS || !v->element || !*address || !is_name(*name) || !is_name(*type)) return false;
    for (u32 i = 0; i < v->dims; i++) v->extent[i] = strtoull(rest, &rest, 10);
    for (u32 i = 0; i < v->dims; i++) v->stride[i] = strtoll(rest, &rest, 10);
    return *rest == '\n';
}

/* Where the parameters hold this address, from *at on, else from their beginning; UINT32_MAX: nowhere. */
static u32 place_of(const struct ptx_func *f, const void *params, u64 address, u32 from)
{
    for (u32 turn = 0; turn < 2; turn++)
        for (u32 at = turn ? 0 : from; at + 8 <= f->param_bytes; at += 8) {
            u64 value;
            memcpy(&value, (const char *)params + at, 8);
            if (value == address) return at;
        }
    return UINT32_MAX;
}

struct reading {
    struct launch_view view[VIEWS_MOST];
    struct str name[VIEWS_MOST], type[VIEWS_MOST];
    u32 n;
};

/* The views whose addresses the launch is given. */
static void passed_read(const struct ptx_func *f, const void *params, struct reading *r)
{
    u32 from = 0;
    r->n = 0;
    for (const char *p = passed, *end; (end = strchr(p, '\n')) && r->n < VIEWS_MOST; p = end + 1) {
        u64 address;
        struct launch_view *v = &r->view[r->n];
        bytes_clear(v, sizeof *v);
        if (!line_read(p, v, &r->name[r->n], &r->type[r->n], &address)) continue;
        if ((v->at = place_of(f, params, address, from)) == UINT32_MAX) continue;
        from = v->at + 8;
        r->n++;
    }
}

static void key_of(const struct reading *r, struct text *key)
{
    for (u32 i = 0; i < r->n; i++) {
        const struct launch_view *v = &r->view[i];
        text_put(key, r->name[i].p, r->name[i].n);
        text_add(key, "\t");
        text_put(key, r->type[i].p, r->type[i].n);
        text_add(key, "\t%u %u %d", v->at, v->element, v->alone);
        for (u32 k = 0; k < v->dims; k++) text_add(key, " %" PRIu64 " %" PRId64, v->extent[k], v->stride[k]);
        text_add(key, "\n");
    }
}

static const struct launch_views *set_keep(const struct reading *r, struct str key)
{
    lock(&kept.lock);
    struct launch_views *set = map_get(&kept.sets, key);
    if (!set && kept.n < KEPT_MOST) {
        set = arena_alloc(&kept.mem, sizeof *set + r->n * sizeof *set->view, _Alignof(struct launch_views));
        set->n = r->n;
        for (u32 i = 0; i < r->n; i++) {
            set->view[i] = r->view[i];
            set->view[i].name = arena_str(&kept.mem, r->name[i]);
            set->view[i].type = arena_str(&kept.mem, r->type[i]);
        }
        map_put(&kept.mem, &kept.sets, (struct str){ arena_str(&kept.mem, key), key.n }, set);
        kept.n++;
    }
    unlock(&kept.lock);
    return set;
}

static const struct launch_views *views_passed(const struct ptx_func *f, const void *params)
{
    if (!passed) return NULL;
    struct reading r;
    struct text key = { 0 };
    passed_read(f, params, &r);
    if (!r.n) return NULL;
    key_of(&r, &key);
    const struct launch_views *set = set_keep(&r, (struct str){ key.p, (u32)key.n });
    text_free(&key);
    return set;
}

void cu_python_open(void) { host_views_from(views_passed); }
