/* What an access costs: addresses are taken before the instruction is executed, since a load may overwrite its address,
 * and counted when it was, since it may come again in plain code. */
#include "count/addresses.h"
#include "count/counting.h"
#include "count/sectors.h"
#include "count/wavefronts.h"
#include "units/umma.h"
#include "sim/lanes.h"

static bool is_copy(const struct lop *o) { return (o->flags & (ISA_COPY | ISA_HOW)) == ISA_COPY; } /* cp.async */

static bool is_counted_space(u32 space)
{
    return space == SP_GLOBAL || space == SP_SHARED || space == SP_LOCAL || space == SP_CONST || space == SP_GENERIC;
}

bool count_wants(const struct lowered *l, const struct lop *o)
{
    if (o->flags & ISA_ACCESS) return is_counted_space(l->site[o->site].space);
    if (o->flags & ISA_MATRIX) return true;
    return is_copy(o) || o->guard.kind == O_REG;
}

/* ---- one space ---- */

static void note_stride(struct access_counts *k, s64 stride)
{
    k->stride_min = k->strided ? MIN_OF(k->stride_min, stride) : stride;
    k->stride_max = k->strided ? MAX_OF(k->stride_max, stride) : stride;
    k->strided++;
}

static inline u32 lanes_in(u32 mask) { return likely(mask == ALL_LANES) ? LANES : (u32)__builtin_popcount(mask); }

static inline void note_request(struct space_counts *in, u32 mask, u32 bytes, u32 units, u32 least)
{
    u32 lanes = lanes_in(mask);
    in->requests++;
    in->lanes += lanes;
    in->bytes += (u64)lanes * bytes;
    in->units += units;
    in->least += least;
}

struct access_counted { /* an access under way */
    struct worker_counts *worker;
    struct access_counts *k;
    const struct access *a; /* addr, mask and bytes are set */
    bool write, atomic;
};

static void count_global(const struct access_counted *x, const u64 *addr, u32 mask, u32 bytes)
{
    struct sectors s;
    s64 stride;
    sectors_of(addr, mask, bytes, &s);
    note_request(&x->k->in[COUNT_GLOBAL], mask, bytes, s.n, sectors_least(s.bytes));
    if (addresses_stride(addr, mask, &stride)) note_stride(x->k, stride);
    for (u32 j = 0; j < s.n; j++) {
        if (!x->write || x->atomic) touched_add(&x->worker->touched, s.id[j], false);
        if (x->write) touched_add(&x->worker->touched, s.id[j], true);
    }
}

static void count_local(const struct access_counted *x, const u64 *at, u32 mask, u32 bytes)
{
    struct sectors s;
    sectors_local(at, mask, bytes, &s);
    note_request(&x->k->in[COUNT_LOCAL], mask, bytes, s.n, sectors_least(s.bytes));
}

static void count_constant(const struct access_counted *x, const u64 *addr, u32 mask, u32 bytes)
{
    struct addresses s;
    addresses_of(addr, mask, &s);
    note_request(&x->k->in[COUNT_CONST], mask, bytes, s.distinct, 1);
}

static void note_conflict(struct access_counts *k, const struct warp *w, const struct wavefronts *f, const u64 *addr)
{
    struct conflict *c = &k->worst;
    bool later = w->cta->linear > c->cta || (w->cta->linear == c->cta && w->id >= c->warp);
    if (f->ways < c->ways || (f->ways == c->ways && later)) return;
    *c = (struct conflict){
        f->ways, f->bank, w->cta->linear, w->id, { f->lane[0], f->lane[1] }, { addr[f->lane[0]], addr[f->lane[1]] }
    };
}

