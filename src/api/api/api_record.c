/* Recording a launch before it runs: PTX, shape, parameters, and every object that it can reach by pointers, its own
 * and those that lie in memory. It is done before, since after errors 700, 716 and 719 nothing can be read any more. */
#include "api/host.h"
#include "mem/shadow.h"
#include "record/record.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#define BYTES_MOST ((u64)2 << 30) /* of all objects */

struct taking {
    struct device *d;
    struct record *r;
    VEC(struct record_object) list;
    VEC(u8 *) kept; /* copies of their bytes */
    u64 total;
    struct error *e;
};

static enum record_kind kind_of(const struct mem_object *o)
{
    switch (o->kind) {
    case MEM_PINNED:
    case MEM_REGISTERED: return RECORD_PINNED;
    case MEM_MANAGED: return RECORD_MANAGED;
    default: return RECORD_DEVICE;
    }
}

/* The uninitialised bytes, by the software GPU's notes. */
static void take_undefined(struct taking *t, struct record_object *to)
{
    struct shadow *s = t->d->mem ? mem_shadow(t->d->mem) : NULL;
    VEC(struct record_run) runs = { 0 };
    u64 end = to->address + to->size;
    for (u64 at = to->address; s && at < end;) {
        u64 from = shadow_next_undefined(s, at, end - at), till = from;
        while (till < end && !shadow_defined(s, till, 1)) till++;
        if (from < till) VEC_PUSH(&t->r->mem, &runs, ((struct record_run){ from - to->address, till - to->address }));
        at = till > at ? till : end;
    }
    to->undefined = runs.p;
    to->runs = runs.n;
}

/* Inside `lockstep run` names and sites may be marks, which only the launcher can read: "{lk@n00002#1}". */
static const char *name_text(struct arena *mem, const char *name)
{
    const char *number = name && !strncmp(name, "{lk@", 4) ? strchr(name, '#') : NULL;
    if (number) return arena_printf(mem, "buffer %.*s", (int)strspn(number + 1, "0123456789"), number + 1);
    return name && !strstr(name, "{lk@") ? arena_str(mem, str_of(name)) : "";
}

/* Takes [base, base + size) of an object. */
static bool take_bytes(struct taking *t, const struct mem_object *o, u64 base, u64 size, enum record_kind kind,
                       const char *name)
{
    struct record_object to = { .address = base, .size = size, .kind = kind, .element = o->element_size };
    t->total += size;
    if (t->total > BYTES_MOST || t->list.n == RECORD_OBJECTS)
        return error_set(t->e, ERR_INPUT,
                         "the launch can reach more than %" PRIu64 " MiB of memory, the most that is recorded",
                         (u64)(BYTES_MOST >> 20));
    u8 *bytes = base_alloc(size);
    if (!bytes) return error_set(t->e, ERR_MEMORY, "no memory to record the %" PRIu64 " bytes of %.60s", size, name);
    VEC_PUSH(&t->r->mem, &t->kept, bytes);
    if (t->d->mem)
        memcpy(bytes, mem_view(o, base), size);
    else if (!dev_read(t->d, base, bytes, size, t->e))
        return false;
    to.bytes = bytes;
    to.name = name_text(&t->r->mem, name);
    to.type = o->type ? arena_str(&t->r->mem, str_of(o->type)) : "";
    to.site = name_text(&t->r->mem, o->alloc_site);
    take_undefined(t, &to);
    VEC_PUSH(&t->r->mem, &t->list, to);
    return true;
}

static bool is_taken(const struct taking *t, u64 address)
{
    for (u32 i = 0; i < t->list.n; i++)
        if (address >= t->list.p[i].address && address - t->list.p[i].address < t->list.p[i].size) return true;
    return false;
}

/* The object that a word points into, if it does. */
static bool take_pointed(struct taking *t, u64 word)
{
    if (word < 4096) return true;
    const struct mem_object *o = t->d->ops->find(t->d, word);
    if (!o || !mem_is_live(o) || !o->size || is_taken(t, o->kind == MEM_VIRTUAL ? word : o->base)) return true;
    if (o->kind == MEM_GLOBAL || o->kind == MEM_CONST) return true; /* variables of this module are taken by name */
    if (o->kind != MEM_VIRTUAL) return take_bytes(t, o, o->base, o->size, kind_of(o), o->name);
    u64 from, bytes;
    for (u64 at = o->base; mem_run_next(o, at, false, &from, &bytes); at = from + bytes)
        if (!take_bytes(t, o, from, bytes, RECORD_DEVICE, o->name)) return false;
    return true;
}

