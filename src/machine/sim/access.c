/* The full check of a memory access: each lane's address against the object its pointer came from (rules.md B), and
 * its alignment. Whatever the checks in force, no lane ever touches memory that is not the program's. */
#include "mem/mapped.h"
#include "sim/asked.h"
#include "mem/shadow.h"
#include "sim/call.h"
#include "sim/cluster.h"
#include "sim/access.h"
#include "sim/sim_run.h"

/* An address of unknown provenance that is this near to an allocation is reported as an overrun of that allocation. */
enum { NEAR_BYTES = 16384 };

struct object_of {
    struct mem_object *object;
    bool strict;
};

/* The object that the address is computed from, where it is one for all lanes: what a parameter points to, or a
 * variable. */
static struct mem_object *root_of(const struct access *a)
{
    const struct launch *l = a->warp->cta->launch;
    const struct provenance *r = &a->site->prov;
    u64 v;
    if (r->kind == FROM_VAR && r->var->addr) return mem_find(l->sim->mem, r->var->addr);
    if (r->kind != FROM_PARAM) return NULL;
    memcpy(&v, l->param.block + r->off, 8);
    return mem_find(l->sim->mem, v);
}

/* The object an address must stay inside, and whether its pointer says so (strict) or only the address itself. */
static struct object_of owner(const struct access *a, u32 lane, struct mem_object *root)
{
    struct warp *w = a->warp;
    const struct mem *m = w->cta->launch->sim->mem;
    if (a->site->prov.kind == FROM_TAG) {
        const struct lop *op = &w->code->low->op[a->insn->op];
        u32 t = asked->tag_of(w, w->code->low, *lop_src(op, a->site->which), lane);
        if (t && t != TAG_MIXED) root = mem_by_id(m, t);
    }
    return root ? (struct object_of){ root, true } : (struct object_of){ mem_find(m, a->addr[lane]), false };
}

const struct mem_object *access_owner(const struct access *a, u32 lane) { return owner(a, lane, root_of(a)).object; }

static bool within(u64 addr, u64 n, u64 lo, u64 size) { return addr - lo < size && n <= size - (addr - lo); }

/* The aligned word around the last bytes of an object, which atomics of one or two bytes are made of (rules.md, B8). */
static bool word_of_bytes(const struct access *a, u64 addr, const struct mem_object *o)
{
    return a->bytes == 4 && !(addr & 3) && a->site->sem != SEM_WEAK && addr - o->base < o->size;
}

/* Not aligned, and only for that reason partly outside [lo, lo + size): the alignment is the mistake. */
static bool slipped(const struct access *a, u64 addr, u64 lo, u64 size)
{
    u64 off = addr & (access_align(a) - 1);
    return off && within(addr - off, a->bytes, lo, size);
}

/* Every site comes here before it first uses an object. */
static void object_used(const struct access *a, struct mem_object *o)
{
    const struct launch *l = a->warp->cta->launch;
    if (unlikely(l->in->defines) && !site_is_load(a->site)) mem_define(l->sim->mem, o);
}

/* The fast path takes the site's accesses there from now on. */
static void remember(const struct access *a, const struct mem_object *o, u64 lo, u64 size)
{
    a->warp->range[a->site - a->warp->code->low->site] =
        (struct range){ .lo = lo,
                        .size = size,
                        .view = o->engine,
                        .race = __atomic_load_n(&o->race, __ATOMIC_ACQUIRE),
                        .reads = __atomic_load_n(&o->reads, __ATOMIC_ACQUIRE) };
}

/* Whether all bytes of an access to reserved addresses have memory and rights; the run of the first one is [*lo, *lo +
 * *size). Copies may reach beyond it. */
static bool is_mapped_there(const struct access *a, u64 addr, u32 bytes, const struct mem_object *o,
                            struct lane_check *c, u64 *lo, u64 *size)
{
    u32 rights = site_is_load(a->site) ? MEM_READABLE : MEM_READABLE | MEM_WRITABLE;
    u64 wanted = MIN_OF((u64)bytes, o->base + o->size - addr);
    c->closed_at = addr;
    if (mem_run(o, addr, rights, lo, size)) {
        if (within(addr, wanted, *lo, *size)) return true;
        u64 open = mem_run_bytes(o, addr, wanted, rights);
        if (open == wanted) return true;
        c->closed_at += open;
    }
    c->fault = FAULT_UNMAPPED;
    return false;
}

