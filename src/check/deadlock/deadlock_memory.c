/* Which instructions may write a word, and which load a loop does not repeat. */
#include "deadlock/deadlock_memory.h"
#include "sim/cluster.h"
#include "sim/sim_run.h"
#include "code/code.h"

enum { DEPTH = 12 }; /* operations that are followed to the origin of an address */

/* ---- the lowest address that an instruction reaches ---- */

struct lowest { /* a lower bound of a value, if one is known */
    bool known;
    u64 at;
};
static const struct lowest any_value = { 0 }, not_negative = { true, 0 };

/* The only operation that makes the register; NULL: there are several, or none. */
static const struct lop *only_maker(const struct lowered *l, u32 reg)
{
    const struct lop *made = NULL;
    for (u32 k = 0; k < l->nop; k++)
        for (u32 d = 0; d < l->op[k].ndst; d++) {
            const struct opnd *o = lop_dst(&l->op[k], d);
            if (o->kind != O_REG || o->reg != reg) continue;
            if (made) return NULL;
            made = &l->op[k];
        }
    return made;
}

static struct lowest lowest_of(const struct stopped *st, const struct lowered *l, const struct opnd *o, u32 depth);

static struct lowest sum(struct lowest a, struct lowest b)
{
    return a.known && b.known ? (struct lowest){ true, a.at + b.at } : any_value;
}

/* A product of values of which none is negative: an unsigned operation takes them so. */
static struct lowest product(const struct stopped *st, const struct lowered *l, const struct lop *o, u32 depth)
{
    if (!type_is_signed((enum ptx_type)isa_forms[o->form].type)) return not_negative;
    bool both = lowest_of(st, l, lop_src(o, 0), depth).known && lowest_of(st, l, lop_src(o, 1), depth).known;
    return both ? not_negative : any_value;
}

static struct lowest made_by(const struct stopped *st, const struct lowered *l, const struct lop *o, u32 depth)
{
    if (!o || o->form < 0 || o->kind != K_LANE) return any_value;
    bool is_signed = type_is_signed((enum ptx_type)isa_forms[o->form].type);
    struct lowest a = lowest_of(st, l, lop_src(o, 0), depth);
    switch (o->shape) {
    case SHAPE_MOVE:
    case SHAPE_ADDRESS: return a;
    case SHAPE_ADD: return sum(a, lowest_of(st, l, lop_src(o, 1), depth));
    case SHAPE_CONVERT: return is_signed && !a.known ? any_value : not_negative;
    case SHAPE_MUL:
    case SHAPE_MUL_WIDE: return product(st, l, o, depth);
    case SHAPE_MAD:
    case SHAPE_MAD_WIDE: return sum(product(st, l, o, depth), lowest_of(st, l, lop_src(o, 2), depth));
    case SHAPE_SHL: return a.known ? not_negative : any_value;
    case SHAPE_AND: return a.known || lowest_of(st, l, lop_src(o, 1), depth).known ? not_negative : any_value;
    case SHAPE_SHR:
    case SHAPE_DIV:
    case SHAPE_REM: return is_signed && !a.known ? any_value : not_negative;
    default: return any_value;
    }
}

static struct lowest lowest_of(const struct stopped *st, const struct lowered *l, const struct opnd *o, u32 depth)
{
    u64 value;
    if (!depth) return any_value;
    switch (o->kind) {
    case O_CONST: return o->reg || o->comp || (s64)o->value < 0 ? any_value : (struct lowest){ true, o->value };
    case O_PARAM: /* a pointer, where an address is made of it */
        if (o->value + 8 > st->l->in->kernel->param_bytes || l != st->l->kernel) return any_value;
        memcpy(&value, st->l->param.block + o->value, 8);
        return (struct lowest){ true, value };
    case O_SREG: return not_negative;
    case O_REG: return made_by(st, l, only_maker(l, o->reg), depth - 1);
    default: return any_value;
    }
}

bool site_reaches_maybe(const struct stopped *st, const struct lowered *l, const struct site *s, u64 address)
{
    const struct lop *o = &l->op[s->op];
    const struct opnd *at = lop_src(o, SRC_ADDRESS + s->which);
    struct lowest from = lowest_of(st, l, at, DEPTH);
    if (s->which || !from.known) return true;
    u64 first = from.at + (u64)o->off;
    bool fixed = at->kind == O_PARAM || at->kind == O_CONST;
    for (u32 depth = 0; at->kind == O_REG && depth < DEPTH; depth++) { /* copies of a parameter */
        const struct lop *m = only_maker(l, at->reg);
        if (!m || (m->shape != SHAPE_MOVE && m->shape != SHAPE_ADDRESS) || m->kind != K_LANE) break;
        at = lop_src(m, 0);
        fixed = at->kind == O_PARAM;
    }
    if (address < first) return false;
    return !fixed || address - first < (u64)s->width * MAX_OF(s->vec, 1);
}

/* ---- loads in front of a loop ---- */

static u32 block_of(const struct lowered *l, u32 op)
{
    u32 b = 0;
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    return b;
}

static bool is_plain_load(const struct site *s)
{
    return site_is_load(s) && s->sem == SEM_WEAK && (s->space == SP_GLOBAL || s->space == SP_GENERIC);
}

