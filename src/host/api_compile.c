/* Compiling through the public interface: a .cu file to a module, what its kernels use, and the cache. */
#include "compile/compile.h"
#include "host/host.h"

static bool compiler_parse(const char *name, enum compiler *out, struct error *e)
{
    for (u32 i = COMPILER_NVRTC; i < COMPILER_COUNT; i++)
        if (!strcmp(name, compiler_name[i])) {
            *out = (enum compiler)i;
            return true;
        }
    return error_set(e, ERR_INPUT, "there is no compiler `%.40s`; there are nvrtc, nvcc and clang", name);
}

/* Remembers what was asked, so that lk_module_kernel knows the names again. */
static void keep_names(lk_module *m, const char *path, const struct compile_options *o, const struct compile_result *r)
{
    struct arena *a = &m->mem;
    m->source = arena_str(a, str_of(path));
    const char *registers = flags_registers(o);
    m->max_registers = registers ? arena_str(a, str_of(registers)) : NULL;
    m->asks = o->names;
    m->asked = NEW_ARRAY(a, const char *, o->names + 1);
    m->lowered = NEW_ARRAY(a, const char *, o->names + 1);
    for (u32 i = 0; i < o->names; i++) {
        m->asked[i] = arena_str(a, str_of(o->name[i]));
        m->lowered[i] = r->lowered && r->lowered[i] ? arena_str(a, str_of(r->lowered[i])) : NULL;
    }
}

static lk_status compile(lk_gpu *gpu, const char *path, const struct compile_options *o, lk_module **module)
{
    struct compile_result r;
    lk_status status = LK_OK;
    bool ok = compile_cu(path, o, &r, &gpu->error);
    text_free(&gpu->log);
    gpu->log = r.log;
    r.log = (struct text){ 0 };
    if (ok) {
        /* PTX made from a .cu is named as if it lay beside it: that is where its source is looked for */
        struct text name = { 0 };
        text_add(&name, "%.*s.ptx", (int)strlen(path) - 3, path);
        status = host_load(gpu, name.p, r.ptx, &r, module);
        text_free(&name);
        if (status == LK_OK)
            keep_names(*module, path, o, &r);
    } else {
        status = host_failed(gpu);
    }
    compile_result_free(&r);
    return status;
}

lk_status lk_module_compile(lk_gpu *gpu, const char *path, const lk_compile *options, lk_module **module)
{
    struct error *e = host_begin(gpu);
    lk_compile in = { .size = sizeof in };
    if (options)
        memcpy(&in, options, MIN_OF(options->size, sizeof in));
    *module = NULL;
    text_free(&gpu->log);
    size_t n = strlen(path);
    char arch[16];
    snprintf(arch, sizeof arch, "sm_%u", gpu->device->profile->sm);
    struct compile_options o = { .arch = arch, .arch_exact = in.arch != NULL, .flag = in.flag, .flags = in.flags, .own = MIN_OF(in.own, in.flags),
                                 .name = in.name, .names = in.names, .fresh = in.fresh != 0 };
    if (in.arch && !compile_arch(in.arch, arch))
        error_set(e, ERR_INPUT, "there is no architecture `%.40s`; it is written sm_90, sm_90a or 90", in.arch);
    else if (in.compiler)
        compiler_parse(in.compiler, &o.compiler, e);
    if (e->code)
        return host_failed(gpu);
    if (n > 3 && !strcmp(path + n - 3, ".cu"))
        return compile(gpu, path, &o, module);
    struct str text;
    if (!file_read(path, &text, e))
        return host_failed(gpu);
    lk_status status = host_load(gpu, path, text, NULL, module);
    base_free((void *)text.p);
    return status;
}

const char *lk_gpu_log(const lk_gpu *gpu)
{
    return gpu->log.p ? gpu->log.p : "";
}

const char *lk_module_compiler(const lk_module *module)
{
    return module->compiler;
}

const char *lk_module_arch(const lk_module *module)
{
    return module->arch;
}

const char *lk_module_ptx(const lk_module *module, size_t *bytes)
{
    if (bytes)
        *bytes = module->dev->ptx->text.n;
    return module->dev->ptx->text.p;
}