static void count_shared(const struct access_counted *x, const u64 *addr, u32 mask, u32 bytes)
{
    struct access_counts *k = x->k;
    struct wavefronts cost;
    s64 stride;
    wavefronts_of(addr, mask, bytes, &cost);
    note_request(&k->in[COUNT_SHARED], mask, bytes, cost.n, cost.least);
    k->in[COUNT_SHARED].parts += cost.parts;
    if (addresses_stride(addr, mask, &stride)) note_stride(k, stride);
    if (cost.ways > 1) note_conflict(k, x->a->warp, &cost, addr);
}

/* ---- addresses that are one for the warp, or affine in groups of lanes ---- */

struct affine {
    u64 at[AFFINE_GROUPS]; /* the first address of each group */
    s64 stride;            /* of its lanes */
    u32 groups, each;      /* how many; lanes of one */
};

/* Whether an access can be counted so: one that reads or writes global or shared memory. */
static bool affine_of(struct affine *f, const char *R, const struct insn *i, const struct warp *w, const struct site *s)
{
    const struct code *c = w->code;
    u32 cls = CLS_AT(i, 1);
    if (cls == CLS_V || (s->space != SP_GLOBAL && s->space != SP_SHARED) || s->access & ISA_ATOMIC || s->which ||
        (cls == CLS_A && c->groups > AFFINE_GROUPS))
        return false;
    f->groups = cls == CLS_A ? c->groups : 1;
    f->each = cls == CLS_A ? c->group : LANES;
    f->stride = cls == CLS_A ? c->stride[i->a] : 0;
    for (u32 g = 0; g < f->groups; g++) {
        memcpy(&f->at[g], SLOT(R, i->a) + 8 * g, 8);
        f->at[g] += (u64)(s64)i->off;
        if (s->addr_width == 4) f->at[g] = (u32)f->at[g];
    }
    return true;
}

static void affine_lanes(const struct affine *f, u64 addr[LANES])
{
    for (u32 g = 0; g < f->groups; g++)
        for (u32 j = 0; j < f->each; j++) addr[g * f->each + j] = f->at[g] + (u64)(f->stride * j);
}

/* What the last such access cost holds where all addresses have moved by whole rows of banks, and without conflicts by
 * words. */
static bool memo_holds(const struct memo *m, const struct affine *f, u32 mask)
{
    u64 moved = f->at[0] - m->at[0];
    bool same = m->valid && m->mask == mask && (moved % (4 * BANKS) == 0 || (m->cost.ways <= 1 && moved % 4 == 0));
    for (u32 g = 1; g < f->groups; g++) same &= f->at[g] - m->at[g] == moved;
    return same;
}

void count_settle(struct access_counts *k)
{
    struct memo *m = &k->memo;
    struct space_counts *in = &k->in[COUNT_SHARED];
    u64 n = m->times, lanes = n * lanes_in(m->mask);
    if (!n) return;
    in->requests += n;
    in->lanes += lanes;
    in->bytes += lanes * m->bytes;
    in->units += n * m->cost.n;
    in->least += n * m->cost.least;
    in->parts += n * m->cost.parts;
    if (m->strided) {
        note_stride(k, m->stride);
        k->strided += n - 1;
    }
    m->times = 0;
}

static void count_shared_affine(const struct access_counted *x, const struct affine *f, u32 mask, u32 bytes)
{
    struct access_counts *k = x->k;
    struct memo *m = &k->memo;
    u64 addr[LANES];
    bool holds = memo_holds(m, f, mask);
    if (unlikely(!holds || m->cost.ways > 1)) affine_lanes(f, addr);
    if (unlikely(!holds)) {
        count_settle(k);
        *m = (struct memo){ .valid = true, .mask = mask, .bytes = bytes };
        memcpy(m->at, f->at, sizeof m->at);
        wavefronts_of(addr, mask, bytes, &m->cost);
        m->strided = addresses_stride(addr, mask, &m->stride);
    }
    m->times++;
    if (unlikely(m->cost.ways > 1)) note_conflict(k, x->a->warp, &m->cost, addr);
}

