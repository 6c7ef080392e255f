/* Uses of undefined values, and what crosses lanes or calls (rules.md I2, S3). */
#include "sim/asked.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/planes.h"
#include "sim/warpop.h"

static const enum finding_kind kinds[] = {
    [USE_BRANCH] = F_uninit_branch, [USE_GUARD] = F_uninit_guard, [USE_ADDRESS] = F_uninit_address,
    [USE_ATOMIC] = F_uninit_atomic, [USE_PRINT] = F_uninit_print, [USE_OUTPUT] = F_uninit_output,
};

/* Lanes with one origin are one report. */
void init_report(struct warp *w, u32 op, enum init_use use, u32 mask, const struct taint t[LANES], const char *what)
{
    const struct origins *all = w->cta->launch->sim->origins;
    const struct origin *o[LANES];
    EACH_SET (l, mask) {
        o[l] = origin_get(all, t[l].origin);
    }
    for (u32 todo = mask; todo;) {
        u32 first = (u32)__builtin_ctz(todo), same = 0;
        const struct origin *from = o[first];
        for (u32 k = first; k < LANES; k++)
            if (todo >> k & 1 && (from && o[k] ? from->root == o[k]->root : from == o[k])) same |= 1u << k;
        todo &= ~same;
        char cause[400];
        struct finding f = { .kind = kinds[use], .cause_key = from ? from->key : 0, .cause = cause };
        snprintf(cause, sizeof cause, "%s %s an undefined value%s%s", what, t[first].made ? "was computed from" : "is",
                 from ? ", from " : "", from ? from->name : "");
        if (from) {
            f.origin = from->place;
            f.origin_text = from->text;
            f.fix = from->fix;
            origin_bytes(all, from, &f);
        }
        finding_add(w, op, &f, same);
    }
}

void init_use(struct warp *w, u32 op, enum init_use use, u32 slot, u32 mask, const char *what)
{
    u32 bad = plane_lanes(w->planes, slot) & mask;
    if (likely(!bad)) return;
    init_report(w, op, use, bad, w->planes->of[plane_place(w->planes, slot)]->t, what);
    planes_clear(w->planes, slot, bad); /* reported: defined from here on */
}

int init_terminator(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    (void)R;
    bool branch = o->flags & ISA_BRANCH;
    u32 inside = 0; /* lanes on one of the ways of a branch that only chooses */
    if (unlikely(w->planes->undecided != 0) && i->guard) {
        inside = init_undecided(w, i, w->mask);
        w->planes->undecided &= ~(w->mask & ~inside); /* the others have left the last one */
    }
    if (likely(!w->planes->dirty)) return 0;
    u32 lost = branch && i->guard ? plane_lanes(w->planes, i->guard) & w->mask & ~inside : 0;
    if (i->guard && !(lost && init_choice(w, i, lost)))
        init_use(w, i->op, branch ? USE_BRANCH : USE_GUARD, i->guard, w->mask & ~inside,
                 branch ? "the condition of this branch" : "the guard of this operation");
    if (o->flags & ISA_INDEXED) init_use(w, i->op, USE_BRANCH, i->a, w->mask, "the index of this branch");
    if (o->flags & ISA_VOTE) init_use(w, i->op, USE_BRANCH, i->a, w->mask, "the predicate of this vote");
    if (o->flags & ISA_MATCH) init_use(w, i->op, USE_BRANCH, i->a, w->mask, "the value matched");
    if (o->flags & ISA_CALL && lop_src(o, 0)->kind == O_REG)
        init_use(w, i->op, USE_ADDRESS, i->a, w->mask, "the function called");
    if (o->flags & ISA_BARRIER) {
        init_use(w, i->op, USE_GUARD, i->a, w->mask, "the number of the barrier");
        init_use(w, i->op, USE_GUARD, i->b, w->mask, "the thread count of the barrier");
        const struct opnd *in = lop_src(o, 2);
        if ((o->aux & 15) >= BAR_AND && in->kind == O_REG)
            init_use(w, i->op, USE_BRANCH, w->code->reg[in->reg].slot, w->mask,
                     "the predicate of this barrier's reduction");
    }
    if (o->kind == K_CTRL && lop_dst(o, 0)->kind == O_REG) planes_clear(w->planes, i->d, w->mask);
    if (o->kind == K_WARP) init_use(w, i->op, USE_GUARD, i->c, w->mask, "the mask of this operation");
    return 0;
}

