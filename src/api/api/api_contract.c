/* Contracts of the public interface: reading the //! lines, binding them to a kernel, what they say of arguments and
 * launch. */
#include "contract/contract_json.h"
#include "api/host.h"
#include <inttypes.h>

lk_status lk_contract_read(lk_gpu *gpu, const char *file, const char *text, size_t bytes, lk_contract **contract)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return lk_contract_read_with(gpu, file, text, bytes, NULL, 0, contract);
}

lk_status lk_contract_read_with(lk_gpu *gpu, const char *file, const char *text, size_t bytes, const lk_choice *choices,
                                uint32_t count, lk_contract **contract)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!contract || (!text && bytes) || (!choices && count))
        return HOST_MISSING(gpu, !text && bytes      ? "text"
                                 : !choices && count ? "list of choices"
                                                     : "place for the contract");
    struct error *e = host_begin(gpu);
    *contract = NULL;
    if (bytes >= UINT32_MAX) {
        error_set(e, ERR_INPUT, "%s: a contract of 4 GiB and more is not taken", file);
        return host_failed(gpu);
    }
    lk_contract *c = handle_new(sizeof *c);
    if (!c) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    struct arena mem = { 0 };
    struct str copy = { arena_str(&mem, (struct str){ text, (u32)bytes }), (u32)bytes };
    struct choice_value *given = NEW_ARRAY(&mem, struct choice_value, count + 1);
    for (u32 i = 0; i < count; i++)
        given[i] = (struct choice_value){ choices[i].name ? choices[i].name : "",
                                          choices[i].value ? choices[i].value : "" };
    bool ok = contract_parse_with(&mem, arena_str(&mem, str_of(file ? file : "contract")), copy, given, count, &c->read,
                                  e);
    c->gpu = gpu;
    c->mem = mem;
    if (!ok) {
        arena_free(&c->mem);
        handle_free(c, sizeof *c);
        return host_failed(gpu);
    }
    pthread_mutex_init(&c->lock, NULL);
    handle_add(&c->handle, gpu, HANDLE_CONTRACT);
    *contract = c;
    return LK_OK;
}

lk_status lk_contract_json(const char *file, const char *text, size_t bytes, char **json)
{
    if (!json || (!text && bytes)) return HOST_MISSING(NULL, json ? "text" : "place for the JSON");
    struct error *e = host_begin(NULL);
    struct arena mem = { 0 };
    struct contract read;
    struct text out = { 0 };
    *json = NULL;
    if (!file) file = "contract";
    if (bytes >= UINT32_MAX) {
        error_set(e, ERR_INPUT, "%s: a contract of 4 GiB and more is not taken", file);
        return host_failed(NULL);
    }
    if (!contract_parse(&mem, file, (struct str){ text, (u32)bytes }, &read, e)) {
        arena_free(&mem);
        return host_failed(NULL);
    }
    contract_json(&read, &out);
    arena_free(&mem);
    *json = out.p;
    return LK_OK;
}

/* The block that a case is about. The choices of the case may be others than the usual ones, which the names of blocks
 * have in them: attention<float, 1> is the block of attention<float,0>. */
static const struct contract_kernel *block_of(const struct contract *c, const char *kernel)
{
    const struct contract_kernel *k = kernel ? contract_find(c, kernel, kernel) : NULL;
    for (u32 i = 0; kernel && !k && i < c->kernels.n; i++)
        if (!strcmp(c->kernels.p[i].name, kernel)) k = &c->kernels.p[i];
    for (u32 i = 0; kernel && !k && i < c->kernels.n; i++) {
        size_t n = strcspn(kernel, "<");
        if (strcspn(c->kernels.p[i].name, "<") == n && !strncmp(c->kernels.p[i].name, kernel, n)) k = &c->kernels.p[i];
    }
    return kernel || !c->kernels.n ? k : &c->kernels.p[0];
}