static void count_touched(const struct access_counted *x, u64 first, u64 last)
{
    touched_range(&x->worker->touched, first, last - first + 1, x->write);
}

/* One address a group, by all lanes. */
static void count_global_same(const struct access_counted *x, const struct affine *f, u32 bytes)
{
    u32 sectors = 0, places = 0;
    for (u32 g = 0; g < f->groups; g++) {
        bool again = false, near = false;
        for (u32 h = 0; h < g; h++) {
            again |= f->at[h] == f->at[g];
            near |= f->at[h] >> SECTOR_SHIFT == f->at[g] >> SECTOR_SHIFT;
        }
        places += !again;
        sectors += !near;
        if (!near) count_touched(x, f->at[g] >> SECTOR_SHIFT, f->at[g] >> SECTOR_SHIFT);
    }
    note_request(&x->k->in[COUNT_GLOBAL], ALL_LANES, bytes, sectors, sectors_least(places * bytes));
    if (places == 1) note_stride(x->k, 0);
}

/* The lanes of a group one after the other: most accesses of most kernels. False: groups share sectors. */
static bool count_global_runs(const struct access_counted *x, const struct affine *f, u32 bytes)
{
    u64 n = 0, run = (u64)f->each * bytes;
    bool apart = true, one = true;
    for (u32 g = 0; g < f->groups; g++) {
        n += ((f->at[g] + run - 1) >> SECTOR_SHIFT) - (f->at[g] >> SECTOR_SHIFT) + 1;
        if (!g) continue;
        one &= f->at[g] == f->at[g - 1] + run;
        apart &= f->at[g] >> SECTOR_SHIFT > (f->at[g - 1] + run - 1) >> SECTOR_SHIFT;
    }
    if (!apart && !one) return false;
    if (one) n = ((f->at[0] + LANES * bytes - 1) >> SECTOR_SHIFT) - (f->at[0] >> SECTOR_SHIFT) + 1;
    note_request(&x->k->in[COUNT_GLOBAL], ALL_LANES, bytes, (u32)n, sectors_least(LANES * bytes));
    if (one) note_stride(x->k, bytes);
    for (u32 g = 0; g < f->groups; g++)
        count_touched(x, f->at[g] >> SECTOR_SHIFT, (f->at[g] + run - 1) >> SECTOR_SHIFT);
    return true;
}

/* False: the lanes must be looked at. */
static bool count_affine(const struct access_counted *x, const struct affine *f, u32 mask, u32 bytes)
{
    if (x->a->site->space == SP_SHARED) {
        count_shared_affine(x, f, mask, bytes);
        return true;
    }
    if (mask != ALL_LANES) return false;
    if (f->stride == 0) {
        count_global_same(x, f, bytes);
        return true;
    }
    return f->stride == (s64)bytes && count_global_runs(x, f, bytes);
}

/* ---- all spaces ---- */

/* The lanes of a generic access that are in each space; their addresses become offsets there. */
static void split_generic(const struct access *a, u64 *addr, u32 mask, u32 in[COUNT_SPACES])
{
    const struct mem *m = a->warp->cta->launch->sim->mem;
    u64 shared = mem_shared_window(m), local = mem_local_window(m);
    for (; mask; mask &= mask - 1) {
        u32 l = (u32)__builtin_ctz(mask);
        if (addr[l] - shared < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS) {
            in[COUNT_SHARED] |= 1u << l;
            addr[l] -= shared;
        } else if (addr[l] - local < MEM_LOCAL_BYTES) {
            in[COUNT_LOCAL] |= 1u << l;
            addr[l] -= local;
        } else
            in[COUNT_GLOBAL] |= 1u << l;
    }
}

static enum count_space space_of(u32 space)
{
    return space == SP_SHARED  ? COUNT_SHARED
           : space == SP_LOCAL ? COUNT_LOCAL
           : space == SP_CONST ? COUNT_CONST
                               : COUNT_GLOBAL;
}

