/* Compiling through the public interface: a .cu file to a module, what its kernels use, and the cache. */
#include "base/mapping.h"
#include "lower/functions.h"
#include "card/occupancy.h"
#include "code/shared_layout.h"
#include "compile/compile.h"
#include "api/host.h"
#include <stdlib.h>

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
    word_list folders = { 0 }, files = { 0 };
    flags_paths(o, a, &folders, &files);
    m->folder = NEW_ARRAY(a, const char *, folders.n + 1);
    m->folders = folders.n;
    for (u32 i = 0; i < folders.n; i++) m->folder[i] = arena_str(a, str_of(folders.p[i]));
    m->asks = o->names;
    m->asked = NEW_ARRAY(a, const char *, o->names + 1);
    m->lowered = NEW_ARRAY(a, const char *, o->names + 1);
    for (u32 i = 0; i < o->names; i++) {
        m->asked[i] = arena_str(a, str_of(o->name[i]));
        m->lowered[i] = r->lowered && r->lowered[i] ? arena_str(a, str_of(r->lowered[i])) : NULL;
    }
}

/* ---- files to PTX ---- */

struct unit {                   /* one file of a program */
    struct compile_result made; /* of a .cu */
    struct str text;            /* PTX */
    struct text name;           /* in messages */
    bool compiled;              /* the text is that of `made` */
};

static bool is_cuda(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && !strcmp(path + n - 3, ".cu");
}

/* The calling thread's log; NULL: it has none, and none is to be made. Only its thread writes and reads its text. */
static struct text *log_of(lk_gpu *gpu, bool make)
{
    static _Thread_local char thread; /* its address is the thread's name */
    lock(&gpu->lock);
    struct thread_log *l = gpu->log;
    while (l && l->thread != &thread) l = l->next;
    if (!l && make) {
        l = base_need(sizeof *l);
        *l = (struct thread_log){ .thread = &thread, .next = gpu->log };
        gpu->log = l;
    }
    unlock(&gpu->lock);
    return l ? &l->text : NULL;
}

/* "-I" and the folder of lockstep_ring.cuh, for a source that asks for it; NULL: it does not, or the folder is not
 * found. It lies near the file that this code is mapped from, whose name as a program may be a word without a path: of
 * build/lockstep or bin/lockstep, lib/liblockstep.so, lib/ARCH/liblockstep.so, in a wheel of _bin/lockstep. Debian's
 * package of the command has it in a folder of its own, since the headers are in another package. */
static const char *ring_headers(struct arena *a, const char *path)
{
    static const char *const at[] = { "../include",      "../../include",           "../../../include",
                                      "../_include",     "../lib/lockstep/include", "../lockstep/include",
                                      "lockstep/include" };
    struct str text;
    if (!is_cuda(path) || !file_read_if(path, &text)) return NULL;
    bool asks = memmem(text.p, text.n, "lockstep_ring", 13) != NULL;
    base_free((void *)(uintptr_t)text.p);
    char place[4096] = "";
    if (!asks || !mapping_file((uintptr_t)lk_module_compile, place, sizeof place)) return NULL;
    *strrchr(place, '/') = 0;
    for (u32 i = 0; i < COUNT_OF(at); i++) {
        const char *folder = arena_printf(a, "%s/%s", place, at[i]);
        if (file_exists(arena_printf(a, "%s/lockstep_ring.cuh", folder))) return arena_printf(a, "-I%s", folder);
    }
    return NULL;
}

/* Cuts "FOLDER/" out of a text, wherever it stands; its new length. */
static size_t folder_cut(char *text, size_t n, const char *folder)
{
    size_t cut = strlen(folder) + 1, to = 0;
    for (size_t i = 0; i < n;) {
        bool here = n - i >= cut && !memcmp(text + i, folder, cut - 1) && text[i + cut - 1] == '/';
        if (here)
            i += cut;
        else
            text[to++] = text[i++];
    }
    text[to] = 0;
    return to;
}

