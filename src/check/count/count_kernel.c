/* From the counters of one launch, by block and site, to those of its kernel, by instruction. */
#include "count/count_kernel.h"
#include "count/timeline.h"
#include "sim/finding_place.h"

const char *const count_space_name[COUNT_SPACES] = { "global", "local", "shared", "constant", "texture" };
const char *const count_access_name[COUNT_ACCESSES] = { "load", "store", "atomic", "reduction", "copy" };

struct counts *counts_new(const struct card *card)
{
    struct counts *c = base_need(sizeof *c);
    c->card = card;
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void counts_delete(struct counts *c)
{
    if (!c) return;
    pthread_mutex_destroy(&c->lock);
    if (c->timeline) base_free(c->timeline->op);
    base_free(c->timeline);
    arena_free(&c->mem);
    base_free(c);
}

void count_sums_add(struct count_sums *to, const struct count_sums *from)
{
#define SUMS_COUNTER(field, key, text) to->field += from->field;
#define FOOTPRINT_COUNTER SUMS_COUNTER
#include "count/counter_rows.h"
    for (u32 t = 0; t < OPS_TYPES; t++) to->operations[t] += from->operations[t];
    for (u32 k = 0; k < COUNT_ACCESSES; k++)
        for (u32 s = 0; s < COUNT_SPACES; s++) space_counts_add(&to->access[k][s], &from->access[k][s]);
    bulk_add(&to->bulk, &from->bulk);
}

/* ---- kernels and functions ---- */

static struct count_kernel *kernel_of(struct counts *all, struct str name)
{
    struct count_kernel **at = &all->kernel;
    while (*at && !str_is(name, (*at)->name)) at = &(*at)->next;
    if (*at) return *at;
    char plain[200];
    struct count_kernel *k = *at = NEW(&all->mem, struct count_kernel);
    k->name = arena_str(&all->mem, name);
    name_plain(name, plain, sizeof plain);
    k->plain = arena_str(&all->mem, str_of(plain));
    return k;
}

/* Places point into the text of a module, which may be unloaded. */
static const struct place *place_keep(struct arena *a, const struct place *p)
{
    struct place *q = NEW(a, struct place);
    *q = *p;
    q->file = p->file ? arena_str(a, str_of(p->file)) : NULL;
    q->function = p->function ? arena_str(a, str_of(p->function)) : NULL;
    q->ptx_file = p->ptx_file ? arena_str(a, str_of(p->ptx_file)) : NULL;
    q->ptx_text = p->ptx_text ? arena_str(a, str_of(p->ptx_text)) : NULL;
    if (p->inlined_at) q->inlined_at = place_keep(a, p->inlined_at);
    return q;
}

/* Words of registers that are alive before each operation of a block, from its end backwards; the most of them, and
 * where. */
static void alive_in(const struct lowered *l, u32 b, struct count_func *f, u32 *at)
{
    const struct block *bl = &l->block[b];
    struct arena mem = { 0 };
    u64 *live = NEW_ARRAY(&mem, u64, l->words + 1);
    u32 words = 0;
    for (u32 r = 0; r < l->nreg; r++) {
        if (!(bl->live_out[r / 64] >> r % 64 & 1)) continue;
        live[r / 64] |= (u64)1 << r % 64;
        words += (l->reg_width[r] + 2u) / 4;
    }
    for (u32 k = bl->end; k-- > bl->first;) {
        const struct lop *o = &l->op[k];
        EACH_DEF (r, o) {
            if (o->guard.kind == O_REG || !(live[r / 64] >> r % 64 & 1)) continue;
            live[r / 64] &= ~((u64)1 << r % 64);
            words -= (l->reg_width[r] + 2u) / 4;
        }
        EACH_USE (r, o) {
            if (live[r / 64] >> r % 64 & 1) continue;
            live[r / 64] |= (u64)1 << r % 64;
            words += (l->reg_width[r] + 2u) / 4;
        }
        if (words <= f->alive || !o->src) continue;
        f->alive = words;
        *at = k;
    }
    arena_free(&mem);
}

/* One instruction for each of the text that is executed; several operations may be made from one. */
static struct count_func *func_new(struct arena *a, const struct lowered *l)
{
    struct count_func *f = NEW(a, struct count_func);
    f->serial = l->serial;
    f->ops = l->nop;
    f->of = NEW_ARRAY(a, u32, l->nop + 1);
    f->insn = NEW_ARRAY(a, struct count_insn, l->nop + 1);
    struct arena scratch = { 0 };
    u32 crowded = NONE;
    for (u32 b = 0; b < l->nblock; b++) {
        const struct ptx_insn *last = NULL;
        alive_in(l, b, f, &crowded);
        for (u32 k = l->block[b].first; k < l->block[b].end; k++) {
            const struct lop *o = &l->op[k];
            f->of[k] = NONE;
            if (o->dead || !o->src) continue;
            if (o->src != last) f->insn[f->insns++].place = place_keep(a, finding_place(&scratch, l, k));
            last = o->src;
            f->of[k] = f->insns - 1;
        }
    }
    if (crowded != NONE) f->crowded = place_keep(a, finding_place(&scratch, l, crowded));
    arena_free(&scratch);
    return f;
}

static struct count_func *func_of(struct counts *all, struct count_kernel *k, const struct lowered *l)
{
    struct count_func **at = &k->func;
    while (*at && (*at)->serial != l->serial) at = &(*at)->next;
    if (!*at) *at = func_new(&all->mem, l);
    return *at;
}

static struct count_launch *launch_of(struct counts *all, struct count_kernel *k, const struct counting *c,
                                      const struct launch *l)
{
    struct count_launch **at = &k->launch, as = { .more = c->shape };
    const struct sim_launch *in = l->in;
    memcpy(as.grid, in->grid, sizeof as.grid);
    memcpy(as.block, in->block, sizeof as.block);
    memcpy(as.cluster, l->cluster, sizeof as.cluster);
    as.shared_dynamic = in->shared_bytes;
    as.shared_fixed = l->shared_total - in->shared_bytes;
    for (; *at; at = &(*at)->next) {
        const struct count_launch *x = *at;
        if (!memcmp(x->grid, as.grid, sizeof as.grid) && !memcmp(x->block, as.block, sizeof as.block) &&
            !memcmp(x->cluster, as.cluster, sizeof as.cluster) && x->shared_dynamic == as.shared_dynamic &&
            x->shared_fixed == as.shared_fixed && x->more.registers == as.more.registers)
            return *at;
    }
    *at = NEW(&all->mem, struct count_launch);
    **at = as;
    return *at;
}

/* ---- branches ---- */

struct copy_sides {
    u32 branch; /* its block */
    u8 *seen;   /* by block */
    u32 *todo;
    bool loops; /* a side leads back */
};

/* The blocks from `from` on, that of the branch among them where a side leads back to it, up to `stop`, where the sides
 * of the branch meet, that are not `seen` yet. */
static void side_cost(const struct func_counts *f, u32 from, u32 stop, struct copy_sides *s, u64 *warps, u64 *lanes)
{
    u32 n = 0, *todo = s->todo;
    u8 *seen = s->seen;
    if (from == s->branch) s->loops = true;
    if (from == NONE || from == stop || seen[from]) return;
    seen[from] = 1;
    todo[n++] = from;
    while (n) {
        const u32 b = todo[--n], insns = block_insns(f->low, b);
        const struct block *bl = &f->low->block[b];
        *warps += f->block[b].times * insns;
        *lanes += f->block[b].lanes * insns;
        for (u32 k = 0; k < bl->nsucc; k++) {
            u32 to = bl->succ[k];
            s->loops |= to == s->branch;
            if (to == NONE || to == stop || seen[to]) continue;
            seen[to] = 1;
            todo[n++] = to;
        }
    }
}

static void branch_take(struct counts *all, struct count_insn *i, const struct func_counts *f, u32 b)
{
    const struct block_counts *k = &f->block[b];
    const struct block *bl = &f->low->block[b];
    if (!k->divergent) return;
    if (!i->branch) i->branch = NEW(&all->mem, struct branch_counts);
    struct branch_counts *to = i->branch;
    to->divergent += k->divergent;
    to->jumped += k->jumped;
    to->followed += k->followed;
    struct arena mem = { 0 };
    struct copy_sides s = { b, NEW_ARRAY(&mem, u8, f->low->nblock + 1), NEW_ARRAY(&mem, u32, f->low->nblock + 1),
                            false };
    side_cost(f, bl->target, bl->ipdom, &s, &to->side[0], &to->side_lanes[0]);
    side_cost(f, bl->next, bl->ipdom, &s, &to->side[1], &to->side_lanes[1]);
    to->loops |= s.loops;
    arena_free(&mem);
}

/* ---- one launch ---- */

static bool has_counts(const struct access_counts *a)
{
    for (u32 s = 0; s < COUNT_SPACES; s++)
        if (a->in[s].requests) return true;
    return a->bulk.copies != 0;
}

/* Whether something of the function reads what the operation gives. */
static bool is_used(const struct lowered *l, const struct lop *o)
{
    const struct opnd *d = lop_dst(o, 0);
    if (d->kind != O_REG) return false;
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *x = &l->op[k];
        if (x->dead) continue;
        EACH_USE (r, x) {
            if (r == d->reg) return true;
        }
    }
    return false;
}

