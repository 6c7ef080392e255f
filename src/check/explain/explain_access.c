/* A bad access in words: which object, which element, and the arithmetic that led there. Addresses are shown as
 * object + offset: where the arena lies differs between machines, and a report does not. */
#include "sim/asked.h"
#include "explain/explain_access.h"
#include "sim/cluster.h"
#include "sim/sim_run.h"
#include "base/demangle.h"
#include "code/shared_layout.h"
#include "mem/host_pointer.h"
#include "explain/explain_fault.h"
#include "explain/explain_guard.h"
#include "explain/explain_index.h"
#include "sim/finding_place.h"
#include "check/views.h"
#include "units/heap.h"
#include "check/overflow_watch.h"
#include <inttypes.h>

static const char *access_word(const struct site *s)
{
    return site_is_load(s) ? "read" : site_is_store(s) ? "write" : "atomic";
}

static const char *space_word(u32 space)
{
    static const char *const t[] = { [SP_GLOBAL] = "global", [SP_CONST] = "constant", [SP_SHARED] = "shared",
                                     [SP_LOCAL] = "local",   [SP_PARAM] = "param",    [SP_GENERIC] = "generic" };
    return space < COUNT_OF(t) && t[space] ? t[space] : "generic";
}

/* ---- the object ---- */

/* nvcc declares every array as bytes, and a variable has no type of its own: its elements are what the narrowest
 * instruction on it takes. */
static u32 element_width(const struct access *a, const struct ptx_var *v)
{
    const struct lowered *l = a->warp->code->low;
    u32 w = a->site->width;
    for (u32 k = 0; v && k < l->nsite; k++)
        if (l->site[k].prov.kind == FROM_VAR && l->site[k].prov.var == v && l->site[k].width < w) w = l->site[k].width;
    return w;
}

static void untyped(struct arena *mem, struct finding *f, u32 width)
{
    f->element_size = f->object_size % width ? 0 : width;
    f->object_type = f->element_size ? arena_printf(mem, "b%u[%" PRIu64 "]", width * 8, f->object_size / width) : NULL;
}

static void describe_object(const struct access *a, const struct lane_check *c, struct arena *mem, struct finding *f)
{
    const struct mem_object *o = c->object;
    f->object = arena_printf(mem, "%s", o->name);
    f->object_type = o->type;
    f->object_base = o->base;
    f->object_size = o->size;
    f->element_size = o->element_size;
    view_describe(a->warp->cta->launch, o, mem, f);
    if (!o->element_size && a->site->width > f->element_size) { /* the kernel takes wider elements than the array has */
        f->element_size = 0;
        f->object_type = o->type;
    }
    if (!f->element_size && !f->object_type)
        untyped(mem, f, element_width(a, a->site->prov.kind == FROM_VAR ? a->site->prov.var : NULL));
    if (o->state == MEM_FREED)
        f->object_note = arena_printf(mem, "allocated %s%s, freed %s%s", o->alloc_site ? "at " : "",
                                      o->alloc_site ? o->alloc_site : "by the host", o->free_site ? "at " : "",
                                      o->free_site ? o->free_site : "by the host");
    else if (o->alloc_site && c->fault != FAULT_MISALIGNED)
        f->object_note = arena_printf(mem, "%s, %" PRIu64 " byte%s, was allocated at %s", o->name, o->size,
                                      plural(o->size), o->alloc_site);
    else if (!c->strict && (c->fault == FAULT_PAST || c->fault == FAULT_INVALID))
        f->object_note = arena_printf(mem, "%s is the nearest allocation; where the pointer came from is not known",
                                      o->name);
    view_note(a->warp->cta->launch, o, mem, f);
}

/* An array that only the code tells of has no name: "local array 2" is the second of its frame. */
static const char *part_name(struct arena *mem, const struct lowered *l, const struct ptx_var *v)
{
    return arena_printf(mem, "local array %u", (u32)(v - l->frame_part) + 1);
}

