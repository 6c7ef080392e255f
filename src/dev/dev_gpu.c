/* A real GPU, device 0, through NVIDIA's driver: the same modules, memory and launches as the software GPU.
 *
 * Objects are kept in a list of our own, sorted by address, so that copies and frees are checked alike and named
 * alike on both devices. The driver's errors come out by name and number; the ones that a kernel causes while it runs
 * are findings, since they are bugs of the kernel, and the context is lost after them: whatever comes next answers
 * with the same error. */
#include "code/shared_layout.h"
#include "dev/dev.h"
#include "dev/driver.h"
#include <inttypes.h>

struct gpu {
    struct driver cu;
    int device;
    bool retained;
    cu_context context;
    struct profile profile; /* of this card */
    char title[128];
    struct mem_object **object; /* live and freed, sorted by base; a freed one goes when its addresses are used again */
    u32 objects, capacity;
    u32 unnamed;       /* so many have been named "buffer N" */
    u64 live;          /* bytes */
    struct arena text; /* objects, names and sites */
};

/* Calls the driver; a failure is an error that names the call. */
#define CALL(g, e, what, f, ...) done(g, e, what, (g)->cu.f(__VA_ARGS__))
static bool done(const struct gpu *g, struct error *e, const char *what, cu_result code)
{
    char text[300];
    if (!code) return true;
    return error_set(e, code == 2 ? ERR_MEMORY : ERR_SYSTEM, "%s: %s", what,
                     driver_error(&g->cu, code, text, sizeof text));
}

static u32 attribute(const struct gpu *g, int which)
{
    int v = 0;
    return g->cu.attribute(&v, which, g->device) || v < 0 ? 0 : (u32)v;
}

/* The card's own limits, in the form of a profile, so that launch.c checks them. */
static void profile_read(struct gpu *g)
{
    size_t bytes = 0;
    g->cu.total(&bytes, g->device);
    u32 threads = attribute(g, CU_THREADS_PER_SM), regs = attribute(g, CU_REGS_PER_BLOCK);
    g->profile = (struct profile){
        .name = "gpu",
        .title = g->title,
        .sm = attribute(g, CU_MAJOR) * 10 + attribute(g, CU_MINOR),
        .sms = attribute(g, CU_SMS),
        .threads_per_cta = attribute(g, CU_THREADS_PER_BLOCK),
        .threads_per_sm = threads,
        .ctas_per_sm = attribute(g, CU_BLOCKS_PER_SM),
        .warps_per_sm = threads / 32,
        .regs_per_sm = attribute(g, CU_REGS_PER_SM),
        .regs_per_cta = regs,
        .regs_per_thread = 255,
        .shared_per_cta = attribute(g, CU_SHARED_PER_BLOCK),
        .shared_optin = attribute(g, CU_SHARED_OPTIN),
        .shared_per_sm = attribute(g, CU_SHARED_PER_SM),
        .shared_reserved = attribute(g, CU_SHARED_RESERVED),
        .memory = bytes,
        .cluster_max = attribute(g, CU_CLUSTERS) ? 16 : 0,
        .l2 = attribute(g, CU_L2_BYTES),
        .clock_mhz = attribute(g, CU_CLOCK_KHZ) / 1000,
        .cooperative = attribute(g, CU_COOPERATIVE) != 0,
        .source = "the driver of this machine",
    };
    for (int i = 0; i < 3; i++) {
        g->profile.block[i] = attribute(g, CU_BLOCK_X + i);
        g->profile.grid[i] = attribute(g, CU_GRID_X + i);
    }
}

static bool open_gpu(struct device *d, struct error *e)
{
    struct gpu *g = d->gpu = base_alloc(sizeof *g);
    if (!g) return error_set(e, ERR_MEMORY, "out of memory");
    if (d->options.profile)
        return error_set(e, ERR_INPUT, "a real GPU is its own profile: --device is for the software GPU");
    if (!driver_open(&g->cu, e)) return false;
    char text[300];
    int n = 0;
    cu_result code = g->cu.init(0);
    if (!code) code = g->cu.count(&n);
    if (code || !n)
        return error_set(e, ERR_INPUT, "no GPU here: %s says %s", g->cu.path,
                         code ? driver_error(&g->cu, code, text, sizeof text) : "there is no device");
    if (!CALL(g, e, "cuDeviceGet", get, &g->device, 0) ||
        !CALL(g, e, "cuDeviceGetName", name, g->title, (int)sizeof g->title, g->device))
        return false;
    g->retained = CALL(g, e, "cuDevicePrimaryCtxRetain", retain, &g->context, g->device);
    if (!g->retained) return false;
    profile_read(g);
    d->profile = &g->profile;
    return CALL(g, e, "cuCtxSetCurrent", set_current, g->context);
}

