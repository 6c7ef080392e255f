/* Contracts of the kernels of a program. A contract holds by the kernel's name and source: it is looked for in the file
 * that the kernel's line information names, or in that of --contract.
 *
 * The sizes of a launch are what its arguments say: an argument that has the name of a dim, or is set to one. Sizes
 * that no argument says are those of the launch line, where that is a dim alone. Strides of an array are those that an
 * argument says, x.stride0; it is dense where none does. A contract is bound once for each set of sizes and strides,
 * and kept: launches in flight look at it. */
#include "engine/cu_contract.h"
#include "engine/cu_report.h"
#include "base/mapping.h"
#include "driver/cu_engine.h"
#include "driver/cu_image.h"
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

enum { SIZES_MOST = 64 }; /* sets of sizes of a kernel that are held against its contract */
enum { TOLD_MOST = 64 };  /* arguments of a kernel that are strides */

/* What a launch says: the dims of the block, then the arguments that are strides. */
struct sizes {
    s64 dim[CONTRACT_DIMS];
    u32 strides;
    struct told {
        u32 arg, along; /* x, 0 of x.stride0 */
        s64 value;
    } stride[TOLD_MOST];
};
struct sized {
    lk_contract *contract; /* bound; NULL: these sizes are not allowed, which was said */
    struct sizes is;
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
    u64 held; /* launches that were held against one */
} contracts = { .lock = LOCK_INIT };

bool cu_contract_option(const char *key, const char *value)
{
    if (strcmp(key, "contract")) return false;
    contracts.file = value;
    return true;
}

static bool read_in(const char *folder, const char *name, struct str *out)
{
    char path[PATH_MAX];
    struct error none = { 0 };
    return (size_t)snprintf(path, sizeof path, "%s%s", folder, name) < sizeof path && file_read(path, out, &none);
}

/* A name without a folder of its own is looked for beside the files of modules and beside the program, before it is one
 * of the folder that the program happens to be in. */
static bool source_read(const char *name, struct str *out)
{
    if (!name[0] || name[0] == '/') return name[0] && read_in("", name, out);
    const char *folder;
    for (u32 n = 0; (folder = cu_file_folder(n)); n++)
        if (read_in(folder, name, out)) return true;
    char self[PATH_MAX] = "";
    ssize_t n = readlink(mapping_exe(), self, sizeof self - 1);
    if (n > 0 && strrchr(self, '/')) {
        strrchr(self, '/')[1] = 0;
        if (read_in(self, name, out)) return true;
    }
    return read_in("", name, out);
}

/* Reads the file of a kernel. One that cannot be read, or has no contract for it, is no mistake. */
static void read_contract(struct known *k, lk_gpu *gpu)
{
    const lk_kernel *kernel = k->kernel;
    k->path = contracts.file ? contracts.file : kernel->file;
    if (!source_read(k->path, &k->text)) {
        if (!contracts.file) return;
        fprintf(stderr, "lockstep: --contract %s cannot be read\n", k->path);
        cu_report_undone();
        return;
    }
    bool any = contracts.file || strstr(k->text.p, "//! kernel");
    if (any && lk_contract_read(gpu, k->path, k->text.p, k->text.n, &k->contract) != LK_OK) {
        fprintf(stderr, "lockstep: the contract of %s is not held against its launches: %s\n", kernel->plain,
                lk_gpu_error(gpu));
        if (contracts.file) cu_report_undone(); /* of a source it may be a comment that only looks like one */
    }
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

/* A value that is a stride of an array, x.stride0. */
static void stride_of(const struct contract_kernel *b, const struct expr *x, s64 v, struct sizes *out)
{
    if (!x || x->op != EX_NAME || out->strides == TOLD_MOST) return;
    for (u32 i = 0; i < b->args.n; i++) {
        const struct contract_arg *g = &b->args.p[i];
        if (g->kind != CONTRACT_BUFFER || g->strides == UINT32_MAX || x->symbol - g->strides >= g->shape.rank) continue;
        out->stride[out->strides++] = (struct told){ i, x->symbol - g->strides, v };
        return;
    }
}

/* The value of each dim by the launch; false: `missing` is one that nothing says. */
static bool sizes_of(const struct contract_kernel *b, const lk_launch *l, struct sizes *out, const char **missing)
{
    bool said[CONTRACT_DIMS] = { false };
    s64 *dim = out->dim;
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
        } else {
            stride_of(b, g->value, v, out);
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

static bool same_sizes(const struct sizes *a, const struct sizes *b, u32 dims)
{
    bool same = !memcmp(a->dim, b->dim, dims * sizeof *a->dim) && a->strides == b->strides;
    for (u32 i = 0; same && i < a->strides; i++) same = a->stride[i].value == b->stride[i].value;
    return same;
}

/* The layouts of arrays, by the strides that the launch tells. */
static void strides_tell(lk_contract *c, const struct contract_kernel *b, const struct sizes *is)
{
    for (u32 k = 0; k < b->args.n; k++) {
        struct layout_value v = { .name = b->args.p[k].name, .layout = LAYOUT_STRIDES };
        for (u32 i = 0; i < is->strides; i++) {
            if (is->stride[i].arg != k) continue;
            v.told |= 1u << is->stride[i].along;
            v.stride[is->stride[i].along] = (u64)is->stride[i].value;
        }
        if (v.told) VEC_PUSH(&c->mem, &c->layout, v);
    }
}

/* The contract for these sizes. Sizes that it does not allow are a finding, once. */
static struct sized *bound_for(struct known *k, lk_gpu *gpu, const struct sizes *is)
{
    u32 n = k->block->dims.n;
    for (struct sized *s = k->sizes; s; s = s->next)
        if (same_sizes(&s->is, is, n)) return s;
    if (k->count == SIZES_MOST) return NULL;
    k->count++;
    struct sized *s = NEW(&contracts.mem, struct sized);
    lk_dim *given = NEW_ARRAY(&contracts.mem, lk_dim, n + 1);
    s->is = *is;
    s->next = k->sizes;
    k->sizes = s;
    for (u32 i = 0; i < n; i++) given[i] = (lk_dim){ k->block->dims.p[i].name, is->dim[i] };
    if (lk_contract_read(gpu, k->path, k->text.p, k->text.n, &s->contract) == LK_OK &&
        (strides_tell(s->contract, k->block, is), true) && lk_contract_bind(s->contract, k->kernel, given, n) == LK_OK)
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
    if (contracts.file) cu_report_undone();
}

void cu_contract_launch(const lk_kernel *kernel, lk_launch *launch)
{
    lk_gpu *gpu = kernel->module->gpu;
    const char *missing = NULL;
    struct sizes is = { 0 };
    if (!(gpu->device->options.checks & CHECK_CONTRACT) || (!contracts.file && !kernel->file[0])) return;
    lock(&contracts.lock);
    struct known *k = known_of(kernel, gpu);
    struct sized *s = NULL;
    if (k->block && !sizes_of(k->block, launch, &is, &missing))
        say_once(k, "its launches", missing);
    else if (k->block && !(s = bound_for(k, gpu, &is)))
        say_once(k, "launches of more sizes than 64", NULL);
    contracts.held += s != NULL;
    unlock(&contracts.lock);
    if (s && s->contract && is_kept(s, kernel, launch)) launch->contract = s->contract;
}

void cu_contract_end(void)
{
    if (!contracts.file || contracts.held || !contracts.kernels) return;
    fprintf(stderr, "lockstep: --contract %s: no launch was of a kernel that has a contract there\n", contracts.file);
    cu_report_undone();
}