/* The variables of the module, by their names in the PTX. */
static bool take_variables(struct taking *t, const struct dev_module *m)
{
    struct mem_object **object = m->object;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nvar; i++) {
            const struct mem_object *o = *object++;
            if (!o || !o->size || !dev_is_stored(p->var[i])) continue;
            const char *name = arena_str(&t->r->mem, p->var[i]->name);
            if (!take_bytes(t, o, o->base, o->size, RECORD_VARIABLE, name)) return false;
        }
    return true;
}

static bool take_memory(struct taking *t, const lk_kernel *kernel)
{
    if (!take_variables(t, kernel->module->dev)) return false;
    for (u32 i = 0; i < t->r->params; i++)
        for (u32 at = 0; at + 8 <= t->r->param[i].n; at += 8) {
            u64 word;
            memcpy(&word, t->r->param[i].bytes + at, 8);
            if (!take_pointed(t, word)) return false;
        }
    for (u32 i = 0; i < t->list.n; i++) /* it grows meanwhile */
        for (u64 at = 0; at + 8 <= t->list.p[i].size; at += 8) {
            u64 word;
            memcpy(&word, t->list.p[i].bytes + at, 8);
            if (!take_pointed(t, word)) return false;
        }
    t->r->object = t->list.p;
    t->r->objects = t->list.n;
    return true;
}

/* The values of all arguments: by their addresses, or as they are. */
static bool take_arguments(struct record *r, const lk_kernel *kernel, const lk_launch *l, struct error *e)
{
    struct host_launch h = { .in = l };
    h.params = h.small;
    bool ok = !l->values || host_arguments(kernel, &h, e); /* packs them */
    r->params = l->arg_count;
    r->param = NEW_ARRAY(&r->mem, struct record_param, r->params + 1);
    for (u32 i = 0; ok && i < r->params; i++) {
        const void *from = l->values ? h.params + kernel->arg[i].offset : l->args ? l->args[i] : NULL;
        if (!from) ok = error_set(e, ERR_INPUT, "argument %u: no pointer to its value is given", i);
        if (!from) break;
        u8 *copy = arena_alloc(&r->mem, kernel->arg[i].bytes + 1, 8);
        memcpy(copy, from, kernel->arg[i].bytes);
        r->param[i] = (struct record_param){ copy, kernel->arg[i].bytes };
    }
    if (h.params != h.small) base_free(h.params);
    return ok;
}

static bool take_launch(struct record *r, const lk_kernel *kernel, const lk_launch *l, struct error *e)
{
    const lk_gpu *gpu = kernel->module->gpu;
    size_t bytes;
    const char *ptx = lk_module_ptx(kernel->module, &bytes), *site = name_text(&r->mem, host_site(l->site));
    if (!ptx || bytes >= UINT32_MAX) return error_set(e, ERR_INPUT, "the PTX of %.100s cannot be read", kernel->plain);
    r->ptx = (struct str){ ptx, (u32)bytes };
    r->card = gpu->device->card->name;
    r->entry = kernel->name;
    r->plain = kernel->plain;
    r->from = "";
    if (l->nth) r->from = arena_printf(&r->mem, "launch %" PRIu64 " of it%s%s", l->nth, site[0] ? ", " : "", site);
    for (u32 i = 0; i < 3; i++) {
        r->grid[i] = MAX_OF(l->grid[i], 1u);
        r->block[i] = MAX_OF(l->block[i], 1u);
        r->cluster[i] = l->cluster[i];
    }
    r->shared = l->shared_bytes;
    r->cooperative = l->cooperative != 0;
    r->seeded = gpu->device->options.seeded;
    r->seed = gpu->device->options.seed;
    r->order = l->order;
    if (l->arg_count != kernel->func->nparam)
        return error_set(e, ERR_INPUT, "%.100s takes %u argument%s, %u given", kernel->plain, kernel->func->nparam,
                         plural(kernel->func->nparam), l->arg_count);
    return take_arguments(r, kernel, l, e);
}

