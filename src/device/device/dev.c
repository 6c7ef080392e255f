/* What every device does alike: making it, its modules, copies with their ranges checked, launches with their limits
 * checked. */
#include "code/shared_layout.h"
#include "device/dev_memory.h"
#include "mem/mem_finding.h"
#include <inttypes.h>
#include <stdlib.h>

struct device *dev_new(const struct dev_options *o, struct error *e)
{
    struct device *d = base_alloc(sizeof *d);
    if (!d) {
        error_set(e, ERR_MEMORY, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&d->modules_lock, NULL);
    d->options = *o;
    d->ops = o->gpu ? &dev_gpu : &dev_sim;
    d->async = o->gpu ? &dev_gpu_async : &dev_sim_async;
    d->any_target = !o->card || o->any_target;
    d->card = o->card ? o->card : card_default();
    d->report = report_new();
    if (d->report && d->ops->open(d, e)) {
        dev_attach(d); /* other threads may look into it from now on */
        report_checks(d->report, o->checks, o->kinds_off);
        return d;
    }
    error_set(e, ERR_MEMORY, "out of memory");
    dev_delete(d);
    return NULL;
}

void dev_delete(struct device *d)
{
    if (!d) return;
    dev_detach(d);
    while (d->modules) dev_unload(d, d->modules);
    d->ops->close(d);
    report_free(d->report);
    report_free(d->unread);
    pthread_mutex_destroy(&d->modules_lock);
    base_free(d);
}

static void free_parts(struct ptx_module *p)
{
    while (p) {
        struct ptx_module *next = p->next;
        ptx_free(p);
        p = next;
    }
}

/* The texts as one program; NULL: e says why. */
static struct ptx_module *link_parts(struct arena *tmp, const struct dev_part *part, u32 parts, struct error *e)
{
    struct ptx_module **p = NEW_ARRAY(tmp, struct ptx_module *, parts);
    u32 n = 0;
    bool ok = true;
    for (; ok && n < parts; n++) {
        p[n] = ptx_parse(part[n].name, part[n].text, e);
        ok = p[n] && ptx_verify(p[n], e);
    }
    if (ok && ptx_link(p, parts, e)) return p[0];
    for (u32 i = 0; i < n; i++) ptx_free(p[i]);
    return NULL;
}

static void module_free(struct device *d, struct dev_module *m)
{
    launch_forget();
    lock(&d->modules_lock);
    struct dev_module **link = &d->modules;
    while (*link && *link != m) link = &(*link)->next;
    CHECK(*link);
    *link = m->next;
    unlock(&d->modules_lock);
    d->ops->displace(d, m);
    free_parts(m->ptx);
    struct arena mem = m->mem;
    arena_free(&mem);
}

static struct dev_module *load(struct device *d, const struct dev_part *part, u32 parts, const void *image,
                               struct error *e)
{
    struct arena mem = { 0 };
    struct ptx_module *first = link_parts(&mem, part, parts, e);
    if (!first) {
        arena_free(&mem);
        return NULL;
    }
    shared_layout(first); /* before several threads launch its kernels */
    struct dev_module *m = NEW(&mem, struct dev_module);
    m->ptx = first;
    m->image = image;
    m->objects = 1;
    for (const struct ptx_module *p = first; p; p = p->next) m->objects += p->nvar;
    m->object = NEW_ARRAY(&mem, struct mem_object *, m->objects);
    m->mem = mem;
    lock(&d->modules_lock);
    m->next = d->modules;
    d->modules = m;
    unlock(&d->modules_lock);
    if (d->ops->place(d, m, e)) return m;
    module_free(d, m);
    return NULL;
}

struct dev_module *dev_load(struct device *d, const struct dev_part *part, u32 parts, struct error *e)
{
    return load(d, part, parts, NULL, e);
}

struct dev_module *dev_load_image(struct device *d, const struct dev_part *part, const void *image, struct error *e)
{
    return load(d, part, 1, image, e);
}

void dev_unload(struct device *d, struct dev_module *m)
{
    struct error unused = { 0 };
    if (d->ops->outside) d->ops->outside(d, true, &unused);
    module_free(d, m);
}

/* "f32[10][4]" and its element size. A .b8 array with a larger alignment is how the compiler writes a struct or an
 * array of something larger; its elements are not bytes, so nothing is said of them. */
u32 dev_type_text(const struct ptx_var *v, char out[160])
{
    out[0] = 0;
    u32 size = type_size[v->type] * MAX_OF(v->vec, 1u);
    if (v->type == T_B8 && v->align > 1 && v->ndims) return 0;
    size_t n = (size_t)snprintf(out, 160, v->vec > 1 ? "%s.v%u" : "%s", type_name[v->type], v->vec);
    for (u32 i = 0; i < v->ndims && n < 140; i++) n += (size_t)snprintf(out + n, 160 - n, "[%u]", v->dims[i]);
    return size;
}

struct ptx_var *dev_variable(struct dev_module *m, struct str name)
{
    for (const struct ptx_module *p = m->ptx; p; p = p->next) {
        struct ptx_symbol *s = map_get(&p->symbols, name);
        if (s && s->var && dev_is_stored(s->var) && s->var->addr) return s->var;
    }
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nvar; i++) {
            char plain[256];
            name_plain(p->var[i]->name, plain, sizeof plain);
            if (dev_is_stored(p->var[i]) && p->var[i]->addr && str_is(name, plain)) return p->var[i];
        }
    return NULL;
}