static void count_lanes(const struct access_counted *x, u64 *addr, u32 mask, u32 bytes)
{
    const struct site *s = x->a->site;
    u32 in[COUNT_SPACES] = { 0 };
    if (s->space == SP_GENERIC)
        split_generic(x->a, addr, mask, in);
    else
        in[space_of(s->space)] = mask;
    if (in[COUNT_GLOBAL]) count_global(x, addr, in[COUNT_GLOBAL], bytes);
    if (in[COUNT_LOCAL]) count_local(x, addr, in[COUNT_LOCAL], bytes);
    if (in[COUNT_SHARED]) count_shared(x, addr, in[COUNT_SHARED], bytes);
    if (in[COUNT_CONST]) count_constant(x, addr, in[COUNT_CONST], bytes);
    if (!x->atomic) return;
    struct addresses same;
    addresses_of(addr, mask, &same);
    x->k->serial += same.most;
    x->k->alone += same.most == 1;
}

static inline struct access_counted counted_site(struct counting *c, const struct access *a, u32 site)
{
    const struct func_counts *f = counting_here(c, a->warp);
    const struct site *s = &f->low->site[site];
    return (struct access_counted){
        .worker = f->worker, .k = &f->access[site], .a = a, .write = !site_is_load(s), .atomic = site_is_atomic(s)
    };
}

/* ---- accesses by kind ---- */

static int around_access(struct counting *c, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    struct access a;
    struct affine f;
    a.site = &w->code->low->site[i->site];
    a.insn = i;
    a.warp = w;
    a.mask = active_lanes(w, R, i);
    a.bytes = (u32)a.site->width * a.site->vec;
    bool affine = affine_of(&f, R, i, w, a.site);
    if (a.mask && !affine) access_addresses(&a, R);
    int ev = beneath(R, i, w);
    if (ev || !a.mask) return ev;
    struct access_counted x = counted_site(c, &a, i->site);
    if (a.site->space != SP_CONST) w->count.did |= a.mask;
    if (affine && count_affine(&x, &f, a.mask, a.bytes)) return 0;
    if (affine) affine_lanes(&f, a.addr);
    count_lanes(&x, a.addr, a.mask, a.bytes);
    return 0;
}

/* ldmatrix, stmatrix: the lanes of the first rows have their addresses. */
static int around_matrix(struct counting *c, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    struct access a;
    const struct lop *o = &w->code->low->op[i->op];
    u32 rows = MIN_OF((o->aux & MATRIX_COUNT) * (o->aux & MATRIX_TALL ? 16u : 8u), (u32)LANES);
    struct wavefronts f;
    a.site = &w->code->low->site[i->site];
    a.insn = i;
    a.warp = w;
    a.mask = active_lanes(w, R, i);
    if (a.mask) access_addresses(&a, R);
    int ev = beneath(R, i, w);
    if (ev || !a.mask) return ev;
    struct access_counted x = counted_site(c, &a, i->site);
    wavefronts_matrix(a.addr, rows, &f);
    w->count.did |= a.mask;
    struct space_counts *in = &x.k->in[COUNT_SHARED];
    in->requests++;
    in->lanes += (u32)__builtin_popcount(a.mask);
    in->bytes += (u64)rows * 16;
    in->units += f.n;
    in->least += f.least;
    in->parts += f.parts;
    if (f.ways > 1) note_conflict(x.k, w, &f, a.addr);
    return 0;
}

