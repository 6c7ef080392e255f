/* What every device's memory has in common: its kinds, registered memory and pitched allocations, what an address is
 * and on which of several devices, and what was never freed. dev_memory.h has the overview. */
#include "mem/mapped.h"
#include "device/dev_memory.h"
#include "sites/where.h"
#include <inttypes.h>
#include <stdlib.h>

const char *const dev_kind_name[MEM_KINDS] = {
    [MEM_DEVICE] = "device memory",       [MEM_PINNED] = "pinned memory",
    [MEM_MANAGED] = "managed memory",     [MEM_GLOBAL] = "a variable",
    [MEM_CONST] = "a constant",           [MEM_HEAP] = "memory of device malloc",
    [MEM_POOL] = "memory of a pool",      [MEM_REGISTERED] = "registered memory",
    [MEM_VIRTUAL] = "reserved addresses",
};

/* ---- several devices ---- */

enum { DEVICES = 64 };
static pthread_rwlock_t devices_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct device *devices[DEVICES]; /* by number; beyond so many a device has no number and is not looked in */
static u32 ndevices;                    /* atomic */

void dev_attach(struct device *d)
{
    pthread_rwlock_wrlock(&devices_lock);
    u32 k = 0;
    while (k < DEVICES && devices[k]) k++;
    d->number = k;
    if (k < DEVICES) {
        devices[k] = d;
        __atomic_fetch_add(&ndevices, 1, __ATOMIC_RELEASE);
        launch_forget();
    }
    pthread_rwlock_unlock(&devices_lock);
}

void dev_detach(struct device *d)
{
    pthread_rwlock_wrlock(&devices_lock);
    if (d->number < DEVICES && devices[d->number] == d) {
        devices[d->number] = NULL;
        __atomic_fetch_sub(&ndevices, 1, __ATOMIC_RELEASE);
    }
    pthread_rwlock_unlock(&devices_lock);
}

/* The object of another device that an address is in. Registered memory may belong to several: those are not wrong. */
static struct mem_object *find_other_device(struct device *d, u64 address, struct device **owner)
{
    struct mem_object *o = NULL;
    if (__atomic_load_n(&ndevices, __ATOMIC_ACQUIRE) < 2) return NULL;
    pthread_rwlock_rdlock(&devices_lock);
    for (u32 k = 0; k < DEVICES && !o; k++)
        if (devices[k] && devices[k] != d && (o = devices[k]->ops->find(devices[k], address))) *owner = devices[k];
    pthread_rwlock_unlock(&devices_lock);
    return o;
}

/* Whether the kernel's parameter may be a pointer: 8 bytes that are no floating-point number. */
static bool maybe_pointer(const struct ptx_var *v) { return v->size == 8 && !v->ndims && !type_is_float(v->type); }

bool dev_alone(void) { return __atomic_load_n(&ndevices, __ATOMIC_ACQUIRE) < 2; }

bool dev_pointers_own(struct device *d, const struct dev_launch *l, struct error *e)
{
    if (likely(dev_alone())) return true;
    for (u32 i = 0; i < l->kernel->nparam; i++) {
        const struct ptx_var *v = l->kernel->param[i];
        u64 value;
        if (!maybe_pointer(v)) continue;
        memcpy(&value, l->args ? l->args[i] : (const u8 *)l->params + v->offset, 8);
        struct device *owner;
        struct mem_object *o = value && !d->ops->find(d, value) ? find_other_device(d, value, &owner) : NULL;
        if (!o) continue;
        char where[300];
        dev_address_text(d, value, where, sizeof where);
        return error_set(e, ERR_INPUT, "argument %u is a pointer to %s; the kernel runs on device %u (%s)", i, where,
                         d->number, d->card->title);
    }
    return true;
}

/* ---- what an address is ---- */

bool dev_address(struct device *d, u64 address, struct dev_address *out)
{
    struct device *owner = d;
    struct mem_object *o = d->ops->find(d, address);
    if (!o) o = find_other_device(d, address, &owner);
    *out = (struct dev_address){ 0 };
    if (!o) return false;
    *out = (struct dev_address){ owner, o, address - o->base, dev_host_pointer(o, address) };
    return true;
}

void dev_address_text(struct device *d, u64 address, char *out, size_t size)
{
    struct device *owner;
    struct mem_object *o = find_other_device(d, address, &owner);
    if (o)
        snprintf(out, size, "%s+0x%" PRIx64 ", %s of device %u (%s)", o->name, address - o->base,
                 dev_kind_name[o->kind], owner->number, owner->card->title);
    else if (address >= 4096 && address + 1 > address && pages_usable(address, 1))
        snprintf(out, size, "memory of the host that the device cannot reach");
    else
        snprintf(out, size, "no allocation");
}

