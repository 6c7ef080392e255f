/* Contracts of the kernels of a program. A contract holds by the kernel's name and source: it is looked for in the file
 * that the kernel's line information names, or in that of --contract.
 *
 * The sizes of a launch are what its arguments say: an argument that has the name of a dim, or is set to one. Sizes
 * that no argument says are those of the launch line, where that is a dim alone. A contract is bound once for each set
 * of sizes, and kept: launches in flight look at it. */
#include "run/cu_contract.h"
#include "driver/cu_engine.h"
#include <inttypes.h>

enum { SIZES_MOST = 64 }; /* sets of sizes of a kernel that are held against its contract */

struct sized {
    lk_contract *contract; /* bound; NULL: these sizes are not allowed, which was said */
    s64 *dim;
    struct sized *next;
};
struct known { /* a kernel that was launched */
    const lk_kernel *kernel;
    const char *name; /* in the PTX: the handle may be used again */
    const char *path; /* of the file with its contract */
    struct str text;
    lk_contract *contract; /* read, for its names; NULL: it has none */
    const struct contract_kernel *block;
    struct sized *sizes;
    u32 count;
    bool told; /* that it is not held any more, or cannot be */
    struct known *next;
};
static struct {
    const char *file; /* --contract; NULL: by the line information */
    lock_t lock;      /* of what follows */
    struct known *kernels;
    struct arena mem;
} contracts = { .lock = LOCK_INIT };

bool cu_contract_option(const char *key, const char *value)
{
    if (strcmp(key, "contract")) return false;
    contracts.file = value;
    return true;
}

/* Reads the file of a kernel. One that cannot be read, or has no contract for it, is no mistake. */
static void read_contract(struct known *k, lk_gpu *gpu)
{
    const lk_kernel *kernel = k->kernel;
    struct error none = { 0 };
    k->path = contracts.file ? contracts.file : kernel->file;
    if (!k->path[0] || !file_read(k->path, &k->text, &none)) return;
    bool any = contracts.file || strstr(k->text.p, "//! kernel");
    if (any && lk_contract_read(gpu, k->path, k->text.p, k->text.n, &k->contract) != LK_OK)
        fprintf(stderr, "lockstep: the contract of %s is not held against its launches: %s\n", kernel->plain,
                lk_gpu_error(gpu));
    if (k->contract) k->block = contract_find(&k->contract->read, kernel->plain, kernel->name);
    if (k->block && k->block->args.n != kernel->func->nparam) k->block = NULL;
}

static struct known *known_of(const lk_kernel *kernel, lk_gpu *gpu)
{
    for (struct known *k = contracts.kernels; k; k = k->next)
        if (k->kernel == kernel && !strcmp(k->name, kernel->name)) return k;
    struct known *k = NEW(&contracts.mem, struct known);
    *k = (struct known){ .kernel = kernel, .next = contracts.kernels };
    k->name = arena_str(&contracts.mem, str_of(kernel->name));
    contracts.kernels = k;
    read_contract(k, gpu);
    return k;
}

/* ---- sizes ---- */

static bool integer_of(const struct scalar *t, const void *p, s64 *out)
{
    if (t->class == SCALAR_FLOAT || t->bytes > 8) return false;
    u64 v = 0;
    memcpy(&v, p, t->bytes);
    u32 unused = 64 - 8 * t->bytes;
    *out = t->class == SCALAR_SIGNED ? (s64)(v << unused) >> unused : (s64)v;
    return true;
}

/* Whether an expression is a dim alone. */
static bool is_dim(const struct contract_kernel *b, const struct expr *x, u32 *dim)
{
    if (!x || x->op != EX_NAME || x->symbol >= b->dims.n) return false;
    *dim = x->symbol;
    return true;
}

