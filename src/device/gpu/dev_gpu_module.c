/* Modules of a real GPU: its driver compiles and links the PTX, and says where variables and kernels are. */
#include "code/shared_layout.h"
#include "gpu/dev_gpu.h"

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

/* The text of a module with a 0 after it, as the driver wants it; NULL: no memory. */
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
    char *image = m->image ? NULL : jit_image(m->ptx);
    if (!m->image && !image) return error_set(e, ERR_MEMORY, "out of memory");
    jit_begin(&j);
    cu_result code = g->cu.load(&module, m->image ? m->image : image, COUNT_OF(j.option), j.option, j.value);
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

/* ---- the device runtime ---- */

static bool (*runtime_find)(char *out, size_t size); /* of gpu_runtime_from */

void gpu_runtime_from(bool (*find)(char *out, size_t size)) { __atomic_store_n(&runtime_find, find, __ATOMIC_RELEASE); }

/* A function of NVIDIA's device runtime that the program calls and does not have; NULL: none. */
static const char *runtime_needed(const struct dev_module *m, char out[64])
{
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nfunc; i++) {
            struct str n = p->func[i]->name;
            bool is = (n.n > 9 && !memcmp(n.p, "__cudaCDP", 9)) || (n.n > 4 && !memcmp(n.p, "cuda", 4));
            if (!is || !ptx_func_missing(p->func[i])) continue;
            snprintf(out, 64, "%.*s", (int)MIN_OF(n.n, 60u), n.p);
            return out;
        }
    return NULL;
}

static bool runtime_add(struct gpu *g, struct jit *j, cu_link link, const struct dev_module *m, const char *needs,
                        struct error *e)
{
    char path[1200];
    bool (*find)(char *, size_t) = __atomic_load_n(&runtime_find, __ATOMIC_ACQUIRE);
    if (!find || !find(path, sizeof path))
        return error_set(
            e, ERR_INPUT,
            "%s launches kernels from kernels (%s), and libcudadevrt.a, which a GPU needs for that, is not "
            "here: install the CUDA toolkit; nvcc links it with -rdc=true -lcudadevrt",
            m->ptx->name, needs);
    cu_result code = ask_driver(&g->cu, link_file, link, CU_INPUT_LIBRARY, path, 0, NULL, NULL);
    return !code || jit_failed(g, j, path, code, e);
}

/* Several modules, or one with the device runtime: the driver links them. */
static bool jit_linked(struct gpu *g, struct dev_module *m, const char *needs, struct error *e)
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
    if (ok && needs) ok = runtime_add(g, &j, link, m, needs, e);
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
    *object = gpu_enter(g, v->addr, v->size, v->space == SP_CONST ? MEM_CONST : MEM_GLOBAL, false, name, NULL);
    if (!*object) return error_set(e, ERR_MEMORY, "out of memory");
    gpu_describe(d, *object, NULL, type[0] ? type : NULL, element);
    return true;
}

/* A stream does not name a kernel that is gone. */
static void forget_last(struct dev_stream *st, const struct dev_module *m)
{
    const struct ptx_func *k = st->last;
    if (k && k->module->first == m->ptx) __atomic_store_n(&st->last, NULL, __ATOMIC_RELAXED);
}

void gpu_displace(struct device *d, struct dev_module *m)
{
    struct gpu *g = d->gpu;
    g->cu.set_current(g->context);
    lock(&g->lock);
    forget_last(&g->legacy, m);
    forget_last(&g->per_thread, m);
    for (struct dev_stream *st = g->streams; st; st = st->next) forget_last(st, m);
    unlock(&g->lock);
    for (u32 i = 0; i < m->objects; i++)
        if (m->object[i]) gpu_leave(g, m->object[i], NULL);
    if (m->handle) g->cu.unload(m->handle);
}

static struct dev_module *module_of(struct device *d, const struct ptx_func *k)
{
    lock(&d->modules_lock);
    struct dev_module *m = d->modules;
    while (m && m->ptx != k->module->first) m = m->next;
    unlock(&d->modules_lock);
    CHECK(m);
    return m;
}