bool dev_outside(struct device *d, struct error *e) { return !d->ops->outside || d->ops->outside(d, false, e); }

struct mem_object *dev_alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                             struct error *e)
{
    if (!dev_outside(d, e)) return NULL;
    return d->ops->alloc(d, bytes, kind, name, site, e);
}

void dev_free_found(struct device *d, bool twice, u64 addr, const struct mem_object *o, const char *site)
{
    char cause[300], note[300];
    struct finding f = { .kind = twice ? F_double_free : F_bad_free, .cause_key = addr, .cause = cause, .call = site };
    if (o) {
        finding_object(&f, o);
        snprintf(note, sizeof note, "%s: %" PRIu64 " bytes%s%s%s%s", o->name, o->size,
                 o->alloc_site ? ", allocated at " : "", o->alloc_site ? o->alloc_site : "",
                 o->free_site ? ", first freed at " : "", o->free_site ? o->free_site : "");
        f.object_note = note;
    }
    if (twice)
        snprintf(cause, sizeof cause, "%s was freed before, and is freed again.", o->name);
    else if (o && o->kind == MEM_REGISTERED)
        snprintf(cause, sizeof cause, "%s is registered memory of the host: it is unregistered, not freed.", o->name);
    else if (o && o->kind == MEM_VIRTUAL)
        snprintf(cause, sizeof cause, "%s is reserved addresses: memory there is unmapped, not freed.", o->name);
    else if (o && addr == o->base)
        snprintf(cause, sizeof cause, "%s is memory of a graph, and no launch of the graph has allocated it.", o->name);
    else if (o)
        snprintf(cause, sizeof cause, "0x%" PRIx64 " is %s+0x%" PRIx64 ", not the start of an allocation.", addr,
                 o->name, addr - o->base);
    else
        snprintf(cause, sizeof cause, "0x%" PRIx64 " belongs to no allocation of this device.", addr);
    report_add(d->report, &f);
}

bool dev_free(struct device *d, u64 addr, const char *site)
{
    struct error unused = { 0 }; /* a free during a capture invalidates the capture, and is carried out */
    const struct mem_object *o = d->mem ? mem_find(d->mem, addr) : NULL;
    bool wait = !o || o->base != addr || !sim_pool_lets_go(o);
    if (d->ops->outside) d->ops->outside(d, wait, &unused);
    return dev_free_now(d, addr, site);
}

bool dev_free_now(struct device *d, u64 addr, const char *site)
{
    struct mem_object *o = d->ops->find(d, addr);
    bool variable = o && (o->kind == MEM_GLOBAL || o->kind == MEM_CONST || o->kind == MEM_REGISTERED ||
                          o->kind == MEM_VIRTUAL);
    enum mem_free_result r = variable ? MEM_FREE_BAD : d->ops->free(d, addr, site, &o);
    if (r == MEM_FREE_OK) return true;
    dev_free_found(d, r == MEM_FREE_TWICE, addr, o, site);
    return false;
}

bool dev_describe(struct device *d, u64 addr, const char *name, const char *type, u32 element_size, struct error *e)
{
    struct mem_object *o = d->ops->find(d, addr);
    if (!o || o->base != addr || o->state == MEM_FREED)
        return error_set(e, ERR_INPUT, "0x%" PRIx64 " is not the start of a live allocation", addr);
    d->ops->describe(d, o, name, type, element_size);
    return true;
}