static void describe_array(const struct access *a, const struct lane_check *c, u32 lane, struct arena *mem,
                           struct finding *f)
{
    bool shared = a->space[lane] == SP_SHARED;
    f->object = shared ? "shared memory" : "local memory";
    if (c->var && c->var->source_name.n)
        f->object = arena_str(mem, c->var->source_name);
    else if (shared && c->var)
        f->object = name_of_variable(mem, c->var->name);
    else if (c->var && c->var->frame) {
        const struct lowered *l = a->warp->code->low;
        char name[256];
        name_plain(l->func->name, name, sizeof name);
        f->object = part_name(mem, l, c->var);
        f->object_note = arena_printf(
            mem,
            "%s has %u local arrays, numbered by address and taken to reach up to the next; -G gives their names and "
            "sizes",
            name, l->nframe_part);
    }
    f->object_base = c->lo - (shared ? cluster_base(c->owner ? c->owner->rank : a->warp->cta->rank) : 0);
    f->object_size = c->size;
    if (shared && c->owner && c->owner != a->warp->cta) f->object_note = cluster_whose(mem, c->owner);
    untyped(mem, f, element_width(a, shared ? c->var : NULL));
}

/* ---- outside ---- */

/* Whether the element of every lane that meant this object is the number of its thread and a constant. A single lane
 * shows nothing but the number itself. */
static struct index_rule index_rule(enum index_kind kind, const struct access *a, const struct finding *f, u32 bad)
{
    enum { FAR = 65 };
    const struct warp *w = a->warp;
    const struct sim_launch *in = w->cta->launch->in;
    struct index_rule r = { .holds = true };
    u32 seen = 0;
    EACH_SET (l, a->mask) {
        u32 t = (w->id * LANES + l) % in->block[0];
        if (!(bad >> l & 1) && a->addr[l] - f->object_base >= f->object_size) continue;
        s64 off = (s64)(a->addr[l] - f->object_base),
            number = (s64)t + (kind == INDEX_GRID ? (s64)w->cta->id[0] * in->block[0] : 0);
        s64 shift = off / f->element_size - number;
        if (off % f->element_size || (seen++ && shift != r.shift)) return (struct index_rule){ 0 };
        r.shift = shift;
    }
    return (seen > 1 || !r.shift) && r.shift < FAR && r.shift > -FAR ? r : (struct index_rule){ 0 };
}

enum { STEPS = 64 };
struct search {
    u32 reg[STEPS], n;
    const struct site *load;
    u32 loads;
};

static void search_operand(const struct lowered *l, struct search *x, const struct opnd *o)
{
    if (o->kind != O_REG || x->n == STEPS || l->prov[o->reg].kind == FROM_PARAM) return;
    for (u32 k = 0; k < x->n; k++)
        if (x->reg[k] == o->reg) return;
    x->reg[x->n++] = o->reg;
}

/* The one load of a parameter's memory, narrower than a pointer, that the address depends on through integer
 * arithmetic; NULL: there is none, or several. */
static const struct site *index_load(const struct lowered *l, const struct opnd *address)
{
    struct search x = { .n = 0 };
    if (address->kind != O_REG) return NULL;
    x.reg[x.n++] = address->reg;
    for (u32 at = 0; at < x.n; at++)
        for (u32 k = 0; k < l->nop; k++) {
            const struct lop *o = &l->op[k];
            bool load = o->kind == K_MEM && lop_is_load(o) && l->site[o->site].vec == 1;
            const struct opnd *d = lop_dst(o, 0);
            if (o->dead || d->kind != O_REG || d->reg != x.reg[at] || (o->kind != K_LANE && !load)) continue;
            if (load && l->site[o->site].prov.kind == FROM_PARAM && l->site[o->site].width < 8) {
                x.load = &l->site[o->site];
                x.loads++;
            }
            if (load || type_is_float((enum ptx_type)isa_forms[o->form].type)) continue;
            search_operand(l, &x, lop_src(o, 0));
            search_operand(l, &x, lop_src(o, 1));
            if (isa_operand_type(&isa_forms[o->form], 3) != T_PRED) search_operand(l, &x, lop_src(o, 2));
        }
    return x.loads == 1 ? x.load : NULL;
}