lk_status lk_contract_read_case(lk_gpu *gpu, const char *file, const char *text, size_t bytes, const char *kernel,
                                const char *line, lk_contract **contract)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!line) return HOST_MISSING(gpu, "case");
    lk_status status = lk_contract_read(gpu, file, text, bytes, contract);
    if (status != LK_OK) return status;
    struct error *e = host_begin(gpu);
    struct arena mem = { 0 };
    struct contract_case is;
    lk_contract *usual = *contract;
    const struct contract_kernel *k = block_of(&usual->read, kernel);
    *contract = NULL;
    bool ok = k ? case_read(&mem, k, line, &is, e)
                : error_set(e, ERR_INPUT, "%s has no contract for %.60s", file, kernel ? kernel : "a case");
    lk_choice choice[CONTRACT_CHOICES];
    for (u32 i = 0; ok && i < is.choices; i++) choice[i] = (lk_choice){ is.choice[i].name, is.choice[i].value };
    status = ok ? lk_contract_read_with(gpu, file, text, bytes, choice, is.choices, contract) : host_failed(gpu);
    if (status == LK_OK) {
        lk_contract *c = *contract;
        c->has_case = case_read(&c->mem, k, line, &c->is, e); /* names that live as long */
        for (u32 i = 0; status == LK_OK && i < is.layouts; i++)
            status = lk_contract_layout(c, is.layout[i].name, is.layout[i].value);
        if (status != LK_OK) {
            lk_contract_free(c);
            *contract = NULL;
        }
    }
    lk_contract_free(usual);
    arena_free(&mem);
    return status;
}

/* Launches that are held against it may still be in flight. */
static void contract_flights_wait(const lk_contract *c)
{
    if (!__atomic_load_n(&c->in_streams, __ATOMIC_ACQUIRE)) return;
    c->gpu->device->async->synchronise(c->gpu->device, &(struct error){ 0 });
}

u32 host_contract_ended(struct handle *h)
{
    lk_contract *c = (lk_contract *)h;
    /* a node of a graph may run at any time: what it is held against stays until its gpu ends */
    if (__atomic_load_n(&c->in_graphs, __ATOMIC_ACQUIRE) &&
        !(__atomic_load_n(&h->state, __ATOMIC_ACQUIRE) & HANDLE_WITH_GPU)) {
        __atomic_store_n(&h->state, HANDLE_WITH_GPU, __ATOMIC_RELEASE);
        return 0;
    }
    contract_flights_wait(c);
    handle_remove(h);
    arena_free(&c->bound_mem);
    arena_free(&c->mem);
    pthread_mutex_destroy(&c->lock);
    handle_free(c, sizeof *c);
    return 0;
}