bool dev_write(struct device *d, u64 addr, const void *from, u64 bytes, struct error *e)
{
    const struct mem_object *o = bytes ? dev_range(d, addr, bytes, e) : NULL;
    return o ? d->ops->write(d, o, addr, from, bytes, e) : !bytes;
}

bool dev_read(struct device *d, u64 addr, void *to, u64 bytes, struct error *e)
{
    const struct mem_object *o = bytes ? dev_range(d, addr, bytes, e) : NULL;
    return o ? d->ops->read(d, o, addr, to, bytes, e) : !bytes;
}

bool dev_output(struct device *d, u64 addr, u64 bytes, struct error *e)
{
    const struct mem_object *o = bytes ? dev_range(d, addr, bytes, e) : NULL;
    if (o && d->ops->output) d->ops->output(d, o, addr, bytes);
    return o || !bytes;
}

bool dev_fill(struct device *d, u64 addr, int byte, u64 bytes, struct error *e)
{
    const struct mem_object *o = bytes ? dev_range(d, addr, bytes, e) : NULL;
    return o ? d->ops->fill(d, o, addr, byte, bytes, e) : !bytes;
}

static struct mem_object *find_object(void *d, u64 addr) { return ((struct device *)d)->ops->find(d, addr); }

bool dev_contract_kept(struct device *d, const struct dev_launch *l)
{
    const struct ptx_func *k = l->kernel;
    if (!l->contract || !(d->options.checks & CHECK_CONTRACT)) return true;
    const void *args[CONTRACT_ARGS];
    char name[256];
    u32 n = MIN_OF(k->nparam, (u32)CONTRACT_ARGS);
    for (u32 i = 0; i < n; i++) args[i] = (const u8 *)l->params + k->param[i]->offset;
    name_plain(k->name, name, sizeof name);
    struct contract_launch c = { .bound = l->contract,
                                 .kernel = name,
                                 .args = args,
                                 .nargs = n,
                                 .shared = l->shared_bytes,
                                 .find = find_object,
                                 .ctx = d,
                                 .report = d->report };
    return contract_obeyed(&c);
}

/* "tree.cu:15": what device malloc noted of its place. */
static void leak_add(struct device *d, const struct mem_object *o)
{
    char file[512], cause[400];
    const char *colon = o->alloc_site ? strrchr(o->alloc_site, ':') : NULL;
    snprintf(file, sizeof file, "%.*s", colon ? (int)(colon - o->alloc_site) : 0, colon ? o->alloc_site : "");
    struct place p = { .file = file, .line = colon ? (u32)strtoul(colon + 1, NULL, 10) : 0 };
    snprintf(cause, sizeof cause,
             "%" PRIu64
             " bytes were taken here and never freed; the device heap holds 8 MB, and is not emptied between launches",
             o->size);
    struct finding f = { .kind = F_leak, .place = colon ? &p : NULL, .cause_key = o->size, .cause = cause };
    report_add(d->report, &f);
}

void dev_leaks(struct device *d)
{
    const struct mem_object *o;
    if (!d->mem || !(d->options.checks & CHECK_MEMORY)) return;
    for (u32 id = 1; (o = mem_by_id(d->mem, id)); id++)
        if (o->kind == MEM_HEAP && o->state == MEM_LIVE) leak_add(d, o);
}

void dev_checks_ran(struct device *d, const struct dev_launch *l, bool begins)
{
    if (begins != (d->choose != NULL)) return;
    u32 by_contract = (l->contract ? CHECK_CONTRACT | CHECK_VALUES | CHECK_COVERAGE : 0) |
                      (d->options.all_values ? CHECK_VALUES : 0);
    report_ran(d->report, d->options.gpu
                              ? CHECK_LAUNCH
                              : CHECK_BOUNDS | CHECK_ALIGN | CHECK_BARRIER | CHECK_LAUNCH | CHECK_MEMORY | by_contract);
}

enum dev_result dev_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    *r = (struct sim_result){ 0 };
    dev_checks_ran(d, l, false);
    if (!launch_allowed(d, l) || !dev_contract_kept(d, l)) return DEV_REFUSED;
    enum dev_result result = d->ops->launch(d, l, r, e);
    if (!d->work) __atomic_store_n(&d->interrupt, 0, __ATOMIC_RELAXED);
    return result;
}