/* cp.async: it reads global memory and writes shared memory, each by a site of its own. */
static int around_copy(struct counting *c, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    struct access to, from;
    const struct lop *o = &w->code->low->op[i->op];
    to.site = &w->code->low->site[i->site];
    to.insn = i;
    to.warp = w;
    to.mask = active_lanes(w, R, i);
    u32 reads = 0;
    if (to.mask) {
        from.site = to.site + 1;
        from.insn = i;
        from.warp = w;
        access_addresses(&to, R);
        access_addresses(&from, R);
        EACH_SET (l, to.mask) {
            bool any = lop_src(o, 2)->kind == O_NONE || lane_value(w, w->code, R, i->c, CLS_AT(i, 3), 4, l);
            reads |= (u32)any << l;
        }
    }
    int ev = beneath(R, i, w);
    if (ev || !to.mask) return ev;
    w->count.did |= to.mask;
    struct access_counted x = counted_site(c, &to, i->site), y = counted_site(c, &from, i->site + 1);
    count_shared(&x, to.addr, to.mask, o->aux);
    if (reads) count_global(&y, from.addr, reads, o->aux);
    return 0;
}

static int around_guarded(struct counting *c, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    u32 lanes = active_lanes(w, R, i);
    int ev = beneath(R, i, w);
    if (ev) return ev;
    struct func_counts *f = counting_here(c, w);
    if (!f->on) f->on = NEW_ARRAY(&f->worker->mem, u64, f->low->nop);
    f->on[i->op] += (u32)__builtin_popcount(lanes);
    return 0;
}

int count_around(void *self, char *R, const struct insn *i, struct warp *w, handler *beneath)
{
    const struct lop *o = &w->code->low->op[i->op];
    if (likely(o->flags & ISA_ACCESS)) return around_access(self, R, i, w, beneath);
    if (o->flags & ISA_MATRIX)
        return (w->code->low->site[i->site].space == SP_GLOBAL ? around_texture : around_matrix)(self, R, i, w,
                                                                                                 beneath);
    if (is_copy(o)) return around_copy(self, R, i, w, beneath);
    return around_guarded(self, R, i, w, beneath);
}

/* ---- copies in flight ---- */

/* tcgen05.mma: the first of its flights has the product. */
static void count_product(struct counting *c, const struct flight *f)
{
    const struct ptx_opcode *op = f->low->op[f->op].src ? f->low->op[f->op].src->op : NULL;
    if (!op || !op->nmod || !str_is(op->base, "tcgen05") || !str_is(op->mod[0], "mma")) return;
    const struct umma *x = f->work;
    struct func_counts *to = counting_func(c, f->warp, f->low);
    if (!to->products) to->products = NEW_ARRAY(&counting_worker(c, f->warp->cta)->mem, struct products, f->low->nop);
    to->products[f->op].type = operation_of_tensor(x->a);
    to->products[f->op].operations += (u64)2 * x->m * x->n * x->k;
}

void count_flight(void *self, struct flight *f, enum flight_moment m)
{
    struct counting *c = self;
    if (m == FLIGHT_ISSUED && f->end == FLIGHT_TENSOR && f->work) count_product(c, f);
    if (m != FLIGHT_ISSUED || f->act || !f->n || f->low->op[f->op].site >= f->low->nsite) return;
    struct worker_counts *k = counting_worker(c, f->warp->cta);
    struct bulk *b = &counting_func(c, f->warp, f->low)->access[f->low->op[f->op].site].bulk;
    b->copies++;
    for (u32 n = 0; n < f->n; n++) {
        const struct flight_move *p = &f->move[n];
        bool reads = p->from != NULL, writes = p->to != NULL;
        if (reads) *(f->from_space == SP_GLOBAL ? &b->global_read : &b->shared_read) += p->bytes;
        if (writes) *(f->to_space == SP_GLOBAL ? &b->global_written : &b->shared_written) += p->bytes;
        u64 at = reads && f->from_space == SP_GLOBAL ? p->from_at : writes && f->to_space == SP_GLOBAL ? p->to_at : 0;
        if (!at || !p->bytes) continue;
        u64 first = at >> SECTOR_SHIFT, last = (at + p->bytes - 1) >> SECTOR_SHIFT;
        touched_range(&k->touched, first, last - first + 1, f->to_space == SP_GLOBAL && writes);
    }
    f->warp->count.did |= 1u << f->lane;
}