lk_status lk_record(const lk_kernel *kernel, const lk_launch *launch, const char *path)
{
    HOST_CALL(LK_BAD_INPUT, USE(KERNEL, kernel));
    if (!kernel || !launch || !path)
        return HOST_MISSING(kernel ? kernel->module->gpu : NULL, !kernel ? "kernel" : !launch ? "launch" : "path");
    lk_gpu *gpu = kernel->module->gpu;
    lk_launch known = { .size = sizeof known };
    memcpy(&known, launch, MIN_OF(launch->size, sizeof known));
    lk_status status = lk_gpu_synchronise(gpu); /* memory as the launch will find it */
    if (status != LK_OK && status != LK_FINDINGS) return status;
    struct error *e = host_begin(gpu);
    struct record r = { 0 };
    struct taking t = { .d = gpu->device, .r = &r, .e = e };
    bool ok = take_launch(&r, kernel, &known, e) && take_memory(&t, kernel) && record_write(&r, path, e);
    for (u32 i = 0; i < t.kept.n; i++) base_free(t.kept.p[i]);
    record_free(&r);
    return ok ? LK_OK : host_failed(gpu);
}

/* ---- LOCKSTEP_RECORD ---- */

static bool is_number(const char *z)
{
    const char *p = z;
    while (isdigit((unsigned char)*p)) p++;
    return p > z && !*p;
}

/* Whether the n characters are the name of the kernel: as in the source, without its template arguments, or mangled. */
static bool is_named(const lk_kernel *k, const char *name, size_t n)
{
    size_t bare = strcspn(k->plain, "<(");
    return (strlen(k->plain) == n && !strncmp(k->plain, name, n)) || (bare == n && !strncmp(k->plain, name, n)) ||
           (strlen(k->name) == n && !strncmp(k->name, name, n));
}

bool host_record_means(const char *which, const lk_kernel *kernel, u64 nth, u64 number)
{
    if (is_number(which)) return strtoull(which, NULL, 10) == number;
    const char *colon = strrchr(which, ':');
    bool counted = colon && colon > which && colon[-1] != ':' && is_number(colon + 1);
    size_t n = counted ? (size_t)(colon - which) : strlen(which);
    return is_named(kernel, which, n) && nth == (counted ? strtoull(colon + 1, NULL, 10) : 1);
}

static struct {
    u32 asked;   /* atomic: 0: not looked at yet, 1: nothing is to be recorded, 2: something is */
    u32 done;    /* atomic */
    u64 numbers; /* atomic: launches so far */
} wanted;

bool host_record_asked(void)
{
    u32 is = __atomic_load_n(&wanted.asked, __ATOMIC_RELAXED);
    if (likely(is)) return is == 2;
    const char *which =
        getenv("LOCKSTEP_RECORD"); /* under lockstep run the launcher has read it, and src/cuda/engine does it */
    is = which && *which && !getenv("LOCKSTEP_RUN") ? 2 : 1;
    __atomic_store_n(&wanted.asked, is, __ATOMIC_RELAXED);
    return is == 2;
}

void host_record_launch(lk_kernel *kernel, const lk_launch *launch, u64 nth)
{
    const char *which = getenv("LOCKSTEP_RECORD");
    char file[220];
    size_t n = 0;
    u64 number = __atomic_add_fetch(&wanted.numbers, 1, __ATOMIC_RELAXED);
    if (!which || !host_record_means(which, kernel, nth, number)) return;
    if (__atomic_exchange_n(&wanted.done, 1, __ATOMIC_RELAXED)) return;
    for (const char *p = which; *p && n + 8 < sizeof file; p++) file[n++] = isalnum((unsigned char)*p) ? *p : '_';
    snprintf(file + n, sizeof file - n, ".rec");
    const char *given = getenv("LOCKSTEP_RECORD_FILE"), *path = given && *given ? given : file;
    lk_launch l = *launch;
    l.nth = nth;
    if (lk_record(kernel, &l, path) == LK_OK)
        fprintf(stderr, "lockstep: launch %" PRIu64 " of %s is recorded in %s; lockstep replay %s repeats it\n", nth,
                kernel->plain, path, path);
    else
        fprintf(stderr, "lockstep: launch %" PRIu64 " of %s is not recorded: %s\n", nth, kernel->plain,
                lk_gpu_error(kernel->module->gpu));
}