static void explain_past(const struct access *a, u32 first, u32 mask, struct arena *mem, struct finding *f)
{
    u32 e = f->element_size;
    u64 off = a->addr[first] - f->object_base, n = e ? f->object_size / e : 0;
    bool before = a->addr[first] < f->object_base;
    const struct lop *o = &a->warp->code->low->op[a->insn->op];
    /* then what the threads' numbers are does not matter */
    bool loaded = index_load(a->warp->code->low, lop_src(o, a->site->which)) != NULL;
    if (loaded && e && !before && off >= f->object_size) {
        f->cause = arena_printf(mem, "index %" PRIu64 ", but %s has %" PRIu64 " element%s%s", off / e, f->object, n,
                                plural(n), n > 1 ? arena_printf(mem, ": the last is [%" PRIu64 "]", n - 1) : "");
        return;
    }
    if (!loaded) f->form = formula_of(a, f);
    for (u32 k = 0; e && !loaded && k < INDEX_KINDS; k++) f->index[k] = index_rule((enum index_kind)k, a, f, mask);
    if (before && (f->index[INDEX_GRID].holds || f->index[INDEX_BLOCK].holds)) {
        f->joint_cause =
            (struct joint){ arena_printf(mem, "the address lies %" PRIu64 " byte%s before the start of %s: ", 0 - off,
                                         plural(0 - off), f->object),
                            GAP_INDEX, NULL };
        f->joint_fix.gap = GAP_GUARD;
    } else if (before) {
        f->cause =
            arena_printf(mem,
                         "the address lies %" PRIu64
                         " byte%s before the start of %s: the index is negative, or was computed with too few bits",
                         0 - off, plural(0 - off), f->object);
        f->fix = "Check the lower bound of the index, and that it is signed and wide enough.";
    } else if (!e)
        f->cause = arena_printf(mem, "byte offset %" PRIu64 ", but %s has %" PRIu64 " bytes", off, f->object,
                                f->object_size);
    else if (off < f->object_size) {
        f->cause = arena_printf(mem,
                                "the access covers the elements %" PRIu64 "..%" PRIu64 ", but %s has only %" PRIu64,
                                off / e, (off + a->bytes - 1) / e, f->object, n);
        if (a->bytes > e)
            f->fix = arena_printf(mem,
                                  "Test the last element of the access, i + %u < n, and take what remains one by one, "
                                  "or make %s a multiple of %u elements long.",
                                  a->bytes / e - 1, f->object, a->bytes / e);
    } else if (!explain_units(a, n, mem, f) && !explain_guard(a, off / e, n, mem, f)) {
        f->joint_cause.gap = GAP_INDEX;
        f->joint_fix.gap = GAP_GUARD;
    }
}

static void explain_neighbour(const struct access *a, const struct lane_check *c, u32 first, struct arena *mem,
                              struct finding *f)
{
    u64 addr = a->addr[first];
    bool before = addr < f->object_base;
    f->neighbour = c->hit->name;
    f->form = formula_of(a, f);
    f->cause = arena_printf(
        mem, "the pointer came from %s, and was moved %" PRIu64 " bytes %s its start: there lies %s", f->object,
        before ? f->object_base - addr : addr - f->object_base, before ? "before" : "past", f->neighbour);
}

/* A local variable, not the whole frame: DWARF names it, or the code takes its address. */
static bool is_variable(const struct lane_check *c) { return c->var && (c->var->source_name.n || c->var->frame); }

/* The local array that an access hits instead of its own. */
static const char *part_hit(const struct access *a, const struct lane_check *c, u64 at, struct arena *mem)
{
    const struct lowered *l = a->warp->code->low;
    u64 base = a->warp->cur->fr->local_base;
    for (u32 k = 0; c->var && c->var->frame && k < l->nframe_part; k++)
        if (at - base - l->frame_part[k].offset < l->frame_part[k].size && &l->frame_part[k] != c->var)
            return part_name(mem, l, &l->frame_part[k]);
    return NULL;
}

static struct joint up_to_end(const char *words) { return (struct joint){ words, GAP_END, NULL }; }

/* Beyond the frame through a pointer, in a function that calls others: one of them may have handed out the address of
 * its own. */
static bool outlives(const struct access *a, const struct lane_check *c, u32 lane)
{
    const struct lowered *l = a->warp->code->low;
    if (a->site->space != SP_GENERIC || a->addr[lane] < c->lo + c->size) return false;
    for (u32 k = 0; k < l->ncall; k++)
        if (!l->call[k].builtin) return true;
    return false;
}