static void drop(struct gpu *g, const struct mem_object *o)
{
    if (o->kind == MEM_PINNED)
        g->cu.free_host((void *)(uintptr_t)o->base);
    else if (o->kind == MEM_DEVICE || o->kind == MEM_MANAGED)
        g->cu.free(o->base);
}

static void close_gpu(struct device *d)
{
    struct gpu *g = d->gpu;
    if (!g) return;
    if (g->retained) {
        g->cu.set_current(g->context);
        for (u32 i = 0; i < g->objects; i++)
            if (g->object[i]->state == MEM_LIVE) drop(g, g->object[i]);
        g->cu.release(g->device);
    }
    driver_close(&g->cu);
    base_free(g->object);
    arena_free(&g->text);
    base_free(g);
}

/* Entries below `addr` or at it. */
static u32 above(const struct gpu *g, u64 addr)
{
    u32 low = 0, high = g->objects;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (g->object[mid]->base <= addr)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct mem_object *find(struct device *d, u64 addr)
{
    const struct gpu *g = d->gpu;
    u32 i = above(g, addr);
    struct mem_object *o = i ? g->object[i - 1] : NULL;
    /* the driver leaves no gap between allocations: the end of one may be the start of the next */
    return o && addr - o->base <= o->size ? o : NULL;
}

/* Takes the freed objects out whose addresses [base, base + size) are in use again. */
static void forget_freed(struct gpu *g, u64 base, u64 size)
{
    u32 kept = 0;
    for (u32 i = 0; i < g->objects; i++) {
        struct mem_object *o = g->object[i];
        bool over = o->state == MEM_FREED && o->base < base + size && base < o->base + MAX_OF(o->size, 1u);
        if (!over) g->object[kept++] = o;
    }
    g->objects = kept;
}

static struct mem_object *enter(struct gpu *g, u64 base, u64 size, enum mem_kind kind, const char *name,
                                const char *site)
{
    forget_freed(g, base, MAX_OF(size, 1u));
    if (g->objects == g->capacity) {
        u32 capacity = MAX_OF(64u, g->capacity * 2);
        void *p = base_realloc(g->object, capacity * sizeof *g->object);
        if (!p) return NULL;
        g->object = p;
        g->capacity = capacity;
    }
    struct mem_object *o = NEW(&g->text, struct mem_object);
    *o = (struct mem_object){
        .base = base,
        .size = size,
        .kind = kind,
        .state = MEM_LIVE,
        .alloc_site = site ? arena_str(&g->text, str_of(site)) : NULL,
        .name = name ? arena_str(&g->text, str_of(name)) : arena_printf(&g->text, "buffer %u", ++g->unnamed),
    };
    u32 i = above(g, base);
    memmove(g->object + i + 1, g->object + i, (g->objects - i) * sizeof *g->object);
    g->object[i] = o;
    o->id = ++g->objects;
    g->live += size;
    return o;
}

static bool current(struct gpu *g, struct error *e) { return CALL(g, e, "cuCtxSetCurrent", set_current, g->context); }

static struct mem_object *alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                                struct error *e)
{
    struct gpu *g = d->gpu;
    u64 addr = 0;
    size_t n = MAX_OF(bytes, 1u);
    void *p = NULL;
    bool ok = current(g, e);
    if (ok && kind == MEM_PINNED)
        ok = CALL(g, e, "cuMemHostAlloc", alloc_host, &p, n, CU_HOST_PORTABLE | CU_HOST_MAPPED);
    else if (ok && kind == MEM_MANAGED)
        ok = CALL(g, e, "cuMemAllocManaged", alloc_managed, &addr, n, CU_MANAGED_GLOBAL);
    else if (ok)
        ok = CALL(g, e, "cuMemAlloc", alloc, &addr, n);
    if (!ok) return NULL;
    struct mem_object *o = enter(g, p ? (u64)(uintptr_t)p : addr, bytes, kind, name, site);
    if (!o) {
        error_set(e, ERR_MEMORY, "out of memory");
        drop(g, &(struct mem_object){ .base = p ? (u64)(uintptr_t)p : addr, .kind = kind });
    }
    return o;
}

static enum mem_free_result release(struct device *d, u64 addr, const char *site, struct mem_object **object)
{
    struct gpu *g = d->gpu;
    struct mem_object *o = find(d, addr);
    if (object) *object = o;
    if (!o || o->base != addr) return MEM_FREE_BAD;
    if (o->state == MEM_FREED) return MEM_FREE_TWICE;
    g->cu.set_current(g->context);
    drop(g, o);
    o->state = MEM_FREED;
    o->free_site = site ? arena_str(&g->text, str_of(site)) : NULL;
    g->live -= o->size;
    return MEM_FREE_OK;
}