bool dev_mapped(const struct mem_object *o, u64 address, u64 bytes, bool write, struct error *e)
{
    u32 rights = write ? MEM_READABLE | MEM_WRITABLE : MEM_READABLE;
    u64 open = mem_run_bytes(o, address, bytes, rights), at = address + open;
    if (open == bytes) return true;
    u32 right = mem_rights(o, at);
    return error_set(e, ERR_INPUT,
                     right & MEM_READABLE ? "the memory at %s+0x%" PRIx64 " may only be read by the device"
                     : right              ? "memory is mapped at %s+0x%" PRIx64 ", and the device has no access to it"
                                          : "no memory is mapped at %s+0x%" PRIx64,
                     o->name, at - o->base);
}

struct mem_object *dev_range(struct device *d, u64 address, u64 bytes, struct error *e)
{
    struct mem_object *o = d->ops->find(d, address);
    if (!o) {
        char where[300];
        struct dev_address a;
        bool wrong = dev_address(d, address, &a);
        dev_address_text(d, address, where, sizeof where);
        if (wrong)
            error_set(e, ERR_INPUT, "0x%" PRIx64 " is %s, and not of device %u (%s)", address, where, d->number,
                      d->card->title);
        else
            error_set(e, ERR_INPUT, "0x%" PRIx64 " belongs to no allocation of this device", address);
    } else if (__atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED && !o->kept) {
        error_set(e, ERR_INPUT, "%s (%" PRIu64 " bytes) has been %s", o->name, o->size,
                  o->kind == MEM_REGISTERED ? "unregistered" : "freed");
    } else if (bytes > o->size - (address - o->base)) {
        error_set(e, ERR_INPUT, "%" PRIu64 " bytes at %s+0x%" PRIx64 " do not fit: %s has %" PRIu64 " bytes", bytes,
                  o->name, address - o->base, o->name, o->size);
    } else if (unlikely(o->kind == MEM_VIRTUAL) && !dev_mapped(o, address, bytes, false, e)) {
        return NULL;
    } else {
        return o;
    }
    return NULL;
}

struct mem_usage dev_usage(const struct device *d, enum mem_kind kind) { return d->ops->usage(d, kind); }

/* ---- kinds ---- */

enum { ALREADY_REGISTERED = 712, NOT_REGISTERED = 713 };

u32 dev_register(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
                 struct error *e)
{
    *out = NULL;
    return d->ops->pin(d, host, bytes, name, site, out, e);
}

u32 sim_pin(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
            struct error *e)
{
    u64 addr = (u64)(uintptr_t)host;
    struct mem_object *other = NULL;
    if (!dev_outside(d, e)) return e->cuda;
    bool own_memory = mem_find(d->mem, addr); /* mem_register says so */
    if (!bytes || addr + bytes < addr || (!own_memory && !pages_usable(addr, bytes))) {
        error_set(e, ERR_INPUT,
                  bytes ? "%" PRIu64 " bytes at 0x%" PRIx64
                          " cannot be registered: the process has no memory there that "
                          "it can read and write"
                        : "%" PRIu64 " bytes at 0x%" PRIx64 " cannot be registered: there is nothing to register",
                  bytes, addr);
        return OP_INVALID_VALUE;
    }
    struct error own = { 0 };
    *out = mem_register(d->mem, addr, bytes, name, site, &other, &own);
    if (*out) return OP_OK;
    u32 status = other ? ALREADY_REGISTERED : own.code == ERR_MEMORY ? OP_OUT_OF_MEMORY : OP_INVALID_VALUE;
    error_set(e, own.code, "%s", own.text);
    return status;
}

u32 dev_unregister(struct device *d, void *host, const char *site, struct error *e)
{
    return d->ops->unpin(d, host, site, e);
}

u32 sim_unpin(struct device *d, void *host, const char *site, struct error *e)
{
    u64 addr = (u64)(uintptr_t)host;
    struct mem_object *o = NULL;
    enum mem_free_result r = mem_unregister(d->mem, addr, site, &o);
    if (r == MEM_FREE_OK) return OP_OK;
    if (r == MEM_FREE_TWICE) {
        error_set(e, ERR_INPUT, "%s was unregistered before%s%s", o->name, o->free_site ? ", at " : "",
                  o->free_site ? o->free_site : "");
    } else if (o) {
        error_set(e, ERR_INPUT, "0x%" PRIx64 " is %s+0x%" PRIx64 ", not the start of what was registered", addr,
                  o->name, addr - o->base);
        return OP_INVALID_VALUE;
    } else {
        error_set(e, ERR_INPUT, "0x%" PRIx64 " was not registered", addr);
    }
    return NOT_REGISTERED;
}