static void check_global(struct access *a, u32 lane, struct mem_object *root, struct lane_check *c)
{
    const struct mem *m = a->warp->cta->launch->sim->mem;
    u64 addr = a->addr[lane];
    struct object_of o = owner(a, lane, root);
    c->object = o.object;
    c->strict = o.strict;
    if (!o.object) {
        struct mem_object *n = addr < 4096 ? NULL : mem_near(m, addr);
        u64 apart = !n ? ~0ull : addr < n->base ? n->base - addr : addr - n->base - n->size;
        c->object = n;
        c->fault = addr < 4096 ? FAULT_NULL_POINTER
                   : n && apart < NEAR_BYTES && __atomic_load_n(&n->state, __ATOMIC_ACQUIRE) == MEM_LIVE
                       ? FAULT_PAST
                       : FAULT_INVALID;
        return;
    }
    enum mem_state state = __atomic_load_n(&o.object->state, __ATOMIC_ACQUIRE);
    if (unlikely(state != MEM_LIVE)) {
        c->fault = state == MEM_FREED ? FAULT_FREED : FAULT_RESERVED;
        return;
    }
    /* the end of an object is followed by room for the rest of an aligned access */
    u32 read = addr & (a->bytes - 1) ? a->bytes : a->bytes - a->site->surplus;
    if (!within(addr, read, o.object->base, o.object->size) && !slipped(a, addr, o.object->base, o.object->size) &&
        !word_of_bytes(a, addr, o.object)) {
        c->hit = mem_find(m, addr);
        if (c->hit == o.object) c->hit = NULL;
        if (c->hit && (!mem_is_live(c->hit) || !within(addr, a->bytes, c->hit->base, c->hit->size))) c->hit = NULL;
        c->fault = c->hit ? FAULT_NEIGHBOUR : FAULT_PAST;
        return;
    }
    u64 lo = o.object->base, size = o.object->size;
    if (unlikely(o.object->kind == MEM_VIRTUAL && !is_mapped_there(a, addr, read, o.object, c, &lo, &size))) return;
    if (unlikely(__atomic_load_n(&o.object->closed, __ATOMIC_RELAXED))) {
        c->fault = FAULT_UNMAPPED;
        return;
    }
    if (addr & (access_align(a) - 1)) {
        c->fault = FAULT_MISALIGNED;
        return;
    }
    u64 end = o.object->base + o.object->size;
    if (unlikely(addr + a->bytes > end) && word_of_bytes(a, addr, o.object))
        shadow_define(mem_shadow(a->warp->cta->launch->sim->mem), end, addr + a->bytes - end); /* nobody's bytes */
    a->ptr[lane] = mem_view(o.object, addr);
    object_used(a, o.object);
    if (o.object->kind == MEM_CONST && !site_is_load(a->site)) { /* a GPU does it: its addresses are writable */
        c->fault = FAULT_READ_ONLY;
        c->done = true;
        __atomic_store_n(&o.object->given, true, __ATOMIC_RELAXED);
    }
    if (o.strict) asked->moved_pointer_own(a);
    if (a->site->prov.kind != FROM_TAG && !(o.object->kind == MEM_CONST && !site_is_load(a->site)))
        remember(a, o.object, lo, size);
}

/* Lanes of one object at a time: there are few. What asks for a closer look is left to check_global. */
bool access_tagged(struct access *a)
{
    const struct warp *w = a->warp;
    const struct site *s = a->site;
    const struct lowered *low = w->code->low;
    const u32 *tag = asked->tag_plane(w, low, *lop_src(&low->op[a->insn->op], s->which));
    const struct mem *m = w->cta->launch->sim->mem;
    u64 align = a->bytes - 1;
    if (!tag || s->align || a->bytes & align || w->faults_reported) return false;
    for (u32 todo = a->mask; todo;) {
        u32 id = tag[__builtin_ctz(todo)];
        struct mem_object *o = id && id != TAG_MIXED ? mem_by_id(m, id) : NULL;
        if (!o || o->kind == MEM_VIRTUAL || o->kind == MEM_CONST || o->size < a->bytes || !mem_is_live(o) ||
            __atomic_load_n(&o->closed, __ATOMIC_RELAXED))
            return false;
        u64 base = o->base, limit = o->size - a->bytes;
        EACH_SET (l, todo) {
            if (tag[l] != id) continue;
            if (a->addr[l] - base > limit || a->addr[l] & align) return false;
            a->ptr[l] = mem_view(o, a->addr[l]);
            todo &= ~(1u << l);
        }
        object_used(a, o);
    }
    a->ok = a->mask;
    memset(a->space, SP_GLOBAL, sizeof a->space);
    return true;
}