static bool of_host(const struct mem_object *o)
{
    return o && (o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED);
}

/* Whether a comparison among these operations takes the register. */
static bool is_compared(const struct lowered *l, u32 first, u32 end, u32 reg)
{
    for (u32 k = first; k < end; k++)
        for (u32 j = 0; l->op[k].kind == K_CMP && !l->op[k].dead && j < l->op[k].nsrc; j++)
            if (lop_src(&l->op[k], j)->kind == O_REG && lop_src(&l->op[k], j)->reg == reg) return true;
    return false;
}

bool loaded_once_beside(struct stopped *st, u64 polled, struct loaded_once *out)
{
    for (u32 w = 0; w < st->l->nworkers; w++)
        for (u32 j = 0; j < st->l->worker[w].nfunc; j++) {
            const struct ranges *r = &st->l->worker[w].func[j];
            for (u32 k = 0; k < r->low->nsite; k++) {
                const struct site *s = &r->low->site[k];
                const struct opnd *d = lop_dst(&r->low->op[s->op], 0);
                const struct mem_object *o = r->r[k].size ? mem_find(st->l->sim->mem, r->r[k].lo) : NULL;
                u32 b = block_of(r->low, s->op);
                if (!site_is_load(s) || s->sem != SEM_WEAK || s->space == SP_SHARED || d->kind != O_REG ||
                    !of_host(o) || polled - o->base < o->size || b == r->low->nblock || r->low->block[b].loop ||
                    !is_compared(r->low, 0, r->low->nop, d->reg))
                    continue;
                *out = (struct loaded_once){ o, describe_place(st, r->low, s->op) };
                return true;
            }
        }
    return false;
}

bool loaded_once_before(struct stopped *st, const struct split *s, struct loaded_once *out)
{
    const struct lowered *l = s->fr->code->low;
    u32 n = l->block[s->block].loop;
    if (!n || s->nreads) return false;
    const struct loop *lp = &l->loop[n - 1];
    u32 before = l->block[lp->head].idom;
    for (u32 k = l->nsite; k-- > 0;) { /* the nearest first */
        const struct site *x = &l->site[k];
        const struct opnd *d = lop_dst(&l->op[x->op], 0);
        u32 b = block_of(l, x->op);
        if (!is_plain_load(x) || d->kind != O_REG || (b >= lp->head && b <= lp->last)) continue;
        bool inside = is_compared(l, l->block[lp->head].first, l->block[lp->last].end, d->reg);
        if (!inside && (before == NONE || !is_compared(l, l->block[before].first, l->block[before].end, d->reg)))
            continue;
        u64 base = 0;
        if (x->prov.kind == FROM_PARAM && l == st->l->kernel) memcpy(&base, st->l->param.block + x->prov.off, 8);
        *out = (struct loaded_once){ base ? mem_find(st->l->sim->mem, base) : NULL, describe_place(st, l, x->op) };
        return true;
    }
    return false;
}

/* ---- what running threads poll ---- */

u32 polled_unwritten(struct stopped *st, struct read *out, u32 most)
{
    u32 found = 0;
    for (u32 n = 0; n < st->ncta; n++)
        for (u32 k = 0; k < st->cta[n]->nwarps; k++) {
            struct warp *w = st->cta[n]->warp[k];
            for (u32 j = 0; j < w->nsplit && found < most; j++)
                found += loop_reads_unwritten(st, w, &w->split[j], out + found, most - found);
        }
    return found;
}

bool read_is_of_host(const struct stopped *st, const struct read *r)
{
    return of_host(mem_find(st->l->sim->mem, r->addr));
}

/* ---- operations and hosts outside of the launch ---- */

/* What another launch waits for that stands still, too. Under the locks of all launches. */
static struct sim_waiting waiting_of(struct stopped *st, const struct launch *l)
{
    struct sim_waiting x = { .op = l->in->op };
    for (struct cta *first = l->parked; first; first = first->next)
        for (struct cta *c = first; c; c = cluster_next(c))
            for (u32 k = 0; k < c->nwarps; k++)
                for (u32 j = 0; j < c->warp[k]->nsplit; j++) {
                    const struct split *s = &c->warp[k]->split[j];
                    if (s->state != SPLIT_IDLE || !s->nreads || x.address) continue;
                    x.address = s->reads[0].addr;
                    x.thread = describe_split(st, c, c->warp[k], s);
                }
    return x;
}

const char *explain_operations(struct stopped *st, u64 address, bool *named, const char **fix)
{
    enum { MOST = 64 };
    struct sim *s = st->l->sim;
    struct sim_waiting me = { .op = st->l->in->op, .address = address }, *other;
    u32 n = 0;
    struct text t = { 0 };
    *named = false;
    if (!s->ask.explain || !me.op) return NULL;
    other = NEW_ARRAY(&st->mem, struct sim_waiting, MOST);
    for (const struct launch *l = st->runs ? NULL : s->launches; l && n < MOST; l = l->behind)
        if (l != st->l && l->in->op) other[n++] = waiting_of(st, l);
    *named = s->ask.explain(s->ask.outside_self, &me, other, n, &t, fix);
    const char *text = t.n ? arena_str(&st->mem, str_of(t.p)) : NULL;
    text_free(&t);
    return text;
}