/* A source that is no file has no folder in what is said of it. */
static void unit_cut(struct unit *u, const char *folder)
{
    struct error *e = host_error();
    char *ptx = (char *)(uintptr_t)u->made.ptx.p;
    if (ptx) u->made.ptx.n = (u32)folder_cut(ptx, u->made.ptx.n, folder);
    if (u->made.log.p) u->made.log.n = folder_cut(u->made.log.p, u->made.log.n, folder);
    folder_cut(e->where, strlen(e->where), folder);
    folder_cut(e->text, strlen(e->text), folder);
}

static bool unit_read(lk_gpu *gpu, const char *path, const struct compile_options *o, const char *folder,
                      struct unit *u)
{
    u->compiled = is_cuda(path);
    /* PTX made from a .cu is named as if it lay beside it: that is where its source is looked for */
    text_add(&u->name, u->compiled ? "%.*s.ptx" : "%.*s", (int)strlen(path) - 3 * u->compiled, path);
    if (!u->compiled) return file_read(path, &u->text, host_error());
    __atomic_add_fetch(&gpu->compiling, 1, __ATOMIC_RELAXED);
    bool ok = compile_cu(path, o, &u->made, host_error());
    __atomic_sub_fetch(&gpu->compiling, 1, __ATOMIC_RELAXED);
    if (folder) unit_cut(u, folder);
    text_add(log_of(gpu, true), "%s", u->made.log.p ? u->made.log.p : "");
    u->text = u->made.ptx;
    return ok;
}

static void unit_free(struct unit *u)
{
    if (u->compiled)
        compile_result_free(&u->made);
    else
        base_free((void *)u->text.p);
    text_free(&u->name);
}

static lk_status load_units(lk_gpu *gpu, const char *path, const lk_compile *in, const struct compile_options *o,
                            const char *folder, lk_module **module)
{
    struct arena a = { 0 };
    struct unit *u = NEW_ARRAY(&a, struct unit, in->links + 1);
    struct dev_part *part = NEW_ARRAY(&a, struct dev_part, in->links + 1);
    struct compile_options other = *o;
    u32 n = 0;
    bool ok = true;
    other.names = 0;
    for (; ok && n <= in->links; n++) {
        ok = unit_read(gpu, n ? in->link[n - 1] : path, n ? &other : o, n ? NULL : folder, &u[n]);
        part[n] = (struct dev_part){ u[n].name.p, u[n].text };
    }
    lk_status status = ok ? host_load(gpu, part, n, u[0].compiled ? &u[0].made : NULL, module) : host_failed(gpu);
    if (status == LK_OK && u[0].compiled) keep_names(*module, path, o, &u[0].made);
    for (u32 i = 0; i < n; i++) unit_free(&u[i]);
    arena_free(&a);
    return status;
}

/* An instruction is of this very architecture alone, as wgmma is of sm_90a. */
static bool needs_features(const struct error *e, const char *arch)
{
    char needs[40];
    snprintf(needs, sizeof needs, " needs .target %.15sa", arch);
    return strstr(e->text, needs) != NULL;
}

lk_status lk_module_compile(lk_gpu *gpu, const char *path, const lk_compile *options, lk_module **module)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!path || !module) return HOST_MISSING(gpu, !path ? "path" : "place for the module");
    lk_compile in = { .size = sizeof in };
    if (options) memcpy(&in, options, MIN_OF(options->size, sizeof in));
    *module = NULL;
    if (!in.headers) return host_compile(gpu, path, &in, NULL, module);
    return host_refuse(gpu,
                       "headers that are not files belong to a source that is not a file: lk_module_compile_source");
}