/* Whether the instruction may reach the shared memory of other CTAs: .shared and .shared::cta do not, nor does the
 * generic address of an own array that no mapa has moved. Kernels for sm_100 change the rank in such an address
 * themselves, to reach the even CTA of their pair, and say .shared::cluster. */
static bool reaches_cluster(const struct site *s)
{
    bool own = s->prov.kind == FROM_VAR && s->prov.var->space == SP_SHARED && !s->prov.mapped;
    return (s->space == SP_GENERIC && !own) || s->flags & SITE_CLUSTER;
}

static void check_shared(struct access *a, u32 lane, struct lane_check *c)
{
    struct warp *w = a->warp;
    const struct launch *l = w->cta->launch;
    const struct provenance *r = &a->site->prov;
    bool var = r->kind == FROM_VAR && r->var->space == SP_SHARED;
    u64 base = cluster_base(w->cta->rank);
    const struct cta *owner = w->cta;
    if (unlikely(cluster_rank(a->addr[lane]) != w->cta->rank) && reaches_cluster(a->site) &&
        (owner = cluster_cta(w->cta, a->addr[lane])))
        base = cluster_base(owner->rank);
    c->owner = owner;
    c->lo = base;
    c->size = l->shared_total;
    if (var) {
        c->var = r->var;
        bool dynamic = !r->var->size && r->var->is_extern;
        c->lo = base + (dynamic ? l->dyn_shared : r->var->offset);
        c->size = dynamic ? l->shared_total - l->dyn_shared : r->var->size;
    }
    if (unlikely(!owner)) {
        c->fault = FAULT_NO_CTA;
        return;
    }
    if (unlikely(owner != w->cta) && owner->done) {
        c->fault = FAULT_CTA_GONE;
        return;
    }
    if (!within(a->addr[lane], a->bytes, c->lo, c->size) && !slipped(a, a->addr[lane], c->lo, c->size))
        c->fault = FAULT_SHARED_PAST;
    else if (a->addr[lane] & (access_align(a) - 1))
        c->fault = FAULT_MISALIGNED;
    else
        a->ptr[lane] = owner->shared + cluster_offset(a->addr[lane]);
}

static void check_local(struct access *a, u32 lane, struct lane_check *c)
{
    struct warp *w = a->warp;
    struct frame *f = w->cur->fr;
    const struct provenance *r = &a->site->prov;
    c->lo = 0;
    c->size = f->local_base + f->code->low->local_bytes + f->top;
    if (r->kind == FROM_VAR && r->var->space == SP_LOCAL) {
        c->var = r->var;
        c->lo = f->local_base + r->var->offset;
        c->size = r->var->size;
    }
    bool inside = within(a->addr[lane], a->bytes, c->lo, c->size) || slipped(a, a->addr[lane], c->lo, c->size);
    if (!inside || c->lo + c->size > LOCAL_STACK)
        c->fault = FAULT_LOCAL_PAST;
    else if (a->addr[lane] & (access_align(a) - 1))
        c->fault = FAULT_MISALIGNED;
    else
        a->ptr[lane] = local_of(w) + (size_t)lane * LOCAL_STACK + a->addr[lane];
    if (r->kind != FROM_TAG || c->fault != FAULT_NONE) return;
    u32 t = asked->tag_of(w, w->code->low, *lop_src(&w->code->low->op[a->insn->op], a->site->which), lane);
    if (!tag_is_local(t)) return;
    c->fault = FAULT_FOREIGN_LOCAL;
    c->done = true;
    c->thread = t & ~TAG_LOCAL;
}

static void check_lane(struct access *a, u32 lane, struct mem_object *root, struct lane_check *c)
{
    struct warp *w = a->warp;
    const struct mem *m = w->cta->launch->sim->mem;
    struct frame *f = w->cur->fr;
    u64 addr = a->addr[lane];
    *c = (struct lane_check){ .fault = FAULT_NONE };
    a->space[lane] = a->site->space;
    if (a->site->space == SP_GENERIC) {
        u64 s = addr - mem_shared_window(m), l = addr - mem_local_window(m);
        a->space[lane] = SP_GLOBAL;
        if (s < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS) {
            a->space[lane] = SP_SHARED;
            a->addr[lane] = s;
        } else if (l < MEM_LOCAL_BYTES) {
            a->space[lane] = SP_LOCAL;
            a->addr[lane] = l;
        }
    }
    switch (a->space[lane]) {
    case SP_SHARED: check_shared(a, lane, c); break;
    case SP_LOCAL: check_local(a, lane, c); break;
    case SP_CALL:
        if (!within(addr, a->bytes, 0, f->code->low->pmem_bytes))
            c->fault = FAULT_INVALID;
        else
            a->ptr[lane] = f->pmem + (size_t)lane * f->code->low->pmem_bytes + addr;
        break;
    case SP_PARAM:
        if (!within(addr, a->bytes, 0, w->cta->launch->kernel->func->param_bytes))
            c->fault = FAULT_INVALID;
        else if (!site_is_load(a->site))
            c->fault = FAULT_READ_ONLY;
        else
            a->ptr[lane] = w->cta->launch->param.block + addr;
        break;
    default: check_global(a, lane, root, c);
    }
}