/* Asks the driver for a kernel of the module; NULL: it gives none. Under the lock, or before others know the module. */
static struct gpu_kernel *kernel_get(struct gpu *g, struct dev_module *m, struct ptx_func *k, const char **call,
                                     cu_result *code)
{
    char *name = base_need((size_t)k->name.n + 1);
    memcpy(name, k->name.p, k->name.n);
    cu_function f = NULL;
    *call = "cuModuleGetFunction";
    *code = g->cu.function(&f, m->handle, name);
    base_free(name);
    if (*code) return NULL;
    struct gpu_kernel *x = NEW(&m->mem, struct gpu_kernel);
    x->function = f;
    x->shared_static = (u32)shared_static_bytes(k);
    x->params = k->nparam;
    x->offset = NEW_ARRAY(&m->mem, u32, k->nparam + 1);
    for (u32 i = 0; i < k->nparam; i++) x->offset[i] = (u32)k->param[i]->offset;
    /* launch.c asks the caller about clusters that not every card takes; the driver need not ask again */
    if (g->card.cluster_max > CLUSTER_PORTABLE) g->cu.func_set(f, CU_FUNC_CLUSTER_ANY, 1);
    __atomic_store_n(&k->device, x, __ATOMIC_RELEASE);
    return x;
}

/* The driver brings a kernel to the GPU when it is asked for it, and waits for all kernels that run meanwhile: one that
 * waits for a kernel that is launched later would never end. So all are asked for before the first one runs. What goes
 * wrong is said by the launch, which asks again. */
static void kernels_load(struct gpu *g, struct dev_module *m)
{
    const char *call;
    cu_result code;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nfunc; i++) {
            struct ptx_func *k = p->func[i];
            const struct gpu_kernel *x = k->is_entry && !k->device ? kernel_get(g, m, k, &call, &code) : NULL;
            if (x) ask_driver(&g->cu, func_load, x->function); /* an older driver has brought it by now */
        }
}

bool gpu_place(struct device *d, struct dev_module *m, struct error *e)
{
    struct gpu *g = d->gpu;
    char name[64];
    const char *needs = m->image ? NULL : runtime_needed(m, name);
    if (!gpu_current(g, e)) return false;
    if (!(m->ptx->next || needs ? jit_linked(g, m, needs, e) : jit_one(g, m, e))) return false;
    m->image = NULL; /* the driver has a copy */
    struct mem_object **object = m->object;
    bool ok = true;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nvar; i++, object++) ok = ok && place_variable(d, m, p->var[i], object, e);
    if (ok) kernels_load(g, m);
    return ok;
}

/* A kernel that the driver did not give before. */
static struct gpu_kernel *kernel_new(struct device *d, struct ptx_func *k, const char **call, cu_result *code)
{
    struct gpu *g = d->gpu;
    struct dev_module *m = module_of(d, k);
    lock(&g->lock);
    struct gpu_kernel *x = k->device;
    if (!x) x = kernel_get(g, m, k, call, code);
    unlock(&g->lock);
    return x;
}

struct gpu_kernel *gpu_kernel_ask(struct device *d, const struct dev_launch *l, const char **call, cu_result *code)
{
    struct gpu *g = d->gpu;
    struct gpu_kernel *x = __atomic_load_n(&l->kernel->device, __ATOMIC_ACQUIRE);
    *code = 0;
    if (!x && !(x = kernel_new(d, l->kernel, call, code))) return NULL;
    if (l->shared_bytes + x->shared_static <= g->card.shared_per_cta ||
        l->shared_bytes <= __atomic_load_n(&x->shared, __ATOMIC_ACQUIRE))
        return x;
    lock(&g->lock);
    if (l->shared_bytes > x->shared) {
        *call = "cuFuncSetAttribute";
        *code = g->cu.func_set(x->function, CU_FUNC_DYNAMIC_SHARED, (int)l->shared_bytes);
        if (!*code) __atomic_store_n(&x->shared, l->shared_bytes, __ATOMIC_RELEASE);
    }
    unlock(&g->lock);
    return *code ? NULL : x;
}