lk_status host_compile(lk_gpu *gpu, const char *path, const lk_compile *given, const char *folder, lk_module **module)
{
    struct error *e = host_begin(gpu);
    lk_compile in = *given;
    struct text *log = log_of(gpu, false);
    if (log) text_free(log);
    char arch[16];
    snprintf(arch, sizeof arch, "sm_%u", gpu->device->card->sm);
    struct arena a = { 0 };
    const char **flag = NEW_ARRAY(&a, const char *, in.flags + 2), *headers = ring_headers(&a, path);
    u32 first = 0; /* PTX beside the source was made with it */
    if (headers) flag[first++] = headers;
    struct compile_options o = { .arch = arch,
                                 .arch_exact = in.arch != NULL,
                                 .flag = flag,
                                 .flags = in.flags + first,
                                 .own = MIN_OF(in.own, in.flags) + first,
                                 .name = in.name,
                                 .names = in.names,
                                 .fresh = in.fresh != 0,
                                 .gather = in.gather != 0 };
    if (in.flags) memcpy(flag + first, in.flag, in.flags * sizeof *flag);
    bool relocatable = !in.links;
    for (u32 i = 0; i < o.flags; i++) relocatable |= !strcmp(flag[i], "-rdc=true");
    o.linked = !relocatable;
    if (o.linked) flag[o.flags++] = "-rdc=true";
    if (in.arch && !compile_arch(in.arch, arch))
        error_set(e, ERR_INPUT, "there is no architecture `%.40s`; it is written sm_90, sm_90a or 90", in.arch);
    else if (in.compiler)
        compiler_parse(in.compiler, &o.compiler, e);
    lk_status status = e->code ? host_failed(gpu) : load_units(gpu, path, &in, &o, folder, module);
    if (status && !in.arch && needs_features(e, arch)) { /* nobody asked for less than the card has */
        host_begin(gpu);
        text_free(log_of(gpu, false));
        snprintf(arch, sizeof arch, "sm_%ua", gpu->device->card->sm);
        status = load_units(gpu, path, &in, &o, folder, module);
    }
    arena_free(&a);
    return status;
}

const char *lk_gpu_log(const lk_gpu *gpu)
{
    HOST_CALL("", USE(GPU, gpu));
    const struct text *log = log_of((lk_gpu *)gpu, false);
    return log && log->p ? log->p : "";
}

const char *lk_module_compiler(const lk_module *module)
{
    HOST_CALL("", USE(MODULE, module));
    return module->compiler;
}

const char *lk_module_arch(const lk_module *module)
{
    HOST_CALL("", USE(MODULE, module));
    return module->arch;
}

/* The text of a linked program, made when it is first asked for. */
static bool linked_text(lk_module *module, struct error *e)
{
    struct text t = { 0 };
    lock(&module->gpu->lock);
    if (!module->linked.p && ptx_print_linked(module->dev->ptx, &t, e))
        module->linked = (struct str){ arena_str(&module->mem, (struct str){ t.p, (u32)t.n }), (u32)t.n };
    bool ok = module->linked.p != NULL;
    unlock(&module->gpu->lock);
    text_free(&t);
    return ok;
}

const char *lk_module_ptx(lk_module *module, size_t *bytes)
{
    HOST_CALL("", USE(MODULE, module));
    struct ptx_module *m = module->dev->ptx;
    if (m->next && !linked_text(module, host_begin(module->gpu))) {
        host_failed(module->gpu);
        return NULL;
    }
    struct str text = m->next ? module->linked : m->text;
    if (bytes) *bytes = text.n;
    return text.p;
}

/* Whether this text leaves something to others: then it is assembled as a part, not as a whole program. */
static bool is_part(const struct ptx_module *p)
{
    bool any = p->first->next != NULL;
    for (u32 i = 0; i < p->nfunc && !any; i++)
        any = ptx_func_missing(p->func[i]) && !builtin_provides(p->func[i]->name);
    for (u32 i = 0; i < p->nvar && !any; i++) any = ptx_var_missing(p->var[i]);
    return any;
}

static bool assemble_part(lk_module *module, const struct ptx_module *p, struct error *e)
{
    struct arena a = { 0 };
    struct assembled *list;
    u32 n;
    bool ok = compile_assemble(&a, p->text, is_part(p), module->arch, module->max_registers, &list, &n, e);
    lock(&module->gpu->lock);
    for (u32 i = 0; ok && i < n; i++)
        for (u32 k = 0; k < module->kernels; k++) {
            struct lk_kernel *to = &module->kernel[k];
            if (to->func->module != p || !str_is(list[i].kernel, to->name)) continue;
            to->barriers = list[i].barriers;
            to->stack = list[i].stack;
            to->spill_stores = list[i].spill_stores;
            to->spill_loads = list[i].spill_loads;
            __atomic_store_n(&to->registers, list[i].registers, __ATOMIC_RELEASE); /* launches read it first */
        }
    launch_forget(); /* a block may have too many registers now */
    unlock(&module->gpu->lock);
    arena_free(&a);
    return ok;
}