/* The value of each dim by the launch; false: `missing` is one that nothing says. */
static bool sizes_of(const struct contract_kernel *b, const lk_launch *l, s64 *dim, const char **missing)
{
    bool said[CONTRACT_DIMS] = { false };
    u32 d;
    s64 v;
    for (u32 i = 0; i < b->args.n; i++) {
        const struct contract_arg *g = &b->args.p[i];
        if (g->kind != CONTRACT_VALUE || !integer_of(g->shape.type, l->args[i], &v)) continue;
        bool own = false;
        for (d = 0; d < b->dims.n && !own; d++) own = !strcmp(b->dims.p[d].name, g->name);
        if (own ? (d--, true) : is_dim(b, g->value, &d)) {
            if (!said[d]) dim[d] = v;
            said[d] = true;
        }
    }
    for (u32 i = 0; i < 3; i++) {
        if (is_dim(b, b->grid[i], &d) && !said[d]) dim[d] = l->grid[i], said[d] = true;
        if (is_dim(b, b->block[i], &d) && !said[d]) dim[d] = l->block[i], said[d] = true;
    }
    for (d = 0; d < b->dims.n; d++) {
        const struct contract_dim *x = &b->dims.p[d];
        if (said[d]) continue;
        *missing = x->name;
        return false;
    }
    return true;
}

/* The contract for these sizes. Sizes that it does not allow are a finding, once. */
static struct sized *bound_for(struct known *k, lk_gpu *gpu, const s64 *dim)
{
    u32 n = k->block->dims.n;
    for (struct sized *s = k->sizes; s; s = s->next)
        if (!n || !memcmp(s->dim, dim, n * sizeof *dim)) return s;
    if (k->count == SIZES_MOST) return NULL;
    k->count++;
    struct sized *s = NEW(&contracts.mem, struct sized);
    lk_dim *given = NEW_ARRAY(&contracts.mem, lk_dim, n + 1);
    s->dim = NEW_ARRAY(&contracts.mem, s64, n + 1);
    s->next = k->sizes;
    k->sizes = s;
    for (u32 i = 0; i < n; i++) {
        s->dim[i] = dim[i];
        given[i] = (lk_dim){ k->block->dims.p[i].name, dim[i] };
    }
    if (lk_contract_read(gpu, k->path, k->text.p, k->text.n, &s->contract) == LK_OK &&
        lk_contract_bind(s->contract, k->kernel, given, n) == LK_OK)
        return s;
    struct place p;
    struct finding f = { .kind = F_contract,
                         .place = &p,
                         .kernel = k->kernel->plain,
                         .call = host_site(NULL),
                         .cause_key = k->count,
                         .cause = lk_gpu_error(gpu) };
    contract_place(&k->contract->read, k->block->at, &p);
    cu_found(&f);
    s->contract = NULL;
    return s;
}

/* ---- launches ---- */

static struct mem_object *find_object(void *d, u64 addr) { return ((struct device *)d)->ops->find(d, addr); }

/* Whether the arguments are what the contract says. A wrong one is a finding, and no reason to leave the launch out. */
static bool is_kept(const struct sized *s, const lk_kernel *kernel, const lk_launch *l)
{
    struct device *d = kernel->module->gpu->device;
    struct contract_launch c = { .bound = &s->contract->bound,
                                 .kernel = kernel->plain,
                                 .args = l->args,
                                 .nargs = l->arg_count,
                                 .shared = l->shared_bytes,
                                 .find = find_object,
                                 .ctx = d,
                                 .report = d->report };
    return contract_obeyed(&c);
}

static void say_once(struct known *k, const char *why, const char *what)
{
    if (k->told) return;
    k->told = true;
    fprintf(stderr, "lockstep: the contract of %s in %s is not held against %s\n", k->kernel->plain, k->path, why);
    if (what) fprintf(stderr, "lockstep: no argument and no word of its launch line says what `%s` is\n", what);
}

void cu_contract_launch(const lk_kernel *kernel, lk_launch *launch)
{
    lk_gpu *gpu = kernel->module->gpu;
    const char *missing = NULL;
    s64 dim[CONTRACT_DIMS] = { 0 };
    if (!(gpu->device->options.checks & CHECK_CONTRACT) || (!contracts.file && !kernel->file[0])) return;
    lock(&contracts.lock);
    struct known *k = known_of(kernel, gpu);
    struct sized *s = NULL;
    if (k->block && !sizes_of(k->block, launch, dim, &missing))
        say_once(k, "its launches", missing);
    else if (k->block && !(s = bound_for(k, gpu, dim)))
        say_once(k, "launches of more sizes than 64", NULL);
    unlock(&contracts.lock);
    if (s && s->contract && is_kept(s, kernel, launch)) launch->contract = s->contract;
}
