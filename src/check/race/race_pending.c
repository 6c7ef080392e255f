/* Speculated loads (rules.md R8). Compilers load both sides of a selection and choose afterwards:
 *
 *     v = (t >= 32 && n > 1000) ? s[5] : 2.f      becomes      ld.shared f, [s+20];  selp v, f, 2.f, p
 *
 * The source has no race while p is false, so such a load touches no cell when it is executed. It becomes pending: its
 * addresses are kept with the warp. The selection that takes the value does the read, for the lanes that take it.
 *
 * The read is then checked at the time of the selection, not of the load. That is the same only while nothing between
 * the two orders lanes; so a lane that synchronises drops its pending loads. Compilers keep load and selection
 * together. */
#include "sim/asked.h"
#include "race/race_pending.h"
#include "race/race_touch.h"
#include "flow/unneeded.h"
#include "sim/special_registers.h"
#include "sim/planes.h"
#include "sim/lanes.h"
#include "sim/memory.h"
#include "sim/cluster.h"

struct pending {               /* a speculated load of one warp */
    const struct lowered *low; /* its function */
    const struct insn *insn;   /* the load */
    u32 lanes;                 /* lanes whose value no selection has taken yet */
    u32 bytes;                 /* of one lane */
    u64 addr[LANES];           /* of each of those lanes */
    u8 space[LANES];           /* enum ptx_space */
};

/* The entry of the load at i, created if missing. */
static struct pending *pending_of(struct race_warp *w, const struct lowered *low, const struct insn *i)
{
    struct pending *p = w->pending;
    for (u32 n = 0; n < w->npending; n++, p++)
        if (p->low == low && p->insn->op == i->op) return p;
    if (w->npending == w->cappending) {
        u32 cap = w->cappending ? 2 * w->cappending : 4;
        w->pending = base_need_more(w->pending, sizeof *p * cap);
        w->cappending = cap;
    }
    p = &w->pending[w->npending++];
    p->low = low;
    p->lanes = 0;
    return p;
}

void pending_add(struct race_warp *w, const struct access *a, u32 lanes)
{
    struct pending *p = pending_of(w, a->warp->code->low, a->insn);
    p->insn = a->insn;
    p->bytes = a->bytes;
    EACH_SET (l, lanes) {
        p->addr[l] = a->addr[l];
        p->space[l] = a->space[l];
    }
    p->lanes |= lanes;
}

void pending_drop(struct race_warp *w, u32 lanes)
{
    u32 left = 0;
    for (u32 n = 0; n < w->npending; n++) left |= w->pending[n].lanes &= ~lanes;
    if (!left) w->npending = 0;
}

/* The load defines the register. */
static bool defines(const struct lop *o, u32 reg)
{
    EACH_DEF (r, o) {
        if (r == reg) return true;
    }
    return false;
}

/* The lane was within bounds. An unaligned access has been reported as such, and its address has no cell. */
static bool has_cell(const struct race_warp *w, const struct pending *p, u32 lane)
{
    return p->space[lane] != SP_SHARED || cluster_offset(p->addr[lane]) + p->bytes <= w->c->launch->of->shared_total;
}

/* These lanes take the value of the load: their reads are checked and recorded. */
static void read_now(struct warp *warp, struct pending *p, u32 lanes)
{
    struct access a = {
        .site = &p->low->site[p->insn->site], .insn = p->insn, .warp = warp, .mask = lanes, .bytes = p->bytes
    };
    struct touch t = race_touch(warp, p->insn, OP_READ, SPACE_GLOBAL);
    p->lanes &= ~lanes;
    memcpy(a.addr, p->addr, sizeof a.addr);
    memcpy(a.space, p->space, sizeof a.space);
    for (u32 m = lanes; m; m &= m - 1)
        if (has_cell(warp->race, p, (u32)__builtin_ctz(m))) a.ok |= m & -m;
    if (a.ok) race_weak(&t, &a);
}

void pending_selected(void *self, struct warp *warp, u32 reg, u32 lanes)
{
    struct race_warp *w = warp->race;
    const struct lowered *low = warp->code->low;
    (void)self;
    for (u32 n = 0; w && n < w->npending; n++) {
        struct pending *p = &w->pending[n];
        if (p->lanes & lanes && p->low == low && defines(&low->op[p->insn->op], reg))
            read_now(warp, p, p->lanes & lanes);
    }
}

/* The load at i is executed: its addresses become pending. Loads of generic addresses do not come here. */
static void load_executed(const char *R, const struct insn *i, struct warp *w)
{
    const struct site *s = &w->code->low->site[i->site];
    if (!w->race || (s->space == SP_GLOBAL && site_is_constant(w, i))) return;
    struct access a = { .site = s, .insn = i, .warp = w, .bytes = (u32)s->width * s->vec };
    access_addresses(&a, R);
    memset(a.space, s->space, sizeof a.space);
    pending_add(w->race, &a, active_lanes(w, R, i));
}

struct one_lane {
    const struct warp *w;
    u32 lane;
};

static u64 tid_of(const void *of, struct opnd which)
{
    const struct one_lane *t = of;
    return opnd_value(t->w, which, t->lane);
}

/* Lanes in which the predicate, that numbers of the thread alone make, is true. */
static u32 true_by_numbers(const struct warp *w, u32 predicate)
{
    u32 lanes = 0;
    for (u32 l = 0; l < LANES; l++) {
        u64 is = 0;
        struct one_lane one = { w, l };
        unneeded_value(&(struct thread_numbers){ w->code->low, tid_of, &one }, predicate, &is);
        lanes |= (u32)is << l;
    }
    return lanes;
}

u32 race_lanes_needed(const struct warp *w, const struct site *s)
{
    u32 predicate = s->needed_by - 1, n = predicate / 2 % NEEDED_MEMO, set;
    struct race_warp *race = w->race;
    if (!s->needed_late)
        set = *(const u32 *)(const void *)SLOT(w->R, w->code->reg[predicate / 2].slot);
    else if (race && race->needed[n].load == s)
        set = race->needed[n].lanes;
    else {
        set = true_by_numbers(w, predicate / 2);
        if (race) {
            race->needed[n].load = s;
            race->needed[n].lanes = set;
        }
    }
    return predicate & 1 ? ~set : set;
}

int race_speculated_init(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    load_executed(R, i, w);
    return init_handler(&c->low->site[i->site], i, c->group, address_stride(c, i))(R, i, w);
}

/* The load without the race check. Where initialised values are checked as well, race_speculated_init has made the load
 * pending already, and this is only the handler inside it (code.inner). */
int race_speculated(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    if (!(c->watch & WATCH_INIT)) load_executed(R, i, w);
    return memory_handler(&c->low->site[i->site], i, c->group, address_stride(c, i))(R, i, w);
}