static void explain_array(const struct access *a, const struct lane_check *c, u32 lane, u32 mask, struct arena *mem,
                          struct finding *f)
{
    const struct launch *l = a->warp->cta->launch;
    bool shared = a->space[lane] == SP_SHARED;
    u64 at = a->addr[lane];
    if (shared && c->var && !c->var->size && at >= c->lo && at + a->bytes <= l->sim->card->shared_optin) {
        u32 given = l->in->shared_bytes;
        f->launch_sized = true;
        f->joint_cause = up_to_end(arena_printf(
            mem, "%s is dynamic shared memory: the launch gave %s%u byte%s, and the accesses reach up to byte ",
            f->object, given ? "only " : "", given, plural(given)));
        f->joint_fix = (struct joint){ "Launch with at least ", GAP_END, " bytes of dynamic shared memory." };
        return;
    }
    if ((shared && c->var) || is_variable(c))
        explain_past(a, lane, mask, mem, f);
    else if (at < c->lo)
        f->cause = arena_printf(mem,
                                "the address lies %" PRIu64 " byte%s before the start of %s: the index is negative",
                                c->lo - at, plural(c->lo - at), shared ? f->object : "the local variables");
    else if (shared)
        f->joint_cause = up_to_end(arena_printf(
            mem, "the block has %" PRIu64 " bytes of shared memory, and the access reaches byte ", c->size));
    else {
        char name[256];
        name_plain(a->warp->code->low->func->name, name, sizeof name);
        if (outlives(a, c, lane)) {
            f->cause = arena_printf(mem,
                                    "the local variables of %s take %" PRIu64
                                    " bytes, and the address lies beyond them, where functions that it calls have "
                                    "theirs: the pointer has outlived the call that made it",
                                    name, c->size);
            f->fix = "Let the caller own the variable and pass its address down, or return the value.";
        } else
            f->joint_cause = up_to_end(arena_printf(
                mem,
                "the local variables of %s%s take %" PRIu64 " bytes, and the accesses of this line reach up to byte ",
                name, a->warp->cur->fr->up ? " and of those that call it" : "", c->size));
    }
    const struct ptx_var *hit = shared && c->var ? shared_variable(l->kernel->func, at) : NULL;
    if (hit && hit != c->var) f->neighbour = name_of_variable(mem, hit->name);
    if (!shared) f->neighbour = part_hit(a, c, at, mem);
}

/* ---- an index that was loaded, named ---- */

/* Which argument supplied the index of an access that went astray. */
static void explain_source(const struct access *a, struct arena *mem, struct finding *f)
{
    const struct lowered *l = a->warp->code->low;
    const struct launch *la = a->warp->cta->launch;
    const struct lop *o = &l->op[a->insn->op];
    const struct site *s = f->origin || f->kind == F_host_pointer || f->kind == F_local_pointer
                               ? NULL
                               : index_load(l, lop_src(o, a->site->which));
    u64 v;
    if (!s) return;
    memcpy(&v, la->param.block + s->prov.off, 8);
    const struct mem_object *from = mem_find(la->sim->mem, v);
    for (u32 k = 0; from && k < la->kernel->func->nparam; k++)
        if (la->kernel->func->param[k]->offset == s->prov.off) {
            f->origin = finding_place(mem, l, s->op);
            f->origin_text = arena_printf(mem, "the index comes from %s (%s), read here", from->name,
                                          ptx_argument(la->kernel->func, k).text);
            f->fix = arena_printf(mem, "Check what %s holds against the size of %s before it is used as an index.",
                                  from->name, f->object ? f->object : "the array");
        }
}

/* ---- shared memory of other CTAs ---- */

const char *cluster_whose(struct arena *mem, const struct cta *c)
{
    return arena_printf(mem, "in the shared memory of block (%u,%u,%u), rank %u of the cluster", c->id[0], c->id[1],
                        c->id[2], c->rank);
}

static void explain_no_cta(const struct access *a, u32 lane, struct arena *mem, struct finding *f)
{
    const struct launch *l = a->warp->cta->launch;
    u32 rank = cluster_rank(a->addr[lane]);
    f->cause =
        l->per == 1
            ? arena_printf(mem, "the address is of rank %u, and the launch has no clusters: each block is alone", rank)
            : arena_printf(mem, "the address is of rank %u, and the clusters of this launch have %u blocks (%u,%u,%u)",
                           rank, l->per, l->cluster[0], l->cluster[1], l->cluster[2]);
    if (l->per == 1)
        f->fix = "Launch with a cluster dimension (cudaLaunchKernelEx, __cluster_dims__, --cluster X,Y,Z).";
    for (u32 n = 0; n < LANES; n++) f->addr[n] = cluster_offset(a->addr[n]);
}

static void explain_gone(const struct access *a, const struct cta *owner, struct arena *mem, struct finding *f)
{
    const struct exit_record *x = NULL;
    for (u32 n = 0; n < owner->nwarps && !x; n++)
        if (owner->warp[n]->exits.n) x = &owner->warp[n]->exits.at[0];
    f->cause = arena_printf(
        mem, "block (%u,%u,%u), rank %u of the cluster, has left: no barrier of the cluster kept it until this access",
        owner->id[0], owner->id[1], owner->id[2], owner->rank);
    if (x) f->other = finding_place(mem, x->low, x->op);
    (void)a;
}

