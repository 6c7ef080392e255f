/* Modules and kernels of the public interface: loading, finding by name, describing parameters. */
#include "base/demangle.h"
#include "compile/compile.h"
#include "api/host.h"

enum { PLAIN_MOST = 100 };

/* What the mangled name tells of the kernel. Template arguments of a library's making can be pages long: those are
 * left out. */
static void describe(struct arena *a, struct lk_kernel *k)
{
    struct demangled d;
    u32 n = k->func->nparam;
    bool known = demangle(a, k->func->name, &d);
    k->plain = !known ? k->name : strlen(d.name) <= PLAIN_MOST ? d.name : d.plain;
    k->signature = known && d.signature ? d.signature : k->plain;
    k->param_type = NEW_ARRAY(a, const char *, n + 1);
    for (u32 i = 0; i < n; i++) k->param_type[i] = known && d.params == n ? d.param[i] : "";
}

static bool is_kernel(const struct ptx_func *f) { return f->is_entry && f->has_body && !f->instead; }

/* The file that the kernel's own lines are in, whatever was inlined into it. */
static struct str file_of_lines(const struct ptx_func *f)
{
    u32 i = 0;
    while (i < f->ninsn && !f->insn[i].loc) i++;
    const struct ptx_loc *loc = i < f->ninsn ? f->insn[i].loc : NULL;
    while (loc && loc->at) loc = loc->at;
    return loc ? ptx_file(f->module, loc->file) : (struct str){ "", 0 };
}

/* The kernel loads the parameter and takes the value for an address of global memory, as compilers do at its start. */
static bool is_taken_for_address(const struct ptx_func *f, const struct ptx_var *v)
{
    const struct ptx_reg *loaded = NULL;
    for (u32 i = 0; i < f->ninsn; i++) {
        const struct ptx_insn *in = &f->insn[i];
        if (in->narg != 2 || in->arg[0].kind != OP_REG) continue;
        if (in->arg[1].kind == OP_MEM && in->arg[1].var == v && !in->arg[1].imm)
            loaded = in->arg[0].reg;
        else if (loaded && in->arg[1].kind == OP_REG && in->arg[1].reg == loaded &&
                 str_is(in->opcode, "cvta.to.global.u64"))
            return true;
    }
    return false;
}

static void pointers_find(struct lk_kernel *k)
{
    for (u32 i = 0; i < k->func->nparam; i++) {
        const struct ptx_var *v = k->func->param[i];
        const char *type = k->param_type[i];
        k->arg[i].is_pointer = v->size == 8 &&
                               (v->is_ptr || strchr(type, '*') || (!*type && is_taken_for_address(k->func, v)));
    }
}

static void kernel_add(lk_module *m, struct ptx_func *f)
{
    struct lk_kernel *k = &m->kernel[m->kernels++];
    *k = (struct lk_kernel){
        .handle.parent = &m->handle,
        .func = f,
        .module = m,
        .name = arena_str(&m->mem, f->name),
        .file = arena_str(&m->mem, file_of_lines(f)),
        .param_name = NEW_ARRAY(&m->mem, const char *, f->nparam),
        .arg = NEW_ARRAY(&m->mem, struct host_arg, f->nparam + 1),
    };
    for (u32 j = 0; j < f->nparam; j++) {
        k->param_name[j] = arena_str(&m->mem, f->param[j]->name);
        k->arg[j] = (struct host_arg){ .offset = (u32)f->param[j]->offset, .bytes = (u32)f->param[j]->size };
    }
    describe(&m->mem, k);
    pointers_find(k);
    if (!map_get(&m->by_name, str_of(k->name))) map_put(&m->mem, &m->by_name, str_of(k->name), k);
    handle_open(&k->handle, m->gpu, HANDLE_KERNEL);
}

/* Whether the compiler made it for somebody else's request. */
static bool is_hidden_symbol(const struct compile_result *from, const struct ptx_func *f)
{
    for (u32 i = 0; from && from->hidden && from->hidden[i]; i++)
        if (str_is(f->name, from->hidden[i])) return true;
    return false;
}

static u32 kernels_count(const struct dev_module *m)
{
    u32 n = 0;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nfunc; i++) n += is_kernel(p->func[i]);
    return n;
}

static void kernels_list(lk_module *m, const struct compile_result *from)
{
    for (const struct ptx_module *p = m->dev->ptx; p; p = p->next) {
        for (u32 i = 0; i < p->nfunc; i++)
            if (is_kernel(p->func[i]) && !is_hidden_symbol(from, p->func[i])) kernel_add(m, p->func[i]);
        if (p == m->dev->ptx) m->first_kernels = m->kernels;
    }
}