lk_status lk_module_assemble(lk_module *module)
{
    struct error *e = host_begin(module->gpu);
    struct arena a = { 0 };
    struct assembled *list;
    u32 n;
    bool ok = compile_assemble(&a, module->dev->ptx->text, module->arch, module->max_registers, &list, &n, e);
    for (u32 i = 0; ok && i < n; i++)
        for (u32 k = 0; k < module->kernels; k++) {
            struct lk_kernel *to = &module->kernel[k];
            if (!str_is(list[i].kernel, to->name))
                continue;
            to->registers = list[i].registers;
            to->barriers = list[i].barriers;
            to->stack = list[i].stack;
            to->spill_stores = list[i].spill_stores;
            to->spill_loads = list[i].spill_loads;
        }
    arena_free(&a);
    if (!ok && !e->code)
        error_set(e, ERR_NOTHING, "no ptxas is here to count registers; it comes with the CUDA toolkit");
    return ok ? LK_OK : host_failed(module->gpu);
}

/* ---- what a kernel uses ---- */

struct reach {                  /* the functions and variables that a kernel can get to */
    struct arena mem;
    VEC(const struct ptx_func *) func;
    VEC(const struct ptx_var *) var;
};

static void reach_func(struct reach *r, const struct ptx_func *f)
{
    for (u32 i = 0; i < r->func.n; i++)
        if (r->func.p[i] == f)
            return;
    VEC_PUSH(&r->mem, &r->func, f);
}

static void reach_var(struct reach *r, const struct ptx_var *v)
{
    for (u32 i = 0; i < r->var.n; i++)
        if (r->var.p[i] == v)
            return;
    VEC_PUSH(&r->mem, &r->var, v);
}

static void reach_operand(struct reach *r, const struct ptx_operand *o)
{
    if (o->func)
        reach_func(r, o->func);
    if (o->var)
        reach_var(r, o->var);
    for (u32 i = 0; i < o->nelem; i++)
        reach_operand(r, &o->elem[i]);
}

static void reach_all(struct reach *r, const struct ptx_func *kernel)
{
    reach_func(r, kernel);
    for (u32 i = 0; i < r->func.n; i++) {
        const struct ptx_func *f = r->func.p[i];
        for (u32 k = 0; k < f->ninsn; k++)
            for (u32 j = 0; j < f->insn[k].narg; j++)
                reach_operand(r, &f->insn[k].arg[j]);
        for (u32 k = 0; k < f->nlocal; k++)
            if (f->local[k]->space == SP_LOCAL)
                reach_var(r, f->local[k]);
    }
}

lk_status lk_kernel_usage(const lk_kernel *kernel, lk_usage *usage)
{
    const struct ptx_func *f = kernel->func;
    lk_usage u = { .size = usage->size, .param_bytes = f->param_bytes, .shared_bytes = sim_static_shared(f), .min_blocks = f->minnctapersm, .max_registers = f->maxnreg };
    struct reach r = { 0 };
    reach_all(&r, f);
    for (u32 i = 0; i < r.var.n; i++) {
        const struct ptx_var *v = r.var.p[i];
        u.local_bytes += v->space == SP_LOCAL ? v->size : 0;
        u.const_bytes += v->space == SP_CONST ? v->size : 0;
        u.global_bytes += v->space == SP_GLOBAL ? v->size : 0;
        u.dynamic_shared |= v->space == SP_SHARED && v->is_extern;
    }
    arena_free(&r.mem);
    memcpy(u.max_threads, f->maxntid, sizeof u.max_threads);
    memcpy(u.required_threads, f->reqntid, sizeof u.required_threads);
    memcpy(u.cluster, f->reqnctapercluster, sizeof u.cluster);
    u.assembled = kernel->registers != 0;
    u.registers = kernel->registers;
    u.barriers = kernel->barriers;
    u.stack_bytes = kernel->stack;
    u.spill_store_bytes = kernel->spill_stores;
    u.spill_load_bytes = kernel->spill_loads;
    memcpy(usage, &u, MIN_OF(usage->size, sizeof u));
    return LK_OK;
}

/* ---- the cache ---- */

uint32_t lk_cache_list(lk_cache_info *out, uint32_t most)
{
    struct arena a = { 0 };
    struct cache_entry *e;
    u32 n = cache_list(&a, &e);
    for (u32 i = 0; i < n && i < most; i++) {
        out[i] = (lk_cache_info){ .bytes = e[i].bytes, .used = e[i].used };
        snprintf(out[i].key, sizeof out[i].key, "%s", e[i].key);
        snprintf(out[i].source, sizeof out[i].source, "%s", e[i].source);
        snprintf(out[i].arch, sizeof out[i].arch, "%s", e[i].arch);
        snprintf(out[i].compiler, sizeof out[i].compiler, "%s", e[i].by);
    }
    arena_free(&a);
    return n;
}

uint32_t lk_cache_clear(void)
{
    return cache_clear();
}

uint64_t lk_cache_limit(void)
{
    return cache_limit();
}

int lk_cache_folder(char *out, size_t size)
{
    return cache_folder(out, size);
}