struct mem_object *dev_alloc_pitched(struct device *d, u64 width, u64 rows, u64 slices, const char *name,
                                     const char *site, u64 *pitch, struct error *e)
{
    u64 bytes;
    *pitch = 0;
    if (width > DEV_PITCH_MOST - DEV_PITCH) {
        error_set(e, ERR_INPUT, "rows of %" PRIu64 " bytes are wider than the largest pitch, %llu", width,
                  DEV_PITCH_MOST);
        return NULL;
    }
    u64 step = (width + DEV_PITCH - 1) & ~(u64)(DEV_PITCH - 1);
    if (__builtin_mul_overflow(step, rows, &bytes) || __builtin_mul_overflow(bytes, slices, &bytes)) {
        error_set(e, ERR_MEMORY, "%" PRIu64 " x %" PRIu64 " rows of %" PRIu64 " bytes are more than an address space",
                  slices, rows, step);
        return NULL;
    }
    struct mem_object *o = dev_alloc(d, bytes, MEM_DEVICE, name, site, e);
    if (o) *pitch = o->pitch = step;
    return o;
}

/* ---- leaks ---- */

struct leaks { /* of one kind at one statement */
    enum mem_kind kind;
    const char *site, *name; /* where, or NULL; the first of them */
    u64 statement;           /* of the site */
    u32 count;
    u64 bytes;
    u32 places;          /* that lead to the statement: sites */
    const char **seen;   /* these sites; from base_need */
    const char *held[6]; /* names of the first memory of the first places */
};

static bool is_variable(const struct device *d, const struct mem_object *o)
{
    lock_t *guard = &((struct device *)d)->modules_lock;
    bool found = false;
    lock(guard);
    for (const struct dev_module *m = d->modules; m && !found; m = m->next)
        for (u32 i = 0; i < m->objects; i++) found |= m->object[i] == o;
    unlock(guard);
    return found;
}

bool dev_host_owns(const struct device *d, const struct mem_object *o)
{
    bool kind = o->kind == MEM_DEVICE || o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_POOL ||
                o->kind == MEM_REGISTERED;
    return kind && mem_is_live(o) && !o->lent && !(o->kind == MEM_MANAGED && is_variable(d, o));
}

enum { PLACES_MOST = 64 }; /* sites of one statement that are told apart */

/* Counts the object among those of its statement; where a helper allocates, its callers are places of it. */
static void leaks_add(struct leaks *l, const struct mem_object *o)
{
    u32 k = 0;
    l->count++;
    l->bytes += o->size;
    if (!o->alloc_site) return;
    while (k < l->places && strcmp(l->seen[k], o->alloc_site) != 0) k++;
    if (k < l->places || k == PLACES_MOST) return;
    if (!k) l->seen = base_need(sizeof *l->seen * PLACES_MOST);
    if (k < COUNT_OF(l->held)) l->held[k] = o->name;
    l->seen[l->places++] = o->alloc_site;
}

struct leak_list {
    struct leaks *p;
    u32 n, cap;
    u32 *slot, slots; /* a hash table of numbers in p, + 1 */
};

static u32 slot_of(const struct leak_list *list, enum mem_kind kind, u64 statement)
{
    u32 at = (u32)((statement ^ (u64)kind << 7) * 0x9e3779b97f4a7c15ull >> 32) & (list->slots - 1);
    for (const struct leaks *l; list->slot[at]; at = (at + 1) & (list->slots - 1)) {
        l = &list->p[list->slot[at] - 1];
        if (l->kind == kind && l->statement == statement) break;
    }
    return at;
}

static void list_grow(struct leak_list *list)
{
    list->cap = list->cap ? 2 * list->cap : 16;
    list->p = base_need_more(list->p, sizeof *list->p * list->cap);
    base_free(list->slot);
    list->slots = 2 * list->cap;
    list->slot = base_need(sizeof *list->slot * list->slots);
    memset(list->slot, 0, sizeof *list->slot * list->slots);
    for (u32 i = 0; i < list->n; i++) list->slot[slot_of(list, list->p[i].kind, list->p[i].statement)] = i + 1;
}