static void describe(struct device *d, struct mem_object *o, const char *name, const char *type, u32 element_size)
{
    struct gpu *g = d->gpu;
    o->name = name ? arena_str(&g->text, str_of(name)) : o->name;
    o->type = type ? arena_str(&g->text, str_of(type)) : NULL;
    o->element_size = element_size;
}

static u64 live(const struct device *d) { return d->gpu->live; }

static bool copy_in(struct device *d, const struct mem_object *o, u64 addr, const void *from, u64 bytes,
                    struct error *e)
{
    (void)o;
    return current(d->gpu, e) && CALL(d->gpu, e, "cuMemcpyHtoD", write, addr, from, bytes);
}

static bool copy_out(struct device *d, const struct mem_object *o, u64 addr, void *to, u64 bytes, struct error *e)
{
    (void)o;
    return current(d->gpu, e) && CALL(d->gpu, e, "cuMemcpyDtoH", read, to, addr, bytes);
}

static bool fill(struct device *d, const struct mem_object *o, u64 addr, int byte, u64 bytes, struct error *e)
{
    (void)o;
    return current(d->gpu, e) && CALL(d->gpu, e, "cuMemsetD8", fill, addr, (unsigned char)byte, bytes);
}

/* What the driver says of PTX that it does not like: the first line of its log is kept. */
struct jit {
    char log[2048];
    int option[2]; /* where the log goes, and its size */
    void *value[2];
};

static void jit_begin(struct jit *j)
{
    *j = (struct jit){ .option = { CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_SIZE },
                       .value = { j->log, (void *)(uintptr_t)(sizeof j->log - 1) } };
}

static bool jit_failed(struct gpu *g, struct jit *j, const char *name, cu_result code, struct error *e)
{
    char why[300];
    j->log[strcspn(j->log, "\n")] = 0;
    return error_set(e, ERR_INPUT, "%s: %s%s%.150s", name, driver_error(&g->cu, code, why, sizeof why),
                     j->log[0] ? "; " : "", j->log);
}

/* The text of a module with a 0 behind it, as the driver wants it; NULL: no memory. */
static char *jit_image(const struct ptx_module *p)
{
    char *image = base_alloc((size_t)p->text.n + 1);
    if (image) memcpy(image, p->text.p, p->text.n);
    return image;
}

static bool jit_one(struct gpu *g, struct dev_module *m, struct error *e)
{
    struct jit j;
    cu_module module = NULL;
    char *image = jit_image(m->ptx);
    if (!image) return error_set(e, ERR_MEMORY, "out of memory");
    jit_begin(&j);
    cu_result code = g->cu.load(&module, image, COUNT_OF(j.option), j.option, j.value);
    base_free(image);
    m->handle = module;
    return !code || jit_failed(g, &j, m->ptx->name, code, e);
}

static bool jit_add(struct gpu *g, struct jit *j, cu_link link, const struct ptx_module *p, struct error *e)
{
    char *image = jit_image(p);
    if (!image) return error_set(e, ERR_MEMORY, "out of memory");
    cu_result code = g->cu.link_add(link, CU_INPUT_PTX, image, (size_t)p->text.n + 1, p->name, 0, NULL, NULL);
    base_free(image);
    return !code || jit_failed(g, j, p->name, code, e);
}

/* Several modules: the driver links them. */
static bool jit_linked(struct gpu *g, struct dev_module *m, struct error *e)
{
    struct jit j;
    cu_link link = NULL;
    cu_module module = NULL;
    void *image = NULL;
    size_t bytes = 0;
    jit_begin(&j);
    cu_result code = g->cu.link_begin(COUNT_OF(j.option), j.option, j.value, &link);
    if (code) return jit_failed(g, &j, m->ptx->name, code, e);
    bool ok = true;
    for (const struct ptx_module *p = m->ptx; ok && p; p = p->next) ok = jit_add(g, &j, link, p, e);
    if (ok && ((code = g->cu.link_end(link, &image, &bytes)) || (code = g->cu.load(&module, image, 0, NULL, NULL))))
        ok = jit_failed(g, &j, m->ptx->name, code, e);
    g->cu.link_free(link); /* the image is the link's; the module has its own copy by now */
    m->handle = module;
    return ok;
}

static bool place_variable(struct device *d, struct dev_module *m, struct ptx_var *v, struct mem_object **object,
                           struct error *e)
{
    struct gpu *g = d->gpu;
    char symbol[1024], name[256], type[160];
    size_t bytes = 0;
    snprintf(symbol, sizeof symbol, "%.*s", (int)v->name.n, v->name.p);
    /* one that nothing uses may be gone: then it has no address, as on any device */
    if (!dev_is_stored(v) || v->instead || g->cu.global(&v->addr, &bytes, m->handle, symbol) || !v->addr) return true;
    name_plain(v->name, name, sizeof name);
    u32 element = dev_type_text(v, type);
    *object = enter(g, v->addr, v->size, v->space == SP_CONST ? MEM_CONST : MEM_GLOBAL, name, NULL);
    if (!*object) return error_set(e, ERR_MEMORY, "out of memory");
    describe(d, *object, NULL, type[0] ? type : NULL, element);
    return true;
}