static void origin_copy(lk_module *m, const struct compile_result *from)
{
    m->note = from ? arena_str(&m->mem, (struct str){ from->note.p, (u32)from->note.n }) : "";
    m->compiler = from ? arena_str(&m->mem, str_of(from->by)) : "";
    char suffix[2] = { m->dev->ptx->target_suffix, 0 };
    snprintf(m->arch, sizeof m->arch, "sm_%u%s", m->dev->ptx->target, suffix);
}

static lk_status wrap(lk_gpu *gpu, struct dev_module *d, const struct compile_result *from, lk_module **module)
{
    if (!d) return host_failed(gpu);
    u32 n = kernels_count(d);
    lk_module *m = handle_new(sizeof *m);
    struct lk_kernel *kernels = m ? handles_new(sizeof *kernels, n) : NULL;
    if (!kernels) {
        handle_free(m, sizeof *m);
        dev_unload(gpu->device, d);
        error_set(host_error(), ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    m->gpu = gpu;
    m->dev = d;
    m->kernel = kernels;
    m->room = n;
    origin_copy(m, from);
    kernels_list(m, from);
    handle_add(&m->handle, gpu, HANDLE_MODULE);
    *module = m;
    return LK_OK;
}

lk_status host_load(lk_gpu *gpu, const struct dev_part *part, u32 parts, const struct compile_result *from,
                    lk_module **module)
{
    return wrap(gpu, dev_load(gpu->device, part, parts, host_error()), from, module);
}

lk_status host_load_image(lk_gpu *gpu, const struct dev_part *part, const void *image, lk_module **module)
{
    return wrap(gpu, dev_load_image(gpu->device, part, image, host_error()), NULL, module);
}

lk_status lk_module_load(lk_gpu *gpu, const char *name, const char *ptx, size_t bytes, lk_module **module)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return lk_module_link(gpu, &(lk_ptx){ name, ptx, bytes }, 1, module);
}

lk_status lk_module_link(lk_gpu *gpu, const lk_ptx *part, uint32_t parts, lk_module **module)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!module || (!part && parts)) return HOST_MISSING(gpu, !module ? "place for the module" : "list of PTX");
    struct error *e = host_begin(gpu);
    struct arena a = { 0 };
    struct dev_part *list = NEW_ARRAY(&a, struct dev_part, parts + 1);
    *module = NULL;
    for (u32 i = 0; i < parts; i++) {
        list[i] = (struct dev_part){ part[i].name ? part[i].name : "PTX", { part[i].ptx, (u32)part[i].bytes } };
        if (!part[i].ptx) error_set(e, ERR_INPUT, "%s: no PTX is given", list[i].name);
        if (part[i].bytes >= UINT32_MAX)
            error_set(e, ERR_INPUT, "%s: PTX of 4 GiB and more is not taken", list[i].name);
    }
    if (!parts) error_set(e, ERR_INPUT, "there is no PTX to link");
    lk_status status = e->code ? host_failed(gpu) : host_load(gpu, list, parts, NULL, module);
    arena_free(&a);
    return status;
}

lk_status lk_module_load_file(lk_gpu *gpu, const char *path, lk_module **module)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return lk_module_compile(gpu, path, NULL, module);
}

const char *lk_module_note(const lk_module *module)
{
    HOST_CALL("", USE(MODULE, module));
    return module->note;
}

/* Waits for all work in flight. */
static void module_free(lk_module *module)
{
    dev_unload(module->gpu->device, module->dev);
    arena_free(&module->mem);
    handles_free(module->kernel, sizeof *module->kernel, module->room);
    handle_free(module, sizeof *module);
}

/* Whether a node of a graph, or of one that is being captured, may launch its kernels. Under the lock of the gpu. */
static bool graphs_left(lk_gpu *gpu)
{
    bool any = gpu->handle[HANDLE_GRAPH] || gpu->handle[HANDLE_EXEC];
    for (struct handle *h = gpu->handle[HANDLE_STREAM]; h && !any; h = h->next) {
        enum capture_status status = CAPTURE_NONE;
        gpu->device->async->capture_status(((lk_stream *)h)->dev, &status, &(u64){ 0 }, &(struct error){ 0 });
        any = status == CAPTURE_ACTIVE;
    }
    return any;
}

