/* Modules and kernels of the public interface: loading, finding by name, describing parameters. */
#include "host/host.h"
#include "compile/compile.h"

static const char *plain_of(struct arena *a, struct str name)
{
    char plain[512];
    name_plain(name, plain, sizeof plain);
    return arena_str(a, str_of(plain));
}

static void kernels_list(lk_module *m)
{
    struct ptx_module *p = m->dev->ptx;
    u32 n = 0;
    for (u32 i = 0; i < p->nfunc; i++)
        n += p->func[i]->is_entry && p->func[i]->has_body;
    m->kernel = NEW_ARRAY(&m->mem, struct lk_kernel, n);
    for (u32 i = 0; i < p->nfunc; i++) {
        struct ptx_func *f = p->func[i];
        if (!f->is_entry || !f->has_body)
            continue;
        struct lk_kernel *k = &m->kernel[m->kernels++];
        *k = (struct lk_kernel){
            .func = f, .module = m, .name = arena_str(&m->mem, f->name), .plain = plain_of(&m->mem, f->name),
            .params = arena_alloc(&m->mem, f->param_bytes, 16), .param_name = NEW_ARRAY(&m->mem, const char *, f->nparam),
        };
        for (u32 j = 0; j < f->nparam; j++)
            k->param_name[j] = arena_str(&m->mem, f->param[j]->name);
    }
}

static lk_status load(lk_gpu *gpu, const char *name, struct str text, const char *note, lk_module **module)
{
    struct error *e = &gpu->error;
    struct dev_module *d = dev_load(gpu->device, name, text, e);
    if (!d)
        return host_failed(gpu);
    struct arena mem = { 0 };
    lk_module *m = NEW(&mem, struct lk_module);
    m->mem = mem;
    m->gpu = gpu;
    m->dev = d;
    m->note = arena_str(&m->mem, str_of(note));
    kernels_list(m);
    *module = m;
    return LK_OK;
}

lk_status lk_module_load(lk_gpu *gpu, const char *name, const char *ptx, size_t bytes, lk_module **module)
{
    struct error *e = host_begin(gpu);
    *module = NULL;
    if (bytes >= UINT32_MAX) {
        error_set(e, ERR_INPUT, "%s: PTX of 4 GiB and more is not taken", name ? name : "PTX");
        return host_failed(gpu);
    }
    return load(gpu, name ? name : "PTX", (struct str){ ptx, (u32)bytes }, "", module);
}

lk_status lk_module_load_file(lk_gpu *gpu, const char *path, lk_module **module)
{
    struct error *e = host_begin(gpu);
    *module = NULL;
    size_t n = strlen(path);
    bool is_cu = n > 3 && !strcmp(path + n - 3, ".cu");
    struct str text;
    char note[300] = "", arch[16];
    snprintf(arch, sizeof arch, "sm_%u", gpu->device->profile->sm);
    struct compile_options o = { .arch = arch, .note = note, .note_size = sizeof note };
    if (!(is_cu ? compile_cu(path, &o, &text, e) : file_read(path, &text, e)))
        return host_failed(gpu);
    /* PTX made from a .cu is named as if it lay beside it: that is where its source is looked for */
    struct text name = { 0 };
    text_add(&name, "%.*s%s", (int)(is_cu ? n - 3 : n), path, is_cu ? ".ptx" : "");
    lk_status status = load(gpu, name.p, text, note, module);
    text_free(&name);
    base_free((void *)text.p);
    return status;
}

const char *lk_module_note(const lk_module *module)
{
    return module->note;
}

void lk_module_unload(lk_module *module)
{
    if (!module)
        return;
    dev_unload(module->gpu->device, module->dev);
    struct arena mem = module->mem;     /* the module itself lies in it */
    arena_free(&mem);
}

uint32_t lk_module_kernel_count(const lk_module *module)
{
    return module->kernels;
}

lk_kernel *lk_module_kernel_at(lk_module *module, uint32_t i)
{
    return i < module->kernels ? &module->kernel[i] : NULL;
}