static bool place(struct device *d, struct dev_module *m, struct error *e)
{
    struct gpu *g = d->gpu;
    if (!current(g, e) || !(m->ptx->next ? jit_linked(g, m, e) : jit_one(g, m, e))) return false;
    struct mem_object **object = m->object;
    bool ok = true;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nvar; i++, object++) ok = ok && place_variable(d, m, p->var[i], object, e);
    return ok;
}

static void displace(struct device *d, struct dev_module *m)
{
    struct gpu *g = d->gpu;
    g->cu.set_current(g->context);
    for (u32 i = 0; i < m->objects; i++)
        if (m->object[i]) {
            m->object[i]->state = MEM_FREED;
            g->live -= m->object[i]->size;
        }
    if (m->handle) g->cu.unload(m->handle);
}

static struct dev_module *module_of(struct device *d, const struct ptx_func *k)
{
    struct dev_module *m = d->modules;
    while (m && m->ptx != k->module->first) m = m->next;
    CHECK(m);
    return m;
}

/* Errors that a kernel causes while it runs: addresses, alignment, instructions, assertions, traps, stack. */
static bool is_fault(cu_result code)
{
    return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

static enum dev_result failed(struct device *d, const struct dev_launch *l, cu_result code, const char *call,
                              struct error *e)
{
    char text[300], cause[500];
    driver_error(&d->gpu->cu, code, text, sizeof text);
    if (!is_fault(code)) {
        error_set(e, ERR_SYSTEM, "%s: %s", call, text);
        return DEV_FAILED;
    }
    snprintf(cause, sizeof cause, "%s: %s.", d->gpu->title, text);
    launch_found(d, l, F_gpu_fault, (u64)code, cause,
                 "Run it with --on sim: the software GPU says where, which threads and why.");
    return DEV_REFUSED;
}

/* Waits with a growing pause; an interrupt stops the waiting, not the kernel. */
static cu_result wait(struct device *d, bool *interrupted)
{
    u32 pause = 0;
    cu_result code;
    while ((code = d->gpu->cu.query(NULL)) == CU_NOT_READY && !__atomic_load_n(&d->interrupt, __ATOMIC_RELAXED)) {
        if (pause) thread_sleep_us(pause);
        pause = MIN_OF(pause + pause / 8 + 1, 1000u);
    }
    *interrupted = code == CU_NOT_READY;
    return code;
}

static enum dev_result launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    struct gpu *g = d->gpu;
    const struct ptx_func *k = l->kernel;
    struct dev_module *m = module_of(d, k);
    if (l->trace) {
        error_set(e, ERR_INPUT, "a trace or a break needs the software GPU: %s does not let itself be followed",
                  g->title);
        return DEV_FAILED;
    }
    struct arena scratch = { 0 };
    cu_function f = NULL;
    void **params = NEW_ARRAY(&scratch, void *, k->nparam + 1);
    for (u32 i = 0; i < k->nparam; i++) params[i] = (char *)l->params + k->param[i]->offset;
    const char *call = "cuModuleGetFunction";
    cu_result code = current(g, e) ? g->cu.function(&f, m->handle, arena_str(&scratch, k->name)) : 201;
    if (!code && l->shared_bytes + shared_static_bytes(k) > g->profile.shared_per_cta) {
        call = "cuFuncSetAttribute";
        code = g->cu.func_set(f, CU_FUNC_DYNAMIC_SHARED, (int)l->shared_bytes);
    }
    const u32 *n = l->grid, *b = l->block;
    bool interrupted = false;
    if (!code) {
        call = l->cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel";
        code = l->cooperative
                   ? g->cu.launch_cooperative(f, n[0], n[1], n[2], b[0], b[1], b[2], l->shared_bytes, NULL, params)
                   : g->cu.launch(f, n[0], n[1], n[2], b[0], b[1], b[2], l->shared_bytes, NULL, params, NULL);
        if (!code) code = wait(d, &interrupted);
    }
    arena_free(&scratch);
    if (interrupted) {
        error_set(e, ERR_SYSTEM,
                  "interrupted while the kernel still runs on %s, which nobody can stop but the end of this process",
                  g->title);
        return DEV_FAILED;
    }
    if (code) return failed(d, l, code, call, e);
    r->ctas = (u64)n[0] * n[1] * n[2];
    return DEV_RAN;
}

const struct dev_ops dev_gpu = { open_gpu, close_gpu, alloc, release, find,  describe, live,
                                 copy_in,  copy_out,  NULL,  fill,    place, displace, launch };