/* ---- with the check of bounds switched off ---- */

/* A GPU maps memory in blocks of this size: outside an allocation, but in its block, an access goes through there. */
enum { GPU_PAGE = 2 << 20 };
enum { GPU_SHARED_UNIT = 1024 }; /* the shared memory of a CTA is a multiple of this */

/* Whether a live allocation lies in the page of an address. */
static bool is_mapped(const struct mem *m, u64 addr)
{
    u64 page = addr & ~(u64)(GPU_PAGE - 1);
    const struct mem_object *o = mem_find(m, addr);
    if (!o) o = mem_near(m, addr);
    return o && __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_LIVE && o->base < page + GPU_PAGE &&
           o->base + o->size > page;
}

/* Whether no live allocation is near: a GPU has mapped memory of its own around those of a program, too (on an H200
 * 4 MiB after a small one nothing happens). */
static bool is_far(const struct mem *m, u64 addr)
{
    const u64 near = 32ull << 20;
    const struct mem_object *o = mem_find(m, addr);
    if (!o) o = mem_near(m, addr);
    return !o || !mem_is_live(o) || addr + near < o->base || addr > o->base + o->size + near;
}

/* The error with which a GPU would end the kernel here; 0: it goes on. */
static u32 silicon_error(const struct access *a, u32 lane, const struct lane_check *c)
{
    const struct launch *l = a->warp->cta->launch;
    u64 addr = a->addr[lane], unit = GPU_SHARED_UNIT;
    switch (c->fault) {
    case FAULT_MISALIGNED: return 716;
    case FAULT_NULL_POINTER:
    case FAULT_UNMAPPED: return 700;
    case FAULT_PAST:
    case FAULT_INVALID: return is_far(l->sim->mem, addr) ? 700 : 0;
    case FAULT_SHARED_PAST: return addr + a->bytes > (l->shared_total + unit - 1) / unit * unit ? 700 : 0;
    case FAULT_LOCAL_PAST: return within(addr, a->bytes, 0, LOCAL_STACK) ? 0 : 700;
    default: return 0;
    }
}

/* The lane is outside its object, and nobody asks for that: it gets what a GPU would touch where the machine has such
 * memory, another object or array. Where the page is mapped but nothing is there, the lane reads zero and writes
 * nothing. What remains is what a GPU stops for. */
static void unchecked_lane(struct access *a, u32 lane, struct lane_check *c)
{
    struct warp *w = a->warp;
    const struct frame *f = w->cur->fr;
    u64 addr = a->addr[lane];
    c->stops = false;
    switch (c->fault) {
    case FAULT_NEIGHBOUR:
        if (c->hit->kind == MEM_CONST && !site_is_load(a->site)) return;
        a->ptr[lane] = mem_view(c->hit, addr);
        object_used(a, c->hit);
        break;
    case FAULT_SHARED_PAST:
        addr -= cluster_base(c->owner->rank);
        c->stops = addr + a->bytes >
                   (w->cta->launch->shared_total + GPU_SHARED_UNIT - 1) / GPU_SHARED_UNIT * GPU_SHARED_UNIT;
        if (!within(addr, a->bytes, 0, w->cta->launch->shared_total)) return;
        a->ptr[lane] = c->owner->shared + addr;
        break;
    case FAULT_LOCAL_PAST:
        c->stops = !within(addr, a->bytes, 0, LOCAL_STACK);
        if (!within(addr, a->bytes, 0, f->local_base + f->code->low->local_bytes + f->top)) return;
        a->ptr[lane] = local_of(w) + (size_t)lane * LOCAL_STACK + addr;
        break;
    case FAULT_NULL_POINTER:
    case FAULT_NO_CTA: c->stops = true; return;
    case FAULT_READ_ONLY:
    case FAULT_FOREIGN_LOCAL:
        if (c->done) c->fault = FAULT_NONE;
        return;
    case FAULT_PAST:
    case FAULT_INVALID: c->stops = !is_mapped(w->cta->launch->sim->mem, addr); return;
    default: return;
    }
    c->fault = addr & (access_align(a) - 1) ? FAULT_MISALIGNED : FAULT_NONE;
    c->stops = c->fault == FAULT_MISALIGNED;
}