/* Up to five names, the nearest first. */
static void nearest_names(const lk_module *m, const char *name, struct text *out)
{
    u32 taken[5];
    for (u32 n = 0; n < COUNT_OF(taken) && n < m->kernels; n++) {
        u32 best = UINT32_MAX, best_at = 0;
        for (u32 i = 0; i < m->kernels; i++) {
            bool used = false;
            for (u32 k = 0; k < n; k++)
                used |= taken[k] == i;
            u32 d = used ? UINT32_MAX : str_distance(name, m->kernel[i].plain);
            if (d < best) {
                best = d;
                best_at = i;
            }
        }
        taken[n] = best_at;
        text_add(out, "%s%.80s", n ? ", " : "", m->kernel[best_at].plain);
    }
    if (m->kernels > COUNT_OF(taken))
        text_add(out, " and %u more", m->kernels - (u32)COUNT_OF(taken));
}

/* "f" also names "a::f". */
static bool plain_matches(const char *plain, const char *name)
{
    size_t p = strlen(plain), n = strlen(name);
    return p >= n && !strcmp(plain + p - n, name) && (p == n || (p > n + 1 && plain[p - n - 1] == ':'));
}

lk_kernel *lk_module_kernel(lk_module *module, const char *name)
{
    struct error *e = host_begin(module->gpu);
    struct lk_kernel *found = NULL;
    u32 matches = 0;
    for (u32 i = 0; i < module->kernels; i++) {
        struct lk_kernel *k = &module->kernel[i];
        if (!strcmp(k->name, name))
            return k;
        if (plain_matches(k->plain, name)) {
            found = found ? found : k;
            matches++;
        }
    }
    if (matches == 1)
        return found;
    struct text names = { 0 };
    if (matches) {
        for (u32 i = 0; i < module->kernels && names.n < 300; i++)
            if (plain_matches(module->kernel[i].plain, name))
                text_add(&names, "%s%.120s", names.n ? ", " : "", module->kernel[i].name);
        error_set(e, ERR_INPUT, "%s has %u kernels named `%.60s`: give the full name, one of %s", module->dev->ptx->name, matches, name, names.p);
    } else if (!module->kernels) {
        error_set(e, ERR_INPUT, "%s has no kernel", module->dev->ptx->name);
    } else {
        nearest_names(module, name, &names);
        error_set(e, ERR_INPUT, "%s has no kernel `%.60s`; it has %s", module->dev->ptx->name, name, names.p);
    }
    text_free(&names);
    host_failed(module->gpu);
    return NULL;
}

lk_status lk_module_symbol(lk_module *module, const char *name, uint64_t *address, uint64_t *bytes)
{
    struct error *e = host_begin(module->gpu);
    struct ptx_var *v = dev_variable(module->dev, str_of(name));
    if (!v) {
        error_set(e, ERR_INPUT, "%s has no variable `%.60s` in global or constant memory", module->dev->ptx->name, name);
        return host_failed(module->gpu);
    }
    if (address)
        *address = v->addr;
    if (bytes)
        *bytes = v->size;
    return LK_OK;
}

const char *lk_kernel_name(const lk_kernel *kernel)
{
    return kernel->name;
}

const char *lk_kernel_plain(const lk_kernel *kernel)
{
    return kernel->plain;
}

uint32_t lk_kernel_param_count(const lk_kernel *kernel)
{
    return kernel->func->nparam;
}

lk_status lk_kernel_param(const lk_kernel *kernel, uint32_t i, lk_param *out)
{
    lk_gpu *gpu = kernel->module->gpu;
    struct error *e = host_begin(gpu);
    if (i >= kernel->func->nparam) {
        error_set(e, ERR_INPUT, "%s has %u parameters, there is no number %u", kernel->plain, kernel->func->nparam, i);
        return host_failed(gpu);
    }
    const struct ptx_var *v = kernel->func->param[i];
    *out = (lk_param){ .offset = (u32)v->offset, .bytes = (u32)v->size, .align = v->align, .is_pointer = v->is_ptr,
                       .name = kernel->param_name[i] };
    snprintf(out->type, sizeof out->type, "%.7s", type_name[v->type]);
    return LK_OK;
}