lk_status lk_contract_free(lk_contract *contract)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(CONTRACT, contract));
    u32 none;
    return !contract || host_destroy(&call, &contract->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

const char *lk_contract_kernel(const lk_contract *contract, uint32_t i)
{
    HOST_CALL(NULL, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    return i < contract->read.kernels.n ? contract->read.kernels.p[i].name : NULL;
}

const char *lk_contract_flags(const lk_contract *contract, uint32_t i)
{
    HOST_CALL("", USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    const char *flags = i < contract->read.kernels.n ? contract->read.kernels.p[i].compile : NULL;
    return flags ? flags : "";
}

static bool contract_fail_at(const lk_contract *c, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool contract_fail_at(const lk_contract *c, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_at_list(host_error(), ERR_INPUT, c->read.file, c->read.text, at, fmt, ap);
    va_end(ap);
    return false;
}

/* The arguments of the block against the parameters of the kernel: how many, how large, floats for floats. */
static bool suits(const lk_contract *c, const struct contract_kernel *k, const lk_kernel *kernel)
{
    const struct ptx_func *f = kernel->func;
    if (k->args.n != f->nparam)
        return contract_fail_at(c, k->at, "%s takes %u argument%s, and this block has %u arg line%s", kernel->plain,
                                f->nparam, plural(f->nparam), k->args.n, plural(k->args.n));
    for (u32 i = 0; i < f->nparam; i++) {
        const struct contract_arg *g = &k->args.p[i];
        const struct ptx_var *v = f->param[i];
        u64 bytes = g->kind == CONTRACT_VALUE ? g->shape.type->bytes : g->kind == CONTRACT_BYTES ? g->nbytes : 8;
        if (bytes != v->size)
            return contract_fail_at(c, g->at, "parameter %u of %s has %" PRIu64 " bytes (.%s), and %s has %" PRIu64, i,
                                    kernel->plain, v->size, type_name[v->type], g->name, bytes);
        bool is_float = g->kind == CONTRACT_VALUE && g->shape.type->class == SCALAR_FLOAT,
             is_int = g->kind == CONTRACT_VALUE && g->shape.type->class <= SCALAR_UNSIGNED;
        char class = type_name[v->type][0];
        if ((is_float && (class == 'u' || class == 's') && bytes != 2) || (is_int && class == 'f'))
            return contract_fail_at(c, g->at, "parameter %u of %s is .%s, and %s is %s", i, kernel->plain,
                                    type_name[v->type], g->name, g->shape.type->name);
        if (g->kind != CONTRACT_VALUE && g->kind != CONTRACT_BYTES && class == 'f')
            return contract_fail_at(c, g->at, "parameter %u of %s is .%s, and %s is a buffer", i, kernel->plain,
                                    type_name[v->type], g->name);
    }
    return true;
}

static char *dims_text(lk_contract *c)
{
    const struct contract_kernel *k = c->bound.kernel;
    char *t = arena_printf(&c->bound_mem, "%s", "");
    for (u32 i = 0; i < k->dims.n; i++)
        t = arena_printf(&c->bound_mem, "%s%s%s=%" PRId64, t, i ? ", " : "", k->dims.p[i].name, c->bound.value[i].i);
    return t;
}

static char *oracle_text(lk_contract *c)
{
    const struct contract_texts *o = &c->bound.kernel->oracles;
    char *t = NULL;
    for (u32 i = 0; i < o->list.n; i++)
        t = arena_printf(&c->bound_mem, "%s%s%s", t ? t : "", t ? "\n" : "", o->list.p[i].text);
    return t;
}

static bool is_given(const struct dim_value *list, u32 n, const char *name)
{
    for (u32 i = 0; i < n; i++)
        if (!strcmp(list[i].name, name)) return true;
    return false;
}

lk_status lk_contract_bind(lk_contract *contract, const lk_kernel *kernel, const lk_dim *dims, uint32_t count)
{
    HOST_CALL(LK_BAD_INPUT, USE(CONTRACT, contract), USE(KERNEL, kernel));
    HOST_LOCK(&contract->lock);
    if (!dims && count) return HOST_MISSING(contract->gpu, "list of dims");
    lk_gpu *gpu = contract->gpu;
    if (__atomic_load_n(&contract->in_graphs, __ATOMIC_ACQUIRE))
        return host_refuse(gpu, "lk_contract_bind: a node of a graph is held against this contract; read the contract "
                                "once more and bind that one");
    if (__atomic_load_n(&contract->busy, __ATOMIC_ACQUIRE))
        return host_refuse(gpu, "lk_contract_bind: a launch is held against this contract just now; wait until the "
                                "launch has ended");
    contract_flights_wait(contract);
    struct error *e = host_begin(gpu);
    const struct contract_kernel *k = contract_find(&contract->read, kernel->plain, kernel->name);
    arena_free(&contract->bound_mem);
    contract->kernel = NULL;
    contract->bound = (struct bound){ 0 };
    if (!k) {
        error_set(e, ERR_NOTHING, "%s has no contract for %s", contract->read.file, kernel->plain);
        return host_failed(gpu);
    }
    u32 cased = contract->has_case ? contract->is.dims : 0, n = 0;
    struct dim_value *given = NEW_ARRAY(&contract->bound_mem, struct dim_value, count + cased + 1);
    for (u32 i = 0; i < count; i++) given[n++] = (struct dim_value){ dims[i].name, dims[i].value };
    for (u32 i = 0; i < cased; i++)
        if (!is_given(given, count, contract->is.dim[i].name)) given[n++] = contract->is.dim[i];
    if (!suits(contract, k, kernel) || !contract_bind_with(&contract->bound_mem, &contract->read, k, given, n,
                                                           contract->layout.p, contract->layout.n, &contract->bound, e))
        return host_failed(gpu);
    contract->kernel = (struct lk_kernel *)kernel;
    contract->dims = dims_text(contract);
    contract->oracle = oracle_text(contract);
    return LK_OK;
}

lk_status lk_contract_layout(lk_contract *contract, const char *argument, const char *layout)
{
    HOST_CALL(LK_BAD_INPUT, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    if (!argument || !layout) return HOST_MISSING(contract->gpu, argument ? "layout" : "argument");
    struct error *e = host_begin(contract->gpu);
    struct layout_value v;
    if (!layout_parse(str_of(layout), &v, e)) return host_failed(contract->gpu);
    v.name = arena_str(&contract->mem, str_of(argument));
    VEC_PUSH(&contract->mem, &contract->layout, v);
    return LK_OK;
}

int lk_contract_is_empty(const lk_contract *contract)
{
    HOST_CALL(0, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    return contract->kernel && contract->bound.is_empty;
}

static bool is_bound(const lk_contract *c, struct error *e)
{
    return c->kernel || error_set(e, ERR_INPUT, "the contract is bound to no kernel; lk_contract_bind does that");
}

const char *lk_contract_dims(const lk_contract *contract)
{
    HOST_CALL("", USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    return contract->kernel ? contract->dims : "";
}

const char *lk_contract_oracle(const lk_contract *contract)
{
    HOST_CALL("", USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    return contract->kernel && contract->oracle ? contract->oracle : "";
}

uint32_t lk_contract_argument_count(const lk_contract *contract)
{
    HOST_CALL(0, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    return contract->kernel ? contract->bound.kernel->args.n : 0;
}

lk_status lk_contract_argument(const lk_contract *contract, uint32_t i, lk_argument *out)
{
    HOST_CALL(LK_BAD_INPUT, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    if (!out) return HOST_MISSING(contract->gpu, "place for it");
    struct error *e = host_begin(contract->gpu);
    *out = (lk_argument){ .same = -1 };
    if (!is_bound(contract, e) ||
        (i >= contract->bound.kernel->args.n && !error_set(e, ERR_INPUT, "the contract has no argument %u", i)))
        return host_failed(contract->gpu);
    const struct bound_arg *b = &contract->bound.arg[i];
    const struct contract_arg *g = b->arg;
    *out = (lk_argument){
        .name = g->name,
        .type = g->shape.type ? g->shape.type->name : "",
        .kind = (lk_argument_kind)g->kind,
        .flow = (lk_flow)g->flow,
        .rank = g->shape.rank,
        .bytes = b->bytes,
        .offset = b->shape.offset,
        .align = b->align,
        .same = g->alias == NO_ALIAS ? -1 : (int32_t)g->alias,
        .filled = g->kind == CONTRACT_BUFFER && b->fill.kind != FILL_UNINIT,
    };
    out->line = 1;
    for (const char *p = contract->read.text.p; p < g->at; p++) out->line += *p == '\n';
    memcpy(out->dim, b->shape.dim, sizeof out->dim);
    memcpy(out->stride, b->shape.stride, sizeof out->stride);
    return LK_OK;
}

lk_status lk_contract_fill(const lk_contract *contract, uint32_t i, uint64_t seed, void *to)
{
    HOST_CALL(LK_BAD_INPUT, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    if (!to) return HOST_MISSING(contract->gpu, "memory to fill");
    struct error *e = host_begin(contract->gpu);
    if (!is_bound(contract, e) ||
        (i >= contract->bound.kernel->args.n && !error_set(e, ERR_INPUT, "the contract has no argument %u", i)))
        return host_failed(contract->gpu);
    const struct bound_arg *b = &contract->bound.arg[i];
    switch (b->arg->kind) {
    case CONTRACT_VALUE: memcpy(to, b->value, b->bytes); return LK_OK;
    case CONTRACT_BYTES: memcpy(to, b->arg->bytes, b->bytes); return LK_OK;
    case CONTRACT_NULL: memset(to, 0, 8); return LK_OK;
    case CONTRACT_BUFFER: break;
    }
    const char *word = contract->has_case ? case_contents(&contract->is, b->arg->name) : NULL;
    struct fill other;
    const struct fill *f = &b->fill;
    char path[4096];
    bool given = word && fill_given(word, b->arg->shape.type, &other);
    if (given || (word && fill_word_of(&b->fill, str_of(word), b->arg->shape.type, &other))) f = &other;
    if (given && other.kind == FILL_FILE && other.file[0] != '/') { /* it lies beside the contract */
        const char *file = contract->read.file, *slash = strrchr(file, '/');
        snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash + 1 - file) : 0, file, other.file);
        other.file = path;
    }
    if (contract->has_case) seed = contract->is.seed;
    if (fill_make(f, b->arg->shape.type, b->shape.extent, seed, i, to)) return LK_OK;
    if (f->kind == FILL_LIST) {
        error_set(e, ERR_INPUT, "%s=%.60s has %" PRIu64 " elements, and %s has %" PRIu64, b->arg->name, f->list,
                  fill_list_count(f->list), b->arg->name, b->shape.extent);
        return host_failed(contract->gpu);
    }
    contract_fail_at(contract, b->arg->fill.at, "%s is not there or does not have the %" PRIu64 " bytes of %s", f->file,
                     b->bytes, b->arg->name);
    return host_failed(contract->gpu);
}

void lk_contract_shape(const lk_contract *contract, lk_launch *launch)
{
    HOST_CALL(/* nothing */, USE(CONTRACT, contract));
    HOST_LOCK(&contract->lock);
    if (!contract->kernel || !launch) return;
    const struct bound *b = &contract->bound;
    for (u32 i = 0; i < 3; i++) {
        launch->grid[i] = b->has_grid ? b->grid[i] : launch->grid[i];
        launch->block[i] = b->has_block ? b->block[i] : launch->block[i];
    }
    launch->shared_bytes = (u32)b->shared;
    launch->cooperative = b->kernel->cooperative;
    for (u32 i = 0; i < 3 && b->kernel->cluster[0]; i++) launch->cluster[i] = b->cluster[i];
}