/* ptxas makes a reduction of an atomic to global memory whose result nobody uses, where there is one. */
static bool is_reduction(const struct lowered *l, const struct site *s)
{
    if (!site_fetches(s)) return true;
    bool global = s->space == SP_GLOBAL || s->space == SP_GENERIC;
    return global && s->atom != AT_CAS && s->atom != AT_EXCH && !is_used(l, &l->op[s->op]);
}

static enum count_access kind_of(const struct lowered *l, const struct site *s)
{
    if (site_is_atomic(s)) return is_reduction(l, s) ? COUNT_REDUCTION : COUNT_ATOMIC;
    return site_is_load(s) ? COUNT_LOAD : COUNT_STORE;
}

/* What the access of a site has counted goes to its instruction, and into the sums. */
static void access_take(struct counts *all, struct count_insn *i, const struct site *s, enum count_access kind,
                        const struct access_counts *a, struct count_sums *sums)
{
    if (!has_counts(a)) return;
    if (!i->access) i->access = NEW(&all->mem, struct access_counts);
    access_counts_add(i->access, a);
    i->kind = kind;
    i->is_read_only = s->flags & SITE_NC;
    for (u32 k = 0; k < COUNT_SPACES; k++) space_counts_add(&sums->access[kind][k], &a->in[k]);
    bulk_add(&sums->bulk, &a->bulk);
}