lk_status lk_module_assemble(lk_module *module)
{
    HOST_CALL(LK_BAD_INPUT, USE(MODULE, module));
    struct error *e = host_begin(module->gpu);
    bool ok = true;
    for (const struct ptx_module *p = module->dev->ptx; ok && p; p = p->next) ok = assemble_part(module, p, e);
    if (!ok && !e->code)
        error_set(e, ERR_NOTHING, "no ptxas is here to count registers; it comes with the CUDA toolkit");
    return ok ? LK_OK : host_failed(module->gpu);
}

/* ---- what a kernel uses ---- */

lk_status lk_kernel_usage(const lk_kernel *kernel, lk_usage *usage)
{
    HOST_CALL(LK_BAD_INPUT, USE(KERNEL, kernel));
    if (!usage) return HOST_MISSING(kernel->module->gpu, "place for it");
    struct ptx_func *f = kernel->func;
    lk_usage u = { .size = usage->size,
                   .param_bytes = f->param_bytes,
                   .shared_bytes = shared_static_bytes(f),
                   .min_blocks = f->minnctapersm,
                   .max_registers = f->maxnreg };
    struct ptx_reach r;
    ptx_reach(&r, f);
    for (u32 i = 0; i < r.var.n; i++) {
        const struct ptx_var *v = r.var.p[i];
        u.local_bytes += v->space == SP_LOCAL ? v->size : 0;
        u.const_bytes += v->space == SP_CONST ? v->size : 0;
        u.global_bytes += v->space == SP_GLOBAL ? v->size : 0;
        u.dynamic_shared |= v->space == SP_SHARED && v->is_extern && !v->size;
    }
    arena_free(&r.mem);
    memcpy(u.max_threads, f->maxntid, sizeof u.max_threads);
    memcpy(u.required_threads, f->reqntid, sizeof u.required_threads);
    memcpy(u.cluster, f->reqnctapercluster, sizeof u.cluster);
    lock(&kernel->module->gpu->lock);
    u.assembled = kernel->registers != 0;
    u.registers = kernel->registers;
    u.barriers = kernel->barriers;
    u.stack_bytes = kernel->stack;
    u.spill_store_bytes = kernel->spill_stores;
    u.spill_load_bytes = kernel->spill_loads;
    unlock(&kernel->module->gpu->lock);
    memcpy(usage, &u, MIN_OF(usage->size, sizeof u));
    return LK_OK;
}

static struct occupancy occupancy_at(const struct card *p, const lk_usage *u, u32 threads, u64 dynamic)
{
    struct cta_needs needs = { .threads = threads,
                               .registers = u->registers ? u->registers : u->max_registers,
                               .shared = dynamic > UINT64_MAX - u->shared_bytes ? UINT64_MAX
                                                                                : u->shared_bytes + dynamic,
                               .shared_most = p->shared_optin };
    return occupancy_of(p, &needs);
}

/* The block that keeps most threads on a multiprocessor, the largest of several; *blocks: how many of it. */
static u32 block_suggested(const struct card *p, const lk_usage *u, u64 dynamic, u32 *blocks)
{
    u64 most = u->max_threads[0]
                   ? (u64)u->max_threads[0] * MAX_OF(u->max_threads[1], 1u) * MAX_OF(u->max_threads[2], 1u)
                   : p->threads_per_cta;
    u32 best = 0, block = 0;
    *blocks = 0;
    most = MIN_OF(most, (u64)p->threads_per_cta);
    for (u32 n = ((u32)most + 31) / 32 * 32; n; n -= 32) {
        u32 threads = MIN_OF(n, (u32)most), ctas = occupancy_at(p, u, threads, dynamic).ctas;
        if (ctas * threads <= best) continue;
        best = ctas * threads;
        block = threads;
        *blocks = ctas;
    }
    return block;
}