/* The host may have moved the pointer into another object: its lane goes on there, and the report is held. */
static bool let_pass(struct access *a, u32 lane, struct lane_check *c)
{
    bool aligned = !(a->addr[lane] & (access_align(a) - 1));
    c->held = c->fault == FAULT_NEIGHBOUR && aligned ? asked->moved_pointer_held(a, c) : NULL;
    if (!c->held) {
        if (c->fault != FAULT_NONE) asked->moved_pointer_own(a);
        return false;
    }
    a->ptr[lane] = mem_view(c->hit, a->addr[lane]);
    object_used(a, c->hit);
    remember(a, c->hit, c->hit->base, c->hit->size);
    return true;
}

void access_check(struct access *a)
{
    u32 on = a->warp->cta->launch->in->checks, first_error = 0, held = 0;
    struct mem_object *root = root_of(a);
    struct lane_check c[LANES];
    a->ok = 0;
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        check_lane(a, l, root, &c[l]);
        c[l].stops = c[l].fault == FAULT_MISALIGNED && !(on & CHECK_ALIGN);
        if (unlikely(!(on & CHECK_BOUNDS)) && c[l].fault != FAULT_NONE && c[l].fault != FAULT_MISALIGNED)
            unchecked_lane(a, l, &c[l]);
        if (let_pass(a, l, &c[l])) held |= 1u << l;
        if (c[l].done) held |= 1u << l;
        if (c[l].fault == FAULT_NONE || held >> l & 1)
            a->ok |= 1u << l;
        else if (!first_error)
            first_error = silicon_error(a, l, &c[l]);
    }
    if (unlikely(first_error)) launch_fault(a->warp->cta->launch, first_error);
    if (a->warp->faults_reported) {
        a->warp->faults_reported = false;
        return;
    }
    if (unlikely(a->warp->cta->cluster->size > 1) && !a->warp->cta->cluster->began) asked->explain_early(a, c);
    /* lanes with the same fault with the same object are one report */
    for (u32 todo = (a->mask & ~a->ok) | held; todo;) {
        u32 first = (u32)__builtin_ctz(todo), same = 0;
        for (u32 l = first; l < LANES; l++)
            if (todo >> l & 1 && c[l].fault == c[first].fault && c[l].object == c[first].object &&
                c[l].hit == c[first].hit && c[l].stops == c[first].stops && c[l].held == c[first].held)
                same |= 1u << l;
        asked->explain_lanes(a, c, same);
        todo &= ~same;
    }
}

bool access_is_host_visible(const struct warp *w, u64 addr)
{
    struct mem_object *o = mem_find(w->cta->launch->sim->mem, addr);
    return o && (o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED);
}

/* ---- the range of a site, for the fast path ---- */

struct range *ranges_of(struct warp *w, struct lowered *l)
{
    struct worker *k = w->cta->worker;
    u32 rank = w->cta->rank;
    u64 base = cluster_base(rank);
    for (u32 j = 0; j < k->nfunc; j++)
        if (k->func[j].low == l && k->func[j].rank == rank) return k->func[j].r;
    if (k->nfunc == k->capfunc) k->func = vec_grow(&k->mem, k->func, &k->capfunc, sizeof *k->func, 8);
    k->func[k->nfunc] = (struct ranges){ l, NEW_ARRAY(&k->mem, struct range, l->nsite + 1), rank };
    struct range *r = k->func[k->nfunc++].r;
    for (u32 j = 0; j < l->nsite; j++) { /* shared arrays are where they are for the whole launch */
        const struct site *s = &l->site[j];
        if (s->space != SP_SHARED) continue;
        const struct launch *lc = w->cta->launch;
        r[j] = (struct range){ .lo = base, .size = lc->shared_total };
        if (s->prov.kind != FROM_VAR || s->prov.var->space != SP_SHARED) continue;
        bool dynamic = !s->prov.var->size && s->prov.var->is_extern;
        r[j].lo = base + (dynamic ? lc->dyn_shared : s->prov.var->offset);
        r[j].size = dynamic ? lc->shared_total - lc->dyn_shared : s->prov.var->size;
    }
    return r;
}