/* Whether the kernel may learn by other means than barrier.cluster that another CTA has started: it reads what that may
 * have written to global memory, strongly. */
static bool may_know(const struct lowered *l)
{
    for (u32 k = 0; k < l->nsite; k++) {
        const struct site *s = &l->site[k];
        bool strong = s->sem != SEM_WEAK && (site_is_load(s) || site_fetches(s));
        if (strong && (s->space == SP_GLOBAL || (s->space == SP_GENERIC && s->prov.kind != FROM_VAR))) return true;
    }
    return l->ncall != 0;
}

void explain_early(const struct access *a, const struct lane_check *c)
{
    struct warp *w = a->warp;
    u32 lanes = 0;
    for (u32 m = a->ok; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (a->space[l] == SP_SHARED && c[l].owner != w->cta) lanes |= m & -m;
    }
    if (!lanes || !(w->cta->launch->in->checks & CHECK_BOUNDS) || may_know(w->code->low)) return;
    struct arena mem = { 0 };
    u32 first = (u32)__builtin_ctz(lanes);
    const struct cta *owner = c[first].owner;
    struct finding f = { .kind = F_cluster_unstarted,
                         .access = access_word(a->site),
                         .space = "shared",
                         .width = a->bytes,
                         .cause_key = c[first].var ? str_hash(c[first].var->name) : 0 };
    for (u32 l = 0; l < LANES; l++) f.addr[l] = cluster_offset(a->addr[l]);
    describe_array(a, &c[first], first, &mem, &f);
    f.cause = arena_printf(&mem,
                           "block (%u,%u,%u), rank %u of the cluster, need not have started: no thread has passed a "
                           "barrier of the cluster yet",
                           owner->id[0], owner->id[1], owner->id[2], owner->rank);
    finding_add(w, a->insn->op, &f, lanes);
    arena_free(&mem);
}

/* The launch is reported here for an access outside of the life of memory. */
static void misused(const struct access *a, const struct mem_object *o)
{
    const struct launch *l = a->warp->cta->launch;
    sim_misuse *listener = __atomic_load_n(&l->sim->ask.misused, __ATOMIC_ACQUIRE);
    if (o && listener) listener(l->sim->ask.misused_self, l->in->op, o);
}

/* Freed memory, or not allocated yet. */
static void explain_life(const struct access *a, const struct lane_check *x, struct arena *mem, struct finding *f)
{
    misused(a, x->object);
    if (x->fault == FAULT_RESERVED) {
        f->cause = arena_printf(mem, "the operation that allocates %s has not run: nothing orders this kernel after it",
                                x->object->name);
        return;
    }
    if (x->object && x->object->kind == MEM_HEAP)
        f->fix = "Free it after the last access, in whichever thread that is.";
    if (x->object && __atomic_load_n(&x->object->let_go, __ATOMIC_ACQUIRE)) {
        f->cause = arena_printf(mem,
                                "the host has freed %s, which is memory of a pool: the call waits for nothing that "
                                "still uses it",
                                x->object->name);
        f->fix = "Wait for the last kernel that uses it (cudaStreamSynchronize) before cudaFree, or free it in the "
                 "stream of that kernel, with cudaFreeAsync.";
        return;
    }
    if (x->object && x->object->kind == MEM_POOL) {
        f->kind = F_use_after_free_stream;
        f->cause = arena_printf(mem, "the operation that frees %s has run: nothing orders this kernel before it",
                                x->object->name);
    }
}

static void explain_fault(const struct access *a, const struct lane_check *x, u32 first, u32 mask, struct arena *mem,
                          struct finding *f)
{
    switch (x->fault) {
    case FAULT_NEIGHBOUR: explain_neighbour(a, x, first, mem, f); break;
    case FAULT_PAST: explain_past(a, first, mask, mem, f); break;
    case FAULT_MISALIGNED: explain_misaligned(a, first, mask, mem, f); break;
    case FAULT_SHARED_PAST:
    case FAULT_LOCAL_PAST: explain_array(a, x, first, mask, mem, f); break;
    case FAULT_FOREIGN_LOCAL: explain_foreign(a, x, mem, f); break;
    case FAULT_NO_CTA: explain_no_cta(a, first, mem, f); break;
    case FAULT_CTA_GONE: explain_gone(a, x->owner, mem, f); break;
    case FAULT_NULL_POINTER: explain_null(a, first, mem, f); break;
    case FAULT_INVALID: explain_invalid(a, first, mem, f); break;
    case FAULT_FREED:
    case FAULT_RESERVED: explain_life(a, x, mem, f); break;
    case FAULT_UNMAPPED: explain_unmapped(x->object, x->closed_at, mem, f); break;
    default: break;
    }
    if (x->fault == FAULT_PAST || x->fault == FAULT_NEIGHBOUR || x->fault == FAULT_INVALID ||
        x->fault == FAULT_NULL_POINTER) {
        overflow_explain(a, mask, mem, f);
        explain_source(a, mem, f);
    }
}