int init_result(char *restrict R, const struct insn *i, struct warp *w)
{
    int ev = handler_under(w, i, LAYER_PLANES)(R, i, w);
    if (likely(!w->planes->dirty)) return ev;
    const struct lop *o = &w->code->low->op[i->op];
    u32 mask = active_lanes(w, R, i);
    if (lop_dst(o, 0)->kind == O_REG) planes_clear(w->planes, i->d, mask);
    if (lop_dst(o, 1)->kind == O_REG) planes_clear(w->planes, insn_dst(w->code, i, 1)->slot, mask);
    return ev;
}

/* ---- shuffles and reductions ---- */

/* A lane arrives at a .sync operation: its operand's taint waits with it. */
void init_gather(struct warp *w, const struct insn *i, u32 mask)
{
    struct rendezvous_taints *r = w->rdv.taint;
    const struct lop *o = &w->code->low->op[i->op];
    if (r) r->lanes &= ~mask;
    if (!w->planes || !w->planes->dirty) return;
    /* of a shuffle: which lane, and the clamp */
    u32 lane = o->flags & ISA_SHUFFLE ? i->b : S_ZERO,
        clamp = o->flags & ISA_SHUFFLE ? insn_src(w->code, i, SRC_CLAMP)->slot : S_ZERO;
    u32 index = plane_lanes(w->planes, lane) | plane_lanes(w->planes, clamp);
    u32 bad = (plane_lanes(w->planes, i->a) | index) & mask;
    if (!bad || !(o->flags & (ISA_SHUFFLE | ISA_REDUCE | ISA_TRANSPOSE))) return;
    if (!r) r = w->rdv.taint = base_need(sizeof *r);
    EACH_SET (l, bad) {
        r->t[l] = plane_taint(w->planes, i->a, l);
        r->index[l] = index >> l & 1;
        if (r->index[l] && !r->t[l].origin)
            r->t[l].origin = plane_taint(w->planes, lane, l).origin | plane_taint(w->planes, clamp, l).origin;
    }
    r->lanes |= bad;
}

/* Which lanes of a shuffle read one that takes no part. */
bool init_needs_planes(const struct warp *w, u32 absent)
{
    return absent && w->base->code->watch & WATCH_INIT && !w->base->code->plain;
}

/* Lane l's result of movmatrix: the taint of each half comes from where the half does. */
static struct taint transposed(struct warp *w, const struct split *s, u32 op, u32 l, u32 who)
{
    const struct rendezvous_taints *r = w->rdv.taint;
    struct taint t = { 0 };
    for (u32 half = 0; half < 2; half++) {
        u32 shift, from = transposed_from(l, half, &shift);
        struct taint x = { 0 };
        if (!(who >> from & 1))
            x = (struct taint){ low_bits(32), 0, origin_of_shuffle(w, s->fr->code->low, op) };
        else if (r && r->lanes >> from & 1)
            x = r->t[from];
        if (!(x.undef >> shift & 0xffff)) continue;
        t.undef |= (x.undef >> shift & 0xffff) << 16 * half;
        t.made |= (x.made >> shift & 0xffff) << 16 * half;
        t.origin = x.origin;
    }
    return t;
}

/* Results of a .sync operation go to the lanes of a split; who: all that took part; absent: lanes that read one that
 * did not. */