static u64 lanes_on(const struct func_counts *f, u32 op, u64 lanes)
{
    const struct lop *o = &f->low->op[op];
    if (o->guard.kind != O_REG || o->flags & (ISA_BRANCH | ISA_CALL)) return lanes;
    if (!(o->flags & (ISA_ACCESS | ISA_MATRIX))) return f->on ? f->on[op] : lanes;
    u64 on = 0;
    for (u32 s = 0; s < COUNT_SPACES; s++) on += f->access[o->site].in[s].lanes;
    return on;
}

static void op_take(struct counts *all, struct count_insn *i, const struct func_counts *f, u32 op,
                    const struct block_counts *k, bool first, struct count_sums *sums)
{
    const struct lop *o = &f->low->op[op];
    u64 on = lanes_on(f, op, k->lanes);
    if (first) {
        i->times += k->times;
        i->lanes += on;
        i->off += k->lanes - on;
        sums->warp_insns += k->times;
        sums->thread_insns += on;
    }
    struct operations w = operations_of(f->low, o);
    if (w.each) {
        u64 n = (w.of_warp ? k->times : on) * w.each;
        i->type = w.type;
        i->operations += n;
        sums->operations[w.type] += n;
    }
    if (f->products && f->products[op].operations) {
        i->type = f->products[op].type;
        i->operations += f->products[op].operations;
        sums->operations[i->type] += f->products[op].operations;
    }
    if (o->flags & (ISA_ACCESS | ISA_MATRIX | ISA_COPY) && o->site < f->low->nsite) {
        const struct site *s = &f->low->site[o->site];
        bool copy = (o->flags & (ISA_COPY | ISA_HOW)) == ISA_COPY;
        access_take(all, i, s, copy ? COUNT_COPY : kind_of(f->low, s), &f->access[o->site], sums);
        if (copy) access_take(all, i, s + 1, COUNT_COPY, &f->access[o->site + 1], sums);
    }
    if (f->barrier && f->barrier[op].phases) {
        if (!i->barrier) i->barrier = NEW(&all->mem, struct barrier_counts);
        barrier_counts_add(i->barrier, &f->barrier[op]);
    }
}

static void func_take(struct counts *all, struct count_kernel *k, const struct func_counts *f, struct count_sums *sums)
{
    const struct lowered *l = f->low;
    struct count_func *to = func_of(all, k, l);
    for (u32 b = 0; b < l->nblock; b++) {
        const struct block *bl = &l->block[b];
        const struct block_counts *n = &f->block[b];
        u32 last = NONE;
        for (u32 op = bl->first; n->times && op < bl->end; op++) {
            u32 at = to->of[op];
            if (at == NONE) continue;
            op_take(all, &to->insn[at], f, op, n, at != last, sums);
            last = at;
        }
        if (bl->term != TERM_BRA || bl->end == bl->first) continue;
        u32 at = to->of[bl->end - 1];
        if (l->op[bl->end - 1].guard.kind != O_REG) continue;
        sums->branches += n->times;
        sums->divergent += n->divergent;
        if (at == NONE) continue;
        to->insn[at].is_branch = true;
        branch_take(all, &to->insn[at], f, b);
    }
}

void counts_take(struct counts *all, const struct counting *c, const struct launch *l)
{
    const struct worker_counts *w = &c->worker[0];
    struct count_sums sums = { 0 };
    lock(&all->lock);
    struct count_kernel *k = kernel_of(all, l->kernel->func->name);
    for (const struct func_counts *f = w->func; f; f = f->next) func_take(all, k, f, &sums);
    struct touched_count t = touched_count(&w->touched);
    sums.read = t.read;
    sums.written = t.written;
    sums.any = t.any;
    sums.idle = w->idle;
    struct count_launch *shape = launch_of(all, k, c, l);
    shape->launches++;
    shape->ctas += l->total;
    shape->threads += l->total * l->threads;
    count_sums_add(&shape->sums, &sums);
    count_sums_add(&k->sums, &sums);
    k->launches++;
    unlock(&all->lock);
}