/* "reached from 5 places", and what they hold */
static void places_text(const struct leaks *l, struct text *places, struct text *held)
{
    if (l->places > 1)
        text_add(places, ", reached from %u%s places", l->places, l->places == PLACES_MOST ? " or more" : "");
    text_add(held, "%s", l->places > 1 ? "it is held by " : "the first is ");
    if (l->places <= 1) text_add(held, "%s", l->name);
    for (u32 i = 0; l->places > 1 && i < l->places && i < COUNT_OF(l->held); i++)
        text_add(held, "%s%s", i ? ", " : "", l->held[i]);
    if (l->places > COUNT_OF(l->held)) text_add(held, " and others");
}

/* Those that the object belongs to. */
static struct leaks *leaks_of(struct leak_list *list, const struct mem_object *o)
{
    u64 statement = where_statement(o->alloc_site);
    if (list->n == list->cap) list_grow(list);
    u32 at = slot_of(list, o->kind, statement);
    if (!list->slot[at]) {
        list->p[list->n++] =
            (struct leaks){ .kind = o->kind, .site = o->alloc_site, .statement = statement, .name = o->name };
        list->slot[at] = list->n;
    }
    return &list->p[list->slot[at] - 1];
}

static int most_bytes(const void *a, const void *b)
{
    const struct leaks *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : 0;
}

static void leak_found(struct device *d, const struct leaks *l)
{
    char cause[1400], file[512];
    const char *verb = l->kind == MEM_REGISTERED ? "unregistered" : "freed";
    const char *colon = l->site ? strrchr(l->site, ':') : NULL, *at = l->site; /* "cudaMalloc at main.cu:41" */
    u32 line = colon ? (u32)strtoul(colon + 1, NULL, 10) : 0;
    for (const char *p; at && (p = strstr(at, " at ")); at = p + 4) continue;
    if (l->count == 1)
        snprintf(cause, sizeof cause, "%s, %" PRIu64 " bytes of %s%s%s, was never %s", l->name, l->bytes,
                 dev_kind_name[l->kind], l->site ? " from " : "", l->site ? l->site : "", verb);
    else {
        struct text places = { 0 }, held = { 0 };
        places_text(l, &places, &held);
        snprintf(cause, sizeof cause, "%u times %s%s%s%s, %" PRIu64 " bytes together, was never %s; %s", l->count,
                 dev_kind_name[l->kind], l->site ? " from " : "", l->site ? l->site : "", places.n ? places.p : "",
                 l->bytes, verb, held.p);
        text_free(&places);
        text_free(&held);
    }
    snprintf(file, sizeof file, "%.*s", line ? (int)(colon - at) : 0, line ? at : "");
    struct place p = { .file = file, .line = line };
    u64 key = (l->site ? str_hash(str_of(l->site)) : 0) ^ (u64)l->kind << 32;
    struct finding f = { .kind = F_leak,
                         .place = line ? &p : NULL,
                         .cause_key = key,
                         .cause = cause,
                         .call = l->site && where_kept(l->site) ? l->site : NULL, /* a text is in the cause already */
                         .fix = l->kind == MEM_REGISTERED ? "Unregister it before its memory is freed."
                                                          : "Free it, after the last operation that uses it." };
    report_add(d->report, &f);
}

void dev_unseen(struct device *d, const struct mem_object *o)
{
    if (d->options.checks & CHECK_INIT && o->kind == MEM_DEVICE) sim_check_unseen(d->sim, d->report, o);
}

void dev_leaks_host(struct device *d)
{
    const struct mem_object *o;
    if (!(d->options.checks & CHECK_MEMORY)) return;
    struct leak_list list = { 0 };
    for (u32 i = 0; (o = d->ops->object_at(d, i)); i++) {
        if (!dev_host_owns(d, o)) continue;
        if (d->mem) dev_unseen(d, o);
        leaks_add(leaks_of(&list, o), o);
    }
    if (list.n) qsort(list.p, list.n, sizeof *list.p, most_bytes);
    for (u32 k = 0; k < list.n; k++) {
        leak_found(d, &list.p[k]);
        base_free(list.p[k].seen);
    }
    base_free(list.p);
    base_free(list.slot);
}

void dev_leaks_handles(struct device *d, const char *what, const char *site, u32 count)
{
    if (!(d->options.checks & CHECK_MEMORY) || !count) return;
    char cause[200], fix[200];
    snprintf(cause, sizeof cause, "%u %s%s never destroyed", count, what, count == 1 ? " was" : "s were");
    snprintf(fix, sizeof fix, "Destroy every %s that the program makes.", what);
    u64 key = str_hash(str_of(what)) ^ (site ? str_hash(str_of(site)) : 0);
    struct finding f = { .kind = F_leak, .cause_key = key, .cause = cause, .fix = fix, .call = site };
    report_add(d->report, &f);
}
