/* Speculated loads (RULES.md R8). Compilers load both sides of a selection and choose afterwards:
 *
 *     v = (t >= 32 && n > 1000) ? s[5] : 2.f      becomes      ld.shared f, [s+20];  selp v, f, 2.f, p
 *
 * The source has no race while p is false, so such a load touches no cell. Its addresses are kept with the warp, and
 * a selection that takes its value does the read then, for the lanes that take it. Nothing may lie between the two
 * that orders lanes, as the read would come at another time than the load: who synchronises loses what was not taken
 * until then. Compilers keep the two together. */
#include "race/race_touch.h"
#include "sim/init_fast.h"

struct pending {               /* one instruction of one warp */
    const struct lowered *low; /* its function */
    const struct insn *insn;
    u32 lanes; /* whose value was not taken yet */
    u32 bytes; /* of one lane */
    u64 addr[LANES];
    u8 space[LANES]; /* enum ptx_space */
};

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
    for (u32 m = lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
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

static bool gives(const struct lop *o, u32 reg)
{
    const struct opnd *d[] = { &o->d, &o->b, &o->c, &o->e };
    for (u32 k = 0; k < COUNT_OF(d); k++)
        if (d[k]->kind == O_REG && d[k]->reg == reg) return true;
    return false;
}

/* A lane that was out of bounds has been reported as such, and has no cell. */
static bool has_cell(const struct race_warp *w, const struct pending *p, u32 lane)
{
    return p->space[lane] != SP_SHARED || p->addr[lane] + p->bytes <= w->c->launch->shared_total;
}

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
        if (p->lanes & lanes && p->low == low && gives(&low->op[p->insn->op], reg)) read_now(warp, p, p->lanes & lanes);
    }
}

/* Shared and global memory: the addresses are noted, and the load is one of a launch that is not watched for races. */
static void note(const char *R, const struct insn *i, struct warp *w)
{
    const struct site *s = &w->code->low->site[i->site];
    const struct range *r = &w->range[i->site];
    bool nobody_writes = s->space == SP_GLOBAL && r->size && !r->race;
    if (!w->race || nobody_writes) return;
    struct access a = { .site = s, .insn = i, .warp = w, .bytes = (u32)s->width * s->vec };
    access_addresses(&a, R);
    memset(a.space, s->space, sizeof a.space);
    pending_add(w->race, &a, active_lanes(w, R, i));
}

static s32 stride_of(const struct insn *i, const struct code *c) { return CLS_AT(i, 1) == CLS_A ? c->stride[i->a] : 0; }

int race_speculated_init(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    note(R, i, w);
    return init_handler(&c->low->site[i->site], i, c->group, stride_of(i, c))(R, i, w);
}

/* Under the check of initialised values this is what is left to do when that one has looked (code.inner). */
int race_speculated(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct code *c = w->code;
    if (!(c->watch & WATCH_INIT)) note(R, i, w);
    return memory_handler(&c->low->site[i->site], i, c->group, stride_of(i, c))(R, i, w);
}