/* Which findings are one. */
static u64 cause_key(const struct lane_check *x, u32 first, const struct finding *f)
{
    u64 key = f->cause_key;
    /* every thread has its own piece of the heap: what counts is where it was taken */
    if (f->kind != F_host_pointer)
        key = x->object && x->object->kind == MEM_HEAP && x->object->alloc_site
                  ? str_hash(str_of(x->object->alloc_site))
              : x->object ? x->object->id
              : x->var    ? str_hash(x->var->name) + x->var->within
                          : 0;
    /* before its start is another mistake than past its end */
    return f->object && f->addr[first] < f->object_base ? ~key : key;
}

void explain_lanes(const struct access *a, const struct lane_check *c, u32 mask)
{
    static const u8 kind[] = { [FAULT_PAST] = F_bounds,
                               [FAULT_NEIGHBOUR] = F_bounds_neighbour,
                               [FAULT_NULL_POINTER] = F_null_pointer,
                               [FAULT_INVALID] = F_invalid_address,
                               [FAULT_FREED] = F_use_after_free,
                               [FAULT_RESERVED] = F_use_before_alloc,
                               [FAULT_UNMAPPED] = F_unmapped,
                               [FAULT_READ_ONLY] = F_read_only,
                               [FAULT_MISALIGNED] = F_misaligned,
                               [FAULT_SHARED_PAST] = F_bounds_shared,
                               [FAULT_LOCAL_PAST] = F_bounds_local,
                               [FAULT_NO_CTA] = F_cluster_rank,
                               [FAULT_FOREIGN_LOCAL] = F_local_pointer,
                               [FAULT_CTA_GONE] = F_cluster_exited };
    struct warp *w = a->warp;
    struct arena mem = { 0 };
    u32 first = (u32)__builtin_ctz(mask), on = w->cta->launch->in->checks;
    const struct lane_check *x = &c[first];
    bool off = x->fault == FAULT_MISALIGNED ? !(on & CHECK_ALIGN) : !(on & CHECK_BOUNDS);
    if (off && (!x->stops || __atomic_load_n(&w->cta->launch->stop, __ATOMIC_RELAXED))) return;
    struct finding f = { .kind = (enum finding_kind)kind[x->fault],
                         .access = access_word(a->site),
                         .space = space_word(a->space[first]),
                         .width = a->bytes,
                         .stops = off };
    u64 base = a->space[first] == SP_SHARED && x->owner ? cluster_base(x->owner->rank) : 0;
    for (u32 l = 0; l < LANES; l++) f.addr[l] = a->addr[l] - base;
    if (x->object)
        describe_object(a, x, &mem, &f);
    else if (a->space[first] == SP_SHARED || a->space[first] == SP_LOCAL)
        describe_array(a, x, first, &mem, &f);
    explain_fault(a, x, first, mask, &mem, &f);
    f.cause_key = cause_key(x, first, &f);
    if (off)
        f.detail = arena_printf(&mem, "%s  reported although its check is off: a GPU stops the kernel here\n",
                                f.detail ? f.detail : "");
    if (x->held)
        finding_add_to(x->held, w, a->insn->op, &f, mask);
    else
        finding_add(w, a->insn->op, &f, mask);
    /* a loop that has run away, over all addresses: a GPU stopped at the first one, and all that it does is reported */
    const u64 most = 1 << 15, budget = w->cta->launch->in->budget; /* a finding takes as long as some hundred steps */
    bool runs_away = ++w->faults >= (budget && budget >> 12 < most ? budget >> 12 : most);
    if (off || runs_away) {
        launch_stop(w->cta->launch, SIM_TRAP);
        w->fuel = 0; /* at the next back edge */
    }
    arena_free(&mem);
}
