/* Barriers that complete without threads that should have come: they left before, or are at another one. */
#include "deadlock/exited.h"
#include "flow/analyses.h"
#include "flow/flow.h"
#include "sim/cta.h"
#include "sim/finding_place.h"
#include "sim/asked.h"

static bool exited_there(const struct exit_record *v, const struct lowered *in, u32 op, u32 barrier_op)
{
    return v->low == in && exit_op(v, barrier_op) == op;
}

static void report_exited_at(struct cta *c, const struct split *s, struct lowered *in, u32 op, u32 waiting)
{
    if (lop_in_library(in, op)) return; /* it is legal, and no line of the user's */
    struct arena a = { 0 };
    struct cta_threads gone = { 0 };
    const struct launch *l = c->launch;
    struct stopped st = { .l = c->launch };
    struct finding f = { .kind = F_barrier_exited, .once = true, .kernel = arena_str(&a, l->kernel->func->name) };
    memcpy(f.cta, c->id, 12);
    memcpy(f.nctaid, l->in->grid, 12);
    memcpy(f.ntid, l->in->block, 12);
    for (u32 k = 0; k < c->nwarps; k++) {
        const struct warp *w = c->warp[k];
        for (u32 j = 0; j < w->exits.n; j++)
            if (exited_there(&w->exits.at[j], in, op, s->op)) gone.mask[k] |= w->exits.at[j].mask;
    }
    f.place = finding_place(&a, s->fr->code->low, s->op);
    f.other = finding_place(&a, in, op);
    bool made = f.place && f.place->line && f.other && !f.other->line; /* by the compiler, of no line */
    if (made) f.other = NULL;
    f.cause = arena_printf(&a, "%u thread%s wait%s here; %s had left%s%s without reaching the barrier", waiting,
                           plural(waiting), waiting == 1 ? "s" : "", describe_threads(&st, &gone),
                           made ? " the kernel" : " at ", made ? "" : describe_place(&st, in, op));
    for (u32 k = 0; k < c->nwarps; k++) {
        if (!gone.mask[k]) continue;
        f.nlanes = 0;
        EACH_SET (l, gone.mask[k]) f.thread[f.nlanes++] = k * LANES + l;
        report_add(l->in->report, &f);
        f.joins = true;
    }
    arena_free(&st.mem);
    arena_free(&a);
}

/* Threads left the kernel without reaching a barrier that the others wait at. That is legal; it is reported as a note,
 * one for each place where they left, and only once: the next barriers miss the same threads. */
static void report_exited(struct cta *c, u32 n)
{
    u32 gone = 0, waiting = 0;
    const struct split *s = NULL;
    for (u32 k = 0; k < c->nwarps; k++) {
        const struct warp *w = c->warp[k];
        gone += (u32)__builtin_popcount(w->first_live & ~w->live);
        waiting += (u32)__builtin_popcount(barrier_lanes(w, n));
        for (u32 j = 0; j < w->nsplit && !s; j++)
            if (w->split[j].state == SPLIT_AT(barrier) && w->split[j].bar == n) s = &w->split[j];
    }
    if (gone == c->exits_reported || !s) return;
    c->exits_reported = gone;
    for (u32 k = 0; k < c->nwarps; k++)
        for (u32 j = 0; j < c->warp[k]->exits.n; j++) {
            struct exit_record *v = &c->warp[k]->exits.at[j];
            u32 op = exit_op(v, s->op);
            bool seen = false;
            for (u32 m = 0; m <= k; m++)
                for (u32 i = 0; i < (m < k ? c->warp[m]->exits.n : j); i++)
                    seen |= exited_there(&c->warp[m]->exits.at[i], v->low, op, s->op);
            if (!seen) report_exited_at(c, s, v->low, op, waiting);
        }
}

/* Which threads are at the barrier, which lanes of the same warp are not, and where every missing thread is. */
static const char *divergent_text(struct stopped *st, const struct cta *c, const struct warp *w, const struct split *s,
                                  u32 lost, u32 other)
{
    struct cta_threads here = { 0 }, mine = { 0 }, gone = { 0 };
    for (u32 k = 0; k < c->nwarps; k++) here.mask[k] = barrier_lanes(c->warp[k], s->bar);
    const struct lowered *l = s->fr->code->low;
    const char *in = c->launch->total == 1 ? "" : arena_printf(&st->mem, " of %s", describe_cta(st, c->linear));
    if (other) {
        here = (struct cta_threads){ 0 };
        here.mask[w->id] = s->mask;
        mine.mask[w->id] = other;
        return arena_printf(&st->mem,
                            "%s%s are at this barrier, and %s of the same warp at another one: an aligned barrier "
                            "counts a warp once, wherever its lanes are",
                            describe_threads(st, &here), in, describe_threads(st, &mine));
    }
    const char *absent = describe_absent(st, c, s->bar, s->op, &gone);
    return arena_printf(&st->mem,
                        "%s%s arrived; the others never can: %s. Warp %u has lanes on both sides (%s %s not come), "
                        "which an aligned barrier does not allow%s",
                        describe_threads(st, &here), in, absent ? absent : "they left", w->id, describe_lanes(st, lost),
                        lost & (lost - 1) ? "do" : "does", describe_divergence(st, l, s->op));
}

/* The aligned forms want all threads of a warp at the same instruction. Lanes that were elsewhere when a split arrived
 * may have arrived since. If the phase completed without them (they left) or with them at another instruction, the
 * program is wrong. */
static bool check_aligned(struct cta *c, u32 n)
{
    bool bad = false;
    for (u32 k = 0; k < c->nwarps; k++) {
        struct warp *w = c->warp[k];
        for (u32 j = 0; j < w->nsplit; j++) {
            struct split *s = &w->split[j];
            if (s->state != SPLIT_AT(barrier) || s->bar != n || !s->missing) continue;
            u32 here = 0, elsewhere = NONE;
            for (u32 m = 0; m < w->nsplit; m++) {
                const struct split *t = &w->split[m];
                if (t->state != SPLIT_AT(barrier) || t->bar != n) continue;
                if (t->op == s->op && t->fr->code->low == s->fr->code->low)
                    here |= t->mask;
                else
                    elsewhere = m;
            }
            u32 lost = s->missing & ~here;
            s->missing = 0;
            if (!lost) continue;
            bad = true;
            const struct lop *at = &s->fr->code->low->op[s->op];
            if (!c->divergent_at) c->divergent_at = at;
            if (c->divergent_at != at) continue;
            struct arena a = { 0 };
            u32 other = elsewhere == NONE ? 0 : w->split[elsewhere].mask & lost;
            struct finding f = { .kind = F_barrier_divergent };
            struct stopped st = { .l = c->launch };
            f.cause = divergent_text(&st, c, w, s, lost, other);
            if (!other && loop_of_op(s->fr->code->low, s->op))
                f.fix = "Let the loop run equally often for all threads of the block, with a bound that is the same "
                        "for all, and guard the work in it instead.";
            if (other) f.other = finding_place(&a, w->split[elsewhere].fr->code->low, w->split[elsewhere].op);
            finding_add_split(w, s, &f);
            arena_free(&a);
            arena_free(&st.mem);
            for (u32 m = 0; m < w->nsplit; m++)
                if (w->split[m].state == SPLIT_AT(barrier) && w->split[m].bar == n) w->split[m].missing = 0;
        }
    }
    return bad;
}

void judge_barrier(struct cta *c, u32 bar)
{
    const struct bar *b = &c->bar[bar];
    if (b->partial && check_aligned(c, bar)) c->divergent = true;
    if (!b->expected && c->exited && !c->divergent) report_exited(c, bar);
}