lk_status lk_kernel_occupancy(lk_kernel *kernel, uint32_t threads, uint64_t shared_bytes, lk_occupancy *occupancy)
{
    HOST_CALL(LK_BAD_INPUT, USE(KERNEL, kernel));
    lk_gpu *gpu = kernel->module->gpu;
    if (!occupancy) return HOST_MISSING(gpu, "place for it");
    const struct card *p = gpu->device->card;
    if (!threads || threads > p->threads_per_cta)
        return host_refuse(gpu, "a block has 1 to %u threads on this gpu, not %u", p->threads_per_cta, threads);
    host_assembled(kernel);
    lk_usage u = { .size = sizeof u };
    lk_kernel_usage(kernel, &u);
    struct occupancy o = occupancy_at(p, &u, threads, shared_bytes);
    u32 warps = (threads + 31) / 32, each;
    lk_occupancy out = { .size = occupancy->size,
                         .blocks = o.ctas,
                         .warps = o.ctas * warps,
                         .of_warps = p->warps_per_sm,
                         .limiter = occupancy_limit_name(o.by),
                         .by_blocks = o.most[LIMIT_CTAS],
                         .by_warps = o.most[LIMIT_WARPS],
                         .by_registers = o.most[LIMIT_REGISTERS],
                         .by_shared = o.most[LIMIT_SHARED],
                         .registers = u.registers ? u.registers : u.max_registers };
    out.suggested_block = block_suggested(p, &u, shared_bytes, &each);
    out.suggested_grid = each * p->sms;
    memcpy(occupancy, &out, MIN_OF(occupancy->size, sizeof out));
    return LK_OK;
}

static void undefined_find(lk_kernel *k)
{
    struct arena *a = &k->module->mem;
    struct ptx_reach r;
    VEC(const char *) list = { 0 };
    ptx_reach(&r, k->func);
    for (u32 i = 0; i < r.func.n; i++)
        if (ptx_func_missing(r.func.p[i]) && !builtin_provides(r.func.p[i]->name))
            VEC_PUSH(a, &list, arena_str(a, r.func.p[i]->name));
    for (u32 i = 0; i < r.var.n; i++)
        if (ptx_var_missing(r.var.p[i])) VEC_PUSH(a, &list, arena_str(a, r.var.p[i]->name));
    VEC_PUSH(a, &list, NULL);
    k->undefined = list.p;
    arena_free(&r.mem);
}

const char *lk_kernel_undefined(lk_kernel *kernel, uint32_t i)
{
    HOST_CALL("", USE(KERNEL, kernel));
    lock(&kernel->module->gpu->lock);
    if (!kernel->undefined) undefined_find(kernel);
    unlock(&kernel->module->gpu->lock);
    for (u32 k = 0; k < i; k++)
        if (!kernel->undefined[k]) return NULL;
    return kernel->undefined[i];
}

/* ---- the cache ---- */

uint32_t lk_cache_list(lk_cache_info *out, uint32_t most)
{
    struct arena a = { 0 };
    struct cache_entry *e;
    u32 n = cache_list(&a, &e);
    for (u32 i = 0; out && i < n && i < most; i++) {
        out[i] = (lk_cache_info){ .bytes = e[i].bytes, .used = e[i].used };
        snprintf(out[i].key, sizeof out[i].key, "%s", e[i].key);
        snprintf(out[i].source, sizeof out[i].source, "%s", e[i].source);
        snprintf(out[i].arch, sizeof out[i].arch, "%s", e[i].arch);
        snprintf(out[i].compiler, sizeof out[i].compiler, "%s", e[i].by);
    }
    arena_free(&a);
    return n;
}

uint32_t lk_cache_clear(void) { return cache_clear(); }

uint64_t lk_cache_limit(void) { return cache_limit(); }

int lk_cache_folder(char *out, size_t size) { return out && size && cache_folder(out, size); }