void init_scatter(struct warp *w, const struct split *s, const struct insn *i, const struct lop *o, u32 who, u32 absent)
{
    struct planes *p = s->fr->planes;
    const struct rendezvous_taints *r = w->rdv.taint;
    struct taint t[LANES];
    if (!p || (!p->dirty && !(r && r->lanes & who) && !(absent & s->mask))) return;
    memset(t, 0, sizeof t);
    u32 bad = r ? r->lanes & who : 0;
    if (o->flags & ISA_SHUFFLE)
        EACH_SET (l, s->mask) {
            u32 from = w->rdv.from[l];
            if (absent >> l & 1)
                t[l] = (struct taint){ low_bits(32), 0, origin_of_shuffle(w, s->fr->code->low, i->op) };
            else if (bad >> l & 1 && r->index[l])
                t[l] = taint_all(32, r->t[l].origin);
            else if (bad >> from & 1)
                t[l] = r->t[from];
        }
    else if (o->flags & ISA_REDUCE && bad)
        EACH_SET (l, s->mask) t[l] = taint_all(32, r->t[__builtin_ctz(bad)].origin);
    else if (o->flags & ISA_TRANSPOSE)
        EACH_SET (l, s->mask) t[l] = transposed(w, s, i->op, l, who);
    if (lop_dst(o, 0)->kind == O_REG) planes_put(p, i->d, s->mask, t);
    if (lop_dst(o, 1)->kind == O_REG) planes_clear(p, insn_dst(s->fr->code, i, 1)->slot, s->mask);
}

/* ---- calls ---- */

static void copy_params(const struct frame *from, u64 at, struct frame *to, u64 into, u32 bytes, u32 mask)
{
    const struct lowered *a = from->code->low, *b = to->code->low;
    if (!from->init_params) {
        if (to->init_params)
            EACH_SET (l, mask) shadow_define(to->init_params, (u64)l * b->pmem_bytes + into, bytes);
        return;
    }
    struct shadow *s = init_params(to);
    EACH_SET (lane, s ? mask : 0)
        for (u32 k = 0; k < bytes; k++) {
            u64 l = lane;
            shadow_write(s, l * b->pmem_bytes + into + k, 1,
                         shadow_read(from->init_params, l * a->pmem_bytes + at + k, 1));
        }
}

void init_call(const struct frame *up, struct frame *f, const struct call *c, u32 mask)
{
    const struct ptx_func *callee = f->code->low->func;
    for (u32 k = 0; k < c->narg && k < callee->nparam; k++)
        copy_params(up, c->arg[k].from, f, f->code->low->arg_off[k],
                    (u32)MIN_OF(c->arg[k].size, callee->param[k]->size), mask);
}

void init_return(const struct frame *f, struct frame *up, u32 mask)
{
    const struct lowered *from = f->code->low;
    for (u32 k = 0; k < f->call->nret && k < from->func->nret; k++)
        copy_params(f, from->ret_off[k], up, f->call->ret[k].from,
                    (u32)MIN_OF(f->call->ret[k].size, from->func->ret[k]->size), mask);
}

void init_builtin(struct warp *w, struct frame *f, const struct call *c, u32 op)
{
    struct shadow *s = f->init_params;
    u32 each = f->code->low->pmem_bytes;
    enum init_use use = c->builtin == BI_CONDITION                         ? USE_BRANCH
                        : c->builtin == BI_MALLOC || c->builtin == BI_FREE ? USE_ADDRESS
                                                                           : USE_PRINT;
    for (u32 k = 0; s && k < c->narg; k++) {
        struct taint t[LANES];
        u32 bad = 0, n = MIN_OF(c->arg[k].size, 8u);
        EACH_SET (l, w->mask) {
            t[l] = shadow_read(s, (u64)l * each + c->arg[k].from, n);
            if (t[l].undef) bad |= 1u << l;
        }
        if (bad) init_report(w, op, use, bad, t, "an argument of this call");
    }
    EACH_SET (l, s && c->nret ? w->mask : 0) shadow_define(s, (u64)l * each + c->ret[0].from, c->ret[0].size);
}