/* Waits for all work and frees it, or keeps it while graphs may still launch its kernels. */
u32 host_module_ended(struct handle *h)
{
    lk_module *module = (lk_module *)h;
    lk_gpu *gpu = module->gpu;
    launch_forget();
    host_repeats_wait(gpu);
    handle_remove(h);
    lock(&gpu->lock);
    bool used = graphs_left(gpu);
    if (used) {
        module->next = gpu->unloaded;
        gpu->unloaded = module;
    }
    unlock(&gpu->lock);
    if (!used) module_free(module);
    return 0;
}

void host_modules_end(lk_gpu *gpu)
{
    lock(&gpu->lock);
    bool used = graphs_left(gpu);
    lk_module *m = used ? NULL : gpu->unloaded;
    if (!used) gpu->unloaded = NULL;
    unlock(&gpu->lock);
    while (m) {
        lk_module *next = m->next;
        module_free(m); /* waits for launches of the graph that are in flight */
        m = next;
    }
}

lk_status lk_module_unload(lk_module *module)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(MODULE, module));
    if (!module) return LK_OK;
    lk_gpu *gpu = module->gpu;
    if (!dev_outside(gpu->device, host_begin(gpu))) return host_failed(gpu);
    u32 none;
    return host_destroy(&call, &module->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

uint32_t lk_module_kernel_count(const lk_module *module)
{
    HOST_CALL(0, USE(MODULE, module));
    return module->kernels;
}

lk_kernel *lk_module_kernel_at(lk_module *module, uint32_t i)
{
    HOST_CALL(NULL, USE(MODULE, module));
    return i < module->kernels ? &module->kernel[i] : NULL;
}

lk_status lk_module_symbol(lk_module *module, const char *name, uint64_t *address, uint64_t *bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(MODULE, module));
    if (!name) return HOST_MISSING(module->gpu, "name");
    struct error *e = host_begin(module->gpu);
    struct ptx_var *v = dev_variable(module->dev, str_of(name));
    if (!v) {
        struct text list = { 0 };
        text_add(&list, "%s", "");
        for (const struct ptx_module *p = module->dev->ptx; p; p = p->next)
            for (u32 i = 0; i < p->nvar && list.n < 200; i++) {
                char plain[256];
                name_plain(p->var[i]->name, plain, sizeof plain);
                if (dev_is_stored(p->var[i])) text_add(&list, "%s%.60s", list.n ? ", " : "; it has ", plain);
            }
        error_set(e, ERR_INPUT, "%s has no variable `%.60s` in global or constant memory%s", module->dev->ptx->name,
                  name, list.p);
        text_free(&list);
        return host_failed(module->gpu);
    }
    if (address) *address = v->addr;
    if (bytes) *bytes = v->size;
    return LK_OK;
}

const char *lk_kernel_name(const lk_kernel *kernel)
{
    HOST_CALL("", USE(KERNEL, kernel));
    return kernel->name;
}

const char *lk_kernel_plain(const lk_kernel *kernel)
{
    HOST_CALL("", USE(KERNEL, kernel));
    return kernel->plain;
}

const char *lk_kernel_signature(const lk_kernel *kernel)
{
    HOST_CALL("", USE(KERNEL, kernel));
    return kernel->signature;
}

const char *lk_kernel_file(const lk_kernel *kernel)
{
    HOST_CALL("", USE(KERNEL, kernel));
    return kernel->file;
}

uint32_t lk_kernel_param_count(const lk_kernel *kernel)
{
    HOST_CALL(0, USE(KERNEL, kernel));
    return kernel->func->nparam;
}

lk_status lk_kernel_param(const lk_kernel *kernel, uint32_t i, lk_param *out)
{
    HOST_CALL(LK_BAD_INPUT, USE(KERNEL, kernel));
    if (!out) return HOST_MISSING(kernel->module->gpu, "place for it");
    lk_gpu *gpu = kernel->module->gpu;
    struct error *e = host_begin(gpu);
    if (i >= kernel->func->nparam) {
        error_set(e, ERR_INPUT, "%s has %u parameters, there is no number %u", kernel->plain, kernel->func->nparam, i);
        return host_failed(gpu);
    }
    const struct ptx_var *v = kernel->func->param[i];
    *out = (lk_param){ .offset = (u32)v->offset,
                       .bytes = (u32)v->size,
                       .align = v->align,
                       .is_pointer = kernel->arg[i].is_pointer,
                       .name = kernel->param_name[i],
                       .source_type = kernel->param_type[i] };
    snprintf(out->type, sizeof out->type, "%.7s", type_name[v->type]);
    return LK_OK;
}
